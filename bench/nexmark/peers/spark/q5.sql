-- append, watermark on dateTime
-- Aggregated twice instead of joined with itself: the files are read once, and it is faster.
SELECT inline(filter(bids, b -> b.num = most))
FROM (
  SELECT starts, max(num) AS most, collect_list(struct(auction, num)) AS bids
  FROM (
    SELECT auction, count(*) AS num, window AS starts
    FROM bid
    GROUP BY auction, window(dateTime, '10 seconds', '2 seconds'))
  GROUP BY starts)
