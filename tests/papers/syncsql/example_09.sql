-- Example 9 and figure 5: HotRooms1 refreshed every two minutes, Q4 over it every four.
-- Reconstructed: Q4 is the one of example 4, over the view. Output that the text does not list: +<c,97>4
-- in S1; in S2 all but +<a,105>4.

create source TemperatureSource (RoomID string, Temperature int, t int) event time t;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
create STREAMED view Sync2 As
select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
create STREAMED view Sync4 As
select C.Timepoint from R(clockStr) C where C.Timepoint mod 4 = 0;
--> TemperatureSource: <a,105>1, <b,110>3, <c,97>4, <d,75>5, <a,75>7

select STREAMED RoomID, Temperature from R(RoomTempStr);
--= +<a,105>1, +<b,110>3, +<c,97>4, +<d,75>5, u<a,75>7

create STREAMED view HotRooms1 As
select RoomID, Temperature
from R[Sync2](RoomTempStr) R
where R.Temperature > 80;
--= +<a,105>2, +<b,110>4, +<c,97>4, -<a>8

create STREAMED view Q4 as
select RoomID, Temperature
from R[Sync4](HotRooms1) R
where R.Temperature > 100;
--= +<a,105>4, +<b,110>4, -<a>8
