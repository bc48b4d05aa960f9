SELECT Q.category, AVG(CAST(Q.final AS DOUBLE)) AS price
FROM (
  SELECT MAX(B.price) AS final, A.category
  FROM auction AS A, bid AS B
  WHERE A.id = B.auction AND B.`dateTime` BETWEEN A.`dateTime` AND A.expires
  GROUP BY A.id, A.category) AS Q
GROUP BY Q.category
