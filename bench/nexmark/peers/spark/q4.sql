-- append, watermark on expires
-- The highest bids only: an average over them would be an aggregate of an aggregate.
SELECT a.category, max(b.price) AS final
FROM auction AS a JOIN bid AS b
  ON a.id = b.auction AND b.dateTime BETWEEN a.dateTime AND a.expires
GROUP BY a.id, a.category, a.expires
