==== a source that exists
CREATE SOURCE temperature (a INT, at TIMESTAMP) EVENT TIME at
----
[INVALID_PLAN] temperature exists already. DROP it first, or choose another name. SQLSTATE: 42000
== SQL (line 1, position 15) ==
CREATE SOURCE temperature (a INT, at TIMESTAMP) EVENT TIME at
              ^^^^^^^^^^^

==== a view under the name of a stream
CREATE VIEW temps AS SELECT * FROM doors
----
[INVALID_PLAN] temps exists already. DROP it first, or choose another name. SQLSTATE: 42000
== SQL (line 1, position 13) ==
CREATE VIEW temps AS SELECT * FROM doors
            ^^^^^

==== a name that differs in case only
CREATE STREAM HOT OVER temperature KEY NULL
----
[INVALID_PLAN] hot exists already. DROP it first, or choose another name. SQLSTATE: 42000
== SQL (line 1, position 15) ==
CREATE STREAM HOT OVER temperature KEY NULL
              ^^^

==== a view under the name of the clock
CREATE VIEW clock AS SELECT * FROM temps
----
[INVALID_PLAN] clock is the name of the clock. Choose another. SQLSTATE: 42000
== SQL (line 1, position 13) ==
CREATE VIEW clock AS SELECT * FROM temps
            ^^^^^

==== a view that reads itself
CREATE VIEW warm AS SELECT * FROM warm WHERE temp > 20
----
[INVALID_PLAN] View warm would read itself. A view reads what was created before it. SQLSTATE: 42000
== SQL (line 1, position 13) ==
CREATE VIEW warm AS SELECT * FROM warm WHERE temp > 20
            ^^^^

==== a view that reads itself in a subquery
CREATE VIEW warm AS SELECT * FROM temps WHERE temp > (SELECT max(temp) FROM warm)
----
[INVALID_PLAN] View warm would read itself. A view reads what was created before it. SQLSTATE: 42000
== SQL (line 1, position 13) ==
CREATE VIEW warm AS SELECT * FROM temps WHERE temp > (SELECT max(temp) FROM warm)
            ^^^^

==== columns of one name
CREATE VIEW both AS SELECT * FROM hot, rooms WHERE hot.room = rooms.room
----
[INVALID_PLAN] Two columns are called room. Give one another name with AS, or name all of them: CREATE VIEW v (a, b) AS SELECT ... SQLSTATE: 42000
== SQL (line 1, position 21) ==
CREATE VIEW both AS SELECT * FROM hot, rooms WHERE hot.room = rooms.room
                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== columns that differ in case only
CREATE VIEW v AS SELECT room, temp AS ROOM FROM hot
----
[INVALID_PLAN] Two columns are called ROOM. Give one another name with AS, or name all of them: CREATE VIEW v (a, b) AS SELECT ... SQLSTATE: 42000
== SQL (line 1, position 18) ==
CREATE VIEW v AS SELECT room, temp AS ROOM FROM hot
                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== too many names for columns
CREATE VIEW v (a, b, c) AS SELECT room, temp FROM hot
----
[INVALID_PLAN] The query has 2 columns, and there are names for 3. SQLSTATE: 42000
== SQL (line 1, position 16) ==
CREATE VIEW v (a, b, c) AS SELECT room, temp FROM hot
               ^^^^^^^

==== one name twice among the columns
CREATE VIEW v (a, a) AS SELECT room, temp FROM hot
----
[INVALID_PLAN] Two columns are called a. Give one another name with AS, or name all of them: CREATE VIEW v (a, b) AS SELECT ... SQLSTATE: 42000
== SQL (line 1, position 25) ==
CREATE VIEW v (a, a) AS SELECT room, temp FROM hot
                        ^^^^^^^^^^^^^^^^^^^^^^^^^^

==== a column twice in a source
CREATE SOURCE s (a INT, a INT, at TIMESTAMP) EVENT TIME at
----
[PARSE_SYNTAX_ERROR] Two columns are called a. SQLSTATE: 42601
== SQL (line 1, position 25) ==
CREATE SOURCE s (a INT, a INT, at TIMESTAMP) EVENT TIME at
                        ^

==== a stream over an unknown source
CREATE STREAM s OVER temperatur KEY NULL
----
[UNRESOLVED_NAME] There is no source temperatur. Did you mean temperature? SQLSTATE: 42703
== SQL (line 1, position 22) ==
CREATE STREAM s OVER temperatur KEY NULL
                     ^^^^^^^^^^

==== a stream over a view
CREATE STREAM s OVER hot KEY (room)
----
[INVALID_PLAN] A stream is over a source, and hot is a view. Queries read it as it is. SQLSTATE: 42000
== SQL (line 1, position 22) ==
CREATE STREAM s OVER hot KEY (room)
                     ^^^

==== a stream over a table
CREATE STREAM s OVER rooms KEY NULL
----
[INVALID_PLAN] A stream is over a source, and rooms is a table. Queries read it as it is. SQLSTATE: 42000
== SQL (line 1, position 22) ==
CREATE STREAM s OVER rooms KEY NULL
                     ^^^^^

