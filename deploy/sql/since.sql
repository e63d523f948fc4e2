-- What changed per group, of the same CPU model, hypervisor, kernel and clock source, between the first day in the table and the last: the median
-- over the nodes that were probed on both days, for what changed by 2 % and more. Name other days instead of min and max.
--   cat csv.sql since.sql | duckdb
WITH days AS (
    SELECT min(date) AS before, max(date) AS after
    FROM clocks
), old AS (
    SELECT node, cpu, hypervisor, kernel, clock_source, timer, avg(cost_ns) AS cost_ns
    FROM clocks, days
    WHERE date = days.before
    GROUP BY node, cpu, hypervisor, kernel, clock_source, timer
), new AS (
    SELECT node, timer, avg(cost_ns) AS cost_ns, max(kernel) AS kernel
    FROM clocks, days
    WHERE date = days.after
    GROUP BY node, timer
)
SELECT old.cpu, old.hypervisor, old.clock_source, old.timer,
    old.kernel AS old_kernel,
    max(new.kernel) AS new_kernel,
    count(*) AS nodes,
    round(median(old.cost_ns), 2) AS old_ns,
    round(median(new.cost_ns), 2) AS new_ns,
    round(100 * (median(new.cost_ns / old.cost_ns) - 1), 1) AS percent
FROM old
JOIN new ON new.node = old.node AND new.timer = old.timer
WHERE old.cost_ns > 0
    AND new.cost_ns > 0
GROUP BY old.cpu, old.hypervisor, old.kernel, old.clock_source, old.timer
HAVING abs(median(new.cost_ns / old.cost_ns) - 1) >= 0.02
ORDER BY old.cpu, old.hypervisor, old.kernel, old.clock_source, old.timer;
