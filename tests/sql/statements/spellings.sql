==== CQL's stream of a list
SELECT Istream(a, b) FROM s [Range Unbounded]; SELECT Rstream(*) FROM s [Rows Unbounded]; SELECT Dstream(a) FROM s [Now]
----
SELECT ISTREAM a, b FROM s [UNBOUNDED]
Query(tree=`SELECT a, b FROM s [UNBOUNDED]`, output=ISTREAM)
  s: UnboundedWindow()
SELECT RSTREAM * FROM s [UNBOUNDED]
Query(tree=`SELECT * FROM s [UNBOUNDED]`, output=RSTREAM)
  s: UnboundedWindow()
SELECT DSTREAM a FROM s [NOW]
Query(tree=`SELECT a FROM s [NOW]`, output=DSTREAM)
  s: NowWindow()

==== parentheses that are not CQL's
SELECT ISTREAM (a + b) * 2 AS c FROM s; SELECT STREAMED (a), b FROM s
----
SELECT ISTREAM (a + b) * 2 AS c FROM s
Query(tree=`SELECT (a + b) * 2 AS c FROM s`, output=ISTREAM)
SELECT STREAMED (a), b FROM s
Query(tree=`SELECT (a), b FROM s`, output=STREAMED)

==== columns that are called like outputs
SELECT complete FROM t; SELECT streamed, a FROM t; SELECT complete AS c FROM t; SELECT t.istream FROM t;
SELECT complete * 2 FROM t; SELECT STREAMED * FROM t; SELECT (SELECT complete) FROM t; SELECT complete
----
SELECT complete FROM t
Query(tree=`SELECT complete FROM t`)
SELECT streamed, a FROM t
Query(tree=`SELECT streamed, a FROM t`)
SELECT complete AS c FROM t
Query(tree=`SELECT complete AS c FROM t`)
SELECT t.istream FROM t
Query(tree=`SELECT t.istream FROM t`)
SELECT complete * 2 FROM t
Query(tree=`SELECT complete * 2 FROM t`)
SELECT STREAMED * FROM t
Query(tree=`SELECT * FROM t`, output=STREAMED)
SELECT (SELECT complete) FROM t
Query(tree=`SELECT (SELECT complete) FROM t`)
SELECT complete
Query(tree=`SELECT complete`)

==== a column that is called NOW
SELECT `now`, now.a, t.now FROM now, t
----
SELECT `now`, now.a, t.now FROM now CROSS JOIN t
Query(tree=`SELECT `now`, now.a, t.now FROM now CROSS JOIN t`)

==== a column and an alias that are called MOD, and the function
SELECT mod(a, 2), a mod 2, a mod (b + 1) * 3, c mod FROM t
----
SELECT a % 2, a % 2, a % (b + 1) * 3, c AS mod FROM t
Query(tree=`SELECT a % 2, a % 2, a % (b + 1) * 3, c AS mod FROM t`)

==== aliases that are called SYNC and EMIT
SELECT sync.a FROM s sync JOIN t emit ON sync.a = emit.a
----
SELECT sync.a FROM s AS sync JOIN t AS emit ON sync.a = emit.a
Query(tree=`SELECT sync.a FROM s AS sync JOIN t AS emit ON sync.a = emit.a`)

==== a stream that is called R
SELECT * FROM r [NOW]; SELECT * FROM r; SELECT * FROM R(r [RANGE 5]); SELECT * FROM R[r](r)
----
SELECT * FROM r [NOW]
Query(tree=`SELECT * FROM r [NOW]`)
  r: NowWindow()
SELECT * FROM r
Query(tree=`SELECT * FROM r`)
SELECT * FROM r [RANGE 5]
Query(tree=`SELECT * FROM r [RANGE 5]`)
  r: RangeWindow(size=Duration(length=5, ticks=True))
SELECT * FROM r SYNC BY r
Query(tree=`SELECT * FROM r SYNC BY r`)

