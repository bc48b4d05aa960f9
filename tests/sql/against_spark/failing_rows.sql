-- Expressions that fail on rows which are left out before: by WHERE, ON, FILTER, HAVING and CASE.
-- TABLE a (k INT, v INT, s STRING, t INT): (1, 10, '1', 1), (0, 5, 'x', 2), (2, 20, '22', 3), (NULL, 30, NULL, 4), (0, 5, '', 5)
-- TABLE b (k INT, w STRING, u INT): (0, 'x', 1), (1, '7', 2), (2, NULL, 3), (3, '8', 4)
-- TABLE n (l ARRAY<INT>, i INT): (array(1, 2), 1), (NULL, 4), (array(), 5)
SELECT i, l[0] AS x FROM n WHERE size(l) > 0 AND l[1] = 2;
SELECT i, CASE WHEN size(l) > 0 THEN l[0] END AS x FROM n;
SELECT element_at(l, 1) AS x FROM n WHERE cardinality(l) >= 1;
SELECT CAST(s AS INT) AS x FROM a WHERE s RLIKE '^[0-9]+$';
SELECT CAST(s AS INT) AS x FROM a WHERE length(s) > 0 AND s <> 'x';
SELECT CAST(s AS INT) AS x FROM a WHERE s RLIKE '^[0-9]+$' AND CAST(s AS INT) > 1;
SELECT to_date(s, 'yyyy') AS x FROM a WHERE length(s) = 4;
SELECT v div k AS x, v / k AS y FROM a WHERE k <> 0;
SELECT v % k AS x FROM a WHERE k <> 0 AND v % k = 0;
SELECT k <> 0 AND v div k > 3 AS x, k = 0 OR v div k > 3 AS y, if(k = 0, 0, v div k) AS z FROM a;
SELECT x + 1 AS y FROM (SELECT v div k AS x, k FROM a) q WHERE k <> 0;
SELECT v div x.k AS r FROM (SELECT k, v FROM a WHERE k <> 0) x;
SELECT k, sum(v div k) AS x FROM a WHERE k <> 0 GROUP BY k;
SELECT sum(v / k) FILTER (WHERE k <> 0) AS x, sum(v / k) FILTER (WHERE k = 1) AS y FROM a;
SELECT sum(CAST(s AS INT)) FILTER (WHERE s RLIKE '^[0-9]+$') AS x FROM a;
SELECT max_by(v, CAST(s AS INT)) FILTER (WHERE s RLIKE '^[0-9]+$') AS x FROM a;
SELECT collect_list(v div k) FILTER (WHERE k = 2) AS x FROM a;
SELECT CAST(s AS INT) AS x, count(*) AS n FROM a WHERE s RLIKE '^[0-9]+$' GROUP BY ROLLUP(CAST(s AS INT));
SELECT a.v div a.k AS x FROM a JOIN b ON a.k = b.k AND a.k <> 0;
SELECT CAST(b.w AS INT) + a.v AS x FROM a JOIN b ON a.k = b.k WHERE b.w RLIKE '[0-9]';
SELECT a.k, CAST(b.w AS INT) AS x FROM a JOIN b ON a.k < b.k WHERE b.w RLIKE '^[0-9]+$' AND a.s RLIKE '^[0-9]+$' AND CAST(a.s AS INT) < CAST(b.w AS INT);
SELECT a.k, CAST(b.w AS INT) AS x FROM a LEFT JOIN b ON a.k = b.k WHERE b.w RLIKE '^[0-9]+$' OR b.w IS NULL;
SELECT k FROM a WHERE s RLIKE '^[0-9]+$' AND EXISTS (SELECT 1 FROM b WHERE b.u = CAST(a.s AS INT));
SELECT k FROM a WHERE s RLIKE '^[0-9]+$' AND CAST(s AS INT) NOT IN (SELECT u FROM b);
SELECT b.k, (SELECT max(v div a.k) FROM a WHERE a.k = b.k AND a.k <> 0) AS x FROM b;
SELECT k, max(CAST(s AS INT)) OVER (PARTITION BY k) AS x FROM a WHERE s RLIKE '^[0-9]+$';
SELECT CAST(s AS INT) AS x, k FROM a WHERE s RLIKE '^[0-9]+$' QUALIFY row_number() OVER (PARTITION BY k ORDER BY CAST(s AS INT)) = 1;
SELECT CAST(s AS INT) AS x FROM a WHERE s RLIKE '^[0-9]+$' UNION SELECT k FROM b;
WITH n AS (SELECT CAST(s AS INT) AS x, k FROM a WHERE s RLIKE '^[0-9]+$') SELECT n.x, b.w FROM n LEFT JOIN b ON n.x = b.k;
FROM a |> WHERE s RLIKE '^[0-9]+$' |> EXTEND CAST(s AS INT) AS x |> WHERE x > 1 |> AGGREGATE sum(x) AS y GROUP BY k;
-- FILTER and WITHIN GROUP over a window, and DISTINCT in an order
SELECT k, sum(v) FILTER (WHERE t > 1) OVER (PARTITION BY k) AS x FROM a;
SELECT k, percentile_cont(0.5) WITHIN GROUP (ORDER BY v) OVER (PARTITION BY k) AS x FROM a;
SELECT DISTINCT k FROM a ORDER BY k + 1;
SELECT DISTINCT v AS z FROM a ORDER BY -z NULLS LAST LIMIT 2;
-- what is nested, where conditions leave it
SELECT struct(k, v) AS c, array(k, v) AS d, map('a', k) AS e FROM a WHERE s RLIKE '^[0-9]+$';
SELECT collect_list(struct(k, upper(s))) FILTER (WHERE t = 3) AS c, count(DISTINCT k, v) FILTER (WHERE t > 2) AS n FROM a;
