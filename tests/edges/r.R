# Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
all <- numeric(20000)
for (at in seq_along(all)) all[at] <- as.numeric(Sys.time())
cat("Sys.time", 1e9 / 2^22, sprintf("%.0f", all * 2^22), "\n")
# Reads each time until the clock has moved.
few <- numeric(100)
for (at in seq_along(few)) repeat {
  few[at] <- proc.time()[[3L]]
  if (at == 1 || few[at] != few[at - 1]) break
}
cat("proc.time", 1e6, sprintf("%.0f", few * 1e3), "\n")
