-- append, watermark on expires
-- The greatest structure of an auction instead of a ranking, which streams do not have.
SELECT id, itemName, description, initialBid, reserve, opened, expires, seller, category,
  best.auction, best.bidder, best.price, best.bid_time, best.bid_extra
FROM (
  SELECT a.id, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime AS opened, a.expires,
    a.seller, a.category,
    max_by(
      struct(b.auction, b.bidder, b.price, b.dateTime AS bid_time, b.extra AS bid_extra),
      struct(b.price, -unix_micros(b.dateTime))) AS best
  FROM auction AS a JOIN bid AS b
    ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.itemName, a.description, a.initialBid, a.reserve, a.dateTime, a.expires,
    a.seller, a.category)
