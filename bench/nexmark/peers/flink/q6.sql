-- As a ranking: the published query, an OVER window on updates, is refused.
SELECT seller, AVG(CAST(final AS DOUBLE)) AS price
FROM (
  SELECT seller, final,
    ROW_NUMBER() OVER (PARTITION BY seller ORDER BY expires DESC, id DESC) AS place
  FROM (
    SELECT A.id, A.seller, A.expires, MAX(B.price) AS final
    FROM auction AS A, bid AS B
    WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
    GROUP BY A.id, A.seller, A.expires))
WHERE place <= 10
GROUP BY seller
