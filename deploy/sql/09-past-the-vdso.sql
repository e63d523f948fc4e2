-- On which nodes do clocks cost a system call that promise to do without, and what does a read cost there?
SELECT node, clock_source, string_agg(timer, ' ' ORDER BY timer) AS timers, round(median(cost_ns)) AS cost_ns
FROM latest
WHERE reads_by IN ('instruction', 'vdso') AND answered_by <> 'user-mode'
GROUP BY node, clock_source
ORDER BY cost_ns DESC, node;
