==== LATERAL VIEW explode
SELECT id, tag FROM items LATERAL VIEW explode(tags) t AS tag
----
[UNSUPPORTED_FEATURE] LATERAL makes several rows of one, which is not supported. Explode the rows before they are appended, or join with a table of positions. SQLSTATE: 0A000
== SQL (line 1, position 40) ==
SELECT id, tag FROM items LATERAL VIEW explode(tags) t AS tag
                                       ^^^^^^^^^^^^^^^^^^^^^^

==== a generator in the select list
SELECT id, explode(tags) FROM items
----
[UNSUPPORTED_FEATURE] This makes several rows of one, which is not supported. Explode the rows before they are appended, or join with a table of positions. SQLSTATE: 0A000
== SQL (line 1, position 12) ==
SELECT id, explode(tags) FROM items
           ^^^^^^^^^^^^

==== a lateral subquery
SELECT * FROM hot, LATERAL (SELECT * FROM rooms WHERE rooms.room = hot.room)
----
[UNSUPPORTED_FEATURE] A LATERAL query is not supported. Join with what it reads, or write it as a value: SELECT (SELECT max(x) ...). SQLSTATE: 0A000
== SQL (line 1, position 36) ==
SELECT * FROM hot, LATERAL (SELECT * FROM rooms WHERE rooms.room = hot.room)
                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== TABLESAMPLE
SELECT * FROM temps TABLESAMPLE (10 PERCENT)
----
[UNSUPPORTED_FEATURE] TABLESAMPLE gives other rows each time. Filter by a hash of a column: WHERE pmod(hash(id), 100) < 5. SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM temps TABLESAMPLE (10 PERCENT)
              ^^^^^^^^^^^^^^^^^^^^^

==== PIVOT
SELECT * FROM hot PIVOT (max(temp) FOR room IN ('a', 'b'))
----
[UNSUPPORTED_FEATURE] PIVOT is not supported. Write sum(x) FILTER (WHERE k = 'a') AS a. SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM hot PIVOT (max(temp) FOR room IN ('a', 'b'))
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== UNPIVOT
SELECT * FROM hot UNPIVOT (v FOR k IN (temp))
----
[UNSUPPORTED_FEATURE] UNPIVOT is not supported. Write a SELECT for each column, and UNION ALL between them. SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM hot UNPIVOT (v FOR k IN (temp))
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a recursive query
WITH RECURSIVE t AS (SELECT room FROM rooms UNION ALL SELECT room FROM t) SELECT * FROM t
----
[UNSUPPORTED_FEATURE] Recursive queries are not supported. Follow links with as many joins as there are levels. SQLSTATE: 0A000
== SQL (line 1, position 16) ==
WITH RECURSIVE t AS (SELECT room FROM rooms UNION ALL SELECT room FROM t) SELECT * FROM t
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== ANY
SELECT * FROM hot WHERE temp > ANY (SELECT floor FROM rooms)
----
[UNSUPPORTED_FEATURE] Comparisons with ANY and ALL are not supported. Write IN, NOT IN or EXISTS, or compare with (SELECT max(x) ...). SQLSTATE: 0A000
== SQL (line 1, position 44) ==
SELECT * FROM hot WHERE temp > ANY (SELECT floor FROM rooms)
                                           ^^^^^^^^^^^^^^^^

==== ALL
SELECT * FROM hot WHERE temp > ALL (SELECT floor FROM rooms)
----
[UNSUPPORTED_FEATURE] Comparisons with ANY and ALL are not supported. Write IN, NOT IN or EXISTS, or compare with (SELECT max(x) ...). SQLSTATE: 0A000
== SQL (line 1, position 44) ==
SELECT * FROM hot WHERE temp > ALL (SELECT floor FROM rooms)
                                           ^^^^^^^^^^^^^^^^

==== a random number
SELECT room, rand() FROM hot
----
[UNSUPPORTED_FEATURE] rand() is another value each time it is asked for, and a view has one answer. Compare with NOW(), the event time, or let the source bring a column. SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, rand() FROM hot
             ^^^^

==== a unique number
SELECT room, monotonically_increasing_id() FROM hot
----
[UNSUPPORTED_FEATURE] monotonically_increasing_id() is another value each time it is asked for, and a view has one answer. Compare with NOW(), the event time, or let the source bring a column. SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, monotonically_increasing_id() FROM hot
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== the current date
SELECT * FROM temps WHERE CAST(at AS DATE) = current_date()
----
[UNSUPPORTED_FEATURE] CURRENT_DATE is another value each time it is asked for, and a view has one answer. Compare with NOW(), the event time, or let the source bring a column. SQLSTATE: 0A000
== SQL (line 1, position 46) ==
SELECT * FROM temps WHERE CAST(at AS DATE) = current_date()
                                             ^^^^^^^^^^^^

