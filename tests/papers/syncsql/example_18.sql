-- Example 18: an expression and its normal form, which agree at the full synchronization points.
-- Reconstructed: streams, tuples and the selection. The points are those of both Sync2 and Sync3, the
-- multiples of 6; synchronized by them, both forms have one output.

create source Raw1 (ID string, v int, t int) event time t;
create source Raw2 (ID string, t int) event time t;
create stream S1 over Raw1 key ID;
create stream S2 over Raw2 key null;
create STREAMED view Sync2 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
create STREAMED view Sync3 As select C.Timepoint from R(clockStr) C where C.Timepoint mod 3 = 0;
create STREAMED view Both as select Timepoint from R(Sync2) intersect select Timepoint from R(Sync3);
--> Raw1: <a,7>1, <b,8>2, <a,3>5, <b,9>7, <c,6>10
--> Raw2: <a>1, <b>4, <c>11

create STREAMED view Q as
select A.ID, A.v from R[Sync2](S1) A, R[Sync3](S2) B where A.ID = B.ID and A.v > 5;
--= +<a,7>3, +<b,8>6, -<a,7>6, -<b,8>8, +<b,9>8, +<c,6>12
--@ 6: <b,8>
--@ 12: <b,9>, <c,6>

create STREAMED view Data as
select A.ID, A.v from R(S1) A, R(S2) B where A.ID = B.ID and A.v > 5;

create STREAMED view NormalForm as select * from R[Both](Data);
--= +<b,8>6, -<b,8>12, +<b,9>12, +<c,6>12
--@ 6: <b,8>
--@ 12: <b,9>, <c,6>

select STREAMED * from R[Both](Q);
--= +<b,8>6, -<b,8>12, +<b,9>12, +<c,6>12
