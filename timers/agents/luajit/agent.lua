-- Answers questions about the clocks of LuaJIT in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled
-- in from clocks.json.
local ffi = require("ffi")
ffi.cdef [[
  typedef struct { long tv_sec; long tv_nsec; } timespec;
  int clock_gettime(int clock, timespec *now);
  int nanosleep(const timespec *length, timespec *rest);
  int poll(void *fds, unsigned long count, int ms);
]]
local C = ffi.C
local REALTIME, MONOTONIC, PROCESS = 0, 1, 2
local now = ffi.new("timespec")

local function monotonic()
  C.clock_gettime(MONOTONIC, now)
  return tonumber(now.tv_sec) * 1e9 + tonumber(now.tv_nsec)
end

-- Returns a 64-bit integer, because doubles cannot hold the nanoseconds since 1970.
local function realtime()
  C.clock_gettime(REALTIME, now)
  return now.tv_sec * 1000000000LL + now.tv_nsec
end

local function cpu_ns()
  C.clock_gettime(PROCESS, now)
  return tonumber(now.tv_sec) * 1e9 + tonumber(now.tv_nsec)
end

local length = ffi.new("timespec")
local function sleep(ns)
  length.tv_sec = math.floor(ns / 1e9)
  length.tv_nsec = ns % 1e9
  C.nanosleep(length, nil)
end

local function blank(count)
  local values = {}
  for at = 1, count do values[at] = 0 end
  return values
end

local clocks, waiters = {}, {}
-- each clock:
clocks["«id»"] = {
  intervals = function(units, first, second)
    local state = 1
    for at = 1, #first do
      first[at] = «call»
      for left = units, 1, -1 do state = (state * 5 + left) % 256 end
      second[at] = «call»
    end
    return state
  end,
  batches = function(calls, first, second)
    local last
    for at = 1, #first do
      first[at] = monotonic()
      for _ = 1, calls do last = «call» end
      second[at] = monotonic()
    end
    return last
  end,
  readings = function(first)
    for at = 1, #first do first[at] = «call» end
  end,
  comparisons = function(units, before, first, after)
    local state = 1
    for at = 1, #first do
      before[at] = monotonic()
      first[at] = «call»
      after[at] = monotonic()
      for left = units, 1, -1 do state = (state * 5 + left) % 256 end
    end
    return state
  end,
  read = function() return «call» end,
  ticks = function(v) return «ticks» end,
}
-- end each
-- each waiter:
waiters["«id»"] = function(ns) «wait» end
-- end each

local function compute(ns)
  local stop = monotonic() + ns
  while monotonic() < stop do end
end

-- Waits for a pause. Its end is computed, because sleeping ends late.
local function pause(ns)
  local stop = monotonic() + ns
  if ns > 200e3 then sleep(ns - 200e3) end
  compute(stop - monotonic())
end

local function advance(clock, during, ms)
  -- The first read of each clock is dropped, because it finds cold caches.
  monotonic()
  clock.read()
  local start_reference, start = monotonic(), clock.read()
  if during == 0 then compute(ms * 1e6) else sleep(ms * 1e6) end
  local stop_reference, stop = monotonic(), clock.read()
  return { clock.ticks(stop) - clock.ticks(start), stop_reference - start_reference }
end

local function waits(wait, amounts)
  local late, most, turns, values = amounts[1], amounts[2], amounts[3], {}
  local lengths = #amounts - 3
  for turn = 0, turns * lengths - 1 do
    local ns = amounts[4 + turn % lengths]
    pause(math.random() * most)
    local cpu = cpu_ns()
    local before = monotonic()
    wait(ns)
    local after = monotonic()
    cpu = cpu_ns() - cpu
    for _, value in ipairs { turn % lengths, before, after, cpu, -1 } do values[#values + 1] = value end
    if late >= 0 and after - before > ns + late then break end
  end
  return values
end

local function periods(wait, amounts)
  local period, values, stalled = amounts[1], {}, 3
  for at = 0, amounts[2] - 1 do
    wait(period)
    values[#values + 1] = monotonic()
    values[#values + 1] = 1
    if amounts[stalled] == at then
      stalled = stalled + 1
      compute(3.5 * period)
    end
  end
  return values
end

local function answer(op, id, amounts)
  if op == "waits" and waiters[id] then return waits(waiters[id], amounts) end
  if op == "periods" and waiters[id] then return periods(waiters[id], amounts) end
  local clock, values = clocks[id] or error("this agent has no such timer", 0), {}
  local ticks = clock.ticks
  if op == "advance" then return advance(clock, amounts[1], amounts[2]) end
  local count = amounts[(op == "intervals" or op == "readings") and 1 or 2] or error("an amount is missing", 0)
  if op == "comparisons" then count = count * amounts[3] end
  local first, second, third = blank(count), blank(count), blank(count)
  if op == "intervals" then
    for row = 2, #amounts do
      clock.intervals(amounts[row], first, second)
      for at = 1, count do values[#values + 1] = ticks(second[at]) - ticks(first[at]) end
    end
  elseif op == "batches" then
    clock.batches(amounts[1], first, second)
    for at = 1, count do values[at] = second[at] - first[at] end
  elseif op == "readings" then
    clock.readings(first)
    for at = 1, count do values[at] = ticks(first[at]) end
  elseif op == "comparisons" then
    clock.comparisons(amounts[1], first, second, third)
    for at = 1, count do
      for _, value in ipairs { first[at], ticks(second[at]), third[at] } do values[#values + 1] = value end
    end
  else
    error("this agent does not know the question", 0)
  end
  return values
end

-- The decimal digits of an integer, which is a number or a 64-bit integer.
local function to_digits(value)
  if type(value) == "cdata" then return (tostring(value):gsub("LL", "")) end
  return ("%.0f"):format(value)
end

-- Answers a question, a line of JSON, whose keys and values are read as words.
local function reply(line)
  local words, amounts = {}, {}
  for word in line:gsub('":', " "):gmatch('[^%s{}%[%]",]+') do words[#words + 1] = word end
  if words[2] == "hello" then
    return ('{"protocol":1,"ops":[],"timers":[],"runtime":{"name":"LuaJIT","version":"%s"}}'):format(jit.version:match("%S+$"))
  end
  for at = 5, #words do
    local word = words[at]
    if word == "other-spin" then error("this agent has no second thread", 0) end
    if word == "reference" and words[at + 1] ~= "clock_gettime" then error("this agent has one reference only", 0) end
    amounts[#amounts + 1] = word == "spin" and 0 or word == "sleep" and 1 or tonumber(word)
  end
  local values = answer(words[2], words[4], amounts)
  for at, value in ipairs(values) do values[at] = to_digits(value) end
  return '{"values":[' .. table.concat(values, ",") .. "]}"
end

for line in io.lines() do
  -- Garbage is collected now and not during the answer.
  collectgarbage()
  collectgarbage("stop")
  local done, text = pcall(reply, line)
  collectgarbage("restart")
  print(done and text or '{"error":"' .. tostring(text):gsub('[%c"\\]', " ") .. '"}')
  io.flush()
end
