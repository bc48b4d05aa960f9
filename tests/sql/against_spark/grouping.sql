-- Grouping sets in all spellings, and the functions that tell them apart.
-- TABLE g (k STRING, h INT, v INT, at TIMESTAMP): ('a', 1, 10, TIMESTAMP'2024-01-01 00:00:00'), ('a', 2, 20, TIMESTAMP'2024-01-01 00:00:01'), ('b', 1, 30, TIMESTAMP'2024-01-01 00:00:02'), ('b', NULL, NULL, TIMESTAMP'2024-01-01 00:00:03'), (NULL, 1, 5, TIMESTAMP'2024-01-01 00:00:04'), ('a', 1, 1, TIMESTAMP'2024-01-01 00:00:05')
-- TABLE none (k STRING, h INT, v INT, at TIMESTAMP):
SELECT k, sum(v) FROM g GROUP BY k WITH ROLLUP;
SELECT k, h, sum(v), count(*) FROM g GROUP BY k, h WITH ROLLUP;
SELECT k, h, sum(v), count(*) FROM g GROUP BY k, h WITH CUBE;
SELECT k, h, sum(v) FROM g GROUP BY k, h GROUPING SETS ((k), (h), ());
SELECT k, sum(v) FROM g GROUP BY k, h GROUPING SETS ((k), ());
SELECT k, h, sum(v) FROM g GROUP BY k, h GROUPING SETS ((k), ());
SELECT k, h, sum(v), max(h) FROM g GROUP BY ROLLUP(k, h);
SELECT k, h, sum(v) FROM g GROUP BY ROLLUP (k, h) HAVING sum(v) > 20;
SELECT k, h, sum(v), grouping(k), grouping(h), grouping_id(k, h), grouping_id() FROM g GROUP BY CUBE(k, h);
SELECT k, h, sum(v), grouping_id(k, h) FROM g GROUP BY GROUPING SETS ((k, h), (h), ());
SELECT k, h, sum(v) FROM g GROUP BY k, ROLLUP(h);
SELECT k, h, sum(v) FROM g GROUP BY ROLLUP(k), CUBE(h);
SELECT k, h, sum(v) FROM g GROUP BY GROUPING SETS (ROLLUP(k, h), CUBE(h));
SELECT k, h, sum(v) FROM g GROUP BY GROUPING SETS (k, (k, h), GROUPING SETS (h, ()));
SELECT k, h, sum(v) FROM g GROUP BY ROLLUP((k, h));
SELECT k, h, sum(v) FROM g GROUP BY ROLLUP((k, h), at);
SELECT k, count(*) FROM g GROUP BY GROUPING SETS ((k), (k));
SELECT k, count(*) FROM g GROUP BY GROUPING SETS ((k), (), ());
SELECT k, k, sum(h), grouping(k) FROM g GROUP BY ROLLUP(k);
SELECT upper(k) AS u, h + 1 AS n, sum(v) FROM g GROUP BY ROLLUP(upper(k), h + 1);
SELECT upper(k) AS u, sum(v) FROM g GROUP BY ROLLUP(u);
SELECT k, h, sum(v) FROM g GROUP BY ROLLUP(1, 2);
SELECT k, count(DISTINCT h), count(k), max(k) FROM g GROUP BY k WITH ROLLUP;
SELECT k, coalesce(k, 'all') AS a, sum(v) FILTER (WHERE h = 1) FROM g GROUP BY CUBE(k);
SELECT CASE WHEN grouping(k) = 1 THEN 'total' ELSE k END AS name, sum(v) FROM g GROUP BY ROLLUP(k);
SELECT k, sum(v) FROM g GROUP BY ROLLUP(k) HAVING grouping(k) = 1;
SELECT k, h, sum(v) FROM g GROUP BY k, h WITH ROLLUP ORDER BY k, h LIMIT 4;
SELECT k, sum(v) FROM g GROUP BY GROUPING SETS ((k)) HAVING grouping(k) = 0;
SELECT q.k, q.n FROM (SELECT k, sum(v) AS n FROM g GROUP BY k WITH ROLLUP) AS q WHERE q.k IS NULL;
SELECT k, h, sum(v) FROM none GROUP BY k, h WITH ROLLUP;
SELECT k, h, count(*) FROM none GROUP BY CUBE(k, h);
SELECT count(*) FROM none GROUP BY GROUPING SETS (());
SELECT count(*), grouping_id() FROM none GROUP BY GROUPING SETS ((k), ());
SELECT sum(v) FROM g GROUP BY GROUPING SETS (());
SELECT k, CAST(rank() OVER (ORDER BY sum(v)) AS BIGINT) AS r FROM g GROUP BY ROLLUP(k);
-- REFUSED
SELECT k, grouping(k) FROM g GROUP BY k;
-- REFUSED
SELECT k, grouping(h) FROM g GROUP BY ROLLUP(k);
-- REFUSED
SELECT k FROM g GROUP BY ROLLUP(k) WITH CUBE;
-- REFUSED
SELECT k, sum(v) FROM g GROUP BY k WITH TOTALS;

-- Windows that have names.
SELECT k, h, sum(v) OVER w1 FROM g WINDOW w1 AS (PARTITION BY k);
SELECT k, h, sum(v) OVER w2 FROM g WINDOW w1 AS (PARTITION BY k), w2 AS w1;
SELECT k, at, sum(v) OVER w1, count(h) OVER w1 FROM g WINDOW w1 AS (PARTITION BY k ORDER BY at);
SELECT k, at, sum(v) OVER w1 FROM g WINDOW w1 AS (ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);
SELECT k, at, sum(v) OVER (w1) FROM g WINDOW w1 AS (PARTITION BY k ORDER BY at);
SELECT k, sum(n) OVER w1 AS m FROM (SELECT k, count(*) AS n FROM g GROUP BY k) AS q WINDOW w1 AS (ORDER BY n, k);
SELECT k, sum(sum(v)) OVER w1 AS m FROM g GROUP BY k WINDOW w1 AS (ORDER BY k);
SELECT k, h FROM g WINDOW w1 AS (PARTITION BY k ORDER BY at) QUALIFY row_number() OVER w1 = 1;
SELECT k, rank() OVER (ORDER BY k) AS n FROM g GROUP BY k;
SELECT g.k, h, rank() OVER (PARTITION BY k ORDER BY h, count(*) DESC) AS n FROM g GROUP BY ROLLUP(k, h);
SELECT upper(k) AS u, sum(count(*)) OVER (ORDER BY upper(k)) AS n FROM g GROUP BY upper(k);
-- REFUSED
SELECT k, sum(v) OVER w2 FROM g WINDOW w1 AS (PARTITION BY k);
-- REFUSED
SELECT k, sum(v) OVER w1 FROM g WINDOW w1 AS (PARTITION BY k), w1 AS (PARTITION BY h);

-- Rows of VALUES, and what follows them.
VALUES (1), (2), (3) ORDER BY col1 DESC LIMIT 2;
SELECT k, at FROM g ORDER BY at LIMIT ALL;
