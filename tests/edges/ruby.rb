# Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
def show(id, unit, all) = puts("#{id} #{unit} #{all.join(" ")}")

show("clock_gettime.nanosecond", 1, Array.new(20_000) { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) })
show("clock_gettime.microsecond", 1000, Array.new(20_000) { Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond) })
show("clock_gettime.realtime", 1, Array.new(20_000) { Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond) })
show("clock_gettime.process", 1, Array.new(20_000) { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) })
show("clock_gettime.thread", 1, Array.new(20_000) { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) })
show("clock_gettime.float_second", 1, Array.new(20_000) { Process.clock_gettime(Process::CLOCK_MONOTONIC) }.map { (_1 * 1e9).round })
show("Time.now", 1, Array.new(20_000) { Time.now }.map { (_1.to_r * 1_000_000_000).to_i })
# Reads each time until the clock has moved.
last = 0
show("clock_gettime.millisecond", 1_000_000, Array.new(100) {
  now = last
  now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond) while now == last
  last = now
})
