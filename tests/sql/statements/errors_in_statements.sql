==== a statement misspelt
CREAT SOURCE s (a INT)
----
[PARSE_SYNTAX_ERROR] Found 'CREAT', expected a statement: CREATE, REGISTER, DROP, SHOW, DESCRIBE, EXPLAIN, PUNCTUATE, SELECT or WITH. Did you mean CREATE? SQLSTATE: 42601
== SQL (line 1, position 1) ==
CREAT SOURCE s (a INT)
^^^^^

==== no statement
HELLO WORLD
----
[PARSE_SYNTAX_ERROR] Found 'HELLO', expected a statement: CREATE, REGISTER, DROP, SHOW, DESCRIBE, EXPLAIN, PUNCTUATE, SELECT or WITH. SQLSTATE: 42601
== SQL (line 1, position 1) ==
HELLO WORLD
^^^^^

==== a number
5
----
[PARSE_SYNTAX_ERROR] Found '5', expected a statement: CREATE, REGISTER, DROP, SHOW, DESCRIBE, EXPLAIN, PUNCTUATE, SELECT or WITH. SQLSTATE: 42601
== SQL (line 1, position 1) ==
5
^

==== INSERT
INSERT INTO s VALUES (1)
----
[UNSUPPORTED_FEATURE] There is no INSERT in Penstock. Rows come in through a source: CREATE SOURCE ... USING json OPTIONS (path 'dir') reads files, db.source(name).append(rows) takes them from Python. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
INSERT INTO s VALUES (1)
^^^^^^

==== UPDATE
UPDATE s SET a = 1
----
[UNSUPPORTED_FEATURE] There is no UPDATE in Penstock. CREATE STREAM ... KEY (columns) makes each row replace the last one of its key. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
UPDATE s SET a = 1
^^^^^^

==== DELETE
DELETE FROM s
----
[UNSUPPORTED_FEATURE] There is no DELETE in Penstock. Rows leave through the source: CREATE STREAM ... OP column, or a window. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
DELETE FROM s
^^^^^^

==== SET
SET spark.sql.shuffle.partitions = 5
----
[UNSUPPORTED_FEATURE] There is no SET in Penstock. Give options to penstock.connect(). SQLSTATE: 0A000
== SQL (line 1, position 1) ==
SET spark.sql.shuffle.partitions = 5
^^^

==== ALTER
ALTER VIEW v SET OPTIONS (expiry 'input')
----
[PARSE_SYNTAX_ERROR] Found 'SET', expected RESUME or RENAME TO. SQLSTATE: 42601
== SQL (line 1, position 14) ==
ALTER VIEW v SET OPTIONS (expiry 'input')
             ^^^

==== ALTER a view's query
ALTER VIEW v AS SELECT 1
----
[UNSUPPORTED_FEATURE] There is no ALTER VIEW ... AS in Penstock. Write CREATE OR REPLACE VIEW v AS SELECT ... SQLSTATE: 0A000
== SQL (line 1, position 1) ==
ALTER VIEW v AS SELECT 1
^^^^^^^^^^^^^^^

==== ALTER a stream
ALTER STREAM st KEY (k)
----
[UNSUPPORTED_FEATURE] There is no ALTER STREAM in Penstock. DROP the object and CREATE it anew. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
ALTER STREAM st KEY (k)
^^^^^^^^^^^^

==== ALTER nothing
ALTER SINK k PAUSE
----
[PARSE_SYNTAX_ERROR] Found 'SINK', expected VIEW or SOURCE after ALTER. SQLSTATE: 42601
== SQL (line 1, position 7) ==
ALTER SINK k PAUSE
      ^^^^

==== a source without a column
ALTER SOURCE s DROP COLUMN a
----
[UNSUPPORTED_FEATURE] There is no ALTER SOURCE ... DROP in Penstock. What views read stays: ADD COLUMN adds a column, and ALTER COLUMN c TYPE t widens a type. A view can leave a column out, or call it something else. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
ALTER SOURCE s DROP COLUMN a
^^^^^^^^^^^^^^^^^^^

==== a source and nothing to be done
ALTER SOURCE s LATE DROP
----
[PARSE_SYNTAX_ERROR] Found 'LATE', expected ADD COLUMN or ALTER COLUMN. Did you mean ALTER? Write ALTER SOURCE s ADD COLUMN c INT. SQLSTATE: 42601
== SQL (line 1, position 16) ==
ALTER SOURCE s LATE DROP
               ^^^^

==== an added column with a promise
ALTER SOURCE s ADD COLUMN c INT NOT NULL
----
[PARSE_SYNTAX_ERROR] A column that is added is NULL in the rows that came before, so nothing can be promised of it. Write ADD COLUMN c INT. SQLSTATE: 42601
== SQL (line 1, position 27) ==
ALTER SOURCE s ADD COLUMN c INT NOT NULL
                          ^

