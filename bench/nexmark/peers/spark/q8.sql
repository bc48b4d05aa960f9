-- append, watermark on dateTime
SELECT p.id, p.name, p.window.start AS starts
FROM (
  SELECT id, name, window FROM person GROUP BY id, name, window(dateTime, '10 seconds')) AS p
JOIN (
  SELECT seller, window FROM auction GROUP BY seller, window(dateTime, '10 seconds')) AS a
  ON p.id = a.seller AND p.window = a.window
