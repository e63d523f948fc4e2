//! Generates code that wakes a program at a period: each wait lasts until the next point in time, so
//! that late wake-ups do not add up; or code that waits once.

use super::language::Language;
use Language::{C, CSharp, Cpp, Go, Java, JavaScript, Python, Rust};

/// The ways to wait that code is printed for: the languages, the id of the timer, what waits for `left`
/// nanoseconds or until `next`, and the code in which `WAIT` stands for it. Lines with `+` are for a wait
/// each period, lines with `-` for a single one, whose code is not indented. Among timers that serve
/// equally well the first one is picked.
const WAYS: [(&[Language], &str, &str, &str); 12] = [
    (
        &[C, Cpp],
        "timerfd",
        "read(fd, &n, sizeof n) > 0",
        "\
#include <sys/timerfd.h>
#include <unistd.h>
int fd = timerfd_create(CLOCK_MONOTONIC, 0);
struct timespec t = {EVERY / 1000000000, EVERY % 1000000000};
+struct itimerspec times = {t, t};
-struct itimerspec times = {{0, 0}, t};
timerfd_settime(fd, 0, &times, NULL);
+// n: periods since the last; above 1, some were missed
+for (unsigned long long n;;)
+    if (WAIT) operation();  // else a signal came
-unsigned long long n;
-while (!(WAIT)) {}  // again after a signal
-operation();",
    ),
    (
        &[C, Cpp],
        "nanosleep-slack-1ns",
        "#include <sys/prctl.h>\nprctl(PR_SET_TIMERSLACK, 1UL);\n",
        NANOSLEEP,
    ),
    (&[C, Cpp], "nanosleep", "", NANOSLEEP),
    (&[Rust], "std-sleep", "std::thread::sleep(left)", RUST),
    (
        &[Rust],
        "hybrid",
        "std::thread::sleep(left.saturating_sub(Duration::from_micros(120)));
    while Instant::now() < next { std::hint::spin_loop() }",
        RUST,
    ),
    (
        &[Java],
        "java:parkNanos",
        "java.util.concurrent.locks.LockSupport.parkNanos(left)",
        JAVA,
    ),
    (
        &[Java],
        "java:Thread.sleep-ns",
        "Thread.sleep(left / 1000000, (int) (left % 1000000))",
        JAVA,
    ),
    (
        &[CSharp],
        "dotnet:Thread.Sleep",
        "System.Threading.Thread.Sleep((int) System.Math.Ceiling(left))",
        "\
+using System.Diagnostics;
+for (long next = Stopwatch.GetTimestamp();; operation()) {
+    next += (long) (EVERY / 1e9 * Stopwatch.Frequency);
+    double left = (next - Stopwatch.GetTimestamp()) * 1e3 / Stopwatch.Frequency;
+    if (left > 0) WAIT;
+}
-double left = EVERY / 1e6;
-WAIT;
-operation();",
    ),
    (
        &[Python],
        "python:time.sleep",
        "sleep(max(0, due - monotonic_ns()) / 1e9)",
        "\
from time import monotonic_ns, sleep
-due = monotonic_ns() + EVERY
+due = monotonic_ns()
+while True:
+    due += EVERY
    WAIT
    operation()",
    ),
    (
        &[JavaScript],
        "node:setTimeout",
        "setTimeout(turn, due - performance.now())",
        JAVASCRIPT,
    ),
    (
        &[JavaScript],
        "node:setImmediate",
        "setImmediate(turn)",
        JAVASCRIPT,
    ),
    (
        &[Go],
        "go:Sleep",
        "time.Sleep(time.Until(next))",
        "\
-next := time.Now().Add(EVERY)
+next := time.Now()
+for {
+\tnext = next.Add(EVERY)
\tWAIT
\toperation()
+}",
    ),
];
const NANOSLEEP: &str = "\
#include <time.h>
WAIT-long long left = EVERY;
+struct timespec now;
+clock_gettime(CLOCK_MONOTONIC, &now);
+long long next = 1000000000LL * now.tv_sec + now.tv_nsec;
+for (;;) {
+    next += EVERY;
+    clock_gettime(CLOCK_MONOTONIC, &now);
+    long long left = next - 1000000000LL * now.tv_sec - now.tv_nsec;
    struct timespec wait = {left / 1000000000, left % 1000000000};
-while (nanosleep(&wait, &wait)) {}  // again after a signal
+    while (left > 0 && nanosleep(&wait, &wait)) {}  // again after a signal
    operation();
+}";
const RUST: &str = "\
use std::time::{Duration, Instant};
-let next = Instant::now() + Duration::from_nanos(EVERY);
+let mut next = Instant::now();
+loop {
+    next += Duration::from_nanos(EVERY);
    let left = next.saturating_duration_since(Instant::now());
    WAIT;
    operation();
+}";
const JAVA: &str = "\
-long next = System.nanoTime() + EVERYL;
+for (long next = System.nanoTime();;) {
+    next += EVERYL;
    for (long left; (left = next - System.nanoTime()) > 0;)
        WAIT;
    operation();
+}";
const JAVASCRIPT: &str = "\
let due = performance.now() + EVERY / 1e6;
(function turn() {
+    for (; due <= performance.now(); due += EVERY / 1e6) operation();
+    WAIT;
-    if (performance.now() >= due) operation();
-    else WAIT;
})();";

/// The ids of the timers that code in this language waits with, or code for native timers.
pub fn coded(language: Option<Language>) -> impl Iterator<Item = &'static str> {
    let ways = WAYS.iter().filter(move |(languages, id, ..)| {
        language.map_or(!id.contains(':'), |wanted| languages.contains(&wanted))
    });
    ways.map(|(_, id, ..)| *id)
}

/// Generates code that waits every `every_ns` nanoseconds, or `once` for that long, with the timer of
/// this id. `None` if there is none.
pub fn wait_snippet(id: &str, every_ns: u64, once: bool) -> Option<String> {
    let (.., wait, text) = WAYS.iter().find(|(_, other, ..)| *other == id)?;
    let text = text
        .replace("WAIT", wait)
        .replace("EVERY", &every_ns.to_string());
    let (wanted, unwanted) = if once { ('-', '+') } else { ('+', '-') };
    let lines = text.lines().filter(|line| !line.starts_with(unwanted));
    let lines = lines.map(|line| {
        match line.strip_prefix(wanted) {
            None if once => line.strip_prefix("    ").or(line.strip_prefix('\t')),
            bare => bare,
        }
        .unwrap_or(line)
        .to_owned()
            + "\n"
    });
    Some(lines.collect())
}