==== options before and after DISTINCT
SELECT STREAMED DISTINCT a FROM s; SELECT /*+ BROADCAST(t) */ STREAMED ALL a FROM s
----
SELECT STREAMED DISTINCT a FROM s
Query(tree=`SELECT DISTINCT a FROM s`, output=STREAMED)
SELECT /*+ BROADCAST(t) */ STREAMED a FROM s
Query(tree=`SELECT /*+ BROADCAST(t) */ a FROM s`, output=STREAMED)

==== synchronization after the alias, after a window, of a query
SELECT * FROM s AS r SYNC BY x, (SELECT a FROM t) SYNC BY y AS q, u [RANGE 5] SYNC BY z v
----
SELECT * FROM s SYNC BY x AS r CROSS JOIN (SELECT a FROM t) SYNC BY y AS q CROSS JOIN u [RANGE 5] SYNC BY z AS v
Query(tree=`SELECT * FROM s SYNC BY x AS r CROSS JOIN (SELECT a FROM t) SYNC BY y AS q CROSS JOIN u [RANGE 5] SYNC BY z AS v`)
  v: RangeWindow(size=Duration(length=5, ticks=True))

==== a window on a query
SELECT * FROM (SELECT ISTREAM a FROM v) [RANGE 5 MINUTES] AS w JOIN t ON w.a = t.a
----
SELECT * FROM (SELECT ISTREAM a FROM v) [RANGE 5 MINUTES] AS w JOIN t ON w.a = t.a
Query(tree=`SELECT * FROM (SELECT ISTREAM a FROM v) [RANGE 5 MINUTES] AS w JOIN t ON w.a = t.a`)
  w: RangeWindow(size=Duration(length=300000000))

==== lengths of time
SELECT * FROM s [RANGE INTERVAL '5' MINUTES]; SELECT * FROM s [RANGE INTERVAL '1 hour 30 minutes'];
SELECT * FROM s [RANGE 1 DAY 2 HOURS SLIDE 500 MILLISECONDS]; SELECT * FROM s [FIXED 1.5 SECONDS];
SELECT * FROM s [FIXED 2 WEEKS]; SELECT * FROM s [RANGE 10 SLIDE 4]; SELECT * FROM s [range 1 microsecond]
----
SELECT * FROM s [RANGE 5 MINUTES]
Query(tree=`SELECT * FROM s [RANGE 5 MINUTES]`)
  s: RangeWindow(size=Duration(length=300000000))
SELECT * FROM s [RANGE 90 MINUTES]
Query(tree=`SELECT * FROM s [RANGE 90 MINUTES]`)
  s: RangeWindow(size=Duration(length=5400000000))
SELECT * FROM s [RANGE 26 HOURS SLIDE 500 MILLISECONDS]
Query(tree=`SELECT * FROM s [RANGE 26 HOURS SLIDE 500 MILLISECONDS]`)
  s: RangeWindow(size=Duration(length=93600000000), slide=Duration(length=500000))
SELECT * FROM s [FIXED 1500 MILLISECONDS]
Query(tree=`SELECT * FROM s [FIXED 1500 MILLISECONDS]`)
  s: FixedWindow(size=Duration(length=1500000))
SELECT * FROM s [FIXED 2 WEEKS]
Query(tree=`SELECT * FROM s [FIXED 2 WEEKS]`)
  s: FixedWindow(size=Duration(length=1209600000000))
SELECT * FROM s [RANGE 10 SLIDE 4]
Query(tree=`SELECT * FROM s [RANGE 10 SLIDE 4]`)
  s: RangeWindow(size=Duration(length=10, ticks=True), slide=Duration(length=4, ticks=True))
SELECT * FROM s [RANGE 1 MICROSECOND]
Query(tree=`SELECT * FROM s [RANGE 1 MICROSECOND]`)
  s: RangeWindow(size=Duration(length=1))

