-- TABLE a (k INT, v INT, s STRING, d DECIMAL(6,2), t INT): (1, 10, 'x', 1.50, 1), (1, NULL, 'y', 2.25, 2), (2, 20, NULL, NULL, 3), (NULL, 30, 'x', 1.50, 4), (3, 5, 'z', 7.00, 5), (3, 5, 'z', 7.00, 6)
-- TABLE b (k INT, w INT, u INT): (1, 10, 1), (1, 20, 2), (2, NULL, 3), (NULL, 30, 4), (4, 5, 5)
-- TABLE c (w INT, x STRING, y INT): (10, 'p', 1), (5, 'q', 2), (NULL, 'r', 3)
-- TABLE e (k INT, w INT, u INT):
-- TABLE n (m MAP<STRING, INT>, l ARRAY<INT>, r STRUCT<p: INT, q: STRING>, i INT): (map('a', 1, 'b', 2), array(1, 2), named_struct('p', 1, 'q', 'x'), 1), (map('b', 2, 'a', 1), array(1, 2), named_struct('p', 1, 'q', 'x'), 2), (map('a', NULL), array(2, NULL), named_struct('p', NULL, 'q', 'x'), 3), (NULL, NULL, NULL, 4), (map(), array(), named_struct('p', NULL, 'q', NULL), 5)

