SELECT *
FROM (
  SELECT *, row_number() OVER (PARTITION BY auction ORDER BY price DESC, dateTime) AS place
  FROM bid) AS ranked
WHERE place <= 10
