# Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
all = Array.new(20_000) { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
puts "clock_gettime.nanosecond 1 #{all.join(" ")}"
all = Array.new(20_000) { Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond) }
puts "clock_gettime.microsecond 1000 #{all.join(" ")}"
