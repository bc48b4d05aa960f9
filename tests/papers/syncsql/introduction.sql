-- Section 1, Q1 and Q2: the cars inside a parking lot, and how many of each type.
-- Reconstructed: the paper has no tuples for it, and gives the queries in words. S1 reports cars that
-- enter, S2 cars that leave; the view V1 is the difference of the two relations.

create source Entrance (CarID string, CarType string, t int) event time t;
create source Exit (CarID string, CarType string, t int) event time t;
create stream S1 over Entrance key null;
create stream S2 over Exit key null;
--> Entrance: <c1,car>1, <t1,truck>2, <c2,car>3
--> Exit: <c1,car>4, <t1,truck>6

-- Q1: its inputs only insert, its output also deletes
create STREAMED view V1 as
select CarID, CarType from R(S1) except select CarID, CarType from R(S2);
--= +<c1,car>1, +<t1,truck>2, +<c2,car>3, -<c1,car>4, -<t1,truck>6
--@ 3: <c1,car>, <t1,truck>, <c2,car>
--@ 5: <t1,truck>, <c2,car>

-- Q2 is an aggregate over the output of Q1
select STREAMED CarType, COUNT(*) from R(V1) groupby CarType;
--= +<car,1>1, +<truck,1>2, u<car,2>3, u<car,1>4, -<truck>6

-- Q2, refreshed every five minutes, a minute being the unit of time
create STREAMED view Sync5 as select C.Timepoint from R(clockStr) C where C.Timepoint mod 5 = 0;
create STREAMED view CarsByType as
select CarType, COUNT(*) as cars from R[Sync5](V1) groupby CarType;
--= +<car,1>5, +<truck,1>5, -<truck>10
