CREATE VIEW highest AS
SELECT max(price) AS most, window.end AS ends
FROM bid
GROUP BY window(dateTime, '10 seconds')
EMIT FINAL;

SELECT b.auction, b.price, b.bidder, b.dateTime, b.extra
FROM bid AS b
JOIN highest AS h ON b.price = h.most
WHERE b.dateTime >= h.ends - INTERVAL 10 SECONDS AND b.dateTime < h.ends
