-- Pipes, and the order that a LIMIT goes by.
-- TABLE r (a INT, b STRING, c DOUBLE, m MAP<STRING, INT>, t BIGINT): (1, 'x', 1.5, map('a', 1), 1), (2, 'y', 2.0, NULL, 2), (NULL, 'x', NULL, map('b', 2), 3), (1, NULL, 0.5, map('a', 1, 'b', 2), 4)
-- TABLE s (a INT, d INT, b STRING, u BIGINT): (1, 10, 'x', 1), (1, 20, 'y', 2), (3, 30, NULL, 3), (NULL, 40, 'x', 4)

-- the relations of FROM keep their names
FROM r AS x |> EXTEND x.a + 1 AS z |> WHERE x.b = 'x' |> SELECT x.a, z, x.b;
FROM r |> EXTEND a + 1 AS z |> WHERE r.b = 'x' |> SELECT r.a, z |> WHERE r.a IS NOT NULL;
FROM r AS x JOIN s AS y ON x.a = y.a |> EXTEND x.a + y.d AS z |> WHERE x.b IS NULL OR y.b = 'y' |> SELECT x.a AS xa, y.a AS ya, z;
FROM r AS x |> WHERE x.a = 1 |> AGGREGATE count(*) AS n GROUP BY x.b |> SELECT x.b, n;
FROM r AS x |> EXTEND 1 AS one |> AGGREGATE count(*) AS n GROUP BY x.b AS g |> SELECT g, n;
FROM r AS x |> EXTEND a * 2 AS e |> SELECT x.*;
FROM r |> AS q |> JOIN s AS y ON q.a = y.a |> SELECT q.t, y.d;
FROM r |> AS q |> EXTEND q.a + 1 AS z |> WHERE q.a = 1 |> SELECT z;
-- every step sees what the one before left
FROM r |> SELECT a, b |> SELECT DISTINCT a;
FROM r AS x |> WHERE x.a = 1 |> RIGHT JOIN s AS y ON x.b = y.b |> SELECT x.a AS xa, y.d;
FROM r AS x |> WHERE x.a = 1 |> FULL JOIN s AS y ON x.b = y.b |> SELECT x.a AS xa, y.d;
FROM r AS x |> WHERE x.a = 1 |> LEFT JOIN s AS y ON x.b = y.b |> SELECT x.a AS xa, y.d;
FROM r |> SELECT a |> UNION ALL (SELECT d FROM s) |> WHERE a > 1;
FROM r |> DROP m, c |> WHERE a = 1;
FROM r |> ORDER BY t |> LIMIT 3 |> LIMIT 2 |> SELECT t;
FROM r |> ORDER BY t DESC |> LIMIT 2 OFFSET 1 |> SELECT t;
FROM r |> ORDER BY t |> LIMIT 1 + 1 |> SELECT t;
-- REFUSED
FROM r |> SELECT a FROM s;
-- REFUSED
FROM r |> SELECT a WHERE a = 1;
-- REFUSED
FROM r |> SET a = a + 1;

-- a number after AGGREGATE ... GROUP BY is that of a column of what is grouped
FROM r |> AGGREGATE count(*) AS n GROUP BY 1;
FROM r |> AGGREGATE count(*) AS n GROUP BY 2, (1) |> WHERE b = 'x' |> SELECT n, a;
FROM r |> EXTEND t + 1 AS z |> AGGREGATE max(c) AS n GROUP BY 6;
FROM r |> SELECT b, a |> AGGREGATE sum(a) AS n GROUP BY 1 |> AGGREGATE sum(n) AS q GROUP BY 1;
FROM r AS x JOIN s AS y ON x.a = y.a |> AGGREGATE count(*) AS n GROUP BY 6 |> SELECT a, n;
FROM r JOIN s USING (a) |> AGGREGATE count(*) AS n GROUP BY 1;
FROM s FULL JOIN r USING (a, b) |> AGGREGATE count(*) AS n GROUP BY 2, 1;
FROM r |> AS q |> AGGREGATE count(*) AS n GROUP BY 2 |> SELECT q.b, n;
FROM r |> AGGREGATE GROUP BY 2;
SELECT t, (FROM s |> AGGREGATE count(*) AS n GROUP BY 1 |> AGGREGATE max(n) AS q) AS q FROM r;
SELECT t FROM r WHERE a IN (FROM s |> AGGREGATE count(*) AS n GROUP BY 4 |> SELECT n);
FROM r |> AGGREGATE max(a) AS n GROUP BY 1 + 1 AS g;
FROM r |> AGGREGATE max(a) AS n GROUP BY 2 AS g;
FROM r |> AGGREGATE max(a) AS n GROUP BY 1.5;
-- REFUSED
FROM r |> AGGREGATE count(*) AS n GROUP BY 0;
-- REFUSED
FROM r |> AGGREGATE count(*) AS n GROUP BY 6;
-- REFUSED
FROM r |> AGGREGATE count(*) AS n GROUP BY -1;
-- REFUSED
FROM r |> AGGREGATE count(*) AS n GROUP BY ROLLUP(1, 2);
-- REFUSED
FROM r |> AGGREGATE count(*) AS n GROUP AND ORDER BY b;

