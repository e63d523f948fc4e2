# Answers questions about the clocks of R in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled in
# from clocks.json.

# Converts seconds since 1970 to steps of the mantissa of a double, which until 2038 has 22 binary digits after the point.
mantissa <- function(seconds) {
  ticks <- seconds * 4194304
  if (any(ticks != floor(ticks))) stop("a reading is not a whole number of steps of 2^-22 s")
  ticks
}

clocks <- list()
waiters <- list()
unavailable <- c()
# each clock:
clocks[["«id»"]] <- list(
  intervals = function(units, first, second) {
    state <- 1
    for (at in seq_along(first)) {
      first[[at]] <- «call»
      left <- units
      while (left > 0) {
        state <- (state * 5 + 1) %% 256
        left <- left - 1
      }
      second[[at]] <- «call»
    }
    list(first, second)
  },
  batches = function(calls, first, second) {
    for (at in seq_along(first)) {
      first[at] <- Sys.time()
      left <- calls
      while (left > 0) {
        last <- «call»
        left <- left - 1
      }
      second[at] <- Sys.time()
    }
    list(first, second)
  },
  readings = function(first) {
    for (at in seq_along(first)) first[[at]] <- «call»
    first
  },
  comparisons = function(units, before, first, after) {
    state <- 1
    for (at in seq_along(first)) {
      before[at] <- Sys.time()
      first[[at]] <- «call»
      after[at] <- Sys.time()
      left <- units
      while (left > 0) {
        state <- (state * 5 + 1) %% 256
        left <- left - 1
      }
    }
    list(before, first, after)
  },
  read = function() «call»,
  ticks = function(v) «ticks»
)
if (nzchar("«lacks»") && !requireNamespace("«lacks»", quietly = TRUE)) {
  unavailable <- c(unavailable, '{"id":"«id»","reason":"the package `«lacks»` is not installed","remedy":"install it in R, by install.packages"}')
}
# end each
# each waiter:
waiters[["«id»"]] <- function(ns) «wait»
# end each

ticks_of <- function(clock, values) vapply(values, function(v) as.numeric(clock$ticks(v)), 0)
now <- function() mantissa(as.numeric(Sys.time()))
compute <- function(ns) {
  stop_at <- Sys.time() + ns / 1e9
  while (Sys.time() < stop_at) NULL
}

# Waits for a pause. Its end is computed, because sleeping ends late.
pause <- function(ns) {
  stop_at <- Sys.time() + ns / 1e9
  if (ns > 500e3) Sys.sleep((ns - 500e3) / 1e9)
  while (Sys.time() < stop_at) NULL
}

advance <- function(clock, during, ms) {
  # The first read of each clock is dropped, because it finds cold caches.
  now()
  clock$read()
  start_reference <- now()
  start <- clock$read()
  if (during == 0) compute(ms * 1e6) else Sys.sleep(ms / 1e3)
  end_reference <- now()
  end <- clock$read()
  c(clock$ticks(end) - clock$ticks(start), end_reference - start_reference)
}

waits <- function(wait, late, most, times, lengths) {
  values <- c()
  for (at in seq_len(times * length(lengths)) - 1) {
    ns <- lengths[at %% length(lengths) + 1]
    pause(runif(1, 0, most))
    before <- Sys.time()
    wait(ns)
    after <- Sys.time()
    values <- c(values, at %% length(lengths), mantissa(as.numeric(before)), mantissa(as.numeric(after)), -1, -1)
    if (late >= 0 && as.numeric(after - before, units = "secs") * 1e9 > ns + late) break
  }
  values
}

periods <- function(wait, period, count, stalls) {
  wakeups <- numeric(count)
  for (at in seq_len(count)) {
    wait(period)
    wakeups[at] <- now()
    if ((at - 1) %in% stalls) compute(3.5 * period)
  }
  as.vector(rbind(wakeups, rep(1, count)))
}

answer <- function(op, id, rest) {
  if (length(rest) == 0) stop("this agent does not know the question")
  if (op == "waits" && !is.null(waiters[[id]])) return(waits(waiters[[id]], rest[1], rest[2], rest[3], rest[-(1:3)]))
  if (op == "periods" && !is.null(waiters[[id]])) return(periods(waiters[[id]], rest[1], rest[2], rest[-(1:2)]))
  clock <- clocks[[id]]
  if (is.null(clock)) stop("this agent has no such timer")
  if (op == "intervals") {
    values <- vector("list", rest[1])
    return(unlist(lapply(rest[-1], function(units) {
      told <- clock$intervals(units, values, values)
      ticks_of(clock, told[[2]]) - ticks_of(clock, told[[1]])
    })))
  }
  if (op == "batches") {
    told <- clock$batches(rest[1], numeric(rest[2]), numeric(rest[2]))
    return(mantissa(told[[2]]) - mantissa(told[[1]]))
  }
  if (op == "readings") return(ticks_of(clock, clock$readings(vector("list", rest[1]))))
  if (op == "comparisons") {
    count <- rest[2] * rest[3]
    told <- clock$comparisons(rest[1], numeric(count), vector("list", count), numeric(count))
    return(as.vector(rbind(mantissa(told[[1]]), ticks_of(clock, told[[2]]), mantissa(told[[3]]))))
  }
  if (op == "advance") return(advance(clock, rest[1], rest[2]))
  stop("this agent does not know the question")
}

# The decimal digits of integers, which R holds as doubles.
to_digits <- function(values) paste(sprintf("%.0f", values), collapse = ",")

# The number of garbage collections, counted by finalizers, because R does not report them otherwise.
collections <- 0
watch <- function() reg.finalizer(new.env(), function(gone) {
  collections <<- collections + 1
  watch()
})
invisible(watch())
invisible(compiler::enableJIT(3))

hello <- function() {
  paste0('{"protocol":1,"ops":[],"timers":[],"runtime":{"name":"R","version":"', R.version$major, ".", R.version$minor,
    '"},"unavailable":[', paste(unavailable, collapse = ","), "]}")
}

# Answers a question, a line of JSON, whose keys and values are read as words.
reply <- function(line) {
  words <- strsplit(gsub('[][{}",]+', " ", gsub('":', " ", line, fixed = TRUE)), " +")[[1]]
  words <- words[words != ""]
  if (words[2] == "hello") return(hello())
  rest <- words[-(1:4)]
  if ("other-spin" %in% rest) stop("this agent has no second thread")
  timed_by <- match("reference", rest)
  if (!is.na(timed_by) && rest[timed_by + 1] != "Sys.time") stop("this agent has one reference only")
  amounts <- as.numeric(rest[grepl("^-?[0-9]", rest)])
  if (words[2] == "advance") amounts <- c(if ("spin" %in% rest) 0 else 1, amounts)
  gc(full = FALSE)
  before <- collections
  values <- answer(words[2], words[4], amounts)
  paste0('{"values":[', to_digits(values), "]", if (collections != before) ',"disturbed":["gc"]', "}")
}

input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  text <- tryCatch(reply(line), error = function(why) paste0('{"error":"', gsub('[\n"\\\\]', " ", conditionMessage(why)), '"}'))
  cat(text, "\n", sep = "")
  flush(stdout())
}