==== a column and no type
ALTER SOURCE s ALTER COLUMN c TYPE BIGGINT
----
[PARSE_SYNTAX_ERROR] Found 'BIGGINT', expected the type of column c. Did you mean BIGINT? SQLSTATE: 42601
== SQL (line 1, position 36) ==
ALTER SOURCE s ALTER COLUMN c TYPE BIGGINT
                                   ^^^^^^^

==== RENAME without TO
ALTER VIEW v RENAME w
----
[PARSE_SYNTAX_ERROR] Found 'w', expected TO and the new name. Write ALTER VIEW v RENAME TO w. SQLSTATE: 42601
== SQL (line 1, position 21) ==
ALTER VIEW v RENAME w
                    ^

==== CREATE nothing
CREATE
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected SOURCE, STREAM, TABLE, VIEW, STREAMED VIEW or MATERIALIZED VIEW. SQLSTATE: 42601
== SQL (line 1, position 7) ==
CREATE
      ^

==== a kind misspelt
CREATE STREEM t OVER s KEY NULL
----
[PARSE_SYNTAX_ERROR] Found 'STREEM', expected SOURCE, STREAM, TABLE, VIEW, STREAMED VIEW or MATERIALIZED VIEW. Did you mean STREAM? SQLSTATE: 42601
== SQL (line 1, position 8) ==
CREATE STREEM t OVER s KEY NULL
       ^^^^^^

==== no such kind
CREATE INDEX i ON t (a)
----
[PARSE_SYNTAX_ERROR] Found 'INDEX', expected SOURCE, STREAM, TABLE, VIEW, STREAMED VIEW or MATERIALIZED VIEW. SQLSTATE: 42601
== SQL (line 1, position 8) ==
CREATE INDEX i ON t (a)
       ^^^^^

==== CREATE FUNCTION
CREATE FUNCTION f AS 'x'
----
[UNSUPPORTED_FEATURE] There is no CREATE FUNCTION in Penstock. Register a Python function with Spark. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
CREATE FUNCTION f AS 'x'
^^^^^^^^^^^^^^^

==== OR REPLACE a source
CREATE OR REPLACE SOURCE s (a INT)
----
[UNSUPPORTED_FEATURE] There is no CREATE OR REPLACE SOURCE in Penstock. Only views are replaced: DROP the object and CREATE it anew. ALTER SOURCE s ADD COLUMN c INT adds a column to a source. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
CREATE OR REPLACE SOURCE s (a INT)
^^^^^^^^^^^^^^^^^^^^^^^^

==== OR REPLACE and IF NOT EXISTS
CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1
----
[PARSE_SYNTAX_ERROR] OR REPLACE says what becomes of a view that is there, and so does IF NOT EXISTS. Leave one of them out. SQLSTATE: 42601
== SQL (line 1, position 1) ==
CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

==== OR REPLACE nothing
CREATE OR REPLACE VEW v AS SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'VEW', expected VIEW, STREAMED VIEW or MATERIALIZED VIEW after CREATE OR REPLACE. Did you mean VIEW? SQLSTATE: 42601
== SQL (line 1, position 19) ==
CREATE OR REPLACE VEW v AS SELECT 1
                  ^^^

==== TEMPORARY
CREATE TEMPORARY VIEW v AS SELECT 1
----
[UNSUPPORTED_FEATURE] There is no CREATE TEMPORARY in Penstock. Leave the word out; DROP removes an object. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
CREATE TEMPORARY VIEW v AS SELECT 1
^^^^^^^^^^^^^^^^

==== STREAMED without VIEW
CREATE STREAMED hot AS SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'hot', expected VIEW after CREATE STREAMED. SQLSTATE: 42601
== SQL (line 1, position 17) ==
CREATE STREAMED hot AS SELECT 1
                ^^^

==== a view that starts at no time
CREATE VIEW v START LATER AS SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'LATER', expected NOW. Write CREATE VIEW v START NOW AS SELECT a FROM s. SQLSTATE: 42601
== SQL (line 1, position 21) ==
CREATE VIEW v START LATER AS SELECT 1
                    ^^^^^

==== a view without AS
CREATE VIEW v SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'SELECT', expected AS and a query. Write CREATE VIEW v AS SELECT a FROM s. SQLSTATE: 42601
== SQL (line 1, position 15) ==
CREATE VIEW v SELECT 1
              ^^^^^^

==== a view of no query
CREATE VIEW v AS s
----
[PARSE_SYNTAX_ERROR] Found 's', expected a query. Write SELECT a FROM s. SQLSTATE: 42601
== SQL (line 1, position 18) ==
CREATE VIEW v AS s
                 ^

