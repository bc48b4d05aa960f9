==== a column neither grouped nor aggregated
SELECT room, temp, count(*) FROM hot GROUP BY room
----
[INVALID_PLAN] Column temp is neither grouped nor aggregated. Add it to GROUP BY, or take any_value, min or max of it. SQLSTATE: 42000
== SQL (line 1, position 14) ==
SELECT room, temp, count(*) FROM hot GROUP BY room
             ^^^^

==== a column beside an aggregate
SELECT room, max(temp) FROM hot
----
[INVALID_PLAN] Column room is neither grouped nor aggregated. Add it to GROUP BY, or take any_value, min or max of it. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT room, max(temp) FROM hot
       ^^^^

==== a column in HAVING
SELECT room FROM hot GROUP BY room HAVING temp > 5
----
[INVALID_PLAN] Column temp is neither grouped nor aggregated. Add it to GROUP BY, or take any_value, min or max of it. SQLSTATE: 42000
== SQL (line 1, position 43) ==
SELECT room FROM hot GROUP BY room HAVING temp > 5
                                          ^^^^

==== a star with GROUP BY
SELECT * FROM hot GROUP BY room
----
[INVALID_PLAN] Column temp is neither grouped nor aggregated. Add it to GROUP BY, or take any_value, min or max of it. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT * FROM hot GROUP BY room
       ^

==== an aggregate in WHERE
SELECT room FROM hot WHERE max(temp) > 90 GROUP BY room
----
[INVALID_PLAN] An aggregate cannot stand here, where rows are not grouped yet. Write HAVING after GROUP BY, or aggregate in a query in FROM. SQLSTATE: 42000
== SQL (line 1, position 28) ==
SELECT room FROM hot WHERE max(temp) > 90 GROUP BY room
                           ^^^^^^^^

==== an aggregate in the condition of a join
SELECT * FROM hot JOIN rooms ON hot.room = rooms.room AND count(*) > 1
----
[INVALID_PLAN] An aggregate cannot stand here, where rows are not grouped yet. Write HAVING after GROUP BY, or aggregate in a query in FROM. SQLSTATE: 42000
== SQL (line 1, position 59) ==
SELECT * FROM hot JOIN rooms ON hot.room = rooms.room AND count(*) > 1
                                                          ^^^^^^^

==== an aggregate in GROUP BY
SELECT count(*) FROM hot GROUP BY max(temp)
----
[INVALID_PLAN] An aggregate cannot be grouped by. Group by it in a query around this one. SQLSTATE: 42000
== SQL (line 1, position 35) ==
SELECT count(*) FROM hot GROUP BY max(temp)
                                  ^^^^^^^^

==== an aggregate of an aggregate
SELECT max(count(*)) FROM hot GROUP BY room
----
[INVALID_PLAN] An aggregate cannot stand in another. Group in a query in FROM first. SQLSTATE: 42000
== SQL (line 1, position 12) ==
SELECT max(count(*)) FROM hot GROUP BY room
           ^^^^^^^

==== HAVING without groups
SELECT room FROM hot HAVING temp > 5
----
[INVALID_PLAN] HAVING needs GROUP BY or an aggregate; use WHERE. SQLSTATE: 42000
== SQL (line 1, position 29) ==
SELECT room FROM hot HAVING temp > 5
                            ^^^^^^^^

==== a rank in WHERE
SELECT room FROM hot WHERE row_number() OVER (ORDER BY temp) = 1
----
[INVALID_PLAN] What is OVER rows cannot stand here: it is computed after WHERE and GROUP BY. Filter by it with QUALIFY, or use it in a query around this one. SQLSTATE: 42000
== SQL (line 1, position 28) ==
SELECT room FROM hot WHERE row_number() OVER (ORDER BY temp) = 1
                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a rank in a group key
SELECT count(*) FROM hot GROUP BY rank() OVER (ORDER BY temp)
----
[INVALID_PLAN] What is OVER rows cannot stand here: it is computed after WHERE and GROUP BY. Filter by it with QUALIFY, or use it in a query around this one. SQLSTATE: 42000
== SQL (line 1, position 35) ==
SELECT count(*) FROM hot GROUP BY rank() OVER (ORDER BY temp)
                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a rank without an order
SELECT row_number() OVER (PARTITION BY room) FROM hot
----
[INVALID_PLAN] This needs an order: OVER (PARTITION BY a ORDER BY b). SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT row_number() OVER (PARTITION BY room) FROM hot
       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a rank without OVER
SELECT room, row_number() FROM hot
----
[INVALID_PLAN] row_number() numbers rows: write row_number() OVER (PARTITION BY a ORDER BY b). SQLSTATE: 42000
== SQL (line 1, position 14) ==
SELECT room, row_number() FROM hot
             ^^^^^^^^^^

==== grouping of what is not grouped by
SELECT grouping(temp) FROM hot GROUP BY ROLLUP (room)
----
[INVALID_PLAN] grouping(x) is for an x of GROUP BY; this is none. SQLSTATE: 42000
== SQL (line 1, position 8) ==
SELECT grouping(temp) FROM hot GROUP BY ROLLUP (room)
       ^^^^^^^^^^^^^

