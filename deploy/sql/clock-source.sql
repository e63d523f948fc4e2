-- Nodes whose clock source, or whose trust in a timer, differs from that of most nodes of their group: of the same CPU model, hypervisor and
-- kernel. By the last report of each node.
--   cat csv.sql clock-source.sql | duckdb
WITH last AS (
    SELECT * FROM clocks c
    WHERE created = (SELECT max(created) FROM clocks o WHERE o.node = c.node)
), facts AS (
    SELECT DISTINCT node, cpu, hypervisor, kernel, 'clock source' AS what, clock_source AS value
    FROM last
    UNION ALL
    SELECT node, cpu, hypervisor, kernel, 'trust in ' || timer, CASE WHEN trust LIKE 'no%' THEN 'no' ELSE 'yes' END
    FROM last
    WHERE trust LIKE 'yes%' OR trust LIKE 'no%'
), counted AS (
    SELECT cpu, hypervisor, kernel, what, value, count(*) AS nodes
    FROM facts
    GROUP BY cpu, hypervisor, kernel, what, value
), ranked AS (
    SELECT *,
        sum(nodes) OVER (PARTITION BY cpu, hypervisor, kernel, what) AS group_nodes,
        row_number() OVER (PARTITION BY cpu, hypervisor, kernel, what ORDER BY nodes DESC, value) AS place
    FROM counted
)
SELECT facts.node, facts.what, facts.value, usual.value AS usual, usual.nodes AS nodes_with_usual, usual.group_nodes
FROM facts
JOIN ranked usual
    ON usual.place = 1
    AND usual.what = facts.what
    AND usual.cpu IS NOT DISTINCT FROM facts.cpu
    AND usual.hypervisor IS NOT DISTINCT FROM facts.hypervisor
    AND usual.kernel IS NOT DISTINCT FROM facts.kernel
WHERE facts.value IS DISTINCT FROM usual.value
    AND 2 * usual.nodes > usual.group_nodes
ORDER BY facts.node, facts.what;
