-- What do calls cost since the last change of the kernel, on nodes that were measured before and after it?
WITH runs AS (
    SELECT *, lag(kernel) OVER of_node AS old_kernel, lag(cost_ns) OVER of_node AS old_cost_ns
    FROM fleet WHERE provenance = 'measured' AND cost_ns > 0
    WINDOW of_node AS (PARTITION BY node, timer ORDER BY created)
), changes AS (
    SELECT * FROM runs WHERE kernel <> old_kernel
    QUALIFY row_number() OVER (PARTITION BY node, timer ORDER BY created DESC) = 1
)
SELECT old_kernel, kernel, timer, count(*) AS nodes,
    round(100 * (median(cost_ns / old_cost_ns) - 1), 1) AS change_percent,
    round(100 * avg(CAST(cost_ns > old_cost_ns AS INTEGER)), 0) AS more_expensive_percent_of_nodes
FROM changes
GROUP BY old_kernel, kernel, timer
ORDER BY old_kernel, kernel, change_percent DESC, timer;
