-- Example 19: Q4, its normal form and its form over HotRooms1 have one output.
-- Reconstructed: the tuples are those of example 9.

create source TemperatureSource (RoomID string, Temperature int, t int) event time t;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
create STREAMED view Sync2 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
create STREAMED view Sync4 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 4 = 0;
--> TemperatureSource: <a,105>1, <b,110>3, <c,97>4, <d,75>5, <a,75>7

create STREAMED view HotRooms1 as
select RoomID, Temperature from R[Sync2](RoomTempStr) R where R.Temperature > 80;

-- as it is asked
select STREAMED RoomID, Temperature from R[Sync4](RoomTempStr) R where R.Temperature > 100;
--= +<a,105>4, +<b,110>4, -<a>8

-- its normal form: synchronization last
select STREAMED *
from (select RoomID, Temperature from R(RoomTempStr) R where R.Temperature > 100) SYNC BY Sync4;
--= +<a,105>4, +<b,110>4, -<a>8

-- over the view that contains it
select STREAMED RoomID, Temperature from R[Sync4](HotRooms1) R where R.Temperature > 100;
--= +<a,105>4, +<b,110>4, -<a>8
