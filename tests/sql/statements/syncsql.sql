==== example 1: a source and the streams over it
REGISTER SOURCE TemperatureSource (char RoomID, int Temperature) From port5501;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
CREATE STREAM TempStr OVER TemperatureSource KEY NULL
----
REGISTER SOURCE TemperatureSource (RoomID STRING, Temperature INT) FROM port5501
RegisterSource(name=TemperatureSource, columns=[ColumnDefinition(name=RoomID, type=STRING), ColumnDefinition(name=Temperature, type=INT)], port=5501)
CREATE STREAM RoomTempStr OVER TemperatureSource KEY (RoomID)
CreateStream(name=RoomTempStr, source=TemperatureSource, key=[RoomID])
CREATE STREAM TempStr OVER TemperatureSource KEY NULL
CreateStream(name=TempStr, source=TemperatureSource)

==== example 3: Q3
select STREAMED RoomID, Temperature from ℜ(RoomTempStr) R where R.Temperature > 80
----
SELECT STREAMED RoomID, Temperature FROM RoomTempStr AS R WHERE R.Temperature > 80
Query(tree=`SELECT RoomID, Temperature FROM RoomTempStr AS R WHERE R.Temperature > 80`, output=STREAMED)

==== example 4: Q4 over a view
create STREAMED view HotRooms1 as
  select RoomID, Temperature from R(RoomTempStr) R where R.Temperature > 80;
select STREAMED RoomID, Temperature from R(HotRooms1) R;
select STREAMED RoomID, Temperature from R(HotRooms1) R where R.Temperature > 100
----
CREATE STREAMED VIEW HotRooms1 AS SELECT RoomID, Temperature FROM RoomTempStr AS R WHERE R.Temperature > 80
CreateView(name=HotRooms1, query=Query(tree=`SELECT RoomID, Temperature FROM RoomTempStr AS R WHERE R.Temperature > 80`))
SELECT STREAMED RoomID, Temperature FROM HotRooms1 AS R
Query(tree=`SELECT RoomID, Temperature FROM HotRooms1 AS R`, output=STREAMED)
SELECT STREAMED RoomID, Temperature FROM HotRooms1 AS R WHERE R.Temperature > 100
Query(tree=`SELECT RoomID, Temperature FROM HotRooms1 AS R WHERE R.Temperature > 100`, output=STREAMED)

==== section 2.2.1: a window join
select STREAMED * from R(S1) A, R(S2) B where B.TS - 5 < A.TS < B.TS + 5
----
SELECT STREAMED * FROM S1 AS A CROSS JOIN S2 AS B WHERE B.TS - 5 < A.TS AND A.TS < B.TS + 5
Query(tree=`SELECT * FROM S1 AS A CROSS JOIN S2 AS B WHERE B.TS - 5 < A.TS AND A.TS < B.TS + 5`, output=STREAMED)

==== example 5: a window as a predicate
create STREAMED view FiveUnitsWindow as
select *
from ℜ(S) R
where Now - 5 < R.TS ≤ Now
----
CREATE STREAMED VIEW FiveUnitsWindow AS SELECT * FROM S AS R WHERE NOW() - 5 < R.TS AND R.TS <= NOW()
CreateView(name=FiveUnitsWindow, query=Query(tree=`SELECT * FROM S AS R WHERE NOW() - 5 < R.TS AND R.TS <= NOW()`))

==== example 6: counting in a window
select STREAMED COUNT(*)
from R(FiveUnitsWindow)
groupby CarType
----
SELECT STREAMED COUNT(*) FROM FiveUnitsWindow GROUP BY CarType
Query(tree=`SELECT COUNT(*) FROM FiveUnitsWindow GROUP BY CarType`, output=STREAMED)

==== example 8: a coarser refresh
create STREAMED view HotRooms1 As select RoomID, Temperature
from R[Sync2](RoomTempStr) R where R.Temperature > 80
----
CREATE STREAMED VIEW HotRooms1 AS SELECT RoomID, Temperature FROM RoomTempStr SYNC BY Sync2 AS R WHERE R.Temperature > 80
CreateView(name=HotRooms1, query=Query(tree=`SELECT RoomID, Temperature FROM RoomTempStr SYNC BY Sync2 AS R WHERE R.Temperature > 80`))

==== example 9: composition at four
select STREAMED RoomID, Temperature from R[Sync4](HotRooms1) R where R.Temperature > 100
----
SELECT STREAMED RoomID, Temperature FROM HotRooms1 SYNC BY Sync4 AS R WHERE R.Temperature > 100
Query(tree=`SELECT RoomID, Temperature FROM HotRooms1 SYNC BY Sync4 AS R WHERE R.Temperature > 100`, output=STREAMED)