==== partitions
SELECT * FROM s [PARTITION BY a, `b c` ROWS 3]
----
SELECT * FROM s [PARTITION BY a, `b c` ROWS 3]
Query(tree=`SELECT * FROM s [PARTITION BY a, `b c` ROWS 3]`)
  s: RowsWindow(rows=3, partition=[a, b c])

==== a port in two words
REGISTER SOURCE s (a INT NOT NULL, b STRING) FROM PORT 9999
----
REGISTER SOURCE s (a INT NOT NULL, b STRING) FROM port9999
RegisterSource(name=s, columns=[ColumnDefinition(name=a, type=INT, nullable=False), ColumnDefinition(name=b, type=STRING)], port=9999)

==== options of a format
CREATE SOURCE s (a INT) USING kafka OPTIONS (kafka.bootstrap.servers 'h:1', 'subscribe' = "t", includeHeaders true, maxOffsetsPerTrigger 1000, minPartitions = -1)
----
CREATE SOURCE s (a INT) USING kafka OPTIONS ('kafka.bootstrap.servers' 'h:1', subscribe 't', includeHeaders 'true', maxOffsetsPerTrigger '1000', minPartitions '-1')
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT)], format=Format(name=kafka, options=[[kafka.bootstrap.servers, h:1], [subscribe, t], [includeHeaders, true], [maxOffsetsPerTrigger, 1000], [minPartitions, -1]]))

==== clauses in another order
CREATE SOURCE s (a INT, at TIMESTAMP) LATE DROP EVENT TIME at DELAY 2 MINUTES OPTIONS (path 'p') USING org.apache.spark.sql.json
----
CREATE SOURCE s (a INT, at TIMESTAMP) USING org.apache.spark.sql.json OPTIONS (path 'p') EVENT TIME at DELAY INTERVAL 2 MINUTES LATE DROP
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT), ColumnDefinition(name=at, type=TIMESTAMP)], format=Format(name=org.apache.spark.sql.json, options=[[path, p]]), event_time=EventTime(column=at, delay=Duration(length=120000000)), late=DROP)

==== what a source promises
CREATE SOURCE s (a INT NOT NULL CHECK (a BETWEEN 0 AND 9) CHECK (a <> 3), b STRING CHECK (b IN ('x', 'y'))) RATE 100 PER SECOND;
CREATE SOURCE s (a INT, at TIMESTAMP) RATE 5 PER 10 MINUTES EVENT TIME at;
CREATE SOURCE s (a INT, t INT) EVENT TIME t RATE 3 PER 10;
----
CREATE SOURCE s (a INT NOT NULL CHECK (a BETWEEN 0 AND 9) CHECK (a <> 3), b STRING CHECK (b IN ('x', 'y'))) RATE 100 PER 1 SECOND
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT, nullable=False, checks=[`a BETWEEN 0 AND 9`, `a <> 3`]), ColumnDefinition(name=b, type=STRING, checks=[`b IN ('x', 'y')`])], rate=Rate(rows=100, span=Duration(length=1000000)))
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME at RATE 5 PER 10 MINUTES
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT), ColumnDefinition(name=at, type=TIMESTAMP)], event_time=EventTime(column=at), rate=Rate(rows=5, span=Duration(length=600000000)))
CREATE SOURCE s (a INT, t INT) EVENT TIME t RATE 3 PER 10
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT), ColumnDefinition(name=t, type=INT)], event_time=EventTime(column=t), rate=Rate(rows=3, span=Duration(length=10, ticks=True)))

==== a zero delay
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at DELAY INTERVAL 0 SECONDS
----
CREATE SOURCE s (at TIMESTAMP) EVENT TIME at
CreateSource(name=s, columns=[ColumnDefinition(name=at, type=TIMESTAMP)], event_time=EventTime(column=at))

