-- A parking lot: who entered and has not departed, and how many of each kind.
CREATE SOURCE entered (plate STRING, kind STRING, at TIMESTAMP)
  USING json OPTIONS (path 'examples/data/entered') EVENT TIME at;
CREATE SOURCE departed (plate STRING, kind STRING, at TIMESTAMP)
  USING json OPTIONS (path 'examples/data/departed') EVENT TIME at;

-- EXCEPT ALL counts: a car that comes twice and goes once is inside once.
CREATE VIEW inside AS
  SELECT plate, kind FROM entered EXCEPT ALL SELECT plate, kind FROM departed;

CREATE VIEW occupancy AS SELECT kind, count(*) AS vehicles FROM inside GROUP BY kind;

SELECT STREAMED * FROM inside;
SELECT STREAMED * FROM occupancy;
SELECT COMPLETE * FROM inside;
