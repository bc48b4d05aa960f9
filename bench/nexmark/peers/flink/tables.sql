-- The streams as CSV files, with times as microseconds: the package has no reader of parquet.
CREATE TABLE person (
  id BIGINT, name STRING, emailAddress STRING, creditCard STRING, city STRING, state STRING,
  us BIGINT, extra STRING,
  `dateTime` AS TO_TIMESTAMP_LTZ(us / 1000, 3), WATERMARK FOR `dateTime` AS `dateTime`)
WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{data}/person');
CREATE TABLE auction (
  id BIGINT, itemName STRING, description STRING, initialBid BIGINT, reserve BIGINT,
  us BIGINT, expires_us BIGINT, seller BIGINT, category BIGINT, extra STRING,
  `dateTime` AS TO_TIMESTAMP_LTZ(us / 1000, 3), expires AS TO_TIMESTAMP_LTZ(expires_us / 1000, 3),
  WATERMARK FOR `dateTime` AS `dateTime`)
WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{data}/auction');
CREATE TABLE bid (
  auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, us BIGINT,
  extra STRING,
  `dateTime` AS TO_TIMESTAMP_LTZ(us / 1000, 3), WATERMARK FOR `dateTime` AS `dateTime`)
WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{data}/bid');
CREATE TABLE side_input (key BIGINT, `value` STRING)
WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{data}/side_input')