-- a pipe goes on with the answer of the query before it
SELECT DISTINCT b FROM r |> AGGREGATE count(*) AS n;
SELECT DISTINCT b FROM r |> EXTEND 1 AS o;
SELECT a AS z FROM r |> AGGREGATE count(*) AS n GROUP BY z;
SELECT a, t FROM r |> AGGREGATE count(*) AS n GROUP BY 2;
SELECT b, count(*) AS n FROM r GROUP BY b |> AGGREGATE count(*) AS q;
SELECT b, count(*) AS n FROM r GROUP BY b |> WHERE n > 1;
SELECT max(a) AS q FROM r |> SELECT q + 1 AS w;
SELECT a, sum(t) OVER (PARTITION BY b) AS q FROM r |> WHERE a = 1;
SELECT a, rank() OVER (ORDER BY t) AS q FROM r QUALIFY q > 1 |> WHERE a = 1;
(SELECT b, t FROM r ORDER BY t LIMIT 2) |> WHERE t > 1;
SELECT b, t FROM r |> ORDER BY t |> LIMIT 2 |> WHERE t > 1;
SELECT b FROM r UNION ALL SELECT b FROM s |> AGGREGATE count(*) AS n;
SELECT b FROM r |> AGGREGATE count(*) AS n |> UNION ALL (SELECT 7);
SELECT t, b FROM r |> WHERE b = 'x' ORDER BY t DESC LIMIT 1;
SELECT x.b FROM r AS x |> WHERE x.b = 'x';
SELECT b FROM r WHERE a = 1 |> JOIN s AS y ON r.b = y.b |> SELECT y.d;
SELECT * FROM (SELECT DISTINCT b FROM r |> AGGREGATE count(*) AS n) AS z;
WITH w AS (SELECT DISTINCT b FROM r) SELECT DISTINCT b FROM w |> AGGREGATE count(*) AS n;
-- REFUSED
SELECT a AS q FROM r AS x |> WHERE x.b = 'x';
-- REFUSED
SELECT b FROM r WHERE a = 1 |> SELECT a;
-- REFUSED
SELECT b FROM r |> AGGREGATE count(*) AS n UNION ALL SELECT 7;

-- a LIMIT goes by the ORDER BY of what it reads
FROM r |> ORDER BY t DESC |> SELECT t, a |> LIMIT 2;
FROM r |> ORDER BY t DESC |> EXTEND a + 1 AS z |> LIMIT 1 |> SELECT t, z;
FROM r |> ORDER BY t DESC |> LIMIT 3 |> SELECT t AS q |> LIMIT 1 OFFSET 1;
SELECT t FROM (SELECT t, a FROM r ORDER BY t DESC) LIMIT 2;
SELECT * FROM (SELECT t, a FROM r ORDER BY t DESC LIMIT 3) LIMIT 2 OFFSET 2;
WITH w AS (SELECT t, a FROM r ORDER BY t DESC) SELECT a, t FROM w LIMIT 2;
(SELECT t FROM r ORDER BY t DESC LIMIT 3) LIMIT 2;
SELECT count(*) AS n FROM (SELECT t FROM r ORDER BY t DESC) LIMIT 2;
FROM r |> ORDER BY t DESC |> WHERE a = 1 |> SELECT t |> LIMIT 1;
-- REFUSED
FROM r |> ORDER BY t DESC |> SELECT t, a |> WHERE a = 1 |> LIMIT 1;
-- REFUSED
SELECT t FROM (SELECT t, a FROM r ORDER BY t DESC) WHERE a = 1 LIMIT 2;
-- REFUSED
WITH w AS (SELECT t FROM r ORDER BY t DESC) SELECT t FROM w WHERE t IN (SELECT t FROM w) LIMIT 2;

