-- Nodes on which a read costs more or less than on others of the same CPU model, hypervisor, kernel and clock source: more than 5 robust
-- standard deviations (1.4826 median absolute deviations) and 5 % away from the median of the group. By the last report of each node, in groups
-- of at least 10.
--   cat csv.sql cost-outliers.sql | duckdb
WITH last AS (
    SELECT node, cpu, hypervisor, kernel, clock_source, timer, cost_ns
    FROM clocks c
    WHERE cost_ns IS NOT NULL
        AND created = (SELECT max(created) FROM clocks o WHERE o.node = c.node)
), middle AS (
    SELECT *,
        median(cost_ns) OVER (PARTITION BY cpu, hypervisor, kernel, clock_source, timer) AS median_ns,
        count(*) OVER (PARTITION BY cpu, hypervisor, kernel, clock_source, timer) AS nodes
    FROM last
), wide AS (
    SELECT *,
        1.4826 * median(abs(cost_ns - median_ns)) OVER (PARTITION BY cpu, hypervisor, kernel, clock_source, timer) AS deviation_ns
    FROM middle
)
SELECT node, timer,
    round(cost_ns, 2) AS cost_ns,
    round(median_ns, 2) AS median_ns,
    round(cost_ns / median_ns, 2) AS times,
    nodes
FROM wide
WHERE nodes >= 10
    AND abs(cost_ns - median_ns) > 5 * deviation_ns
    AND abs(cost_ns - median_ns) > 0.05 * median_ns
ORDER BY node, timer;
