==== WITH TOTALS
SELECT room, max(temp) FROM hot GROUP BY room WITH TOTALS;
----
[UNSUPPORTED_FEATURE] WITH TOTALS is not supported. Write GROUP BY a, b WITH ROLLUP. SQLSTATE: 0A000
== SQL (line 1, position 42) ==
SELECT room, max(temp) FROM hot GROUP BY room WITH TOTALS;
                                         ^^^^

==== LIMIT PERCENT
SELECT room FROM hot LIMIT 50 PERCENT;
----
[UNSUPPORTED_FEATURE] PERCENT is not supported. Write how many rows: LIMIT 50. SQLSTATE: 0A000
== SQL (line 1, position 28) ==
SELECT room FROM hot LIMIT 50 PERCENT;
                           ^^

==== LIMIT BY
SELECT room FROM hot LIMIT 1 BY room;
----
[UNSUPPORTED_FEATURE] LIMIT BY is not supported. Number the rows of each: QUALIFY row_number() OVER (PARTITION BY k ORDER BY a) <= 1. SQLSTATE: 0A000
== SQL (line 1, position 33) ==
SELECT room FROM hot LIMIT 1 BY room;
                                ^^^^

==== FETCH WITH TIES
SELECT room FROM hot ORDER BY temp FETCH FIRST 3 ROWS WITH TIES;
----
[UNSUPPORTED_FEATURE] WITH TIES is not supported. Rank the rows: QUALIFY rank() OVER (ORDER BY a) <= 3. SQLSTATE: 0A000
== SQL (line 1, position 48) ==
SELECT room FROM hot ORDER BY temp FETCH FIRST 3 ROWS WITH TIES;
                                               ^

==== FINAL after a relation
SELECT room FROM hot FINAL;
----
[PARSE_SYNTAX_ERROR] FINAL says nothing of a relation. Write EMIT FINAL at the end of the query; as a name, AS FINAL. SQLSTATE: 42601
== SQL (line 1, position 22) ==
SELECT room FROM hot FINAL;
                     ^^^^^

==== FOR UPDATE
SELECT room FROM hot FOR UPDATE;
----
[UNSUPPORTED_FEATURE] FOR UPDATE or FOR SHARE is not supported. Leave it out: reading locks nothing. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT room FROM hot FOR UPDATE;
       ^^^^^^^^^^^^^

==== two queries of one name in WITH
WITH a AS (SELECT 1 AS x), A AS (SELECT 2 AS x) SELECT * FROM a;
----
[INVALID_PLAN] Two queries in WITH are called a. Rename one of them. SQLSTATE: 42000
== SQL (line 1, position 6) ==
WITH a AS (SELECT 1 AS x), A AS (SELECT 2 AS x) SELECT * FROM a;
     ^

==== an order by a column that is not there
CREATE VIEW v AS SELECT room FROM hot ORDER BY nosuch;
----
[UNRESOLVED_NAME] There is no column nosuch. There are: room, temp. SQLSTATE: 42703
== SQL (line 1, position 48) ==
CREATE VIEW v AS SELECT room FROM hot ORDER BY nosuch;
                                               ^^^^^^

==== an order of a union by a column that is not there
SELECT room FROM hot UNION SELECT room FROM rooms ORDER BY floor;
----
[UNRESOLVED_NAME] There is no column floor. There are: room. SQLSTATE: 42703
== SQL (line 1, position 60) ==
SELECT room FROM hot UNION SELECT room FROM rooms ORDER BY floor;
                                                           ^^^^^

==== the third argument of max_by
SELECT max_by(temp, humidity, 2) FROM temps;
----
[UNSUPPORTED_FEATURE] The argument 2 of max_by is not supported. Leave it out. SQLSTATE: 0A000
== SQL (line 1, position 31) ==
SELECT max_by(temp, humidity, 2) FROM temps;
                              ^

==== the frequency of percentile
SELECT percentile(temp, 0.5, humidity) FROM temps;
----
[PARSE_SYNTAX_ERROR] percentile does not take humidity. Leave it out. SQLSTATE: 42601
== SQL (line 1, position 30) ==
SELECT percentile(temp, 0.5, humidity) FROM temps;
                             ^^^^^^^^

==== a second argument of max
SELECT max(temp, 3) FROM temps;
----
[UNSUPPORTED_FEATURE] The argument 3 of greatest is not supported. Leave it out. SQLSTATE: 0A000
== SQL (line 1, position 18) ==
SELECT max(temp, 3) FROM temps;
                 ^

==== a second argument of collect_list
SELECT collect_list(temp, 3) FROM temps;
----
[PARSE_SYNTAX_ERROR] collect_list does not take 3. Leave it out. SQLSTATE: 42601
== SQL (line 1, position 27) ==
SELECT collect_list(temp, 3) FROM temps;
                          ^

