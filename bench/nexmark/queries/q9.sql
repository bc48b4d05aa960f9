SELECT id, itemName, description, initialBid, reserve, opened, expires, seller, category,
  auction, bidder, price, bid_time, bid_extra
FROM (
  SELECT a.id, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime AS opened, a.expires,
    a.seller, a.category, b.auction, b.bidder, b.price, b.dateTime AS bid_time,
    b.extra AS bid_extra,
    row_number() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.dateTime) AS place
  FROM auction AS a JOIN bid AS b ON a.id = b.auction
  WHERE b.dateTime BETWEEN a.dateTime AND a.expires) AS ranked
WHERE place <= 1