==== types
CREATE SOURCE s (a ARRAY<STRUCT<x: INT, y: STRING>>, b MAP<STRING, ARRAY<INT>>, c DECIMAL(10, 2), d VARCHAR(5), e TIMESTAMP_NTZ, f LONG, g BYTE, h DATE, i BOOLEAN, j BINARY, k DOUBLE, l REAL, m SHORT)
----
CREATE SOURCE s (a ARRAY<STRUCT<x: INT, y: STRING>>, b MAP<STRING, ARRAY<INT>>, c DECIMAL(10, 2), d VARCHAR(5), e TIMESTAMP_NTZ, f BIGINT, g TINYINT, h DATE, i BOOLEAN, j BINARY, k DOUBLE, l FLOAT, m SMALLINT)
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=ARRAY<STRUCT<x: INT, y: STRING>>), ColumnDefinition(name=b, type=MAP<STRING, ARRAY<INT>>), ColumnDefinition(name=c, type=DECIMAL(10, 2)), ColumnDefinition(name=d, type=VARCHAR(5)), ColumnDefinition(name=e, type=TIMESTAMP_NTZ), ColumnDefinition(name=f, type=BIGINT), ColumnDefinition(name=g, type=TINYINT), ColumnDefinition(name=h, type=DATE), ColumnDefinition(name=i, type=BOOLEAN), ColumnDefinition(name=j, type=BINARY), ColumnDefinition(name=k, type=DOUBLE), ColumnDefinition(name=l, type=FLOAT), ColumnDefinition(name=m, type=SMALLINT)])

==== a table without columns, a table without a format
CREATE TABLE t USING parquet OPTIONS (path 'p'); CREATE TABLE t (a INT)
----
CREATE TABLE t USING parquet OPTIONS (path 'p')
CreateTable(name=t, format=Format(name=parquet, options=[[path, p]]))
CREATE TABLE t (a INT)
CreateTable(name=t, columns=[ColumnDefinition(name=a, type=INT)])

==== if it exists, if it does not
CREATE SOURCE IF NOT EXISTS s (a INT); CREATE TABLE IF NOT EXISTS t (a INT); CREATE STREAM IF NOT EXISTS u OVER s KEY NULL;
CREATE VIEW IF NOT EXISTS v AS SELECT 1; DROP VIEW IF EXISTS v
----
CREATE SOURCE IF NOT EXISTS s (a INT)
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT)], if_not_exists=True)
CREATE TABLE IF NOT EXISTS t (a INT)
CreateTable(name=t, columns=[ColumnDefinition(name=a, type=INT)], if_not_exists=True)
CREATE STREAM IF NOT EXISTS u OVER s KEY NULL
CreateStream(name=u, source=s, if_not_exists=True)
CREATE STREAMED VIEW IF NOT EXISTS v AS SELECT 1
CreateView(name=v, query=Query(tree=`SELECT 1`), if_not_exists=True)
DROP VIEW IF EXISTS v
Drop(kind=VIEW, name=v, if_exists=True)

==== a view that names its columns
CREATE VIEW v (a, b) AS SELECT x, y FROM s
----
CREATE STREAMED VIEW v (a, b) AS SELECT x, y FROM s
CreateView(name=v, query=Query(tree=`SELECT x, y FROM s`), columns=[a, b])

==== keys
CREATE STREAM t OVER s KEY a; CREATE STREAM t OVER s KEY (a, `b c`); CREATE STREAM t OVER s KEY NULL OP op
----
CREATE STREAM t OVER s KEY (a)
CreateStream(name=t, source=s, key=[a])
CREATE STREAM t OVER s KEY (a, `b c`)
CreateStream(name=t, source=s, key=[a, b c])
CREATE STREAM t OVER s KEY NULL OP op
CreateStream(name=t, source=s, operation=op)

