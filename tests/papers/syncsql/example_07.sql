-- Example 7 and figure 4: the stream of example 2 as a relation that is synchronized every two units.
-- Reconstructed: the states of figure 4, from definition 2.

create source Raw (Attr1 string, op string, t int) event time t;
create stream S over Raw key Attr1 op op;
--> Raw: +<a>1, +<b>3, -<a>4, +<c>5

create STREAMED view Sync2 as select C.Timepoint from R(clockStr) C where C.Timepoint mod 2 = 0;

create STREAMED view Synchronized as select * from R[Sync2](S);
--@ 1:
--@ 2: <a,1>
--@ 3: <a,1>
--@ 4: <b,3>
--@ 5: <b,3>
--@ 6: <b,3>, <c,5>
