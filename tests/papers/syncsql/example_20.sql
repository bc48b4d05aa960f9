-- Example 20 and figure 9: the regulator, which is a synchronized relation, streamed as a whole.

create source Raw (Attr1 string, op string, t int) event time t;
create stream S over Raw key Attr1 op op;
create STREAMED view Sync2 as select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;
--> Raw: +<a>1, +<b>3, -<a>4, +<c>5

create STREAMED view Regulated as select * from R[Sync2](S);
--= +<a,1>2, -<a>4, +<b,3>4, +<c,5>6

-- section 6.1: predicates on time are about the arrival, output has the time of the release
select STREAMED Attr1, TS from R[Sync2](S) where TS >= 3;
--= +<b,3>4, +<c,5>6
select STREAMED Attr1, t from R(Regulated) where t >= 3;
--= +<b,3>4, +<c,5>6