==== a view without a name
CREATE VIEW AS SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'AS', expected the name of the view. SQLSTATE: 42601
== SQL (line 1, position 13) ==
CREATE VIEW AS SELECT 1
            ^^

==== a view with a number for a column
CREATE VIEW v (1) AS SELECT 1
----
[PARSE_SYNTAX_ERROR] Found '1', expected the name of a column of the view. SQLSTATE: 42601
== SQL (line 1, position 16) ==
CREATE VIEW v (1) AS SELECT 1
               ^

==== columns of a view that are not closed
CREATE VIEW v (a AS SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'AS', expected ) after the columns of the view. SQLSTATE: 42601
== SQL (line 1, position 18) ==
CREATE VIEW v (a AS SELECT 1
                 ^^

==== a table of a query
CREATE TABLE t AS SELECT 1
----
[UNSUPPORTED_FEATURE] There is no CREATE TABLE ... AS in Penstock. Write CREATE VIEW t AS SELECT ..., which stays up to date. SQLSTATE: 0A000
== SQL (line 1, position 1) ==
CREATE TABLE t AS SELECT 1
^^^^^^^^^^^^^^^^^

==== a table of nothing
CREATE TABLE t
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected columns or USING. Write CREATE TABLE t (a INT) USING parquet. SQLSTATE: 42601
== SQL (line 1, position 15) ==
CREATE TABLE t
              ^

==== a table with a source's clause
CREATE TABLE t (a INT) LATE DROP
----
[PARSE_SYNTAX_ERROR] Found 'LATE', expected USING, OPTIONS or the end of the statement. SQLSTATE: 42601
== SQL (line 1, position 24) ==
CREATE TABLE t (a INT) LATE DROP
                       ^^^^

==== a source without columns
CREATE SOURCE s USING json
----
[PARSE_SYNTAX_ERROR] Found 'USING', expected the columns of s. Write s (a INT, b STRING). SQLSTATE: 42601
== SQL (line 1, position 17) ==
CREATE SOURCE s USING json
                ^^^^^

==== a column without a type
CREATE SOURCE s (a)
----
[PARSE_SYNTAX_ERROR] Found ')', expected the type of column a. The types are ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTERVAL, MAP, SMALLINT, STRING, STRUCT, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TINYINT, VARCHAR, VARIANT. SQLSTATE: 42601
== SQL (line 1, position 19) ==
CREATE SOURCE s (a)
                  ^

==== a type misspelt
CREATE SOURCE s (a STRNG)
----
[PARSE_SYNTAX_ERROR] Found 'STRNG', expected the type of column a. Did you mean STRING? The types are ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTERVAL, MAP, SMALLINT, STRING, STRUCT, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TINYINT, VARCHAR, VARIANT. SQLSTATE: 42601
== SQL (line 1, position 20) ==
CREATE SOURCE s (a STRNG)
                   ^^^^^

==== no such type
CREATE SOURCE s (a INT, b SERIAL)
----
[PARSE_SYNTAX_ERROR] Found 'SERIAL', expected the type of column b. The types are ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTERVAL, MAP, SMALLINT, STRING, STRUCT, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TINYINT, VARCHAR, VARIANT. SQLSTATE: 42601
== SQL (line 1, position 27) ==
CREATE SOURCE s (a INT, b SERIAL)
                          ^^^^^^

==== a column twice
CREATE SOURCE s (a INT, b INT, A STRING)
----
[PARSE_SYNTAX_ERROR] Two columns are called A. SQLSTATE: 42601
== SQL (line 1, position 32) ==
CREATE SOURCE s (a INT, b INT, A STRING)
                               ^

==== a comma at the end
CREATE SOURCE s (a INT, )
----
[PARSE_SYNTAX_ERROR] Found ')', expected the name of a column. SQLSTATE: 42601
== SQL (line 1, position 25) ==
CREATE SOURCE s (a INT, )
                        ^

==== a default
CREATE SOURCE s (a INT DEFAULT 5)
----
[PARSE_SYNTAX_ERROR] Found 'DEFAULT', expected a comma, NOT NULL, CHECK or ) after a column. SQLSTATE: 42601
== SQL (line 1, position 24) ==
CREATE SOURCE s (a INT DEFAULT 5)
                       ^^^^^^^

