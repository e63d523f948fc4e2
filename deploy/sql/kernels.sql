-- What a read of the usual clocks costs by kernel, on each CPU model: the median over all reports, and the tenth and ninetieth percentile.
--   cat csv.sql kernels.sql | duckdb
SELECT cpu, hypervisor, timer, kernel,
    count(DISTINCT node) AS nodes,
    round(quantile_cont(cost_ns, 0.1), 2) AS p10_ns,
    round(median(cost_ns), 2) AS median_ns,
    round(quantile_cont(cost_ns, 0.9), 2) AS p90_ns
FROM clocks
WHERE timer IN ('rdtsc', 'monotonic', 'monotonic-syscall', 'realtime')
    AND cost_ns IS NOT NULL
GROUP BY cpu, hypervisor, timer, kernel
ORDER BY cpu, hypervisor, timer, kernel;
