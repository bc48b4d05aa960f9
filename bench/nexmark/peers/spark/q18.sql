-- update
-- The latest structure of a pair instead of a ranking, which streams do not have.
SELECT auction, bidder, last.price, last.channel, last.url, last.dateTime, last.extra
FROM (
  SELECT auction, bidder, max(struct(dateTime, price, channel, url, extra)) AS last
  FROM bid
  GROUP BY bidder, auction)
