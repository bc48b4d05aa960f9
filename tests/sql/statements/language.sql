==== a source that reads files
-- a raw input stream; without USING it is fed by hand (Session.source(...).append)
CREATE SOURCE temperature (room STRING, temp INT, at TIMESTAMP)
  USING json OPTIONS (path 'in/temperature')            -- any Spark streaming format
  EVENT TIME at DELAY INTERVAL 5 SECONDS                -- DELAY 0 when omitted
  LATE KEEP;                                            -- KEEP (default) | DROP | FAIL
----
CREATE SOURCE temperature (room STRING, temp INT, at TIMESTAMP) USING json OPTIONS (path 'in/temperature') EVENT TIME at DELAY INTERVAL 5 SECONDS
CreateSource(name=temperature, columns=[ColumnDefinition(name=room, type=STRING), ColumnDefinition(name=temp, type=INT), ColumnDefinition(name=at, type=TIMESTAMP)], format=Format(name=json, options=[[path, in/temperature]]), event_time=EventTime(column=at, delay=Duration(length=5000000)))

==== a source that listens
REGISTER SOURCE TemperatureSource (RoomID STRING, Temperature INT) FROM port5501;   -- a TCP socket
----
REGISTER SOURCE TemperatureSource (RoomID STRING, Temperature INT) FROM port5501
RegisterSource(name=TemperatureSource, columns=[ColumnDefinition(name=RoomID, type=STRING), ColumnDefinition(name=Temperature, type=INT)], port=5501)

==== a table
CREATE TABLE favorite_items (item BIGINT) USING parquet OPTIONS (path 'fav');
----
CREATE TABLE favorite_items (item BIGINT) USING parquet OPTIONS (path 'fav')
CreateTable(name=favorite_items, columns=[ColumnDefinition(name=item, type=BIGINT)], format=Format(name=parquet, options=[[path, fav]]))

==== tagged streams over a source
CREATE STREAM room_temp OVER temperature KEY (room);    -- a row replaces the last one of its key
CREATE STREAM temps     OVER temperature KEY NULL;      -- every row is an insert
CREATE STREAM cdc       OVER changes KEY (id) OP op;    -- a column of the source says + / u / -
CREATE STREAM log       OVER changes KEY (id) OP op SEQUENCE BY lsn;   -- which row of a time is the last one
----
CREATE STREAM room_temp OVER temperature KEY (room)
CreateStream(name=room_temp, source=temperature, key=[room])
CREATE STREAM temps OVER temperature KEY NULL
CreateStream(name=temps, source=temperature)
CREATE STREAM cdc OVER changes KEY (id) OP op
CreateStream(name=cdc, source=changes, key=[id], operation=op)
CREATE STREAM log OVER changes KEY (id) OP op SEQUENCE BY lsn
CreateStream(name=log, source=changes, key=[id], operation=op, sequence=lsn)

==== Spark's watermark
CREATE SOURCE s (a INT, at TIMESTAMP) WATERMARK at DELAY OF INTERVAL 5 SECONDS LATE DROP
----
CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME at DELAY INTERVAL 5 SECONDS LATE DROP
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT), ColumnDefinition(name=at, type=TIMESTAMP)], event_time=EventTime(column=at, delay=Duration(length=5000000)), late=DROP)

==== integer time
CREATE SOURCE s (a INT, t INT) EVENT TIME t;
CREATE SOURCE s (a INT, t INT) EVENT TIME t DELAY 5 LATE FAIL
----
CREATE SOURCE s (a INT, t INT) EVENT TIME t
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT), ColumnDefinition(name=t, type=INT)], event_time=EventTime(column=t))
CREATE SOURCE s (a INT, t INT) EVENT TIME t DELAY 5 LATE FAIL
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT), ColumnDefinition(name=t, type=INT)], event_time=EventTime(column=t, delay=Duration(length=5, ticks=True)), late=FAIL)

==== fed by hand, stamped on arrival
CREATE SOURCE s (a INT)
----
CREATE SOURCE s (a INT)
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT)])

==== views
CREATE STREAMED VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80;
CREATE VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80;
CREATE MATERIALIZED VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80;
----
CREATE STREAMED VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80
CreateView(name=hot, query=Query(tree=`SELECT room, temp FROM room_temp WHERE temp > 80`))
CREATE STREAMED VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80
CreateView(name=hot, query=Query(tree=`SELECT room, temp FROM room_temp WHERE temp > 80`))
CREATE STREAMED VIEW hot AS SELECT room, temp FROM room_temp WHERE temp > 80
CreateView(name=hot, query=Query(tree=`SELECT room, temp FROM room_temp WHERE temp > 80`))

