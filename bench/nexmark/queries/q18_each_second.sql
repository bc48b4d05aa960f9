CREATE STREAMED VIEW every_second AS
SELECT timepoint FROM clock WHERE timepoint % INTERVAL 1 SECOND = 0;
SELECT auction, bidder, price, channel, url, dateTime, extra
FROM (
  SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC) AS place
  FROM bid SYNC BY every_second) AS ranked
WHERE place <= 1
