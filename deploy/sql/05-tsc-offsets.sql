-- On which nodes do the counters of CPUs differ by more than a microsecond, whatever is not known of that?
SELECT DISTINCT node, cpu, round(tsc_offset_max_ns) AS tsc_offset_max_ns,
    round(tsc_offset_uncertainty_ns) AS uncertainty_ns
FROM latest
WHERE tsc_offset_max_ns - tsc_offset_uncertainty_ns > 1000
ORDER BY tsc_offset_max_ns DESC, node;
