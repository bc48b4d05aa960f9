-- update
-- The ten greatest of an auction instead of a ranking, which streams do not have.
SELECT auction, bid.bidder, bid.price, bid.channel, bid.url, bid.dateTime, bid.extra,
  place + 1 AS place
FROM (
  SELECT auction, posexplode(best) AS (place, bid)
  FROM (
    SELECT auction,
      max_by(struct(bidder, price, channel, url, dateTime, extra),
        struct(price, -unix_micros(dateTime)), 10) AS best
    FROM bid
    GROUP BY auction))