==== a third argument of ceil
SELECT ceil(humidity, 1, 2) FROM temps;
----
[PARSE_SYNTAX_ERROR] ceil does not take 2. Leave it out. SQLSTATE: 42601
== SQL (line 1, position 26) ==
SELECT ceil(humidity, 1, 2) FROM temps;
                         ^

==== a unit of last_day
SELECT last_day(at, 'month') FROM temps;
----
[UNSUPPORTED_FEATURE] The argument MONTH of last_day is not supported. Leave it out. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT last_day(at, 'month') FROM temps;
       ^^^^^^^^^^^

==== a format in a cast
SELECT TRY_CAST(room AS INT FORMAT '99') FROM temps;
----
[UNSUPPORTED_FEATURE] FORMAT in a cast is not supported. Write to_timestamp(x, 'yyyy'), or date_format(x, ...). SQLSTATE: 0A000
== SQL (line 1, position 36) ==
SELECT TRY_CAST(room AS INT FORMAT '99') FROM temps;
                                   ^^^^

==== IGNORE NULLS
SELECT any_value(temp) IGNORE NULLS FROM temps;
----
[UNSUPPORTED_FEATURE] IGNORE NULLS is not supported. Write any_value(x) FILTER (WHERE x IS NOT NULL); other aggregates leave NULLs out. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT any_value(temp) IGNORE NULLS FROM temps;
       ^^^^^^^^^^^^^^

==== HAVING MAX in an aggregate
SELECT any_value(room HAVING MAX temp) FROM temps;
----
[UNSUPPORTED_FEATURE] HAVING MAX or MIN is not supported. Write max_by(x, y) or min_by(x, y). SQLSTATE: 0A000
== SQL (line 1, position 18) ==
SELECT any_value(room HAVING MAX temp) FROM temps;
                 ^^^^^^^^^^^^^^^^^^^^

==== an order in an aggregate
SELECT collect_list(temp ORDER BY at) FROM temps;
----
[UNSUPPORTED_FEATURE] ORDER BY within an aggregate is not supported. Sort what is collected: sort_array(collect_list(x)). SQLSTATE: 0A000
== SQL (line 1, position 21) ==
SELECT collect_list(temp ORDER BY at) FROM temps;
                    ^^^^

==== GROUP BY DISTINCT
SELECT max(temp) FROM temps GROUP BY DISTINCT room;
----
[PARSE_SYNTAX_ERROR] GROUP BY DISTINCT is not supported. List each grouping set once. SQLSTATE: 42601
== SQL (line 1, position 51) ==
SELECT max(temp) FROM temps GROUP BY DISTINCT room;
                                                  ^

==== grouping sets said in two ways
SELECT max(temp) FROM temps GROUP BY ROLLUP(room) WITH CUBE;
----
[INVALID_PLAN] These grouping sets are said in two ways. Write GROUP BY ROLLUP(a), CUBE(b). SQLSTATE: 42000
== SQL (line 1, position 45) ==
SELECT max(temp) FROM temps GROUP BY ROLLUP(room) WITH CUBE;
                                            ^^^^

==== grouping where there are no sets
SELECT room, grouping(room) FROM temps GROUP BY room;
----
[INVALID_PLAN] This tells grouping sets apart, and there are none. Write GROUP BY ROLLUP(a, b). SQLSTATE: 42000
== SQL (line 1, position 14) ==
SELECT room, grouping(room) FROM temps GROUP BY room;
             ^^^^^^^^^^^^^

==== a window defined by itself
SELECT sum(temp) OVER w FROM temps WINDOW w AS x, x AS w;
----
[INVALID_PLAN] Window x is defined by itself. SQLSTATE: 42000
== SQL (line 1, position 48) ==
SELECT sum(temp) OVER w FROM temps WINDOW w AS x, x AS w;
                                               ^

==== a window that reorders another
SELECT sum(temp) OVER (w ORDER BY room) FROM temps WINDOW w AS (ORDER BY at);
----
[INVALID_PLAN] ORDER BY is for the window w to say. Write the whole window out: OVER (PARTITION BY a ORDER BY b). SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT sum(temp) OVER (w ORDER BY room) FROM temps WINDOW w AS (ORDER BY at);
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== two windows of one name
SELECT sum(temp) OVER w FROM temps WINDOW w AS (ORDER BY at), w AS (ORDER BY room);
----
[INVALID_PLAN] Two windows are called w. SQLSTATE: 42000
== SQL (line 1, position 63) ==
SELECT sum(temp) OVER w FROM temps WINDOW w AS (ORDER BY at), w AS (ORDER BY room);
                                                              ^^^^^^^^^^^^^^^^^^^

==== an ordinality
SELECT * FROM rooms WITH ORDINALITY;
----
[UNSUPPORTED_FEATURE] WITH ORDINALITY is not supported. Number the rows: row_number() OVER (ORDER BY a). SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM rooms WITH ORDINALITY;
              ^^^^^

==== a hint about a table
SELECT * FROM rooms WITH (NOLOCK);
----
[UNSUPPORTED_FEATURE] A hint about a table is not supported. Leave it out. SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM rooms WITH (NOLOCK);
              ^^^^^

