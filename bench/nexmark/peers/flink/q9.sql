SELECT id, itemName, description, initialBid, reserve, opened, expires, seller, category,
  auction, bidder, price, bid_time, bid_extra
FROM (
  SELECT A.id, A.itemName, A.description, A.initialBid, A.reserve, A.`dateTime` AS opened,
    A.expires, A.seller, A.category, B.auction, B.bidder, B.price, B.`dateTime` AS bid_time,
    B.extra AS bid_extra,
    ROW_NUMBER() OVER (PARTITION BY A.id ORDER BY B.price DESC, B.`dateTime` ASC) AS rownum
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires)
WHERE rownum <= 1
