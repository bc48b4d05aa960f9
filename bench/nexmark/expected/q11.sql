WITH marked AS (
  SELECT bidder, dateTime, dateTime - lag(dateTime) OVER w >= INTERVAL 10 SECONDS AS breaks
  FROM bid WINDOW w AS (PARTITION BY bidder ORDER BY dateTime)),
numbered AS (
  SELECT bidder, dateTime,
    sum(CASE WHEN breaks THEN 1 ELSE 0 END) OVER (PARTITION BY bidder ORDER BY dateTime) AS session
  FROM marked)
SELECT bidder, count(*) AS bids, min(dateTime) AS starts,
  max(dateTime) + INTERVAL 10 SECONDS AS ends
FROM numbered
GROUP BY bidder, session
