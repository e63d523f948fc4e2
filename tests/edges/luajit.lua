-- Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
local all = {}
for at = 1, 20000 do all[at] = os.clock() end
for at, one in ipairs(all) do all[at] = ("%.0f"):format(one * 1e6) end
print("os.clock 1000 " .. table.concat(all, " "))
