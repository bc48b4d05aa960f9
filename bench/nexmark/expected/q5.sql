WITH windows AS (
  SELECT auction, starts, count(*) AS num
  FROM (SELECT auction, unnest([time_bucket(INTERVAL 2 SECONDS, dateTime) - i * INTERVAL 2 SECONDS
    FOR i IN [0, 1, 2, 3, 4]]) AS starts FROM bid)
  GROUP BY auction, starts)
SELECT auction, num
FROM windows AS w
WHERE num = (SELECT max(num) FROM windows AS v WHERE v.starts = w.starts)
