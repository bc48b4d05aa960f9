-- append, watermark on dateTime
SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid AS b
JOIN (
  SELECT most, window_time(window) AS last
  FROM (SELECT max(price) AS most, window FROM bid GROUP BY window(dateTime, '10 seconds'))) AS m
  ON b.price = m.most
  AND b.dateTime > m.last - INTERVAL 10 SECONDS AND b.dateTime <= m.last
