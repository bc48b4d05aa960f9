==== joins
SELECT * FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (y) RIGHT OUTER JOIN d ON TRUE FULL JOIN e ON d.z <=> e.z LEFT SEMI JOIN f ON f.x = a.x LEFT ANTI JOIN g ON g.x = a.x CROSS JOIN h NATURAL JOIN i
----
SELECT * FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (y) RIGHT OUTER JOIN d ON TRUE FULL JOIN e ON d.z IS NOT DISTINCT FROM e.z LEFT SEMI JOIN f ON f.x = a.x LEFT ANTI JOIN g ON g.x = a.x CROSS JOIN h NATURAL JOIN i
Query(tree=`SELECT * FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (y) RIGHT OUTER JOIN d ON TRUE FULL JOIN e ON d.z IS NOT DISTINCT FROM e.z LEFT SEMI JOIN f ON f.x = a.x LEFT ANTI JOIN g ON g.x = a.x CROSS JOIN h NATURAL JOIN i`)

==== grouping
SELECT a, b, count(*), sum(DISTINCT c), grouping(a) FROM t GROUP BY GROUPING SETS ((a), (a, b), ()) HAVING count(*) > 1;
SELECT a, max(b) FROM t GROUP BY ROLLUP (a, c); SELECT a FROM t GROUP BY CUBE (a, b); SELECT a, count(*) FROM t GROUP BY ALL;
SELECT a, count(*) FROM t GROUP BY a WITH ROLLUP
----
SELECT a, b, COUNT(*), SUM(DISTINCT c), GROUPING(a) FROM t GROUP BY GROUPING SETS ((a), (a, b), ()) HAVING COUNT(*) > 1
Query(tree=`SELECT a, b, COUNT(*), SUM(DISTINCT c), GROUPING(a) FROM t GROUP BY GROUPING SETS ((a), (a, b), ()) HAVING COUNT(*) > 1`)
SELECT a, MAX(b) FROM t GROUP BY ROLLUP (a, c)
Query(tree=`SELECT a, MAX(b) FROM t GROUP BY ROLLUP (a, c)`)
SELECT a FROM t GROUP BY CUBE (a, b)
Query(tree=`SELECT a FROM t GROUP BY CUBE (a, b)`)
SELECT a, COUNT(*) FROM t GROUP BY ALL
Query(tree=`SELECT a, COUNT(*) FROM t GROUP BY ALL`)
SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP
Query(tree=`SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP`)

==== set operations
SELECT a FROM s EXCEPT ALL SELECT a FROM t; SELECT a FROM s MINUS SELECT a FROM t; (SELECT a FROM s) INTERSECT ALL (SELECT a FROM t) ORDER BY a
----
SELECT a FROM s EXCEPT ALL SELECT a FROM t
Query(tree=`SELECT a FROM s EXCEPT ALL SELECT a FROM t`)
SELECT a FROM s EXCEPT SELECT a FROM t
Query(tree=`SELECT a FROM s EXCEPT SELECT a FROM t`)
(SELECT a FROM s) INTERSECT ALL (SELECT a FROM t) ORDER BY a
Query(tree=`(SELECT a FROM s) INTERSECT ALL (SELECT a FROM t) ORDER BY a`)

==== subqueries
SELECT * FROM t WHERE a IN (SELECT b FROM u) AND NOT EXISTS (SELECT 1 FROM v WHERE v.x = t.x) AND c > (SELECT max(d) FROM w) AND e NOT IN (1, 2) AND f = ANY (SELECT g FROM x)
----
SELECT * FROM t WHERE a IN (SELECT b FROM u) AND NOT EXISTS(SELECT 1 FROM v WHERE v.x = t.x) AND c > (SELECT MAX(d) FROM w) AND NOT e IN (1, 2) AND f = ANY (SELECT g FROM x)
Query(tree=`SELECT * FROM t WHERE a IN (SELECT b FROM u) AND NOT EXISTS(SELECT 1 FROM v WHERE v.x = t.x) AND c > (SELECT MAX(d) FROM w) AND NOT e IN (1, 2) AND f = ANY (SELECT g FROM x)`)

