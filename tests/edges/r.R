# Readings of clocks, by a loop that knows nothing of the agent: a line each, the id, nanoseconds in a unit, and readings.
all <- numeric(20000)
for (at in seq_along(all)) all[at] <- as.numeric(Sys.time())
cat("Sys.time", 1e9 / 2^22, sprintf("%.0f", all * 2^22), "\n")
