-- An auction: what each item has brought, when neither it nor bids for it can come again.
CREATE SOURCE offers (item INT, name STRING, at TIMESTAMP, p STRING)
  USING json OPTIONS (path 'examples/data/offers')
  EVENT TIME at;
CREATE SOURCE increases (item INT, buyer STRING, increase INT, at TIMESTAMP, p STRING)
  USING json OPTIONS (path 'examples/data/increases')
  EVENT TIME at;

-- Each stream says of an item that it is done: <1001,*,*> after the offer, <1001,*,*,*> after bids.
CREATE STREAM items OVER offers KEY NULL PUNCTUATED BY COLUMN p;
CREATE STREAM bids OVER increases KEY NULL PUNCTUATED BY COLUMN p;

CREATE VIEW sold AS
  SELECT items.item, items.name, sum(bids.increase) AS total
  FROM items JOIN bids ON items.item = bids.item
  GROUP BY items.item, items.name
  EMIT FINAL;

-- Item 1001 comes at 9:21, 1002 at 9:45; 1003, whose auction nobody closed, when the streams end.
-- The bid for 1002 that came after its end is not in its total.
SELECT STREAMED * FROM sold;
