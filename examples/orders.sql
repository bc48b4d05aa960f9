-- Orders of another database, as its log of changes tells them: create, update, delete.
CREATE SOURCE changes (op STRING, id INT, customer STRING, amount DOUBLE, status STRING, at TIMESTAMP)
  USING json OPTIONS (path 'examples/data/changes')
  EVENT TIME at;

CREATE STREAM orders OVER changes KEY (id) OP op;

CREATE VIEW owed AS
  SELECT customer, sum(amount) AS amount, count(*) AS orders
  FROM orders WHERE status = 'open'
  GROUP BY customer;

SELECT STREAMED * FROM owed;
SELECT COMPLETE id, customer, amount, status FROM orders ORDER BY id;
