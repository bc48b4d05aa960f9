-- Example 1: from a raw stream to tagged streams.
-- The paper registers the source on a port, where tuples are stamped on arrival:
--     REGISTER SOURCE TemperatureSource (char RoomID, int Temperature) From port5501
-- Here they carry the paper's timestamps, in a column.

create source TemperatureSource (RoomID char, Temperature int, t int) event time t;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
CREATE STREAM TempStr OVER TemperatureSource KEY NULL;
--> TemperatureSource: <a,100>1, <b,75>2, <c,80>3, <a,95>4, <b,85>5

select STREAMED RoomID, Temperature from R(RoomTempStr);
--= +<a,100>1, +<b,75>2, +<c,80>3, u<a,95>4, u<b,85>5

select STREAMED RoomID, Temperature from R(TempStr);
--= +<a,100>1, +<b,75>2, +<c,80>3, +<a,95>4, +<b,85>5
