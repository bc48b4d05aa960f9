SELECT q.seller,
  avg(q.final) OVER (
    PARTITION BY q.seller ORDER BY q.ended, q.id ROWS BETWEEN 10 PRECEDING AND CURRENT ROW) AS price
FROM (
  SELECT a.id, a.seller, max(b.price) AS final, max(b.dateTime) AS ended
  FROM auction AS a JOIN bid AS b ON a.id = b.auction
  WHERE b.dateTime BETWEEN a.dateTime AND a.expires
  GROUP BY a.id, a.seller) AS q
