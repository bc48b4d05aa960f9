SELECT p.id, p.name, p.starts
FROM (
  SELECT id, name, window.start AS starts, window.end AS ends
  FROM person
  GROUP BY id, name, window(dateTime, '10 seconds')) AS p
JOIN (
  SELECT seller, window.start AS starts, window.end AS ends
  FROM auction
  GROUP BY seller, window(dateTime, '10 seconds')) AS a
  ON p.id = a.seller AND p.starts = a.starts AND p.ends = a.ends
