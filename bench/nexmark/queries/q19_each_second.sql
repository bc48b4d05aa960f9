CREATE STREAMED VIEW every_second AS
SELECT timepoint FROM clock WHERE timepoint % INTERVAL 1 SECOND = 0;
SELECT *
FROM (
  SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, dateTime) AS place
  FROM bid SYNC BY every_second) AS ranked
WHERE place <= 10