==== a view that starts from now
CREATE VIEW v (b) START NOW AS SELECT a FROM s;
CREATE VIEW start AS SELECT a FROM s
----
CREATE STREAMED VIEW v (b) START NOW AS SELECT a FROM s
CreateView(name=v, query=Query(tree=`SELECT a FROM s`), columns=[b], from_now=True)
CREATE STREAMED VIEW start AS SELECT a FROM s
CreateView(name=start, query=Query(tree=`SELECT a FROM s`))

==== outputs
SELECT STREAMED a FROM s;    -- the changes, as they happen
SELECT COMPLETE a FROM s;    -- the whole answer, at the frontier
SELECT ISTREAM a FROM s; SELECT DSTREAM a FROM s; SELECT RSTREAM a FROM s;
----
SELECT STREAMED a FROM s
Query(tree=`SELECT a FROM s`, output=STREAMED)
SELECT COMPLETE a FROM s
Query(tree=`SELECT a FROM s`, output=COMPLETE)
SELECT ISTREAM a FROM s
Query(tree=`SELECT a FROM s`, output=ISTREAM)
SELECT DSTREAM a FROM s
Query(tree=`SELECT a FROM s`, output=DSTREAM)
SELECT RSTREAM a FROM s
Query(tree=`SELECT a FROM s`, output=RSTREAM)

==== a view goes on
ALTER VIEW hot RESUME
----
ALTER VIEW hot RESUME
Resume(name=hot)

==== another query for a view
CREATE OR REPLACE VIEW v AS SELECT a FROM s;
create or replace materialized view v (b) START NOW OPTIONS (expiry 'input') AS SELECT a FROM s EMIT FINAL
----
CREATE OR REPLACE STREAMED VIEW v AS SELECT a FROM s
CreateView(name=v, query=Query(tree=`SELECT a FROM s`), replace=True)
CREATE OR REPLACE STREAMED VIEW v (b) START NOW OPTIONS (expiry 'input') AS SELECT a FROM s EMIT FINAL
CreateView(name=v, query=Query(tree=`SELECT a FROM s`, emit=FINAL), columns=[b], from_now=True, options=[[expiry, input]], replace=True)

==== changes of what is there
ALTER VIEW v RENAME TO w;
ALTER SOURCE s ADD COLUMN c INT;
ALTER SOURCE s ADD IF NOT EXISTS c DECIMAL(10, 2);
ALTER SOURCE s ALTER COLUMN c TYPE BIGINT;
ALTER SOURCE s ALTER c SET DATA TYPE DOUBLE
----
ALTER VIEW v RENAME TO w
RenameView(name=v, to=w)
ALTER SOURCE s ADD COLUMN c INT
AddColumn(source=s, column=ColumnDefinition(name=c, type=INT))
ALTER SOURCE s ADD COLUMN IF NOT EXISTS c DECIMAL(10, 2)
AddColumn(source=s, column=ColumnDefinition(name=c, type=DECIMAL(10, 2)), if_not_exists=True)
ALTER SOURCE s ALTER COLUMN c TYPE BIGINT
ChangeType(source=s, column=c, type=BIGINT)
ALTER SOURCE s ALTER COLUMN c TYPE DOUBLE
ChangeType(source=s, column=c, type=DOUBLE)

==== objects
DROP VIEW hot;  SHOW VIEWS;  DESCRIBE hot;
DROP SOURCE s; DROP STREAM s; DROP TABLE t; SHOW SOURCES; SHOW STREAMS; SHOW TABLES; DESC hot
----
DROP VIEW hot
Drop(kind=VIEW, name=hot)
SHOW VIEWS
Show(kind=VIEW)
DESCRIBE hot
Describe(name=hot)
DROP SOURCE s
Drop(kind=SOURCE, name=s)
DROP STREAM s
Drop(kind=STREAM, name=s)
DROP TABLE t
Drop(kind=TABLE, name=t)
SHOW SOURCES
Show(kind=SOURCE)
SHOW STREAMS
Show(kind=STREAM)
SHOW TABLES
Show(kind=TABLE)
DESCRIBE hot
Describe(name=hot)

==== windows
SELECT * FROM s [RANGE 15 MINUTES];
SELECT * FROM s [RANGE 5 MINUTES SLIDE 2 MINUTES];
SELECT * FROM s [FIXED 1 HOUR];
SELECT * FROM s [ROWS 100]; SELECT * FROM s [PARTITION BY k ROWS 10];
SELECT * FROM s [NOW]; SELECT * FROM s [UNBOUNDED];
SELECT * FROM s [RANGE 5];
----
SELECT * FROM s [RANGE 15 MINUTES]
Query(tree=`SELECT * FROM s [RANGE 15 MINUTES]`)
  s: RangeWindow(size=Duration(length=900000000))
