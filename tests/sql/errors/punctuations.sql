==== a pattern for a column that is not there
PUNCTUATE temperature WHERE rom = 'a';
----
[UNRESOLVED_NAME] There is no column rom. Did you mean room? SQLSTATE: 42703
== SQL (line 1, position 29) ==
PUNCTUATE temperature WHERE rom = 'a';
                            ^^^

==== a punctuation of a view
PUNCTUATE hot WHERE room = 'a';
----
[UNRESOLVED_NAME] There is no source or stream hot. There are: temperature, doors, changes, temps, room_temp, items. SQLSTATE: 42703
== SQL (line 1, position 11) ==
PUNCTUATE hot WHERE room = 'a';
          ^^^

==== a punctuation of a table
PUNCTUATE rooms WHERE room = 'a';
----
[UNRESOLVED_NAME] There is no source or stream rooms. Did you mean doors? SQLSTATE: 42703
== SQL (line 1, position 11) ==
PUNCTUATE rooms WHERE room = 'a';
          ^^^^^

==== a constant of another type
PUNCTUATE temperature WHERE temp = 'warm';
----
[INVALID_PLAN] 'warm' is not a number like 17, a value of type int32. SQLSTATE: 42000
== SQL (line 1, position 36) ==
PUNCTUATE temperature WHERE temp = 'warm';
                                   ^^^^^^

==== a range over texts that is no constant
PUNCTUATE temperature WHERE room < upper('a');
----
[PARSE_SYNTAX_ERROR] Expected a constant. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 36) ==
PUNCTUATE temperature WHERE room < upper('a');
                                   ^^^^^^^^^

==== a pattern that is a condition on two columns
PUNCTUATE temperature WHERE room = 'a' OR temp = 1;
----
[PARSE_SYNTAX_ERROR] This condition cannot be a pattern of a punctuation. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 29) ==
PUNCTUATE temperature WHERE room = 'a' OR temp = 1;
                            ^^^^^^^^^^^^^^^^^^^^^^

==== punctuations in a column that is no text
CREATE STREAM p1 OVER temperature KEY NULL PUNCTUATED BY COLUMN temp;
----
[INVALID_PLAN] The column that holds punctuations is a STRING. SQLSTATE: 42000
== SQL (line 1, position 65) ==
CREATE STREAM p1 OVER temperature KEY NULL PUNCTUATED BY COLUMN temp;
                                                                ^^^^

==== an order by a column that is not there
CREATE STREAM p2 OVER temperature KEY NULL PUNCTUATED BY ORDER (hour);
----
[UNRESOLVED_NAME] There is no column hour. There are: room, temp, humidity, at. SQLSTATE: 42703
== SQL (line 1, position 65) ==
CREATE STREAM p2 OVER temperature KEY NULL PUNCTUATED BY ORDER (hour);
                                                                ^^^^

==== all values of a table that is not there
CREATE STREAM p3 OVER temperature KEY NULL PUNCTUATED BY ALL room IN room_list PER (at);
----
[UNRESOLVED_NAME] There is no table room_list. Did you mean rooms? SQLSTATE: 42703
== SQL (line 1, position 70) ==
CREATE STREAM p3 OVER temperature KEY NULL PUNCTUATED BY ALL room IN room_list PER (at);
                                                                     ^^^^^^^^^

==== all values of a column that the table lacks
CREATE STREAM p4 OVER temperature KEY NULL PUNCTUATED BY ALL temp IN rooms PER (at);
----
[UNRESOLVED_NAME] There is no column temp. There are: room, floor. SQLSTATE: 42703
== SQL (line 1, position 70) ==
CREATE STREAM p4 OVER temperature KEY NULL PUNCTUATED BY ALL temp IN rooms PER (at);
                                                                     ^^^^^

==== a domain that is no pattern
CREATE STREAM p5 OVER temperature KEY NULL PUNCTUATED BY DOMAIN (temp + 1 > 3);
----
[PARSE_SYNTAX_ERROR] Expected the name of a column. Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND. SQLSTATE: 42601
== SQL (line 1, position 66) ==
CREATE STREAM p5 OVER temperature KEY NULL PUNCTUATED BY DOMAIN (temp + 1 > 3);
                                                                 ^^^^^^^^