==== DISTINCT ON
SELECT DISTINCT ON (room) room, temp FROM hot
----
[UNSUPPORTED_FEATURE] DISTINCT ON is not supported. Number the rows and keep the first: ROW_NUMBER() OVER (PARTITION BY ...) = 1. SQLSTATE: 0A000
== SQL (line 1, position 21) ==
SELECT DISTINCT ON (room) room, temp FROM hot
                    ^^^^

==== NTILE
SELECT room, ntile(4) OVER (ORDER BY temp) FROM hot
----
[UNSUPPORTED_FEATURE] ntile is not maintained. Compute it from row_number() OVER (... ORDER BY x) and count(*) OVER (...). SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, ntile(4) OVER (ORDER BY temp) FROM hot
             ^^^^^^^

==== percent_rank
SELECT room, percent_rank() OVER (ORDER BY temp) FROM hot
----
[UNSUPPORTED_FEATURE] percent_rank is not maintained. Compute it from row_number() OVER (... ORDER BY x) and count(*) OVER (...). SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, percent_rank() OVER (ORDER BY temp) FROM hot
             ^^^^^^^^^^^^

==== first_value over a window
SELECT first_value(temp) OVER (PARTITION BY room ORDER BY ts) FROM temps
----
[UNSUPPORTED_FEATURE] first_value is not maintained. Rows of a view have no order: write min_by(x, ts). SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT first_value(temp) OVER (PARTITION BY room ORDER BY ts) FROM temps
       ^^^^^^^^^^^^^^^^

==== approx_count_distinct
SELECT approx_count_distinct(room) FROM temps
----
[UNSUPPORTED_FEATURE] approx_count_distinct is not maintained. Write count(DISTINCT x): it is exact, and kept up to date. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT approx_count_distinct(room) FROM temps
       ^^^^^^^^^^^^^^^^^^^^^^^^^^

==== approx_percentile
SELECT approx_percentile(temp, 0.5) FROM temps
----
[UNSUPPORTED_FEATURE] percentile_approx is not maintained. Write percentile(x, p): it is exact, and kept up to date. SQLSTATE: 0A000
== SQL (line 1, position 26) ==
SELECT approx_percentile(temp, 0.5) FROM temps
                         ^^^^^^^^^

==== first
SELECT room, first(temp) FROM temps GROUP BY room
----
[UNSUPPORTED_FEATURE] first is not maintained. Rows of a view have no order: write min_by(x, ts). SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, first(temp) FROM temps GROUP BY room
             ^^^^^^^^^^

==== last
SELECT room, last(temp) FROM temps GROUP BY room
----
[UNSUPPORTED_FEATURE] last is not maintained. Rows of a view have no order: write max_by(x, ts). SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, last(temp) FROM temps GROUP BY room
             ^^^^^^^^^

==== an aggregate of Spark that is not maintained
SELECT room, corr(temp, humidity) FROM temps GROUP BY room
----
[UNSUPPORTED_FEATURE] corr is not maintained. Write it in terms of count, sum, avg, min and max. SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, corr(temp, humidity) FROM temps GROUP BY room
             ^^^^^^^^^^^^^^^^^^^

==== another aggregate of Spark that is not maintained
SELECT room, histogram_numeric(temp, 5) FROM temps GROUP BY room
----
[UNSUPPORTED_FEATURE] histogram_numeric is not maintained. Write it in terms of count, sum, avg, min and max. SQLSTATE: 0A000
== SQL (line 1, position 14) ==
SELECT room, histogram_numeric(temp, 5) FROM temps GROUP BY room
             ^^^^^^^^^^^^^^^^^^^^^^^^^

==== SORT BY
SELECT * FROM hot SORT BY temp
----
[UNSUPPORTED_FEATURE] SORT BY is not supported. A view has no order: ORDER BY ... LIMIT n keeps the first n rows. SQLSTATE: 0A000
== SQL (line 1, position 27) ==
SELECT * FROM hot SORT BY temp
                          ^^^^

==== CLUSTER BY
SELECT * FROM hot CLUSTER BY temp
----
[UNSUPPORTED_FEATURE] CLUSTER BY is not supported. Leave it out: a view has no order. SQLSTATE: 0A000
== SQL (line 1, position 30) ==
SELECT * FROM hot CLUSTER BY temp
                             ^^^^

==== DISTRIBUTE BY
SELECT * FROM hot DISTRIBUTE BY room
----
[UNSUPPORTED_FEATURE] DISTRIBUTE BY is not supported. Leave it out: a view has no partitions. SQLSTATE: 0A000
== SQL (line 1, position 33) ==
SELECT * FROM hot DISTRIBUTE BY room
                                ^^^^

