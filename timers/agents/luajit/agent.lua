-- The clocks of LuaJIT, in words: each line of standard input is a question, each line of standard output its answer.
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

-- Nanoseconds since 1970 need integers of 64 bits.
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
clocks[«n»] = {
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
waiters[«n»] = function(ns) «wait» end
-- end each

local function compute(ns)
  local stop = monotonic() + ns
  while monotonic() < stop do end
end

-- Sleeps, but for the end, as sleeping ends late.
local function pause(ns)
  local stop = monotonic() + ns
  if ns > 200e3 then sleep(ns - 200e3) end
  compute(stop - monotonic())
end

local function advance(clock, during, ms)
  -- The first reads of both find cold caches.
  monotonic()
  clock.read()
  local start_reference, start = monotonic(), clock.read()
  if during == 0 then compute(ms * 1e6) else sleep(ms * 1e6) end
  local stop_reference, stop = monotonic(), clock.read()
  return { clock.ticks(stop) - clock.ticks(start), stop_reference - start_reference }
end

local function waits(wait, amounts)
  local late, most, turns, told = amounts[2], amounts[3], amounts[4], {}
  local lengths = #amounts - 4
  for turn = 0, turns * lengths - 1 do
    local ns = amounts[5 + turn % lengths]
    pause(math.random() * most)
    local cpu = cpu_ns()
    local before = monotonic()
    wait(ns)
    local after = monotonic()
    cpu = cpu_ns() - cpu
    for _, value in ipairs { before, after, cpu } do told[#told + 1] = value end
    if late >= 0 and after - before > ns + late then break end
  end
  return told
end

local function periods(wait, amounts)
  local period, told, stalled = amounts[2], {}, 4
  for at = 0, amounts[3] - 1 do
    wait(period)
    told[#told + 1] = monotonic()
    if amounts[stalled] == at then
      stalled = stalled + 1
      compute(3.5 * period)
    end
  end
  return told
end

local function answer(op, amounts)
  if op == "waits" then return waits(waiters[amounts[1]], amounts) end
  if op == "periods" then return periods(waiters[amounts[1]], amounts) end
  local clock, told = clocks[amounts[1]] or error("there is no such timer", 0), {}
  local ticks = clock.ticks
  if op == "advance" then return advance(clock, amounts[2], amounts[3]) end
  local count = amounts[(op == "intervals" or op == "readings") and 2 or 3]
  local first, second, third = blank(count), blank(count), blank(count)
  if op == "intervals" then
    for row = 3, #amounts do
      clock.intervals(amounts[row], first, second)
      for at = 1, count do told[#told + 1] = ticks(second[at]) - ticks(first[at]) end
    end
  elseif op == "batches" then
    clock.batches(amounts[2], first, second)
    for at = 1, count do told[at] = second[at] - first[at] end
  elseif op == "readings" then
    clock.readings(first)
    for at = 1, count do told[at] = ticks(first[at]) end
  elseif op == "comparisons" then
    clock.comparisons(amounts[2], first, second, third)
    for at = 1, count do
      for _, value in ipairs { first[at], ticks(second[at]), third[at] } do told[#told + 1] = value end
    end
  else
    error("this agent does not know that", 0)
  end
  return told
end

-- Integers of both kinds, as decimal digits.
local function written(value)
  if type(value) == "cdata" then return (tostring(value):gsub("LL", "")) end
  return ("%.0f"):format(value)
end

for line in io.lines() do
  local op, rest = line:match("^(%S+)%s*(.*)$")
  if op == "hello" then
    print(("LuaJIT\t%s"):format(jit.version:match("%S+$")))
  else
    local amounts = {}
    for word in rest:gmatch("%S+") do amounts[#amounts + 1] = tonumber(word) end
    -- So that no collection falls into what comes, but for one that is large.
    collectgarbage()
    collectgarbage("stop")
    local done, told = pcall(answer, op, amounts)
    collectgarbage("restart")
    if done then
      for at, value in ipairs(told) do told[at] = written(value) end
      print(table.concat(told, " "))
    else
      print("!" .. tostring(told))
    end
  end
  io.flush()
end