SELECT * FROM s [RANGE 5 MINUTES SLIDE 2 MINUTES]
Query(tree=`SELECT * FROM s [RANGE 5 MINUTES SLIDE 2 MINUTES]`)
  s: RangeWindow(size=Duration(length=300000000), slide=Duration(length=120000000))
SELECT * FROM s [FIXED 1 HOUR]
Query(tree=`SELECT * FROM s [FIXED 1 HOUR]`)
  s: FixedWindow(size=Duration(length=3600000000))
SELECT * FROM s [ROWS 100]
Query(tree=`SELECT * FROM s [ROWS 100]`)
  s: RowsWindow(rows=100)
SELECT * FROM s [PARTITION BY k ROWS 10]
Query(tree=`SELECT * FROM s [PARTITION BY k ROWS 10]`)
  s: RowsWindow(rows=10, partition=[k])
SELECT * FROM s [NOW]
Query(tree=`SELECT * FROM s [NOW]`)
  s: NowWindow()
SELECT * FROM s [UNBOUNDED]
Query(tree=`SELECT * FROM s [UNBOUNDED]`)
  s: UnboundedWindow()
SELECT * FROM s [RANGE 5]
Query(tree=`SELECT * FROM s [RANGE 5]`)
  s: RangeWindow(size=Duration(length=5, ticks=True))

==== windows as predicates
SELECT * FROM s WHERE NOW() - INTERVAL 5 MINUTES < ts AND ts <= NOW();
SELECT * FROM s WHERE expires > NOW();
SELECT * FROM a, b WHERE a.ts - 5 < b.ts AND b.ts < a.ts + 5
----
SELECT * FROM s WHERE NOW() - INTERVAL '5' MINUTES < ts AND ts <= NOW()
Query(tree=`SELECT * FROM s WHERE NOW() - INTERVAL '5' MINUTES < ts AND ts <= NOW()`)
SELECT * FROM s WHERE expires > NOW()
Query(tree=`SELECT * FROM s WHERE expires > NOW()`)
SELECT * FROM a CROSS JOIN b WHERE a.ts - 5 < b.ts AND b.ts < a.ts + 5
Query(tree=`SELECT * FROM a CROSS JOIN b WHERE a.ts - 5 < b.ts AND b.ts < a.ts + 5`)

==== Spark's windows
SELECT count(*) FROM s GROUP BY window(ts, '10 seconds', '2 seconds');
SELECT count(*) FROM s GROUP BY session_window(ts, '10 seconds')
----
SELECT COUNT(*) FROM s GROUP BY WINDOW(ts, '10 seconds', '2 seconds')
Query(tree=`SELECT COUNT(*) FROM s GROUP BY WINDOW(ts, '10 seconds', '2 seconds')`)
SELECT COUNT(*) FROM s GROUP BY SESSION_WINDOW(ts, '10 seconds')
Query(tree=`SELECT COUNT(*) FROM s GROUP BY SESSION_WINDOW(ts, '10 seconds')`)

==== synchronization streams
CREATE STREAMED VIEW sync2 AS SELECT timepoint FROM clock WHERE timepoint % 2 = 0;  -- symbolic
CREATE STREAMED VIEW sync2m AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 2 MINUTES = 0;
CREATE STREAMED VIEW hot_sync AS SELECT ts FROM temps WHERE temp > 120;             -- event-based
----
CREATE STREAMED VIEW sync2 AS SELECT timepoint FROM clock WHERE timepoint % 2 = 0
CreateView(name=sync2, query=Query(tree=`SELECT timepoint FROM clock WHERE timepoint % 2 = 0`))
CREATE STREAMED VIEW sync2m AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL '2' MINUTES = 0
CreateView(name=sync2m, query=Query(tree=`SELECT timepoint FROM clock WHERE timepoint % INTERVAL '2' MINUTES = 0`))
CREATE STREAMED VIEW hot_sync AS SELECT ts FROM temps WHERE temp > 120
CreateView(name=hot_sync, query=Query(tree=`SELECT ts FROM temps WHERE temp > 120`))

==== synchronization
SELECT STREAMED * FROM room_temp SYNC BY sync2 WHERE temp > 80;                     -- R_sync2(room_temp)
SELECT STREAMED * FROM R[sync2](room_temp) WHERE temp > 80;                         -- the same
----
SELECT STREAMED * FROM room_temp SYNC BY sync2 WHERE temp > 80
Query(tree=`SELECT * FROM room_temp SYNC BY sync2 WHERE temp > 80`, output=STREAMED)
SELECT STREAMED * FROM room_temp SYNC BY sync2 WHERE temp > 80
Query(tree=`SELECT * FROM room_temp SYNC BY sync2 WHERE temp > 80`, output=STREAMED)

