# Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
import time

for name in ("time_ns", "perf_counter_ns", "monotonic_ns", "process_time_ns", "thread_time_ns"):
    read = getattr(time, name)
    print(name, 1, *[read() for _ in range(20000)])
for name in ("perf_counter", "monotonic", "process_time", "thread_time"):
    read = getattr(time, name)
    print(name, 1, *[round(1e9 * one) for one in [read() for _ in range(20000)]])
print("time", 1e9 / 2**22, *[int(one * 2**22) for one in [time.time() for _ in range(20000)]])
