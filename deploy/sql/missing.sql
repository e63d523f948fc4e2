-- Nodes without a report, by a CSV with a column `node`, such as the list of the cluster:
--   (echo node; cat NODES) > nodes.csv
--   cat csv.sql missing.sql | duckdb
SELECT nodes.node
FROM read_csv('nodes.csv', header = true, types = {'node': 'VARCHAR'}) nodes
WHERE nodes.node NOT IN (SELECT node FROM clocks WHERE node IS NOT NULL)
ORDER BY nodes.node;