==== emission
SELECT count(*) FROM s EMIT CHANGES;
SELECT window, count(*) FROM s GROUP BY window(ts, '10 seconds') EMIT FINAL
----
SELECT COUNT(*) FROM s
Query(tree=`SELECT COUNT(*) FROM s`)
SELECT window, COUNT(*) FROM s GROUP BY WINDOW(ts, '10 seconds') EMIT FINAL
Query(tree=`SELECT window, COUNT(*) FROM s GROUP BY WINDOW(ts, '10 seconds')`, emit=FINAL)

==== punctuations
PUNCTUATE bids WHERE auction IN (1001, 2004);
PUNCTUATE reports WHERE hour BETWEEN 0 AND 3;
----
PUNCTUATE bids WHERE auction IN (1001, 2004)
Punctuate(stream=bids, patterns=[OneOf(column=auction, values=[`1001`, `2004`])])
PUNCTUATE reports WHERE hour BETWEEN 0 AND 3
Punctuate(stream=reports, patterns=[Between(column=hour, low=`0`, high=`3`)])

==== access order
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY ORDER (hour)
----
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY ORDER (hour)
CreateStream(name=reports, source=sensors, punctuated=[ByOrder(columns=[hour])])

==== in-band punctuations
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY COLUMN p
----
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY COLUMN p
CreateStream(name=reports, source=sensors, punctuated=[ByColumn(column=p)])

==== what a source can never send
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY DOMAIN (temp BETWEEN 20 AND 95)
----
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY DOMAIN (temp BETWEEN 20 AND 95)
CreateStream(name=reports, source=sensors, punctuated=[ByDomain(patterns=[Between(column=temp, low=`20`, high=`95`)])])

==== when all have reported
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY ALL sid IN sensor_list PER (hour)
----
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY ALL sid IN sensor_list PER (hour)
CreateStream(name=reports, source=sensors, punctuated=[ByAll(column=sid, table=sensor_list, per=[hour])])

==== several punctuation schemes
CREATE STREAM reports OVER sensors KEY NULL
  PUNCTUATED BY ORDER (hour), BY COLUMN p, DOMAIN (temp BETWEEN 20 AND 95), BY ALL sid IN sensor_list PER hour
----
CREATE STREAM reports OVER sensors KEY NULL PUNCTUATED BY ORDER (hour), BY COLUMN p, BY DOMAIN (temp BETWEEN 20 AND 95), BY ALL sid IN sensor_list PER (hour)
CreateStream(name=reports, source=sensors, punctuated=[ByOrder(columns=[hour]), ByColumn(column=p), ByDomain(patterns=[Between(column=temp, low=`20`, high=`95`)]), ByAll(column=sid, table=sensor_list, per=[hour])])

==== asking about a query
EXPLAIN SELECT a FROM s;            -- logical and physical plan, one tree each
EXPLAIN MEMORY SELECT a FROM s;     -- bounded or unbounded
EXPLAIN SHARING SELECT a FROM s;    -- which running view it is answered from
EXPLAIN CREATE VIEW v AS SELECT a FROM s
----
EXPLAIN SELECT a FROM s
Explain(aspect=PLAN, of=Query(tree=`SELECT a FROM s`))
EXPLAIN MEMORY SELECT a FROM s
Explain(aspect=MEMORY, of=Query(tree=`SELECT a FROM s`))
EXPLAIN SHARING SELECT a FROM s
Explain(aspect=SHARING, of=Query(tree=`SELECT a FROM s`))
EXPLAIN CREATE STREAMED VIEW v AS SELECT a FROM s
Explain(aspect=PLAN, of=CreateView(name=v, query=Query(tree=`SELECT a FROM s`)))

==== what a source did not accept
CREATE SOURCE s (a INT) ON ERROR FAIL LATE DROP; SHOW REJECTED FOR s; SHOW LATE FOR s; SHOW COLUMNS FROM s; show columns in `s`
----
CREATE SOURCE s (a INT) LATE DROP ON ERROR FAIL
CreateSource(name=s, columns=[ColumnDefinition(name=a, type=INT)], late=DROP, on_error=FAIL)
SHOW REJECTED FOR s
ShowAside(aside=REJECTED, source=s)
SHOW LATE FOR s
ShowAside(aside=LATE, source=s)
SHOW COLUMNS FROM s
ShowColumns(name=s)
SHOW COLUMNS FROM s
ShowColumns(name=s)
