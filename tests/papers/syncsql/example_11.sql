-- Example 11: the union of two synchronization streams.
-- The paper puts the union into FROM, between the relations; SQL puts it between queries. The
-- intersection, of which the paper speaks before the example, is written in the same way.

create source Points (Timepoint int, t int) event time t;
--> Points: <1>1, <2>2, <3>3, <4>4, <5>5, <6>6, <7>7, <8>8, <9>9, <10>10

create STREAMED view Sync2 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
create STREAMED view Sync5 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 5 = 0;

create STREAMED view UnionSyncStr as
select DISTINCT(Timepoint)
from (select Timepoint from R(Sync2) S2 union all select Timepoint from R(Sync5) S5);

describe UnionSyncStr;
--| column                    type
--| ------------------------  ------------------------------
--| timepoint                 points in time
--| # synchronization points  multiples of 2; multiples of 5
--| (2 rows)

select STREAMED Timepoint from R[UnionSyncStr](Points);
--= +<1>2, +<2>2, +<3>4, +<4>4, +<5>5, +<6>6, +<7>8, +<8>8, +<9>10, +<10>10

create STREAMED view BothSyncStr as
select Timepoint from R(Sync2) intersect select Timepoint from R(Sync5);

select STREAMED Timepoint from R[BothSyncStr](Points);
--= +<1>10, +<2>10, +<3>10, +<4>10, +<5>10, +<6>10, +<7>10, +<8>10, +<9>10, +<10>10
