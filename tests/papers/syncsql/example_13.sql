-- Example 13: the current time as a view, and the window of example 5 in terms of it.
-- The paper lists the output of NowView, +<1,0>0, u<1,1>1, u<1,2>2, ..., which never ends: the view can
-- be compared with, and is not stored. The tuples are those chosen for example 5; so is the output.

create source Cars (CarID string, t int) event time t;
create stream S over Cars key null;
--> Cars: <a>1, <b>2, <c>4, <d>7

create STREAMED view NowView as
select 1 as KEY, MAX(T.Timepoint) as currTime
from R(clockStr) T;

describe NowView;
--| column    type
--| --------  ----------------
--| KEY       INT
--| currTime  the current time
--| (2 rows)

create STREAMED view FiveUnitsWindow as
select R.*
from R(S) R, R(NowView) N
where N.currTime - 5 < R.TS ≤ N.currTime;
--= +<a,1>1, +<b,2>2, +<c,4>4, -<a,1>6, -<b,2>7, +<d,7>7, -<c,4>9, -<d,7>12