-- a name in ORDER BY is a column of the select list first
SELECT -a AS a, t FROM r WHERE a IS NOT NULL ORDER BY a + 0, t LIMIT 1;
SELECT -t AS t, a FROM r ORDER BY t + 0 LIMIT 1;
SELECT -t AS t, a FROM r ORDER BY abs(t) DESC LIMIT 1;
SELECT -t AS t, count(*) AS n FROM r GROUP BY t ORDER BY t + 0 LIMIT 1;
SELECT max(t) AS n, b FROM r GROUP BY b ORDER BY max(t) LIMIT 1;
-- REFUSED
SELECT a, b AS a FROM r ORDER BY a LIMIT 1;

-- rows that are written out can be joined in parentheses
SELECT v.n, r.b FROM (VALUES (1), (2) AS v(n) JOIN r ON v.n = r.a);
SELECT v.n, r.b FROM r JOIN ((VALUES (1), (2)) AS v(n) LEFT JOIN s ON v.n = s.a) ON v.n = r.a;

-- constants are keys like others where there are grouping sets
SELECT 'k' AS k, a, count(*) AS n FROM r GROUP BY 1, CUBE(2);
SELECT 'k' AS k, a, count(*) AS n FROM r GROUP BY CUBE(1, 2);
SELECT TRUE AS k, a, count(*) AS n FROM r GROUP BY CUBE(k, a);
SELECT 8 AS k, CAST(sum(c) AS DECIMAL(8, 2)) AS n FROM r GROUP BY ROLLUP(k, a);
SELECT CAST(NULL AS INT) AS k, a, count(*) AS n FROM r GROUP BY GROUPING SETS ((k), (a), (k, a));

-- functions under all their names, and with no argument unread
SELECT any((t <= a)) AS q, some((a = 1)) AS w, every((a > 0 OR b IS NULL)) AS e FROM r;
SELECT any(a = 1) FILTER (WHERE t > 1) AS q, any(DISTINCT a = 2) AS p FROM r;
SELECT b LIKE ANY ('x%', 'z') AS q FROM r WHERE b IS NOT NULL;
SELECT concat_ws(',', b, 'z') AS q, to_char(t, '999') AS w FROM r;
SELECT max_by((CAST(a AS INT) % 3), t) AS q FROM r;
-- REFUSED
SELECT mean() AS q FROM r;
-- REFUSED
SELECT std(a, c) AS q FROM r;
-- REFUSED
SELECT every(a = 1, t = 1) AS q FROM r;
-- REFUSED
SELECT any() AS q FROM r;

-- ranks are whole numbers of Spark's type
SELECT rank() OVER (ORDER BY t) AS q, dense_rank() OVER (ORDER BY b) AS w, row_number() OVER (ORDER BY t) + 1 AS e FROM r;
SELECT n FROM (SELECT row_number() OVER (PARTITION BY b ORDER BY t) AS n, t FROM r) WHERE n <= 1;

-- a row with a map that no query reads
SELECT a, (SELECT count(*) + 1 FROM s WHERE s.a <=> r.a AND s.d > 10) AS n FROM r;
SELECT a FROM r WHERE EXISTS (SELECT count(*) FROM s WHERE s.a <=> r.a HAVING count(*) = 0);
SELECT a FROM r WHERE a + 0 NOT IN (SELECT s.a FROM s WHERE s.b = r.b AND FALSE);
SELECT t, (SELECT count(*) FROM s WHERE s.a <= r.m['a']) AS n FROM r;