==== STAR ILIKE
SELECT * ILIKE 'r%' FROM rooms;
----
[UNSUPPORTED_FEATURE] * ILIKE is not supported. List the columns. SQLSTATE: 0A000
== SQL (line 1, position 16) ==
SELECT * ILIKE 'r%' FROM rooms;
               ^^^^

==== SELECT AS STRUCT
SELECT AS STRUCT room FROM rooms;
----
[UNSUPPORTED_FEATURE] SELECT AS STRUCT or AS VALUE is not supported. Write struct(a, b) AS s. SQLSTATE: 0A000
== SQL (line 1, position 18) ==
SELECT AS STRUCT room FROM rooms;
                 ^^^^^^^^^^^^^^^

==== a union of common columns
SELECT room FROM hot LEFT UNION ALL BY NAME SELECT room FROM rooms;
----
[UNSUPPORTED_FEATURE] LEFT or FULL with a set operation is not supported. Join the two sides. SQLSTATE: 0A000
== SQL (line 1, position 8) ==
SELECT room FROM hot LEFT UNION ALL BY NAME SELECT room FROM rooms;
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== IN UNNEST
SELECT room FROM rooms WHERE floor IN UNNEST(array(1, 2));
----
[UNSUPPORTED_FEATURE] IN UNNEST is not supported. Write array_contains(list, x). SQLSTATE: 0A000
== SQL (line 1, position 46) ==
SELECT room FROM rooms WHERE floor IN UNNEST(array(1, 2));
                                             ^^^^^^^^^^

==== a condition after a query in parentheses
(SELECT room FROM hot) WHERE room = 'a';
----
[UNSUPPORTED_FEATURE] WHERE after a query in parentheses is not supported. Write SELECT * FROM (...) AS q. SQLSTATE: 0A000
== SQL (line 1, position 30) ==
(SELECT room FROM hot) WHERE room = 'a';
                             ^^^^^^^^^^

==== VERSION AS OF
SELECT * FROM hot VERSION AS OF 3;
----
[UNSUPPORTED_FEATURE] VERSION AS OF is not supported: a view has a state at each event time. Write AS OF and a time: AS OF TIMESTAMP '2024-01-31 12:00:00'. SQLSTATE: 0A000
== SQL (line 1, position 33) ==
SELECT * FROM hot VERSION AS OF 3;
                                ^

==== all of time
SELECT * FROM hot FOR SYSTEM_TIME ALL;
----
[UNSUPPORTED_FEATURE] SYSTEM_TIME ALL is not supported: a query looks at one time. Write AS OF TIMESTAMP '2024-01-31 12:00:00'; SELECT STREAMED tells all changes. SQLSTATE: 0A000
== SQL (line 1, position 19) ==
SELECT * FROM hot FOR SYSTEM_TIME ALL;
                  ^^^

==== AS OF in a view
CREATE VIEW v AS SELECT * FROM hot AS OF TIMESTAMP '2024-01-01 00:00:00';
----
[UNSUPPORTED_FEATURE] AS OF in what is kept up to date is not supported. Ask once: SELECT * FROM v AS OF 17; or filter by a column of the time. SQLSTATE: 0A000
== SQL (line 1, position 36) ==
CREATE VIEW v AS SELECT * FROM hot AS OF TIMESTAMP '2024-01-01 00:00:00';
                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a time that is none
SELECT * FROM hot AS OF 17;
----
[INVALID_PLAN] 17 is not an event time here. Write AS OF TIMESTAMP '2024-01-31 12:00:00'. SQLSTATE: 42000
== SQL (line 1, position 25) ==
SELECT * FROM hot AS OF 17;
                        ^^

==== two times
SELECT a.room FROM hot AS OF '2024-01-01' AS a JOIN hot AS b ON a.room = b.room;
----
[UNSUPPORTED_FEATURE] A query looks at all that it reads at one time. Write the same AS OF after each source, stream and view; tables need none. SQLSTATE: 0A000
== SQL (line 1, position 53) ==
SELECT a.room FROM hot AS OF '2024-01-01' AS a JOIN hot AS b ON a.room = b.room;
                                                    ^^^^^^^^

==== AS OF for a table
SELECT * FROM rooms AS OF '2024-01-01';
----
[UNSUPPORTED_FEATURE] rooms is the same at all times, or no relation of its own. Write AS OF after a source, a stream or a view. SQLSTATE: 0A000
== SQL (line 1, position 15) ==
SELECT * FROM rooms AS OF '2024-01-01';
              ^^^^^^^^^^^^^^^^^^^^^^^^

==== clauses of points in time
CREATE VIEW v AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0 LIMIT 3;
----
[UNSUPPORTED_FEATURE] LIMIT cannot pick points in time. Write a condition in WHERE: timepoint % 2 = 0. SQLSTATE: 0A000
== SQL (line 1, position 25) ==
CREATE VIEW v AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0 LIMIT 3;
                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