==== a table function
SELECT * FROM range(10)
----
[UNSUPPORTED_FEATURE] Functions that return tables are not supported. List the rows with VALUES, or make a table of them. SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM range(10)
              ^^^^^^^^

==== UNION BY NAME
SELECT room, temp FROM hot UNION BY NAME SELECT temp, room FROM hot
----
[UNSUPPORTED_FEATURE] BY NAME is not supported. List the columns in one order on both sides. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT room, temp FROM hot UNION BY NAME SELECT temp, room FROM hot
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== an AS OF join
SELECT * FROM hot ASOF JOIN rooms ON hot.room = rooms.room
----
[UNSUPPORTED_FEATURE] ASOF JOIN is not supported. Join by a range of time, and keep the latest: QUALIFY ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.at DESC) = 1. SQLSTATE: 0A000
== SQL (line 1, position 29) ==
SELECT * FROM hot ASOF JOIN rooms ON hot.room = rooms.room
                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a GROUPS frame
SELECT sum(temp) OVER (ORDER BY temp GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM hot
----
[UNSUPPORTED_FEATURE] Frames are ROWS BETWEEN ... AND ..., or RANGE up to the current row. For a range of time, put a window on the stream: FROM s [RANGE 5 MINUTES]. SQLSTATE: 0A000
== SQL (line 1, position 53) ==
SELECT sum(temp) OVER (ORDER BY temp GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM hot
                                                    ^

==== INSERT
INSERT INTO temperature VALUES ('a', 1, 2.0, TIMESTAMP '2026-01-01')
----
[UNSUPPORTED_FEATURE] There is no INSERT in Penstock. Rows come in through a source: CREATE SOURCE ... USING json OPTIONS (path 'dir') reads files, db.source(name).append(rows) takes them from Python. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
INSERT INTO temperature VALUES ('a', 1, 2.0, TIMESTAMP '2026-01-01')
^^^^^^

==== a correlated query in an outer join
SELECT * FROM rooms r WHERE EXISTS (SELECT 1 FROM hot LEFT JOIN (SELECT * FROM temps WHERE temps.room = r.room) t ON t.temp = hot.temp)
----
[UNSUPPORTED_FEATURE] The right side of an outer join cannot read columns of the query around. Make it a view of its own, or move the condition to WHERE. SQLSTATE: 0A000
== SQL (line 1, position 73) ==
SELECT * FROM rooms r WHERE EXISTS (SELECT 1 FROM hot LEFT JOIN (SELECT * FROM temps WHERE temps.room = r.room) t ON t.temp = hot.temp)
                                                                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== queries in conditions that are nested too deeply
SELECT room FROM hot WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1)))))))))))))
----
[UNSUPPORTED_FEATURE] Queries in conditions and values are nested too deeply here. Make inner ones views, and read these. SQLSTATE: 0A000
== SQL (line 1, position 296) ==
... (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1 WHERE EXISTS (SELECT 1)))))))))))))
                                                                                                                               ^^^^^^^^^^^^^^^^^^^^^^^^

==== queries in WITH that double
WITH a AS (SELECT x.room FROM hot x, hot y), b AS (SELECT x.room FROM a x, a y), c AS (SELECT x.room FROM b x, b y), d AS (SELECT x.room FROM c x, c y), e AS (SELECT x.room FROM d x, d y), f AS (SELECT x.room FROM e x, e y), g AS (SELECT x.room FROM f x, f y), h AS (SELECT x.room FROM g x, g y), i AS (SELECT x.room FROM h x, h y), j AS (SELECT x.room FROM i x, i y), k AS (SELECT x.room FROM j x, j y), l AS (SELECT x.room FROM k x, k y), m AS (SELECT x.room FROM l x, l y), n AS (SELECT x.room FROM m x, m y), o AS (SELECT x.room FROM n x, n y) SELECT * FROM o
----
[UNSUPPORTED_FEATURE] This query is too large once each query in WITH stands wherever it is read. Make those that are read often views. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
WITH a AS (SELECT x.room FROM hot x, hot y), b AS (SELECT x.room FROM a x, a y), c AS (SELECT x.room FROM b x, b y), d AS (SELECT x.room FROM c x, c y), e AS (S ...
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== another join
SELECT * FROM hot RIGHT SEMI JOIN doors ON hot.room = doors.room
----
[UNSUPPORTED_FEATURE] RIGHT SEMI JOIN is not supported. Write JOIN, LEFT, RIGHT or FULL JOIN, LEFT SEMI JOIN or LEFT ANTI JOIN. SQLSTATE: 0A000
== SQL (line 1, position 35) ==
SELECT * FROM hot RIGHT SEMI JOIN doors ON hot.room = doors.room
                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
