SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid AS b
JOIN (
  SELECT max(price) AS most, window.end AS ends
  FROM bid
  GROUP BY window(dateTime, '10 seconds')) AS m
  ON b.price = m.most
WHERE b.dateTime >= m.ends - INTERVAL 10 SECONDS AND b.dateTime < m.ends