-- aggregates with their options
SELECT count(DISTINCT k, v) AS c FROM a;
SELECT count(DISTINCT (k, v)) AS c FROM a;
SELECT count(DISTINCT 1) AS c FROM a;
SELECT count(DISTINCT 1) AS c, count(DISTINCT 'x') AS d, count(DISTINCT NULL) AS f FROM e;
SELECT count(1) AS c, count(NULL) AS d, count(DISTINCT NULL) AS f, count('x') AS g FROM a;
SELECT count(k, v) AS c FROM a;
SELECT count(DISTINCT k, v, s) AS c, count(DISTINCT k) AS d FROM a;
SELECT k, count(DISTINCT v, s) AS c FROM a GROUP BY k;
SELECT count(DISTINCT struct(k, v)) AS c FROM a;
SELECT count((k, v)) AS c FROM a;
SELECT count(DISTINCT k, v) FILTER (WHERE t > 2) AS c FROM a;
SELECT count(DISTINCT 1) FILTER (WHERE t > 20) AS c FROM a;
-- REFUSED
SELECT count(DISTINCT *) AS c FROM a;
SELECT count(DISTINCT d) AS c, sum(DISTINCT d) AS f, avg(DISTINCT d) AS g FROM a;
SELECT sum(1) AS a, max(1) AS b, min('x') AS c, avg(2) AS d FROM a;
SELECT sum(1) AS a, max(1) AS b, min('x') AS c, avg(2) AS d FROM e;
SELECT sum(DISTINCT v) AS a, avg(DISTINCT v) AS b, min(DISTINCT v) AS c FROM a;
SELECT min_by(s, v) AS c, max_by(s, v) AS d FROM a;
SELECT k, min_by(t, v) AS c, max_by(t, v) AS d FROM a WHERE t < 6 GROUP BY k;
SELECT min_by(v, k) AS c FROM a WHERE t IN (2, 3, 4);
SELECT max_by(v, t) AS c, min_by(v, -t) AS d FROM a WHERE t < 3;
SELECT max_by(s, v) FILTER (WHERE t > 3 AND t < 6) AS c FROM a;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v) AS c FROM a;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v DESC) AS c, percentile_disc(0.25) WITHIN GROUP (ORDER BY v DESC) AS d, percentile_disc(0.75) WITHIN GROUP (ORDER BY v DESC) AS f FROM a;
SELECT percentile_disc(0) WITHIN GROUP (ORDER BY v DESC) AS c, percentile_disc(1) WITHIN GROUP (ORDER BY v DESC) AS d FROM a;
SELECT k, percentile_disc(0.5) WITHIN GROUP (ORDER BY v DESC) AS c FROM a GROUP BY k;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY v DESC) AS c FROM a WHERE t < 5 AND v IS NOT NULL;
SELECT percentile_disc(0.3) WITHIN GROUP (ORDER BY v DESC) + 1 AS c FROM a HAVING percentile_disc(0.3) WITHIN GROUP (ORDER BY v DESC) > 1;
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY d DESC) AS c FROM a;
SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY v DESC) AS c FROM a;
SELECT percentile(v, 0.3) AS c, median(v) AS d FROM a;
SELECT avg(d) AS a, sum(d) AS b, max(d) AS c FROM a;
SELECT try_sum(v) AS c, try_avg(v) AS d, try_sum(DISTINCT d) AS f, try_avg(d) AS g FROM a;
SELECT k, try_sum(9223372036854775700 + v) AS c, TRY_SUM(d) FILTER (WHERE t > 2) AS f FROM a GROUP BY k;
SELECT k, try_sum(CAST(60000000000000000000000000000000000000 AS DECIMAL(38, 0))) AS c FROM a GROUP BY k;
SELECT try_sum(v) AS c, try_avg(d) AS f FROM e JOIN a ON e.k = a.k;
-- REFUSED
SELECT try_sum(s) AS c FROM a;
-- REFUSED
SELECT try_avg(v, t) AS c FROM a;
SELECT stddev(v) AS a, var_pop(v) AS b FROM a WHERE k = 2;
SELECT sort_array(collect_set(k)) AS a, sort_array(collect_list(v)) AS b FROM a;
SELECT any_value(k) AS a FROM a WHERE k = 1;
-- REFUSED
SELECT count() AS c FROM a;
-- REFUSED
SELECT sum() AS c FROM a;
-- REFUSED
SELECT max_by(v) AS c FROM a;
-- HAVING, ordinals, aliases
SELECT 1 AS x FROM a HAVING count(*) > 1;
SELECT 1 AS x FROM e HAVING count(*) = 0;
SELECT 1 AS x FROM a HAVING true;
SELECT 1 AS x FROM e HAVING true;
SELECT k AS g, count(*) AS c FROM a GROUP BY 1;
SELECT k AS g, count(*) AS c FROM a GROUP BY g ORDER BY c DESC, 1 LIMIT 2;
SELECT k + 1 AS k, count(*) AS c FROM a GROUP BY k;
SELECT v AS k, count(*) AS c FROM a GROUP BY v, a.k;
SELECT 'x' AS k, count(*) AS c FROM e GROUP BY 1;
SELECT 'x' AS k, count(*) AS c FROM a GROUP BY 'x';
SELECT count(*) AS c FROM e GROUP BY 'x';
SELECT sum(v) AS c FROM a GROUP BY k HAVING c > 5;
SELECT k AS v, v AS k FROM a ORDER BY v, k LIMIT 3;
SELECT DISTINCT k FROM a ORDER BY k DESC LIMIT 2;
FROM a |> AGGREGATE count(*) AS c GROUP BY k;
FROM a |> AGGREGATE count(*) AS c GROUP BY 1;
FROM a |> AGGREGATE sum(v) AS x, count(*) AS c GROUP BY 2, s;
VALUES (1.5), (2e0), (3);
-- REFUSED
VALUES ('b', 'a'), (2, 1);
-- REFUSED
VALUES (DATE'2024-01-01'), ('2024-01-02');
FROM a |> AGGREGATE count(*) AS c;
FROM a |> AGGREGATE count(*) AS c GROUP BY k + 1 AS g;
FROM a |> WHERE k = 1 |> SELECT v, t |> AGGREGATE max(t) AS m GROUP BY v;
SELECT k + 1 AS g, count(*) AS c FROM a GROUP BY g;
SELECT count_if(v > 5) AS a, bool_and(v > 5) AS b, bool_or(v > 5) AS c FROM a;
SELECT k, v FROM a ORDER BY 2 DESC, 1 LIMIT 2 OFFSET 1;
SELECT (k + 1) * 2 AS g, count(*) AS c FROM a GROUP BY (k + 1) * 2;
-- joins in parentheses
SELECT * FROM ((a) JOIN b ON a.k = b.k);
SELECT * FROM ((a JOIN b ON a.k = b.k) CROSS JOIN c);
SELECT * FROM (a JOIN b ON a.k = b.k) JOIN c ON b.w = c.w;
SELECT * FROM a JOIN (b JOIN c ON b.w = c.w) ON a.k = b.k;
SELECT * FROM a LEFT JOIN (b JOIN c ON b.w = c.w) ON a.k = b.k;
SELECT * FROM a LEFT JOIN ((b) LEFT JOIN (c) ON b.w = c.w) ON a.k = b.k;
SELECT * FROM (((a LEFT JOIN b ON a.k = b.k)) JOIN c ON b.w = c.w);
SELECT * FROM ((SELECT k, v FROM a) x JOIN b ON x.k = b.k);
SELECT * FROM ((SELECT k, v FROM a) x JOIN (b) ON x.k = b.k) LEFT JOIN ((c)) ON c.w = b.w;
SELECT x.w FROM ((b)) AS x;
SELECT * FROM ((a) LEFT JOIN b USING (k));
SELECT * FROM ((a) NATURAL JOIN b);
SELECT k, v, w FROM ((a) FULL JOIN b USING (k));
SELECT a.k, b.k, k FROM a FULL JOIN b USING (k);
SELECT k, v, w FROM a RIGHT JOIN b USING (k);
SELECT * FROM a RIGHT JOIN b USING (k) LEFT JOIN c USING (w);
SELECT * FROM (a FULL JOIN b USING (k)) FULL JOIN e USING (k);
SELECT * FROM (a LEFT SEMI JOIN b ON a.k = b.k) CROSS JOIN c;
SELECT * FROM ((a LEFT ANTI JOIN b USING (k)));
SELECT count(*) AS n FROM (a CROSS JOIN (b CROSS JOIN c));
SELECT * FROM (VALUES (1, 2)) AS x (p, q) JOIN (a) ON a.k = x.p;
SELECT * FROM (((SELECT k FROM a)));
SELECT * FROM ((SELECT k FROM a) UNION ALL (SELECT w FROM b));
(SELECT k FROM a) ORDER BY k LIMIT 2;
(SELECT k FROM a ORDER BY k DESC LIMIT 3) ORDER BY k LIMIT 1;
SELECT * FROM ((SELECT k FROM a) ORDER BY k LIMIT 2);
-- names
SELECT * FROM a AS x (kk, vv, ss, dd, tt);
SELECT kk, tt FROM a AS x (kk, vv, ss, dd, tt) WHERE x.tt > 2;
SELECT x.p FROM b x (p, q, r) JOIN b y (f, g, h) ON p = f;
SELECT x.k FROM (SELECT k, v FROM a) x;
-- REFUSED
SELECT k FROM (SELECT k, k FROM a) x;
SELECT v FROM (SELECT k, k, v FROM a) x;
SELECT p + q AS c FROM (SELECT k, k FROM a) x (p, q);
SELECT count(*) AS c FROM (SELECT a.k, b.k FROM a, b WHERE a.k = b.k) x;
SELECT count(*) AS c FROM (SELECT * FROM a JOIN b ON a.k = b.k);
WITH q AS (SELECT k, k FROM a) SELECT count(*) AS c FROM q;
-- set operations
SELECT k FROM a UNION SELECT w FROM b INTERSECT SELECT w FROM c;
(SELECT k FROM a UNION SELECT w FROM b) INTERSECT SELECT w FROM c;
SELECT k FROM a EXCEPT (SELECT k FROM b UNION ALL SELECT w FROM c);
SELECT k FROM a EXCEPT ALL SELECT k FROM b;
SELECT k, v FROM a INTERSECT SELECT k, w FROM b;
SELECT k FROM a UNION ALL (SELECT k FROM b ORDER BY k DESC LIMIT 1);
SELECT d FROM a UNION SELECT w FROM b;
SELECT NULL AS k UNION ALL SELECT k FROM a;
-- nested types
SELECT m FROM n;
SELECT l, r FROM n;
SELECT DISTINCT l, r FROM n;
SELECT l, count(*) AS c FROM n GROUP BY l;
SELECT r, count(*) AS c FROM n GROUP BY r;
SELECT m, count(*) AS c FROM n GROUP BY m;
SELECT m AS mm, size(m) AS z, count(*) AS c FROM n GROUP BY m;
SELECT array(1, 2) AS x, i FROM n;
SELECT * FROM VALUES (array(1, 2), 1) AS x (p, q);
SELECT size(m) AS z, count(*) AS c FROM n GROUP BY size(m);
SELECT count(DISTINCT l) AS c, count(DISTINCT r) AS d FROM n;
SELECT max(l) AS c, min(r) AS d FROM n;
SELECT x.i, y.i AS j FROM n x JOIN n y ON x.l = y.l;
SELECT x.i, y.i AS j FROM n x JOIN n y ON x.r = y.r;
SELECT x.i, y.i AS j FROM n x JOIN n y ON x.r <=> y.r AND x.l <=> y.l;
SELECT l FROM n UNION SELECT l FROM n;
SELECT l FROM n EXCEPT SELECT array(1, 2);
SELECT i FROM n WHERE l IN (SELECT l FROM n WHERE i = 1);
SELECT max_by(l, i) AS c, min_by(r, i) AS d, max_by(m, i) AS f FROM n;
SELECT i, collect_list(r) AS c FROM n GROUP BY i;
-- REFUSED
SELECT DISTINCT m FROM n;
-- REFUSED
SELECT m FROM n UNION SELECT m FROM n;
-- REFUSED
SELECT m FROM n EXCEPT SELECT m FROM n;
-- REFUSED
SELECT count(DISTINCT m) AS c FROM n;
-- REFUSED
SELECT max(m) AS c FROM n;
-- REFUSED
SELECT i FROM n ORDER BY m LIMIT 1;
-- REFUSED
SELECT x.i FROM n x JOIN n y ON x.m = y.m;
-- NULLs
SELECT a.t, b.u FROM a JOIN b ON a.k <=> b.k;
SELECT a.t, b.u FROM a LEFT JOIN b ON a.k = b.k AND a.k <=> NULL;
SELECT a.t, b.u FROM a JOIN b ON a.k IS NOT DISTINCT FROM b.k WHERE NOT (a.v <=> 10);
SELECT t FROM a WHERE k <=> NULL;
SELECT t FROM a WHERE k IS NOT DISTINCT FROM NULL;
SELECT t FROM a WHERE NOT (k <=> NULL);
SELECT t FROM a WHERE k IS DISTINCT FROM 1;
SELECT t FROM a WHERE k = NULL OR v = 5;
SELECT t, k <=> v AS f, k = NULL AS g, NULL <=> NULL AS h FROM a;
SELECT t FROM a WHERE k NOT IN (1, NULL);
SELECT t, k IN (1, NULL) AS f FROM a;
SELECT t, nullif(k, 1) AS f, coalesce(k, v, 0) AS g FROM a;
SELECT t, CASE k WHEN NULL THEN 'n' WHEN 1 THEN 'one' ELSE 'o' END AS f FROM a;
SELECT t FROM a WHERE -0e0 = 0e0 AND CAST(k AS DOUBLE) * 0e0 = -0e0;
SELECT d + 1 AS a, d * 2.5 AS b, d / 3 AS c, -d AS f, d % 1 AS g FROM a;
SELECT sum(d * d) AS a, avg(d + v) AS b, sum(d / 2) AS c FROM a;
-- constants of nested types
SELECT map('a', 1) AS m, named_struct('p', 1) AS r, CAST(NULL AS ARRAY<INT>) AS l, i FROM n;
SELECT i FROM n WHERE l = array(1, 2);
SELECT array(1, 2) AS x, count(*) AS c FROM n GROUP BY 1;
SELECT i, coalesce(l, array(9)) AS l, CASE WHEN i > 2 THEN r ELSE named_struct('p', 7, 'q', 'y') END AS r FROM n;
SELECT i, r.p AS p, r.q FROM n WHERE r.p = 1 OR r.q = 'x';
SELECT DISTINCT r FROM n WHERE l IS NOT NULL;
SELECT l FROM n INTERSECT ALL SELECT l FROM n WHERE i < 3;
SELECT x.l, count(*) AS c FROM n x LEFT JOIN n y ON x.l <=> y.l GROUP BY x.l;
SELECT i FROM n QUALIFY row_number() OVER (PARTITION BY l ORDER BY i) = 1;
-- REFUSED
SELECT i, row_number() OVER (PARTITION BY m ORDER BY i) AS o FROM n;
-- REFUSED
SELECT i, row_number() OVER (PARTITION BY l ORDER BY m, i) AS o FROM n;
-- REFUSED
SELECT collect_set(m) AS c FROM n;
-- REFUSED
SELECT i FROM n WHERE m IN (SELECT m FROM n);
-- windows and grouping
SELECT k, sum(v) OVER (PARTITION BY k) AS x, count(*) OVER () AS c FROM a;
SELECT k, sum(count(*)) OVER () AS x FROM a GROUP BY k;
SELECT DISTINCT k, count(*) OVER (PARTITION BY k) AS c FROM a;
SELECT count(DISTINCT v) FILTER (WHERE k = 3) AS c, sum(DISTINCT v) FILTER (WHERE k > 1) AS d FROM a;
SELECT k, count(*) AS c FROM a GROUP BY ALL;
SELECT k + v AS x, count(*) AS c FROM a GROUP BY k + v HAVING count(*) > 0 AND k + v > 10;
SELECT max(k) + min(v) AS x, count(*) * 2 AS y FROM a;
SELECT k FROM a GROUP BY k HAVING max(v) = (SELECT max(w) FROM b WHERE b.k = a.k);
SELECT (SELECT count(*) FROM b WHERE b.k = x.k) AS c FROM (SELECT k, count(*) AS n FROM a GROUP BY k) x;
SELECT CASE WHEN count(*) > 3 THEN 'many' ELSE 'few' END AS x FROM a;
SELECT k, max(v) FILTER (WHERE v > 100) AS x, count(v) FILTER (WHERE v > 100) AS c FROM a GROUP BY k;
SELECT a.k, count(b.w) AS c, count(*) AS n FROM a LEFT JOIN b ON a.k = b.k GROUP BY a.k;
SELECT a.t, b.u, c.y FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON c.w = b.w AND a.v > 5;
SELECT a.t, b.u FROM a FULL JOIN b ON a.k = b.k AND a.v = b.w WHERE a.t IS NULL OR b.u IS NULL;
SELECT t, u FROM a LEFT JOIN b ON false;
SELECT t, u FROM a FULL JOIN b ON a.k = 1 AND b.k = 4;
SELECT t, u FROM a RIGHT JOIN b ON a.k > b.k;
SELECT t FROM a LEFT ANTI JOIN b ON a.k = b.k OR a.k IS NULL;
SELECT -2147483648 AS x, -9223372036854775808 AS y, - 5 AS z, -(-2147483640) + k AS u, k - 2147483648 AS w FROM a;