==== derived tables and common table expressions
WITH x (p, q) AS (SELECT 1, 2), y AS (SELECT * FROM x) SELECT * FROM (SELECT p FROM y) AS d (r) JOIN VALUES (1, 'a'), (2, 'b') AS v (i, s) ON d.r = v.i
----
WITH x(p, q) AS (SELECT 1, 2), y AS (SELECT * FROM x) SELECT * FROM (SELECT p FROM y) AS d(r) JOIN VALUES (1, 'a'), (2, 'b') AS v(i, s) ON d.r = v.i
Query(tree=`WITH x(p, q) AS (SELECT 1, 2), y AS (SELECT * FROM x) SELECT * FROM (SELECT p FROM y) AS d(r) JOIN VALUES (1, 'a'), (2, 'b') AS v(i, s) ON d.r = v.i`)

==== ranks
SELECT * FROM (SELECT a, row_number() OVER (PARTITION BY b ORDER BY c DESC NULLS LAST) AS rn, sum(d) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (PARTITION BY e)) WHERE rn <= 3
----
SELECT * FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC) AS rn, SUM(d) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (PARTITION BY e)) WHERE rn <= 3
Query(tree=`SELECT * FROM (SELECT a, ROW_NUMBER() OVER (PARTITION BY b ORDER BY c DESC) AS rn, SUM(d) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS (PARTITION BY e)) WHERE rn <= 3`)

==== expressions
SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END, CAST(a AS DECIMAL(10, 2)), a::INT, b.c[0].d, m['k'], -a, NOT b, a DIV 2, a % 2, a || b, a BETWEEN 1 AND 2, s LIKE 'a%', s RLIKE 'x', s IS NOT NULL, a <=> b, transform(xs, x -> x + 1), interval '1' day, DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00', 1.5BD, 10L, 0x, X'1F', if(a, b, c), named_struct('a', 1), array(1, 2), count(*) FILTER (WHERE a > 1), struct(a, b), map(1, 2) FROM t
----
SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END, CAST(a AS DECIMAL(10, 2)), CAST(a AS INT), b.c[0].d, m['k'], -a, NOT b, a DIV 2, a % 2, a || b, a BETWEEN 1 AND 2, s LIKE 'a%', s RLIKE 'x', NOT s IS NULL, a IS NOT DISTINCT FROM b, TRANSFORM(xs, x -> x + 1), INTERVAL '1' DAY, CAST('2020-01-01' AS DATE), CAST('2020-01-01 00:00:00' AS TIMESTAMP), CAST('1.5' AS DECIMAL(2, 1)), CAST(10 AS BIGINT), `0x`, X'1F', IF(a, b, c), STRUCT(1 AS a), ARRAY(1, 2), COUNT(*) FILTER(WHERE a > 1), STRUCT(a AS a, b AS b), MAP(1, 2) FROM t
Query(tree=`SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END, CAST(a AS DECIMAL(10, 2)), CAST(a AS INT), b.c[0].d, m['k'], -a, NOT b, a DIV 2, a % 2, a || b, a BETWEEN 1 AND 2, s LIKE 'a%', s RLIKE 'x', NOT s IS NULL, a IS NOT DISTINCT FROM b, TRANSFORM(xs, x -> x + 1), INTERVAL '1' DAY, CAST('2020-01-01' AS DATE), CAST('2020-01-01 00:00:00' AS TIMESTAMP), CAST('1.5' AS DECIMAL(2, 1)), CAST(10 AS BIGINT), `0x`, X'1F', IF(a, b, c), STRUCT(1 AS a), ARRAY(1, 2), COUNT(*) FILTER(WHERE a > 1), STRUCT(a AS a, b AS b), MAP(1, 2) FROM t`)

==== top k
SELECT a, b FROM t ORDER BY b DESC, a LIMIT 10 OFFSET 2
----
SELECT a, b FROM t ORDER BY b DESC, a LIMIT 10 OFFSET 2
Query(tree=`SELECT a, b FROM t ORDER BY b DESC, a LIMIT 10 OFFSET 2`)

