-- Visits: the clicks of a user that are less than a minute apart.
CREATE SOURCE clicks (user STRING, page STRING, at TIMESTAMP)
  USING json OPTIONS (path 'examples/data/clicks')
  EVENT TIME at;

CREATE VIEW visits AS
  SELECT user, session_window.start AS began, count(*) AS clicks
  FROM clicks
  GROUP BY user, session_window(at, '1 minute');

SELECT COMPLETE * FROM visits ORDER BY user, began;
SELECT STREAMED * FROM visits;