==== columns that are not closed
CREATE SOURCE s (a INT USING json
----
[PARSE_SYNTAX_ERROR] Found 'USING', expected a comma, NOT NULL, CHECK or ) after a column. SQLSTATE: 42601
== SQL (line 1, position 24) ==
CREATE SOURCE s (a INT USING json
                       ^^^^^

==== a clause misspelt
CREATE SOURCE s (a INT) USIGN json
----
[PARSE_SYNTAX_ERROR] Found 'USIGN', expected USING, OPTIONS, EVENT TIME, WATERMARK, LATE, ON ERROR, RATE or the end of the statement. Did you mean USING? SQLSTATE: 42601
== SQL (line 1, position 25) ==
CREATE SOURCE s (a INT) USIGN json
                        ^^^^^

==== no such clause
CREATE SOURCE s (a INT) PARTITIONED BY (a)
----
[PARSE_SYNTAX_ERROR] Found 'PARTITIONED BY', expected USING, OPTIONS, EVENT TIME, WATERMARK, LATE, ON ERROR, RATE or the end of the statement. SQLSTATE: 42601
== SQL (line 1, position 25) ==
CREATE SOURCE s (a INT) PARTITIONED BY (a)
                        ^^^^^^^^^^^^^^

==== a clause twice
CREATE SOURCE s (a INT) LATE DROP LATE FAIL
----
[PARSE_SYNTAX_ERROR] LATE stands twice. SQLSTATE: 42601
== SQL (line 1, position 35) ==
CREATE SOURCE s (a INT) LATE DROP LATE FAIL
                                  ^^^^

==== two clauses of event time
CREATE SOURCE s (a INT) EVENT TIME a WATERMARK a
----
[PARSE_SYNTAX_ERROR] EVENT TIME stands twice. SQLSTATE: 42601
== SQL (line 1, position 38) ==
CREATE SOURCE s (a INT) EVENT TIME a WATERMARK a
                                     ^^^^^^^^^

==== LATE misspelt
CREATE SOURCE s (a INT) LATE KEPT
----
[PARSE_SYNTAX_ERROR] Found 'KEPT', expected KEEP, DROP or FAIL after LATE. Did you mean KEEP? SQLSTATE: 42601
== SQL (line 1, position 30) ==
CREATE SOURCE s (a INT) LATE KEPT
                             ^^^^

==== LATE and nothing
CREATE SOURCE s (a INT) LATE
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected KEEP, DROP or FAIL after LATE. SQLSTATE: 42601
== SQL (line 1, position 29) ==
CREATE SOURCE s (a INT) LATE
                            ^

==== EVENT TIME of no such column
CREATE SOURCE s (room STRING, at TIMESTAMP) EVENT TIME att
----
[PARSE_SYNTAX_ERROR] There is no column att. Did you mean at? The columns are room, at. SQLSTATE: 42601
== SQL (line 1, position 56) ==
CREATE SOURCE s (room STRING, at TIMESTAMP) EVENT TIME att
                                                       ^^^

==== EVENT TIME of nothing
CREATE SOURCE s (a INT) EVENT TIME
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected the name of the column that holds the time. SQLSTATE: 42601
== SQL (line 1, position 35) ==
CREATE SOURCE s (a INT) EVENT TIME
                                  ^

==== a delay of months
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at DELAY INTERVAL 1 MONTH
----
[PARSE_SYNTAX_ERROR] A MONTH has no fixed length. Write it in smaller units, such as 30 DAYS. SQLSTATE: 42601
== SQL (line 1, position 61) ==
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at DELAY INTERVAL 1 MONTH
                                                            ^^^^^^^

==== a delay of nothing
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at DELAY LATE DROP
----
[PARSE_SYNTAX_ERROR] Found 'LATE', expected the delay, such as 5 MINUTES, or 5 where time is integers. SQLSTATE: 42601
== SQL (line 1, position 52) ==
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at DELAY LATE DROP
                                                   ^^^^

==== a unit of the delay misspelt
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at DELAY 5 SECODNS
----
[PARSE_SYNTAX_ERROR] Found 'SECODNS', expected a unit of time. Did you mean SECONDS? The units are MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS, WEEKS. SQLSTATE: 42601
== SQL (line 1, position 54) ==
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at DELAY 5 SECODNS
                                                     ^^^^^^^

==== options without a format
CREATE SOURCE s (a INT) OPTIONS (path 'in')
----
[PARSE_SYNTAX_ERROR] OPTIONS belong to a format, and there is no USING. Write USING json OPTIONS (...), or any other format of Spark. SQLSTATE: 42601
== SQL (line 1, position 25) ==
CREATE SOURCE s (a INT) OPTIONS (path 'in')
                        ^^^^^^^

==== USING nothing
CREATE SOURCE s (a INT) USING OPTIONS (path 'in')
----
[PARSE_SYNTAX_ERROR] Found 'OPTIONS', expected the name of a format of Spark. SQLSTATE: 42601
== SQL (line 1, position 31) ==
CREATE SOURCE s (a INT) USING OPTIONS (path 'in')
                              ^^^^^^^

==== an option without a value
CREATE SOURCE s (a INT) USING json OPTIONS (path)
----
[PARSE_SYNTAX_ERROR] Found ')', expected the value of option path: a string, a number, TRUE or FALSE. SQLSTATE: 42601
== SQL (line 1, position 49) ==
CREATE SOURCE s (a INT) USING json OPTIONS (path)
                                                ^

==== an option twice
CREATE SOURCE s (a INT) USING json OPTIONS (path 'a', PATH 'b')
----
[PARSE_SYNTAX_ERROR] Option PATH is given twice. SQLSTATE: 42601
== SQL (line 1, position 55) ==
CREATE SOURCE s (a INT) USING json OPTIONS (path 'a', PATH 'b')
                                                      ^^^^

==== options without parentheses
CREATE SOURCE s (a INT) USING json OPTIONS path 'in'
----
[PARSE_SYNTAX_ERROR] Found 'path', expected ( after OPTIONS. SQLSTATE: 42601
== SQL (line 1, position 44) ==
CREATE SOURCE s (a INT) USING json OPTIONS path 'in'
                                           ^^^^

==== options that are not separated
CREATE SOURCE s (a INT) USING json OPTIONS (path 'in' header true)
----
[PARSE_SYNTAX_ERROR] Found 'header', expected a comma or ) after an option. SQLSTATE: 42601
== SQL (line 1, position 55) ==
CREATE SOURCE s (a INT) USING json OPTIONS (path 'in' header true)
                                                      ^^^^^^

==== no options
CREATE SOURCE s (a INT) USING json OPTIONS ()
----
[PARSE_SYNTAX_ERROR] Found ')', expected the name of an option. Write (path 'in'). SQLSTATE: 42601
== SQL (line 1, position 45) ==
CREATE SOURCE s (a INT) USING json OPTIONS ()
                                            ^

==== REGISTER something else
REGISTER STREAM s (a INT) FROM port5501
----
[PARSE_SYNTAX_ERROR] Found 'STREAM', expected SOURCE after REGISTER. SQLSTATE: 42601
== SQL (line 1, position 10) ==
REGISTER STREAM s (a INT) FROM port5501
         ^^^^^^

==== a source without a port
REGISTER SOURCE s (a INT)
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected FROM and a port. Write FROM port5501. SQLSTATE: 42601
== SQL (line 1, position 26) ==
REGISTER SOURCE s (a INT)
                         ^

==== a source from a file
REGISTER SOURCE s (a INT) FROM 'file'
----
[PARSE_SYNTAX_ERROR] Found ''file'', expected a port. Write FROM port5501. SQLSTATE: 42601
== SQL (line 1, position 32) ==
REGISTER SOURCE s (a INT) FROM 'file'
                               ^^^^^^

==== no such port
REGISTER SOURCE s (a INT) FROM port99999
----
[PARSE_SYNTAX_ERROR] There is no port 99999; ports are from 1 to 65535. SQLSTATE: 42601
== SQL (line 1, position 32) ==
REGISTER SOURCE s (a INT) FROM port99999
                               ^^^^^^^^^

==== a stream over nothing
CREATE STREAM t KEY (a)
----
[PARSE_SYNTAX_ERROR] Found 'KEY', expected OVER and a source. Write CREATE STREAM t OVER source KEY (column). SQLSTATE: 42601
== SQL (line 1, position 17) ==
CREATE STREAM t KEY (a)
                ^^^

==== a stream without a key
CREATE STREAM t OVER s
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected KEY (columns) or KEY NULL. KEY NULL makes every row an insert. SQLSTATE: 42601
== SQL (line 1, position 23) ==
CREATE STREAM t OVER s
                      ^

==== KEY misspelt
CREATE STREAM t OVER s KYE (a)
----
[PARSE_SYNTAX_ERROR] Found 'KYE', expected KEY (columns) or KEY NULL. Did you mean KEY? KEY NULL makes every row an insert. SQLSTATE: 42601
== SQL (line 1, position 24) ==
CREATE STREAM t OVER s KYE (a)
                       ^^^

==== a key of an expression
CREATE STREAM t OVER s KEY (a + 1)
----
[PARSE_SYNTAX_ERROR] Found '+', expected ) after the columns. SQLSTATE: 42601
== SQL (line 1, position 31) ==
CREATE STREAM t OVER s KEY (a + 1)
                              ^

