-- TABLE a (k INT, v INT, s STRING, t INT): (1, 10, 'x', 1), (1, NULL, 'y', 2), (2, 20, NULL, 3), (NULL, 30, 'x', 4), (3, 5, 'z', 5), (3, 5, 'z', 6)
-- TABLE b (k INT, w INT, u INT): (1, 10, 1), (1, 20, 2), (2, NULL, 3), (NULL, 30, 4), (4, 5, 5)
-- TABLE e (k INT, w INT, u INT):

-- IN with any left side, in every position. As a value, where it is unknown, Spark says false and
-- SQL, here as in Spark's own documentation, NULL: so none is shown bare.
SELECT k, v, coalesce(v + 0 IN (SELECT w FROM b), false) AS f FROM a;
SELECT k, v, coalesce(v IN (SELECT w FROM b), false) AS f FROM a;
SELECT k, v, coalesce(v + 0 NOT IN (SELECT w FROM b WHERE w IS NOT NULL), false) AS f FROM a;
SELECT k, v, coalesce(NOT (v + 0 IN (SELECT w FROM b)), false) AS f FROM a;
SELECT k, v FROM a WHERE v + 0 IN (SELECT w FROM b) OR k = 3;
SELECT k, v FROM a WHERE NOT (v + 0 IN (SELECT w FROM b WHERE w IS NOT NULL)) OR k = 1;
SELECT k, v FROM a WHERE v + 0 IN (SELECT w FROM b);
SELECT k, v FROM a WHERE v + 0 NOT IN (SELECT w FROM b WHERE w IS NOT NULL);
SELECT k, v FROM a WHERE v NOT IN (SELECT w FROM b);
SELECT k, CASE WHEN v + 0 IN (SELECT w FROM b) THEN 'in' WHEN k * 2 IN (SELECT k FROM b) THEN 'k' ELSE 'out' END AS f FROM a;
SELECT k, v FROM a WHERE CASE WHEN v + 0 IN (SELECT w FROM b) THEN true ELSE k = 3 END;
SELECT k, coalesce(v + 0 IN (SELECT w FROM b), false) AS f FROM a;
SELECT k, coalesce(v + 0 IN (SELECT w FROM b WHERE b.k = a.k), false) AS f FROM a;
SELECT k, coalesce(v + k IN (SELECT w + b.k FROM b WHERE b.k = a.k), false) AS f FROM a;
SELECT k, coalesce(v + 0 IN (SELECT w FROM e), false) AS f, coalesce(v NOT IN (SELECT w FROM e), false) AS g FROM a;
SELECT k, coalesce(10 IN (SELECT w FROM b), false) AS f, coalesce(11 IN (SELECT w FROM b), false) AS g, coalesce(NULL IN (SELECT w FROM b), false) AS h FROM a;
SELECT k FROM a WHERE 10 IN (SELECT w FROM b) AND k = 1;
SELECT k FROM a WHERE 10 IN (SELECT w FROM b WHERE b.k = a.k);
SELECT k FROM a WHERE 11 NOT IN (SELECT w FROM b WHERE b.k = a.k);
SELECT k, coalesce((k, v) IN (SELECT k, w FROM b), false) AS f FROM a;
SELECT k, v FROM a WHERE (k, v) IN (SELECT k, w FROM b);
SELECT k, v FROM a WHERE (k + 0, v + 0) IN (SELECT k, w FROM b);
SELECT k, v FROM a WHERE (k, v) NOT IN (SELECT k, w FROM b);
SELECT k, v FROM a WHERE (k, v) NOT IN (SELECT k, w FROM b WHERE k IS NOT NULL AND w IS NOT NULL);
SELECT k, v FROM a WHERE (k, v) NOT IN (SELECT k, w FROM e);
SELECT k, v FROM a WHERE NOT ((k, v) IN (SELECT k, w FROM b WHERE w > 5)) OR k = 2;
SELECT k, CASE WHEN (k, v + 0) IN (SELECT k, w FROM b) THEN 1 ELSE 0 END AS f FROM a;
SELECT k, coalesce((k, v) NOT IN (SELECT k, w FROM b WHERE b.k = a.k), false) AS f FROM a;
SELECT k, count(*) AS c, coalesce(k + 1 IN (SELECT k FROM b), false) AS f FROM a GROUP BY k;
SELECT k, sum(v) AS c, sum(v) IN (SELECT w FROM b) AS f FROM a GROUP BY k;
SELECT k, sum(v) AS c FROM a GROUP BY k HAVING sum(v) IN (SELECT w FROM b);
SELECT k, sum(v) AS c FROM a GROUP BY k HAVING sum(v) + 0 NOT IN (SELECT w FROM b WHERE w IS NOT NULL) OR k = 1;
SELECT k, sum(v) AS c FROM a GROUP BY k HAVING (k, sum(v)) IN (SELECT k, w FROM b);
-- REFUSED
SELECT v + 0 IN (SELECT w FROM b) AS f, count(*) AS c FROM a GROUP BY v + 0 IN (SELECT w FROM b);
SELECT sum(CASE WHEN v + 0 IN (SELECT w FROM b) THEN 1 ELSE 0 END) AS c FROM a;
SELECT count(*) FILTER (WHERE v + 0 IN (SELECT w FROM b)) AS c FROM a;
SELECT count(DISTINCT coalesce(v + 0 IN (SELECT w FROM b), false)) AS c FROM a;
-- REFUSED
SELECT a.k, b.w FROM a JOIN b ON a.k = b.k AND a.v + 0 IN (SELECT w FROM b);
-- REFUSED
SELECT a.k, b.w FROM a LEFT JOIN b ON a.k = b.k AND a.v IN (SELECT w FROM b);
SELECT k FROM a WHERE k IN (SELECT k FROM b) AND v + 0 IN (SELECT w FROM b) AND NOT EXISTS (SELECT 1 FROM e);
SELECT k FROM a WHERE k IN (SELECT k FROM b UNION SELECT w FROM b);
SELECT k, v FROM a WHERE v IN (SELECT w FROM b ORDER BY w DESC LIMIT 2);
SELECT k, v FROM a WHERE v - 5 IN (SELECT max(w) FROM b GROUP BY k);
SELECT k, v FROM a WHERE k IN (SELECT k FROM b GROUP BY k HAVING count(*) > 1);
SELECT k FROM a WHERE k IN (SELECT count(*) FROM b WHERE b.k = a.k);
SELECT k FROM a WHERE k IN (SELECT count(*) + 1 FROM b WHERE b.k = a.k);
SELECT k FROM a WHERE k NOT IN (SELECT count(*) + 1 FROM b WHERE b.k = a.k);
SELECT k, 0 IN (SELECT count(*) FROM b WHERE b.k = a.k) AS f FROM a;
SELECT k, 1 IN (SELECT count(*) + 1 FROM b WHERE b.k = a.k) AS f, t FROM a;
SELECT k FROM a WHERE 0 IN (SELECT count(w) FROM b WHERE b.k = a.k);
-- EXISTS
SELECT k FROM a WHERE EXISTS (SELECT count(*) FROM b WHERE b.k = a.k);
SELECT k FROM a WHERE NOT EXISTS (SELECT count(*) FROM b WHERE b.k = a.k);
SELECT k FROM a WHERE EXISTS (SELECT max(w) FROM b WHERE b.k = a.k);
SELECT k FROM a WHERE EXISTS (SELECT max(w) FROM e);
SELECT k FROM a WHERE EXISTS (SELECT max(w) FROM b WHERE b.k = a.k GROUP BY b.k);
SELECT k, EXISTS (SELECT count(*) FROM b WHERE b.k = a.k) AS f FROM a;
SELECT k, EXISTS (SELECT 1 FROM b WHERE b.k = a.k) AS f FROM a;
SELECT k, EXISTS (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) > 1) AS f FROM a;
SELECT k, EXISTS (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) = 0) AS f FROM a;
SELECT k FROM a WHERE EXISTS (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) = 0);
SELECT k FROM a WHERE NOT EXISTS (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) = 0);
SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b HAVING count(*) > 100);
SELECT k FROM a WHERE EXISTS (SELECT 1 FROM e HAVING count(*) = 0);
SELECT k FROM a WHERE EXISTS (SELECT * FROM b WHERE b.k = a.k) OR v = 30;
SELECT k FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.k < a.k AND b.w > a.v);
-- scalar
SELECT k, (SELECT count(*) FROM b WHERE b.k = a.k) AS c FROM a;
SELECT k, (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) > 1) AS c FROM a;
SELECT k, (SELECT count(*) FROM b WHERE b.k = a.k HAVING count(*) = 0) AS c FROM a;
SELECT k, (SELECT count(*) FROM b WHERE b.k = a.k HAVING max(w) IS NULL) AS c FROM a;
SELECT k, (SELECT count(*) + 1 FROM b WHERE b.k = a.k) AS c FROM a;
SELECT k, (SELECT coalesce(sum(w), -1) FROM b WHERE b.k = a.k) AS c FROM a;
SELECT k, (SELECT coalesce(max(w), 0) + count(*) FROM b WHERE b.k < a.k) AS c FROM a;
SELECT k, (SELECT CASE WHEN count(*) = 0 THEN 'none' ELSE 'some' END FROM b WHERE b.k < a.k) AS c FROM a;
SELECT k, (SELECT count(*) FROM b WHERE b.k < a.k) AS c FROM a;
SELECT k, (SELECT count(*) + 1 FROM b WHERE b.k < a.k) AS c FROM a;
SELECT k, (SELECT count(w) * 2 FROM b WHERE b.k < a.k OR b.w = a.v) AS c FROM a;
SELECT k, (SELECT 'n' || count(*) FROM b WHERE b.k = a.k) AS c FROM a;
SELECT k, (SELECT 1 FROM b WHERE b.k = a.k HAVING count(*) = 0) AS c FROM a;
SELECT k, (SELECT max(c) FROM (SELECT count(*) AS c FROM b WHERE b.k = a.k)) AS c FROM a;
-- REFUSED
SELECT k, (SELECT c FROM (SELECT count(*) AS c FROM b WHERE b.k = a.k) x) AS c FROM a;
-- REFUSED
SELECT k, (SELECT c + 1 FROM (SELECT count(*) AS c FROM b WHERE b.k < a.k) x) AS c FROM a;
SELECT k, (SELECT max(w) FROM b WHERE b.k = a.k AND w > 10) AS c FROM a;
SELECT k, (SELECT count(DISTINCT w) FROM b WHERE b.k = a.k) AS c FROM a;
SELECT k, (SELECT collect_list(w) FROM b WHERE b.k = a.k AND w > 10) AS c FROM a;
SELECT k, (SELECT count_if(w > 10) FROM b WHERE b.k = a.k) AS c FROM a;
SELECT k, (SELECT count(*) FILTER (WHERE w > 10) FROM b WHERE b.k = a.k) AS c FROM a;
SELECT k, (SELECT count(*) FROM b WHERE b.k = a.k + 0) AS c FROM a;
SELECT k, (SELECT count(*) FROM b WHERE b.k <=> a.k) AS c FROM a;
SELECT k, (SELECT count(*) FROM e) AS c, (SELECT max(w) FROM e) AS m FROM a;
SELECT k, (SELECT count(*) FROM e HAVING count(*) > 0) AS c FROM a;
SELECT k FROM a WHERE (SELECT count(*) FROM b WHERE b.k = a.k) = 0;
SELECT k FROM a WHERE (SELECT count(*) FROM b WHERE b.k < a.k) = 0;
SELECT k FROM a WHERE coalesce((SELECT max(w) FROM b WHERE b.k = a.k), 0) = 0;
SELECT k FROM a WHERE v > (SELECT avg(w) FROM b WHERE b.k <> a.k);
SELECT k, sum(v) AS x FROM a GROUP BY k HAVING sum(v) > (SELECT count(*) FROM b WHERE b.k = a.k);
SELECT k, v FROM a WHERE v = (SELECT max(v) FROM a x WHERE x.k = a.k);
SELECT k, v FROM a WHERE (SELECT count(*) FROM b WHERE b.k = a.k) = (SELECT count(*) FROM e WHERE e.k = a.k);
SELECT (SELECT count(*) FROM b) + (SELECT count(*) FROM e) AS c;
SELECT k, (SELECT w FROM b WHERE b.k = a.k ORDER BY w DESC LIMIT 1) AS c FROM a;
-- REFUSED
SELECT k, (SELECT a.k + 1) AS c FROM a;
-- REFUSED
SELECT k, (SELECT 1 WHERE a.k = 1) AS c FROM a;
SELECT k, (SELECT count(*) WHERE a.k = 1) AS c FROM a;
SELECT max((SELECT count(*) FROM b WHERE b.k = a.k)) AS m FROM a;
SELECT k FROM a WHERE EXISTS (SELECT count(*) FROM b WHERE b.k = a.k LIMIT 0);
-- REFUSED
SELECT k FROM a WHERE k IN (SELECT k FROM b WHERE EXISTS (SELECT 1 FROM e WHERE e.k = b.k) OR b.w = a.v);