==== a key column that is not there
CREATE STREAM s OVER temperature KEY (rom)
----
[UNRESOLVED_NAME] There is no column rom. Did you mean room? SQLSTATE: 42703
== SQL (line 1, position 39) ==
CREATE STREAM s OVER temperature KEY (rom)
                                      ^^^

==== an operation without a key
CREATE STREAM s OVER changes KEY NULL OP op
----
[UNSUPPORTED_FEATURE] OP says what becomes of the row of a key, and this stream has none. Write KEY (id) OP op. SQLSTATE: 0A000
== SQL (line 1, position 42) ==
CREATE STREAM s OVER changes KEY NULL OP op
                                         ^^

==== an operation column that is not there
CREATE STREAM s OVER changes KEY (id) OP operation
----
[UNRESOLVED_NAME] There is no column operation. There are: id, name, price, tags, op, expires, at. SQLSTATE: 42703
== SQL (line 1, position 42) ==
CREATE STREAM s OVER changes KEY (id) OP operation
                                         ^^^^^^^^^

==== an operation that is a number
CREATE STREAM s OVER temperature KEY (room) OP temp
----
[INVALID_PLAN] The column of OP is a STRING: + u -, c u d r, I U D, +I -U +U -D, or insert, update, upsert, delete. SQLSTATE: 42000
== SQL (line 1, position 48) ==
CREATE STREAM s OVER temperature KEY (room) OP temp
                                               ^^^^

==== a table without rows
CREATE TABLE t (a INT)
----
[UNSUPPORTED_FEATURE] A table needs rows. Write USING parquet OPTIONS (path '...'), or use db.create_table(name, rows). SQLSTATE: 0A000
== SQL (line 1, position 14) ==
CREATE TABLE t (a INT)
             ^

==== a table in an unknown format
CREATE TABLE t (a INT) USING parket OPTIONS (path '/tmp/nothing')
----
[INVALID_PLAN] There is no format parket. Did you mean parquet? SQLSTATE: 42000
== SQL (line 1, position 14) ==
CREATE TABLE t (a INT) USING parket OPTIONS (path '/tmp/nothing')
             ^

==== a table of a file that is not there
CREATE TABLE t (a INT) USING parquet OPTIONS (path '/tmp/there/is/no/such/file')
----
[INVALID_PLAN] There is no file or folder file:/tmp/there/is/no/such/file. SQLSTATE: 42000
== SQL (line 1, position 14) ==
CREATE TABLE t (a INT) USING parquet OPTIONS (path '/tmp/there/is/no/such/file')
             ^

==== a source in an unknown format
CREATE SOURCE s (a INT, at TIMESTAMP) USING jsn OPTIONS (path '/tmp/nothing') EVENT TIME at
----
[INVALID_PLAN] There is no format jsn. Did you mean json? SQLSTATE: 42000
== SQL (line 1, position 1) ==
CREATE SOURCE s (a INT, at TIMESTAMP) USING jsn OPTIONS (path '/tmp/nothing') EVENT TIME at
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== DROP of what is not there
DROP VIEW hott
----
[UNRESOLVED_NAME] There is no view hott. Did you mean hot? SQLSTATE: 42703
== SQL (line 1, position 11) ==
DROP VIEW hott
          ^^^^

==== DROP of another kind
DROP VIEW temps
----
[INVALID_PLAN] temps is a stream: write DROP STREAM temps. SQLSTATE: 42000
== SQL (line 1, position 11) ==
DROP VIEW temps
          ^^^^^

==== DROP of a source as a table
DROP TABLE temperature
----
[INVALID_PLAN] temperature is a source: write DROP SOURCE temperature. SQLSTATE: 42000
== SQL (line 1, position 12) ==
DROP TABLE temperature
           ^^^^^^^^^^^

==== DROP of what a view reads
DROP VIEW hot
----
[INVALID_PLAN] hot is read by hottest. Drop it first. SQLSTATE: 42000
== SQL (line 1, position 11) ==
DROP VIEW hot
          ^^^

==== DROP of what a stream is over
DROP SOURCE temperature
----
[INVALID_PLAN] temperature is read by temps and room_temp. Drop them first. SQLSTATE: 42000
== SQL (line 1, position 13) ==
DROP SOURCE temperature
            ^^^^^^^^^^^

==== DESCRIBE of what is not there
DESCRIBE room_tmp
----
[UNRESOLVED_NAME] There is no source, stream, table or view room_tmp. Did you mean room_temp? SQLSTATE: 42703
== SQL (line 1, position 10) ==
DESCRIBE room_tmp
         ^^^^^^^^

==== EXPLAIN of a query that is wrong
EXPLAIN SELECT room, tmp FROM hot
----
[UNRESOLVED_NAME] There is no column tmp. Did you mean temp? SQLSTATE: 42703
== SQL (line 1, position 22) ==
EXPLAIN SELECT room, tmp FROM hot
                     ^^^

==== an error in the second statement of a text
SHOW VIEWS;
SELECT room,
       tmp
FROM hot
----
[UNRESOLVED_NAME] There is no column tmp. Did you mean temp? SQLSTATE: 42703
== SQL (line 3, position 8) ==
       tmp
       ^^^
