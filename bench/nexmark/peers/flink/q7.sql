SELECT B.auction, B.price, B.bidder, B.`dateTime`, B.extra
FROM bid AS B
JOIN (
  SELECT MAX(price) AS maxprice, window_end AS endtime
  FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(`dateTime`), INTERVAL '10' SECOND))
  GROUP BY window_start, window_end) AS B1
ON B.price = B1.maxprice
WHERE B.`dateTime` >= B1.endtime - INTERVAL '10' SECOND AND B.`dateTime` < B1.endtime