==== OP of nothing
CREATE STREAM t OVER s KEY (a) OP
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected the name of a column. SQLSTATE: 42601
== SQL (line 1, position 34) ==
CREATE STREAM t OVER s KEY (a) OP
                                 ^

==== a clause of a stream misspelt
CREATE STREAM t OVER s KEY (a) PUNCTATED BY ORDER (a)
----
[PARSE_SYNTAX_ERROR] Found 'PUNCTATED', expected OP, SEQUENCE BY, PUNCTUATED BY or the end of the statement. Did you mean PUNCTUATED BY? SQLSTATE: 42601
== SQL (line 1, position 32) ==
CREATE STREAM t OVER s KEY (a) PUNCTATED BY ORDER (a)
                               ^^^^^^^^^

==== a stream in sequence, by nothing
CREATE STREAM t OVER s KEY (a) SEQUENCE a
----
[PARSE_SYNTAX_ERROR] Found 'a', expected BY and a column after SEQUENCE. Write SEQUENCE BY lsn. SQLSTATE: 42601
== SQL (line 1, position 41) ==
CREATE STREAM t OVER s KEY (a) SEQUENCE a
                                        ^

==== a clause of a stream after OP
CREATE STREAM t OVER s KEY (a) OP op LATE DROP
----
[PARSE_SYNTAX_ERROR] Found 'LATE', expected SEQUENCE BY, PUNCTUATED BY or the end of the statement. SQLSTATE: 42601
== SQL (line 1, position 38) ==
CREATE STREAM t OVER s KEY (a) OP op LATE DROP
                                     ^^^^

