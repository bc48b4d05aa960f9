SELECT seller, avg(final) AS price
FROM (
  SELECT seller, final,
    row_number() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) AS place
  FROM (
    SELECT a.id, a.seller, a.expires, max(b.price) AS final
    FROM auction AS a JOIN bid AS b ON a.id = b.auction
    WHERE b.dateTime BETWEEN a.dateTime AND a.expires AND a.expires < NOW()
    GROUP BY a.id, a.seller, a.expires) AS closed) AS ranked
WHERE place <= 10
GROUP BY seller
