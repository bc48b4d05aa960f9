-- The two songs played most in the last ten ticks: a table of fixed size that is always right.
CREATE SOURCE plays (song STRING, t INT)
  USING json OPTIONS (path 'examples/data/plays')
  EVENT TIME t;

CREATE VIEW counts AS SELECT song, count(*) AS plays FROM plays [RANGE 10] GROUP BY song;

CREATE VIEW charts AS
  SELECT song, plays, place
  FROM (SELECT song, plays, row_number() OVER (ORDER BY plays DESC, song) AS place FROM counts)
  WHERE place <= 2;

SELECT STREAMED * FROM charts;
