-- TABLE a (k INT, v INT, l ARRAY<INT>, m MAP<STRING, INT>, t INT): (1, 10, array(1), map('a', 1), 1), (1, NULL, NULL, NULL, 2), (NULL, 30, array(), map(), 3)
-- TABLE b (k INT, t INT): (1, 1), (2, 9)

-- cases that random queries found
SELECT CAST(array() AS ARRAY<INT>) AS x, k FROM a;
SELECT CAST(map() AS MAP<STRING, INT>) AS x, k FROM a;
-- REFUSED
SELECT coalesce(l, array()) AS x, size(array()) AS y FROM a;
-- REFUSED
SELECT coalesce(m, map()) AS x, size(map()) AS y FROM a;
-- REFUSED
SELECT array() AS x FROM a;
-- REFUSED
SELECT map() AS x, k FROM a;
SELECT k FROM a WHERE coalesce(named_struct('p', k) IN (SELECT named_struct('p', 1) FROM a), false);
SELECT CASE WHEN k = 1 THEN named_struct('p', k) ELSE named_struct('p', 7) END AS r, count(*) AS c FROM a GROUP BY 1;
SELECT named_struct('p', 7) AS r UNION SELECT named_struct('p', k) FROM a;
SELECT array(7) AS r UNION ALL SELECT l FROM a;
SELECT * FROM a LEFT ANTI JOIN (SELECT 2 AS t) AS b USING (t);
SELECT * FROM a LEFT SEMI JOIN (SELECT 2 AS t, 1 AS k) AS b USING (t, k);
SELECT * FROM a LEFT JOIN (SELECT 2 AS t) AS b USING (t);
SELECT * FROM a RIGHT JOIN (SELECT 2 AS t) AS b USING (t);
FROM a |> ORDER BY t |> LIMIT 1 |> WHERE t > 1 |> SELECT t;
FROM a |> ORDER BY t DESC |> LIMIT 2 |> AGGREGATE count(*) AS c, min(t) AS m;
FROM a |> ORDER BY t |> LIMIT 2 |> SELECT t, k;
FROM a |> WHERE k = 1 |> FULL JOIN b ON a.t = b.t |> SELECT a.t;
SELECT (k * -0e0) AS z, count(*) AS c FROM a GROUP BY 1;
