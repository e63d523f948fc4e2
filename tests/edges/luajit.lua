-- Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
local ffi = require("ffi")
ffi.cdef "typedef struct { long s; long ns; } moment; int clock_gettime(int clock, moment *now);"
local all = {}
for at = 1, 20000 do all[at] = os.clock() end
for at, one in ipairs(all) do all[at] = ("%.0f"):format(one * 1e6) end
print("os.clock 1000 " .. table.concat(all, " "))
local now = ffi.new("moment")
for at = 1, 20000 do
  ffi.C.clock_gettime(1, now)
  all[at] = tonumber(now.s) * 1e9 + tonumber(now.ns)
end
for at, one in ipairs(all) do all[at] = ("%.0f"):format(one) end
print("clock_gettime 1 " .. table.concat(all, " "))