==== PUNCTUATED without BY
CREATE STREAM t OVER s KEY NULL PUNCTUATED ORDER (a)
----
[PARSE_SYNTAX_ERROR] Found 'ORDER', expected BY ORDER, COLUMN, DOMAIN or ALL after PUNCTUATED. SQLSTATE: 42601
== SQL (line 1, position 44) ==
CREATE STREAM t OVER s KEY NULL PUNCTUATED ORDER (a)
                                           ^^^^^

==== a scheme misspelt
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY ODRER (a)
----
[PARSE_SYNTAX_ERROR] Found 'ODRER', expected ORDER, COLUMN, DOMAIN or ALL after BY. Did you mean ORDER? SQLSTATE: 42601
== SQL (line 1, position 47) ==
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY ODRER (a)
                                              ^^^^^

==== a domain without parentheses
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY DOMAIN temp > 3
----
[PARSE_SYNTAX_ERROR] Found 'temp', expected ( after DOMAIN. SQLSTATE: 42601
== SQL (line 1, position 54) ==
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY DOMAIN temp > 3
                                                     ^^^^

==== an empty domain
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY DOMAIN ()
----
[PARSE_SYNTAX_ERROR] Found ')', expected a condition, such as hour BETWEEN 0 AND 3. SQLSTATE: 42601
== SQL (line 1, position 55) ==
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY DOMAIN ()
                                                      ^

==== ALL without IN
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY ALL sid PER (hour)
----
[PARSE_SYNTAX_ERROR] Found 'PER', expected IN and a table. Write BY ALL sid IN sensor_list PER (hour). SQLSTATE: 42601
== SQL (line 1, position 55) ==
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY ALL sid PER (hour)
                                                      ^^^

==== ALL without PER
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY ALL sid IN sensors
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected PER and the columns that end. Write BY ALL sid IN sensor_list PER (hour). SQLSTATE: 42601
== SQL (line 1, position 65) ==
CREATE STREAM t OVER s KEY NULL PUNCTUATED BY ALL sid IN sensors
                                                                ^

==== a punctuation without a condition
PUNCTUATE s
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected WHERE and a condition. Write PUNCTUATE s WHERE column = constant. SQLSTATE: 42601
== SQL (line 1, position 12) ==
PUNCTUATE s
           ^

==== a punctuation of nothing
PUNCTUATE s WHERE
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected a condition, such as hour BETWEEN 0 AND 3. SQLSTATE: 42601
== SQL (line 1, position 18) ==
PUNCTUATE s WHERE
                 ^

==== a punctuation with OR
PUNCTUATE s WHERE a = 1 OR b = 2
----
[PARSE_SYNTAX_ERROR] This condition cannot be a pattern of a punctuation. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 19) ==
PUNCTUATE s WHERE a = 1 OR b = 2
                  ^^^^^^^^^^^^^^

==== a punctuation with LIKE
PUNCTUATE s WHERE a LIKE 'x%'
----
[PARSE_SYNTAX_ERROR] This condition cannot be a pattern of a punctuation. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 19) ==
PUNCTUATE s WHERE a LIKE 'x%'
                  ^^^^^^^^^^^

==== a punctuation with <>
PUNCTUATE s WHERE a <> 1
----
[PARSE_SYNTAX_ERROR] This condition cannot be a pattern of a punctuation. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 19) ==
PUNCTUATE s WHERE a <> 1
                  ^^^^^^

