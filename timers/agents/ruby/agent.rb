# The clocks of Ruby, in words: each line of standard input is a question, each line of standard output its answer.
MUTEX, NEVER = Mutex.new, ConditionVariable.new

# Seconds of a Float that were nanoseconds before: the one nearest to a whole number of them gives them back.
def nanoseconds(seconds)
  ticks = (seconds * 1e9).round
  raise "#{seconds} s is no whole number of nanoseconds" if ticks / 1e9 != seconds
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
CLOCKS = [
  # each clock:
  Clock«n».new,
  # end each
]
# What the system says of their resolution.
DECLARED = {
  # each clock:
  "«id»" => «clock»,
  # end each
}
WAITERS = [
  # each waiter:
  ->(ns) { «wait» },
  # end each
]

def blank(count) = Array.new(count, 0)

def compute(ns)
  stop = now + ns
  nil while now < stop
end

# Sleeps, but for the end, as sleeping ends late.
def pause(ns)
  stop = now + ns
  sleep((ns - 200_000) / 1e9) if ns > 200_000
  compute(stop - now)
end

def cpu_ns
  Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
end

def advance(clock, during, ms)
  # The first reads of both find cold caches.
  now
  clock.read
  start_reference, start = now, clock.read
  during == 0 ? compute(ms * 1_000_000) : sleep(ms / 1e3)
  end_reference, stop = now, clock.read
  [clock.ticks(stop) - clock.ticks(start), end_reference - start_reference]
end

def waits(wait, late, most, repeat, lengths)
  told = []
  (repeat * lengths.size).times do |turn|
    ns = lengths[turn % lengths.size]
    pause(rand * most)
    cpu = cpu_ns
    before = now
    wait.(ns)
    after = now
    told.push(before, after, cpu_ns - cpu)
    break if late >= 0 && after - before > ns + late
  end
  told
end

def periods(wait, period, count, stalls)
  (0...count).map do |at|
    wait.(period)
    told = now
    compute(period * 7 / 2) if stalls.include?(at)
    told
  end
end

def answer(op, which, amounts)
  return waits(WAITERS.fetch(which), *amounts[0, 3], amounts[3..]) if op == "waits"
  return periods(WAITERS.fetch(which), *amounts[0, 2], amounts[2..]) if op == "periods"
  clock, count = CLOCKS.fetch(which), amounts.fetch(op == "intervals" || op == "readings" ? 0 : 1)
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
  else raise "this agent does not know that"
  end
end

def hello
  said = DECLARED.compact.map { |id, clock| "#{id}=#{Process.clock_getres(clock, :float_second) * 1e9}" }
  [RUBY_ENGINE == "ruby" ? "Ruby" : RUBY_ENGINE, RUBY_VERSION, *said].join("\t")
end

$stdout.sync = true
while (line = $stdin.gets)
  op, *amounts = line.split
  begin
    if op == "hello"
      told = hello
    else
      which, *amounts = amounts.map { |word| Integer(word) }
      # So that a collection seldom falls into what comes.
      GC.start(full_mark: false)
      before = GC.count
      told = answer(op, which, amounts)
      told = told.join(" ") + (GC.count == before ? "" : " | gc")
    end
    puts told
  rescue StandardError => why
    puts "!#{why.message.tr("\n", " ")}"
  end
end