==== two windows in time
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute'), window(ts, '2 minutes')
----
[UNSUPPORTED_FEATURE] Groups are by one window in time. Group twice, a view over a view. SQLSTATE: 0A000
== SQL (line 1, position 61) ==
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute'), window(ts, '2 minutes')
                                                            ^^^^^^^^^^^^^^^^^^^^^^

==== ORDER BY what DISTINCT has merged
SELECT DISTINCT room FROM hot ORDER BY temp LIMIT 3
----
[INVALID_PLAN] With DISTINCT, ORDER BY can only name columns of the select list. SQLSTATE: 42000
== SQL (line 1, position 40) ==
SELECT DISTINCT room FROM hot ORDER BY temp LIMIT 3
                                       ^^^^

==== an aggregate of a frame by value
SELECT sum(temp) OVER (ORDER BY temp RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM hot
----
[UNSUPPORTED_FEATURE] Frames are ROWS BETWEEN ... AND ..., or RANGE up to the current row. For a range of time, put a window on the stream: FROM s [RANGE 5 MINUTES]. SQLSTATE: 0A000
== SQL (line 1, position 52) ==
SELECT sum(temp) OVER (ORDER BY temp RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM hot
                                                   ^

==== a scalar subquery with two columns
SELECT (SELECT room, temp FROM hot LIMIT 1) FROM rooms
----
[INVALID_PLAN] A query as a value has one column; this one has 2. SQLSTATE: 42000
== SQL (line 1, position 16) ==
SELECT (SELECT room, temp FROM hot LIMIT 1) FROM rooms
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a scalar subquery that may have several rows
SELECT (SELECT temp FROM hot WHERE hot.room = r.room) FROM rooms r, temps
----
[UNSUPPORTED_FEATURE] This query as a value could have more than one row. Take max(x) or min(x) of it, or ORDER BY ... LIMIT 1. SQLSTATE: 0A000
== SQL (line 1, position 16) ==
SELECT (SELECT temp FROM hot WHERE hot.room = r.room) FROM rooms r, temps
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a scalar subquery of a whole relation
SELECT room FROM hot WHERE temp > (SELECT temp FROM temps)
----
[UNSUPPORTED_FEATURE] This query as a value could have more than one row. Take max(x) or min(x) of it, or ORDER BY ... LIMIT 1. SQLSTATE: 0A000
== SQL (line 1, position 43) ==
SELECT room FROM hot WHERE temp > (SELECT temp FROM temps)
                                          ^^^^^^^^^^^^^^^

==== IN with too many columns
SELECT * FROM hot WHERE room IN (SELECT room, floor FROM rooms)
----
[INVALID_PLAN] Before IN there is 1 and in its query there are 2 columns; both need the same number. SQLSTATE: 42000
== SQL (line 1, position 25) ==
SELECT * FROM hot WHERE room IN (SELECT room, floor FROM rooms)
                        ^^^^

==== a query in GROUP BY
SELECT temp IN (SELECT temp FROM hottest), count(*) FROM hot GROUP BY temp IN (SELECT temp FROM hottest)
----
[UNSUPPORTED_FEATURE] A query cannot stand in ON or GROUP BY, nor in the order of rows. Select it in a query in FROM, under a name, and use the name here; or move the condition to WHERE. SQLSTATE: 0A000
== SQL (line 1, position 87) ==
SELECT temp IN (SELECT temp FROM hottest), count(*) FROM hot GROUP BY temp IN (SELECT temp FROM hottest)
                                                                                      ^^^^^^^^^^^^^^^^^

==== a query in ON
SELECT * FROM hot JOIN doors ON hot.temp IN (SELECT temp FROM hottest)
----
[UNSUPPORTED_FEATURE] A query cannot stand in ON or GROUP BY, nor in the order of rows. Select it in a query in FROM, under a name, and use the name here; or move the condition to WHERE. SQLSTATE: 0A000
== SQL (line 1, position 53) ==
SELECT * FROM hot JOIN doors ON hot.temp IN (SELECT temp FROM hottest)
                                                    ^^^^^^^^^^^^^^^^^

==== an order of a view by what DISTINCT has merged
CREATE VIEW v AS SELECT DISTINCT room FROM hot ORDER BY temp
----
[INVALID_PLAN] With DISTINCT, ORDER BY can only name columns of the select list. SQLSTATE: 42000
== SQL (line 1, position 57) ==
CREATE VIEW v AS SELECT DISTINCT room FROM hot ORDER BY temp
                                                        ^^^^

==== an order of a view by what is not grouped
CREATE VIEW v AS SELECT room, count(*) AS n FROM hot GROUP BY room ORDER BY temp
----
[INVALID_PLAN] Column temp is neither grouped nor aggregated. Add it to GROUP BY, or take any_value, min or max of it. SQLSTATE: 42000
== SQL (line 1, position 77) ==
CREATE VIEW v AS SELECT room, count(*) AS n FROM hot GROUP BY room ORDER BY temp
                                                                            ^^^^