==== a punctuation that compares two columns
PUNCTUATE s WHERE a = b
----
[PARSE_SYNTAX_ERROR] Expected a constant. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 23) ==
PUNCTUATE s WHERE a = b
                      ^

==== a punctuation with a function
PUNCTUATE s WHERE a = now()
----
[PARSE_SYNTAX_ERROR] Expected a constant. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 23) ==
PUNCTUATE s WHERE a = now()
                      ^^^

==== a punctuation about an expression
PUNCTUATE s WHERE a + 1 = 2
----
[PARSE_SYNTAX_ERROR] Expected the name of a column. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 19) ==
PUNCTUATE s WHERE a + 1 = 2
                  ^^^^^

==== a punctuation with a subquery
PUNCTUATE s WHERE a IN (SELECT b FROM t)
----
[PARSE_SYNTAX_ERROR] This condition cannot be a pattern of a punctuation. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 19) ==
PUNCTUATE s WHERE a IN (SELECT b FROM t)
                  ^^^^^^^^^^^^^^^^^^^^^

==== two conditions on a column
PUNCTUATE s WHERE a = 1 AND a = 2
----
[PARSE_SYNTAX_ERROR] There are two conditions on column a. Write one. SQLSTATE: 42601
== SQL (line 1, position 29) ==
PUNCTUATE s WHERE a = 1 AND a = 2
                            ^^^^^

==== a column with its stream's name
PUNCTUATE s WHERE s.a = 1
----
[PARSE_SYNTAX_ERROR] Expected the name of a column. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 19) ==
PUNCTUATE s WHERE s.a = 1
                  ^^^

==== EXPLAIN nothing
EXPLAIN
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected MEMORY, SHARING, SELECT or CREATE VIEW. SQLSTATE: 42601
== SQL (line 1, position 8) ==
EXPLAIN
       ^

==== an aspect misspelt
EXPLAIN MEMROY SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'MEMROY', expected MEMORY, SHARING, SELECT or CREATE VIEW. Did you mean MEMORY? SQLSTATE: 42601
== SQL (line 1, position 9) ==
EXPLAIN MEMROY SELECT 1
        ^^^^^^

==== EXPLAIN EXTENDED
EXPLAIN EXTENDED SELECT 1
----
[PARSE_SYNTAX_ERROR] Found 'EXTENDED', expected MEMORY, SHARING, SELECT or CREATE VIEW. SQLSTATE: 42601
== SQL (line 1, position 9) ==
EXPLAIN EXTENDED SELECT 1
        ^^^^^^^^

==== EXPLAIN MEMORY of a name
EXPLAIN MEMORY hot
----
[PARSE_SYNTAX_ERROR] Found 'hot', expected SELECT or CREATE VIEW. SQLSTATE: 42601
== SQL (line 1, position 16) ==
EXPLAIN MEMORY hot
               ^^^

==== EXPLAIN of a source
EXPLAIN CREATE SOURCE s (a INT)
----
[PARSE_SYNTAX_ERROR] EXPLAIN is about a query or a view. SQLSTATE: 42601
== SQL (line 1, position 9) ==
EXPLAIN CREATE SOURCE s (a INT)
        ^^^^^^^^^^^^^^^^^^^^^^^

==== DROP something else
DROP INDEX i
----
[PARSE_SYNTAX_ERROR] Found 'INDEX', expected SOURCE, STREAM, TABLE or VIEW after DROP. SQLSTATE: 42601
== SQL (line 1, position 6) ==
DROP INDEX i
     ^^^^^

==== DROP misspelt
DROP VEIW v
----
[PARSE_SYNTAX_ERROR] Found 'VEIW', expected SOURCE, STREAM, TABLE or VIEW after DROP. Did you mean VIEW? SQLSTATE: 42601
== SQL (line 1, position 6) ==
DROP VEIW v
     ^^^^

==== DROP nothing
DROP VIEW
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected the name of the view. SQLSTATE: 42601
== SQL (line 1, position 10) ==
DROP VIEW
         ^

==== DROP with dependents
DROP VIEW v CASCADE
----
[PARSE_SYNTAX_ERROR] Found 'CASCADE', expected the end of the statement. Statements are separated by semicolons. SQLSTATE: 42601
== SQL (line 1, position 13) ==
DROP VIEW v CASCADE
            ^^^^^^^

==== SHOW misspelt
SHOW VEIWS
----
[PARSE_SYNTAX_ERROR] Found 'VEIWS', expected SOURCES, STREAMS, TABLES, VIEWS, LATE, REJECTED or COLUMNS after SHOW. Did you mean VIEWS? SQLSTATE: 42601
== SQL (line 1, position 6) ==
SHOW VEIWS
     ^^^^^