==== rows
VALUES (1, 'a'), (2, 'b')
----
VALUES (1, 'a'), (2, 'b')
Query(tree=`VALUES (1, 'a'), (2, 'b')`)

==== lateral views and tables
SELECT a, x FROM t LATERAL VIEW explode(xs) e AS x; SELECT * FROM t, LATERAL (SELECT t.a + 1 AS b); SELECT * FROM range(10); SELECT * FROM explode(array(1, 2)) AS e (x)
----
SELECT a, x FROM t LATERAL VIEW EXPLODE(xs) e AS x
Query(tree=`SELECT a, x FROM t LATERAL VIEW EXPLODE(xs) e AS x`)
SELECT * FROM t CROSS JOIN LATERAL (SELECT t.a + 1 AS b)
Query(tree=`SELECT * FROM t CROSS JOIN LATERAL (SELECT t.a + 1 AS b)`)
SELECT * FROM RANGE(10)
Query(tree=`SELECT * FROM RANGE(10)`)
SELECT * FROM EXPLODE(ARRAY(1, 2)) AS e(x)
Query(tree=`SELECT * FROM EXPLODE(ARRAY(1, 2)) AS e(x)`)

==== stars
SELECT t.*, * EXCEPT (a) FROM t
----
SELECT t.*, * EXCEPT (a) FROM t
Query(tree=`SELECT t.*, * EXCEPT (a) FROM t`)

==== pivots
SELECT * FROM t PIVOT (sum(a) AS s FOR b IN (1, 2)); SELECT * FROM t UNPIVOT (v FOR k IN (a, b))
----
SELECT * FROM t PIVOT(SUM(a) AS s FOR b IN (1, 2))
Query(tree=`SELECT * FROM t PIVOT(SUM(a) AS s FOR b IN (1, 2))`)
SELECT * FROM t UNPIVOT(v FOR k IN (a, b))
Query(tree=`SELECT * FROM t UNPIVOT(v FOR k IN (a, b))`)

==== samples
SELECT * FROM t TABLESAMPLE (10 PERCENT)
----
SELECT * FROM t TABLESAMPLE (10 PERCENT)
Query(tree=`SELECT * FROM t TABLESAMPLE (10 PERCENT)`)

==== from first, pipes
FROM t |> WHERE a > 1 |> AGGREGATE count(*) GROUP BY b; TABLE t
----
WITH __tmp1 AS (SELECT b, COUNT(*) FROM t WHERE a > 1 GROUP BY b) SELECT * FROM __tmp1
Query(tree=`WITH __tmp1 AS (SELECT b, COUNT(*) FROM t WHERE a > 1 GROUP BY b) SELECT * FROM __tmp1`)
SELECT * FROM t
Query(tree=`SELECT * FROM t`)

==== names with three parts
SELECT c.d.t.a FROM c.d.t
----
SELECT c.d.t.a FROM c.d.t
Query(tree=`SELECT c.d.t.a FROM c.d.t`)

==== functions whose names are words
SELECT left(a, 1), right(a, 1), replace(a, 'x', 'y'), date(a), year(a), first(a), any(b), some(b), every(b), position('a' IN b), trim(BOTH 'x' FROM a), substring(a FROM 1 FOR 2), extract(YEAR FROM d), overlay(a PLACING 'b' FROM 1), percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t
----
SELECT LEFT(a, 1), RIGHT(a, 1), REPLACE(a, 'x', 'y'), CAST(a AS DATE), YEAR(a), FIRST(a), ANY(b), SOME(b), EVERY(b), LOCATE('a', b), TRIM(BOTH 'x' FROM a), SUBSTRING(a, 1, 2), EXTRACT(YEAR FROM d), OVERLAY(a PLACING 'b' FROM 1), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) FROM t
Query(tree=`SELECT LEFT(a, 1), RIGHT(a, 1), REPLACE(a, 'x', 'y'), CAST(a AS DATE), YEAR(a), FIRST(a), ANY(b), SOME(b), EVERY(b), LOCATE('a', b), TRIM(BOTH 'x' FROM a), SUBSTRING(a, 1, 2), EXTRACT(YEAR FROM d), OVERLAY(a PLACING 'b' FROM 1), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) FROM t`)
