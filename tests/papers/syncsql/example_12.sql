-- Example 12: Q5, refreshed only when a room reports a temperature greater than 120.
-- Reconstructed: the tuples, and Q5, which the paper describes as Q4 with another synchronization.

create source TemperatureSource (RoomID string, Temperature int, t int) event time t;
CREATE STREAM RoomTempStr OVER TemperatureSource KEY RoomID;
CREATE STREAM TempStr OVER TemperatureSource KEY NULL;
--> TemperatureSource: <a,105>1, <b,110>2, <c,125>3, <a,90>4, <d,102>5, <b,130>6, <a,119>7

create STREAMED view HotSync as
select R.TS
from R(TempStr) R
where R.Temperature > 120;
--= +<3>3, +<6>6

create STREAMED view Q5 as
select RoomID, Temperature
from R[HotSync](RoomTempStr) R
where R.Temperature > 100;
--= +<a,105>3, +<b,110>3, +<c,125>3, -<a>6, u<b,130>6, +<d,102>6