==== patterns
PUNCTUATE s WHERE a = 3 AND b > 5 AND b <= 7 AND 'x' < c AND d IN ('a', 'b') AND (e = -1.5) AND f >= DATE '2020-01-01' AND g = TIMESTAMP '2020-01-01 00:00:00'
----
PUNCTUATE s WHERE a = 3 AND b > 5 AND b <= 7 AND c > 'x' AND d IN ('a', 'b') AND e = -1.5 AND f >= CAST('2020-01-01' AS DATE) AND g = CAST('2020-01-01 00:00:00' AS TIMESTAMP)
Punctuate(stream=s, patterns=[OneOf(column=a, values=[`3`]), Between(column=b, low=`5`, high=`7`, low_open=True), Between(column=c, low=`'x'`, high=None, low_open=True), OneOf(column=d, values=[`'a'`, `'b'`]), OneOf(column=e, values=[`-1.5`]), Between(column=f, low=`CAST('2020-01-01' AS DATE)`, high=None), OneOf(column=g, values=[`CAST('2020-01-01 00:00:00' AS TIMESTAMP)`])])

==== names in quotes, comments, no statements
CREATE STREAM `a b` OVER `select` KEY (`x``y`) /* a comment */; -- another
; ;
----
CREATE STREAM `a b` OVER `select` KEY (`x``y`)
CreateStream(name=a b, source=select, key=[x`y])

==== nothing
-- only a comment
----


==== semicolons and comments in strings and names
SELECT ';--', "/* */", `;` FROM s -- ; DROP VIEW v
----
SELECT ';--', '/* */', `;` FROM s
Query(tree=`SELECT ';--', '/* */', `;` FROM s`)

==== a query in parentheses
(SELECT STREAMED a FROM s); ((SELECT a FROM s) UNION (SELECT ISTREAM b FROM t)) EMIT FINAL
----
SELECT STREAMED a FROM s
Query(tree=`SELECT a FROM s`, output=STREAMED)
((SELECT a FROM s) UNION (SELECT ISTREAM b FROM t)) EMIT FINAL
Query(tree=`((SELECT a FROM s) UNION (SELECT ISTREAM b FROM t))`, emit=FINAL)

==== a query after WITH
WITH x AS (SELECT a FROM s [RANGE 5]) SELECT STREAMED * FROM x EMIT FINAL
----
WITH x AS (SELECT a FROM s [RANGE 5]) SELECT STREAMED * FROM x EMIT FINAL
Query(tree=`WITH x AS (SELECT a FROM s [RANGE 5]) SELECT * FROM x`, output=STREAMED, emit=FINAL)
  s: RangeWindow(size=Duration(length=5, ticks=True))

==== output and emission of a set operation
SELECT STREAMED a FROM s UNION ALL SELECT b FROM t INTERSECT SELECT c FROM u EMIT FINAL;
SELECT a FROM s UNION (SELECT b FROM t) EMIT FINAL
----
SELECT STREAMED a FROM s UNION ALL (SELECT b FROM t INTERSECT SELECT c FROM u) EMIT FINAL
Query(tree=`SELECT a FROM s UNION ALL (SELECT b FROM t INTERSECT SELECT c FROM u)`, output=STREAMED, emit=FINAL)
SELECT a FROM s UNION (SELECT b FROM t) EMIT FINAL
Query(tree=`SELECT a FROM s UNION (SELECT b FROM t)`, emit=FINAL)

==== emission after every clause
SELECT 1 EMIT FINAL; SELECT a FROM (SELECT 1) EMIT FINAL; SELECT a FROM s t EMIT FINAL; SELECT a FROM s JOIN t USING (a) EMIT FINAL;
SELECT a FROM s ORDER BY a LIMIT 3 EMIT FINAL; SELECT a FROM s HAVING a > 1 EMIT FINAL
----
SELECT 1 EMIT FINAL
Query(tree=`SELECT 1`, emit=FINAL)
SELECT a FROM (SELECT 1) EMIT FINAL
Query(tree=`SELECT a FROM (SELECT 1)`, emit=FINAL)
SELECT a FROM s AS t EMIT FINAL
Query(tree=`SELECT a FROM s AS t`, emit=FINAL)
SELECT a FROM s JOIN t USING (a) EMIT FINAL
Query(tree=`SELECT a FROM s JOIN t USING (a)`, emit=FINAL)
SELECT a FROM s ORDER BY a LIMIT 3 EMIT FINAL
Query(tree=`SELECT a FROM s ORDER BY a LIMIT 3`, emit=FINAL)
SELECT a FROM s HAVING a > 1 EMIT FINAL
Query(tree=`SELECT a FROM s HAVING a > 1`, emit=FINAL)

==== upper and lower case
create Stream T over S key Null punctuated by Order (A); eXplain mEmory select streamed A from S emit final
----
CREATE STREAM T OVER S KEY NULL PUNCTUATED BY ORDER (A)
CreateStream(name=T, source=S, punctuated=[ByOrder(columns=[A])])
EXPLAIN MEMORY SELECT STREAMED A FROM S EMIT FINAL
Explain(aspect=MEMORY, of=Query(tree=`SELECT A FROM S`, output=STREAMED, emit=FINAL))

==== less and greater in one
SELECT * FROM s WHERE 0 < a <= b < 10 AND (c < d) = TRUE AND x ≥ 1
----
SELECT * FROM s WHERE 0 < a AND a <= b AND b < 10 AND (c < d) = TRUE AND x >= 1
Query(tree=`SELECT * FROM s WHERE 0 < a AND a <= b AND b < 10 AND (c < d) = TRUE AND x >= 1`)

==== the upper bound first
PUNCTUATE s WHERE a < 7 AND a >= 5
----
PUNCTUATE s WHERE a >= 5 AND a < 7
Punctuate(stream=s, patterns=[Between(column=a, low=`5`, high=`7`, high_open=True)])

==== emission after groups in all spellings
SELECT a FROM s GROUP BY a WITH ROLLUP EMIT FINAL; SELECT a FROM s GROUP BY a WITH CUBE EMIT FINAL;
SELECT a FROM s GROUP BY ALL EMIT FINAL; SELECT a FROM s GROUP BY a GROUPING SETS ((a), ()) EMIT FINAL; SELECT a FROM s GROUP BY a, emit
----
SELECT a FROM s GROUP BY a WITH ROLLUP EMIT FINAL
Query(tree=`SELECT a FROM s GROUP BY a WITH ROLLUP`, emit=FINAL)
SELECT a FROM s GROUP BY a WITH CUBE EMIT FINAL
Query(tree=`SELECT a FROM s GROUP BY a WITH CUBE`, emit=FINAL)
SELECT a FROM s GROUP BY ALL EMIT FINAL
Query(tree=`SELECT a FROM s GROUP BY ALL`, emit=FINAL)
SELECT a FROM s GROUP BY a GROUPING SETS ((a), ()) EMIT FINAL
Query(tree=`SELECT a FROM s GROUP BY a GROUPING SETS ((a), ())`, emit=FINAL)
SELECT a FROM s GROUP BY a, emit
Query(tree=`SELECT a FROM s GROUP BY a, emit`)

==== a window on either side of an order
SELECT a FROM s WINDOW w AS (ORDER BY a) ORDER BY a LIMIT 1; SELECT a FROM s ORDER BY a WINDOW w AS (ORDER BY a) LIMIT 1;
SELECT a FROM s QUALIFY a = 1 WINDOW w AS (ORDER BY a) OFFSET 1 LIMIT 1
----
SELECT a FROM s WINDOW w AS (ORDER BY a) ORDER BY a LIMIT 1
Query(tree=`SELECT a FROM s WINDOW w AS (ORDER BY a) ORDER BY a LIMIT 1`)
SELECT a FROM s WINDOW w AS (ORDER BY a) ORDER BY a LIMIT 1
Query(tree=`SELECT a FROM s WINDOW w AS (ORDER BY a) ORDER BY a LIMIT 1`)
SELECT a FROM s WINDOW w AS (ORDER BY a) QUALIFY a = 1 LIMIT 1 OFFSET 1
Query(tree=`SELECT a FROM s WINDOW w AS (ORDER BY a) QUALIFY a = 1 LIMIT 1 OFFSET 1`)