==== SHOW one
SHOW VIEW
----
[PARSE_SYNTAX_ERROR] Found 'VIEW', expected SOURCES, STREAMS, TABLES, VIEWS, LATE, REJECTED or COLUMNS after SHOW. Did you mean VIEWS? SQLSTATE: 42601
== SQL (line 1, position 6) ==
SHOW VIEW
     ^^^^

==== DESCRIBE nothing
DESCRIBE
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected the name of a source, stream, table or view. SQLSTATE: 42601
== SQL (line 1, position 9) ==
DESCRIBE
        ^

==== DESCRIBE two
DESCRIBE a, b
----
[PARSE_SYNTAX_ERROR] Found ',', expected the end of the statement. Statements are separated by semicolons. SQLSTATE: 42601
== SQL (line 1, position 11) ==
DESCRIBE a, b
          ^

==== a name with two parts
CREATE VIEW db.v AS SELECT 1
----
[PARSE_SYNTAX_ERROR] Names have one part. Write v. SQLSTATE: 42601
== SQL (line 1, position 15) ==
CREATE VIEW db.v AS SELECT 1
              ^

==== a word for a name
DROP VIEW select
----
[PARSE_SYNTAX_ERROR] Found 'select', expected the name of the view. SQLSTATE: 42601
== SQL (line 1, position 11) ==
DROP VIEW select
          ^^^^^^

==== statements that are not separated
SHOW VIEWS SHOW STREAMS
----
[PARSE_SYNTAX_ERROR] Found 'SHOW', expected the end of the statement. Statements are separated by semicolons. SQLSTATE: 42601
== SQL (line 1, position 12) ==
SHOW VIEWS SHOW STREAMS
           ^^^^

==== a type that Spark does not have
CREATE SOURCE s (a UUID)
----
[PARSE_SYNTAX_ERROR] Found 'UUID', expected the type of column a. The types are ARRAY, BIGINT, BINARY, BOOLEAN, CHAR, DATE, DECIMAL, DOUBLE, FLOAT, INT, INTERVAL, MAP, SMALLINT, STRING, STRUCT, TIMESTAMP, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TINYINT, VARCHAR, VARIANT. SQLSTATE: 42601
== SQL (line 1, position 20) ==
CREATE SOURCE s (a UUID)
                   ^^^^

==== a type that is not closed
CREATE SOURCE s (a STRUCT<x: INT, b INT)
----
[PARSE_SYNTAX_ERROR] Found ')', expected >. SQLSTATE: 42601
== SQL (line 1, position 40) ==
CREATE SOURCE s (a STRUCT<x: INT, b INT)
                                       ^

==== a check without a condition
CREATE SOURCE s (a INT CHECK ())
----
[PARSE_SYNTAX_ERROR] Found ')', expected a condition on a after CHECK (. Write CHECK (a BETWEEN 0 AND 9). SQLSTATE: 42601
== SQL (line 1, position 31) ==
CREATE SOURCE s (a INT CHECK ())
                              ^

==== a rate without a span
CREATE SOURCE s (a INT) RATE 100
----
[PARSE_SYNTAX_ERROR] Found the end of the statement, expected PER and a span of time. Write RATE 100 PER SECOND. SQLSTATE: 42601
== SQL (line 1, position 33) ==
CREATE SOURCE s (a INT) RATE 100
                                ^

==== a rate of nothing
CREATE SOURCE s (a INT) RATE 0 PER SECOND
----
[PARSE_SYNTAX_ERROR] Found '0', expected a positive whole number of rows. SQLSTATE: 42601
== SQL (line 1, position 30) ==
CREATE SOURCE s (a INT) RATE 0 PER SECOND
                             ^

==== ON ERROR, and then what
CREATE SOURCE s (a INT) ON ERROR KEPE
----
[PARSE_SYNTAX_ERROR] Found 'KEPE', expected KEEP, DROP or FAIL after ON ERROR. Did you mean KEEP? SQLSTATE: 42601
== SQL (line 1, position 34) ==
CREATE SOURCE s (a INT) ON ERROR KEPE
                                 ^^^^

==== SHOW COLUMNS of nothing
SHOW COLUMNS s
----
[PARSE_SYNTAX_ERROR] Found 's', expected FROM after COLUMNS. Write SHOW COLUMNS FROM v. SQLSTATE: 42601
== SQL (line 1, position 14) ==
SHOW COLUMNS s
             ^

==== SHOW REJECTED of nothing
SHOW REJECTED s
----
[PARSE_SYNTAX_ERROR] Found 's', expected FOR after REJECTED. Write SHOW REJECTED FOR s. SQLSTATE: 42601
== SQL (line 1, position 15) ==
SHOW REJECTED s
              ^
