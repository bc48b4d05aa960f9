-- The three streams of the auction, and the table that q13 joins.
CREATE SOURCE person (
  id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
  dateTime TIMESTAMP, extra STRING) EVENT TIME dateTime;
CREATE SOURCE auction (
  id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
  dateTime TIMESTAMP, expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING)
  EVENT TIME dateTime;
CREATE SOURCE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, dateTime TIMESTAMP,
  extra STRING) EVENT TIME dateTime;