==== example 10: every second time point
create STREAMED view Sync2 As select C.Timepoint from ℜ(clockStr) C where C.Timepoint mod 2 = 0
----
CREATE STREAMED VIEW Sync2 AS SELECT C.Timepoint FROM clockStr AS C WHERE C.Timepoint % 2 = 0
CreateView(name=Sync2, query=Query(tree=`SELECT C.Timepoint FROM clockStr AS C WHERE C.Timepoint % 2 = 0`))

==== example 11: the union of two synchronization streams
create STREAMED view UnionSyncStr as
select DISTINCT(Timepoint)
from (select Timepoint from R(Sync2) S2 union all select Timepoint from R(Sync5) S5)
----
CREATE STREAMED VIEW UnionSyncStr AS SELECT DISTINCT (Timepoint) FROM (SELECT Timepoint FROM Sync2 AS S2 UNION ALL SELECT Timepoint FROM Sync5 AS S5)
CreateView(name=UnionSyncStr, query=Query(tree=`SELECT DISTINCT (Timepoint) FROM (SELECT Timepoint FROM Sync2 AS S2 UNION ALL SELECT Timepoint FROM Sync5 AS S5)`))

==== example 12: synchronization by events
create STREAMED view HotSync as
select R.TS
from R(TempStr) R
where R.Temperature > 120
----
CREATE STREAMED VIEW HotSync AS SELECT R.TS FROM TempStr AS R WHERE R.Temperature > 120
CreateView(name=HotSync, query=Query(tree=`SELECT R.TS FROM TempStr AS R WHERE R.Temperature > 120`))

==== example 13: Now as a view
create STREAMED view NowView as select 1 as KEY, MAX(T.Timepoint) as currTime from R(clockStr) T;
create STREAMED view FiveUnitsWindow as
select R.* from R(S) R, R(NowView) N where N.currTime - 5 < R.TS <= N.currTime
----
CREATE STREAMED VIEW NowView AS SELECT 1 AS KEY, MAX(T.Timepoint) AS currTime FROM clockStr AS T
CreateView(name=NowView, query=Query(tree=`SELECT 1 AS KEY, MAX(T.Timepoint) AS currTime FROM clockStr AS T`))
CREATE STREAMED VIEW FiveUnitsWindow AS SELECT R.* FROM S AS R CROSS JOIN NowView AS N WHERE N.currTime - 5 < R.TS AND R.TS <= N.currTime
CreateView(name=FiveUnitsWindow, query=Query(tree=`SELECT R.* FROM S AS R CROSS JOIN NowView AS N WHERE N.currTime - 5 < R.TS AND R.TS <= N.currTime`))

==== example 14: range five, slide two
create STREAMED view TwoUnitsSlide as
select 1 as KEY, MAX(T.Timepoint) as currTime from R(Sync2) T;
create STREAMED view RangeFiveSlideTwo as
select R.*
from R[Sync2](S) R, R(TwoUnitsSlide) N
where N.currTime - 5 < R.TS <= N.currTime
----
CREATE STREAMED VIEW TwoUnitsSlide AS SELECT 1 AS KEY, MAX(T.Timepoint) AS currTime FROM Sync2 AS T
CreateView(name=TwoUnitsSlide, query=Query(tree=`SELECT 1 AS KEY, MAX(T.Timepoint) AS currTime FROM Sync2 AS T`))
CREATE STREAMED VIEW RangeFiveSlideTwo AS SELECT R.* FROM S SYNC BY Sync2 AS R CROSS JOIN TwoUnitsSlide AS N WHERE N.currTime - 5 < R.TS AND R.TS <= N.currTime
CreateView(name=RangeFiveSlideTwo, query=Query(tree=`SELECT R.* FROM S SYNC BY Sync2 AS R CROSS JOIN TwoUnitsSlide AS N WHERE N.currTime - 5 < R.TS AND R.TS <= N.currTime`))

==== example 16: a join of synchronized relations
select STREAMED *
from R[Sync2](S2) R2, R[Sync3](S3) R3
where R2.ID = R3.ID
----
SELECT STREAMED * FROM S2 SYNC BY Sync2 AS R2 CROSS JOIN S3 SYNC BY Sync3 AS R3 WHERE R2.ID = R3.ID
Query(tree=`SELECT * FROM S2 SYNC BY Sync2 AS R2 CROSS JOIN S3 SYNC BY Sync3 AS R3 WHERE R2.ID = R3.ID`, output=STREAMED)
