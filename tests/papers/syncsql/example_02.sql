-- Example 2: the time-varying relation of a tagged stream.
-- Reconstructed: in the text +<b>3 has lost its value; figure 1b, which is missing, shows the relation
-- at the time of each tuple. Its attribute TS is the column that is the event time.

create source Raw (Attr1 string, op string, t int) event time t;
create stream S over Raw key Attr1 op op;
--> Raw: +<a>1, +<b>3, -<a>4, +<c>5

create STREAMED view Relation as select * from R(S);
--= +<a,1>1, +<b,3>3, -<a>4, +<c,5>5
--@ 0:
--@ 1: <a,1>
--@ 3: <a,1>, <b,3>
--@ 4: <b,3>
--@ 5: <b,3>, <c,5>
