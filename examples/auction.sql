-- An auction: the highest bid of the last ten minutes for each item, and its category's lead.
CREATE SOURCE bids (auction INT, bidder STRING, price INT, at TIMESTAMP)
  USING json OPTIONS (path 'examples/data/bids')
  EVENT TIME at;

CREATE TABLE items (auction INT, category STRING, item STRING)
  USING csv OPTIONS (path 'examples/data/items.csv', header 'true');

CREATE VIEW highest AS
  SELECT auction, max(price) AS price, count(*) AS bids
  FROM bids [RANGE 10 MINUTES]
  GROUP BY auction;

-- A view over a view, joined with a table.
CREATE VIEW leads AS
  SELECT category, max(price) AS price
  FROM highest JOIN items ON highest.auction = items.auction
  GROUP BY category;

-- Every change, from the first bid to the moment the last one is too old to count.
SELECT STREAMED * FROM highest;
SELECT STREAMED * FROM leads;
