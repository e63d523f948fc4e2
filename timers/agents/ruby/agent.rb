# Answers questions about the clocks of Ruby in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled
# in from clocks.json.
MUTEX, NEVER = Mutex.new, ConditionVariable.new

# Converts a Float of seconds to nanoseconds. Exact, because the clock counts whole nanoseconds; other values are refused.
def nanoseconds(seconds)
  ticks = (seconds * 1e9).round
  raise "#{seconds} s is not a whole number of nanoseconds" if ticks / 1e9 != seconds
  ticks
end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

# each clock:
class Clock«n»
  def intervals(units, first, second)
    state, at, count = 1, 0, first.size
    while at < count
      first[at] = «call»
      left = units
      while left > 0
        state = state * 5 & 255
        left -= 1
      end
      second[at] = «call»
      at += 1
    end
    state
  end

  def batches(calls, first, second)
    at, count, last = 0, first.size, nil
    while at < count
      first[at] = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      left = calls
      while left > 0
        last = «call»
        left -= 1
      end
      second[at] = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      at += 1
    end
    last
  end

  def readings(first)
    at, count = 0, first.size
    while at < count
      first[at] = «call»
      at += 1
    end
  end

  def comparisons(units, before, first, after)
    state, at, count = 1, 0, first.size
    while at < count
      before[at] = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      first[at] = «call»
      after[at] = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
      left = units
      while left > 0
        state = state * 5 & 255
        left -= 1
      end
      at += 1
    end
    state
  end

  def read = «call»
  def ticks(v) = «ticks»
end
# end each
CLOCKS = {
  # each clock:
  "«id»" => Clock«n».new,
  # end each
}
# The ids of the clocks for `clock_getres`, which declares their resolution.
DECLARED = {
  # each clock:
  "«id»" => «clock»,
  # end each
}
WAITERS = {
  # each waiter:
  "«id»" => ->(ns) { «wait» },
  # end each
}

REFERENCE = "clock_gettime.nanosecond"

def blank(count) = Array.new(count, 0)

def compute(ns)
  stop = now + ns
  nil while now < stop
end

# Waits for a pause. Its end is computed, because sleeping ends late.
def pause(ns)
  stop = now + ns
  sleep((ns - 200_000) / 1e9) if ns > 200_000
  compute(stop - now)
end

def cpu_ns
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

def advance(clock, during, ms)
  # The first read of each clock is dropped, because it finds cold caches.
  now
  clock.read
  start_reference, start = now, clock.read
  during == 0 ? compute(ms * 1_000_000) : sleep(ms / 1e3)
  end_reference, stop = now, clock.read
  [clock.ticks(stop) - clock.ticks(start), end_reference - start_reference]
end

def waits(wait, most, repeat, lengths)
  values = []
  (repeat * lengths.size).times do |turn|
    ns = lengths[turn % lengths.size]
    pause(rand * most)
    cpu = cpu_ns
    before = now
    wait.(ns)
    after = now
    values.push(turn % lengths.size, before, after, cpu_ns - cpu, -1)
  end
  values
end

def periods(wait, period, count)
  (0...count).flat_map do
    wait.(period)
    [now, 1]
  end
end

def answer(op, id, amounts)
  amounts[1] *= amounts[2] if op == "comparisons"
  return waits(WAITERS.fetch(id), *amounts[0, 2], amounts[2..]) if op == "waits"
  return periods(WAITERS.fetch(id), *amounts[0, 2]) if op == "periods"
  clock, count = CLOCKS.fetch(id), amounts.fetch(op == "intervals" || op == "readings" ? 0 : 1)
  first, second, third = blank(count), blank(count), blank(count) unless op == "advance"
  case op
  when "intervals"
    amounts[1..].flat_map do |units|
      clock.intervals(units, first, second)
      first.zip(second).map { |start, stop| clock.ticks(stop) - clock.ticks(start) }
    end
  when "batches"
    clock.batches(amounts[0], first, second)
    first.zip(second).map { |start, stop| stop - start }
  when "readings"
    clock.readings(first)
    first.map { |value| clock.ticks(value) }
  when "comparisons"
    clock.comparisons(amounts[0], first, second, third)
    first.zip(second, third).flat_map { |before, value, after| [before, clock.ticks(value), after] }
  when "advance" then advance(clock, *amounts)
  else raise "this agent does not know the question"
  end
end

def hello
  timers = DECLARED.compact.map do |id, clock|
    %({"id":"#{id}","resolution_ns":#{Process.clock_getres(clock, :float_second) * 1e9}})
  end
  name = RUBY_ENGINE == "ruby" ? "Ruby" : RUBY_ENGINE
  %({"protocol":1,"ops":[],"runtime":{"name":"#{name}","version":"#{RUBY_VERSION}"},"timers":[#{timers.join(",")}]})
end

# Answers a question, a line of JSON, whose keys and values are read as words.
def reply(line)
  _, op, _, id, *rest = line.gsub('":', " ").tr('{}[]",', " ").split
  return hello if op == "hello"
  timed_by = rest.index("reference")
  raise "this agent has one reference only" if timed_by && rest[timed_by + 1] != REFERENCE
  raise "this agent has no second thread" if rest.include?("other-spin")
  amounts = rest.filter_map { |word| Integer(word) if word.match?(/\A-?\d/) }
  amounts.unshift(rest.include?("spin") ? 0 : 1) if op == "advance"
  # Garbage is collected now, so that it is seldom collected during the measurement.
  GC.start(full_mark: false)
  before = GC.count
  values = answer(op, id, amounts)
  start = '"start":null,' if op == "periods" # all are loops of waits
  %({#{start}"values":[#{values.join(",")}]#{',"disturbed":["gc"]' if GC.count != before}})
end

$stdout.sync = true
while (line = $stdin.gets)
  begin
    puts reply(line)
  rescue StandardError => why
    puts %({"error":"#{why.message.tr("\n\"\\", " ''")}"})
  end
end
