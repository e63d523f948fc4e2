-- Nodes with a timer that failed a question of trust, with what was found. By the last report of each node.
--   cat csv.sql trust.sql | duckdb
SELECT node, timer, monotonic, thread_safe, stable, reason
FROM clocks c
WHERE trust LIKE 'no%'
    AND created = (SELECT max(created) FROM clocks o WHERE o.node = c.node)
ORDER BY node, timer;
