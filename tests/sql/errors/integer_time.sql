==== a window with a unit
SELECT * FROM temps [RANGE 5 MINUTES]
----
[INVALID_PLAN] Time is plain integers here, so 5 MINUTES has no meaning: write a number. SQLSTATE: 42000
== SQL (line 1, position 21) ==
SELECT * FROM temps [RANGE 5 MINUTES]
                    ^^^^^^^^^^^^^^^^^

==== NOW() moved by an interval
SELECT * FROM temps WHERE NOW() - INTERVAL 5 MINUTES < ts
----
[INVALID_PLAN] Time is plain integers here: write NOW() - 5. SQLSTATE: 42000
== SQL (line 1, position 27) ==
SELECT * FROM temps WHERE NOW() - INTERVAL 5 MINUTES < ts
                          ^^^

==== NOW() compared with text
SELECT * FROM temps WHERE room < NOW()
----
[INVALID_PLAN] NOW() is an integer here, and this is STRING. Compare it with a time. SQLSTATE: 42000
== SQL (line 1, position 27) ==
SELECT * FROM temps WHERE room < NOW()
                          ^^^^

==== a period with a unit
CREATE VIEW sync4 AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 4 MINUTES = 0
----
[INVALID_PLAN] Time is plain integers here: write timepoint % 2 = 0. SQLSTATE: 42000
== SQL (line 1, position 56) ==
CREATE VIEW sync4 AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 4 MINUTES = 0
                                                       ^^^^^^^^^

==== a group window with a unit
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute')
----
[INVALID_PLAN] Time is plain integers here, so the length is a number: 10. SQLSTATE: 42000
== SQL (line 1, position 48) ==
SELECT count(*) FROM temps GROUP BY window(ts, '1 minute')
                                               ^^^^^^^^^^

==== a delay with a unit
CREATE SOURCE s (a INT, at INT) EVENT TIME at DELAY INTERVAL 5 SECONDS
----
[INVALID_PLAN] Event time at is INT, so the delay is a plain number: DELAY 5. SQLSTATE: 42000
== SQL (line 1, position 44) ==
CREATE SOURCE s (a INT, at INT) EVENT TIME at DELAY INTERVAL 5 SECONDS
                                           ^^

==== another kind of time
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME at
----
[INVALID_PLAN] All sources of a pipeline share one kind of time. s has timestamps, the others have integers. SQLSTATE: 42000
== SQL (line 1, position 1) ==
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME at
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a source that is stamped on arrival
CREATE SOURCE s (a INT)
----
[INVALID_PLAN] All sources of a pipeline share one kind of time. s is stamped on arrival with timestamps, the others have integers. SQLSTATE: 42000
== SQL (line 1, position 1) ==
CREATE SOURCE s (a INT)
^^^^^^^^^^^^^^^^^^^^^^^
