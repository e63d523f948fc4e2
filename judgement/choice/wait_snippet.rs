//! Generates code that wakes a program at a period: each wait lasts until the next point in time, so
//! that late wake-ups do not add up; or code that waits once.

use super::language::Language;
use super::snippet::{clock_name, replace_words};

/// The code around a way to wait: the languages that it is written in, and its text for a wait each
/// period and for a single one. In it `WAIT` stands for what waits, for `left` nanoseconds or until
/// `next`, and `CLOCK` for the clock in the label of the timer.
type Loop = (&'static [Language], &'static str, &'static str);

/// C that is also C++.
const C: &[Language] = &[Language::C, Language::Cpp];
const RELATIVE: Loop = (
    C,
    "\
#include <time.h>
SLACKstruct timespec now;
clock_gettime(CLOCK_MONOTONIC, &now);
long long next = 1000000000LL * now.tv_sec + now.tv_nsec;
for (;; operation()) {
    next += EVERY;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long left = next - 1000000000LL * now.tv_sec - now.tv_nsec;
    struct timespec wait = {left / 1000000000, left % 1000000000};
    if (left > 0) WAIT;
}
",
    "\
#include <time.h>
SLACKstruct timespec wait = {EVERY / 1000000000, EVERY % 1000000000};
WAIT;
operation();
",
);
const ABSOLUTE: Loop = (
    C,
    "\
#include <time.h>
SLACKstruct timespec next;
clock_gettime(CLOCK, &next);
for (;; operation()) {
    next.tv_nsec += EVERY;
    next.tv_sec += next.tv_nsec / 1000000000;
    next.tv_nsec %= 1000000000;
    WAIT;
}
",
    "\
#include <time.h>
SLACKstruct timespec next;
clock_gettime(CLOCK, &next);
next.tv_nsec += EVERY;
next.tv_sec += next.tv_nsec / 1000000000;
next.tv_nsec %= 1000000000;
WAIT;
operation();
",
);
const TIMERFD: Loop = (
    C,
    "\
#include <sys/timerfd.h>
#include <unistd.h>
int fd = timerfd_create(CLOCK_MONOTONIC, 0);
struct timespec t = {EVERY / 1000000000, EVERY % 1000000000};
struct itimerspec every = {t, t};
timerfd_settime(fd, 0, &every, NULL);
// n: periods since the last; above 1, some were missed
for (unsigned long long n; WAIT;) operation();
",
    "\
#include <sys/timerfd.h>
#include <unistd.h>
int fd = timerfd_create(CLOCK_MONOTONIC, 0);
struct itimerspec once = {{0, 0}, {EVERY / 1000000000, EVERY % 1000000000}};
timerfd_settime(fd, 0, &once, NULL);
unsigned long long n;
if (WAIT) operation();
",
);
const RUST: Loop = (
    &[Language::Rust],
    "\
use std::time::{Duration, Instant};
let mut next = Instant::now();
loop {
    next += Duration::from_nanos(EVERY);
    let left = next.saturating_duration_since(Instant::now());
    WAIT;
    operation();
}
",
    "\
use std::time::{Duration, Instant};
let next = Instant::now() + Duration::from_nanos(EVERY);
let left = next - Instant::now();
WAIT;
operation();
",
);

const JAVA: Loop = (
    &[Language::Java],
    "\
for (long next = System.nanoTime();; operation()) {
    next += EVERYL;
    for (long left; (left = next - System.nanoTime()) > 0;)
        WAIT;
}
",
    "\
long next = System.nanoTime() + EVERYL;
for (long left; (left = next - System.nanoTime()) > 0;)
    WAIT;
operation();
",
);
const CSHARP: Loop = (
    &[Language::CSharp],
    "\
using System.Diagnostics;
for (long next = Stopwatch.GetTimestamp();; operation()) {
    next += (long) (EVERY / 1e9 * Stopwatch.Frequency);
    double left = (next - Stopwatch.GetTimestamp()) * 1e3 / Stopwatch.Frequency;
    if (left > 0) WAIT;
}
",
    "\
double left = EVERY / 1e6;
WAIT;
operation();
",
);
const PYTHON: Loop = (
    &[Language::Python],
    "\
from time import monotonic_ns, sleep
due = monotonic_ns()
while True:
    due += EVERY
    WAIT
    operation()
",
    "\
from time import monotonic_ns, sleep
due = monotonic_ns() + EVERY
WAIT
operation()
",
);
const JAVASCRIPT: Loop = (
    &[Language::JavaScript],
    "\
let due = performance.now() + EVERY / 1e6;
(function turn() {
    for (; due <= performance.now(); due += EVERY / 1e6) operation();
    WAIT;
})();
",
    "\
const due = performance.now() + EVERY / 1e6;
(function turn() {
    if (performance.now() >= due) operation();
    else WAIT;
})();
",
);
const GO: Loop = (
    &[Language::Go],
    "\
next := time.Now()
for {
\tnext = next.Add(EVERY)
\tWAIT
\toperation()
}
",
    "\
next := time.Now().Add(EVERY)
WAIT
operation()
",
);

/// The code of a way to wait: the loop around it; the ids of timers; what waits. Among timers that
/// serve equally well the first one is picked.
const WAYS: [(Loop, &str, &str); 15] = [
    (TIMERFD, "timerfd", "read(fd, &n, sizeof n) > 0"),
    (
        ABSOLUTE,
        "clock-nanosleep-monotonic-absolute clock-nanosleep-realtime-absolute",
        "clock_nanosleep(CLOCK, TIMER_ABSTIME, &next, NULL)",
    ),
    (RELATIVE, "nanosleep", "nanosleep(&wait, NULL)"),
    (RUST, "std-sleep", "std::thread::sleep(left)"),
    (
        RUST,
        "hybrid",
        "std::thread::sleep(left.saturating_sub(Duration::from_micros(120)));\n    \
         while Instant::now() < next { std::hint::spin_loop() }",
    ),
    (RUST, "spin-sleep", "spin_sleep::sleep(left)"),
    (
        RUST,
        "spin",
        "while Instant::now() < next { std::hint::spin_loop() }",
    ),
    (
        RUST,
        "yield",
        "while Instant::now() < next { std::thread::yield_now() }",
    ),
    (
        JAVA,
        "java:parkNanos",
        "java.util.concurrent.locks.LockSupport.parkNanos(left)",
    ),
    (
        JAVA,
        "java:Thread.sleep-ns",
        "Thread.sleep(left / 1000000, (int) (left % 1000000))",
    ),
    (
        CSHARP,
        "dotnet:Thread.Sleep",
        "System.Threading.Thread.Sleep((int) System.Math.Ceiling(left))",
    ),
    (
        PYTHON,
        "python:time.sleep",
        "sleep(max(0, due - monotonic_ns()) / 1e9)",
    ),
    (
        JAVASCRIPT,
        "node:setTimeout",
        "setTimeout(turn, due - performance.now())",
    ),
    (JAVASCRIPT, "node:setImmediate", "setImmediate(turn)"),
    (GO, "go:Sleep", "time.Sleep(time.Until(next))"),
];

/// The position among all ways of the code that waits with a timer, in this language or in any;
/// `None` if there is none.
pub(super) fn code_position(id: &str, language: Option<Language>) -> Option<usize> {
    WAYS.iter().position(|((languages, ..), ids, _)| {
        language.is_none_or(|wanted| languages.contains(&wanted))
            && ids.split(' ').any(|one| one == id)
    })
}

/// Whether the code that waits with a timer sets the timer slack, on which its lateness depends.
pub(super) fn sets_slack(id: &str, language: Option<Language>) -> bool {
    code_position(id, language).is_some_and(|at| WAYS[at].0.1.contains("SLACK"))
}

/// The timer slack that Linux gives threads, in nanoseconds; shorter ones were asked for.
/// *Definition*.
const USUAL_SLACK_NS: u64 = 50_000;

/// Generates code that waits every `every_ns` nanoseconds, or `once` for that long, with the timer of
/// this id and label and a timer slack, in this language or in any. `None` if there is none.
pub fn wait_snippet(
    [id, label]: [&str; 2],
    every_ns: u64,
    slack_ns: Option<u64>,
    once: bool,
    language: Option<Language>,
) -> Option<String> {
    let ((_, periodic, single), _, wait) = WAYS[code_position(id, language)?];
    let text = if once { single } else { periodic };
    let clock = clock_name(label).unwrap_or("CLOCK_MONOTONIC");
    let slack = slack_ns
        .filter(|ns| *ns < USUAL_SLACK_NS)
        .map(|ns| format!("#include <sys/prctl.h>\nprctl(PR_SET_TIMERSLACK, {ns}UL);\n"));
    let words = [
        ("SLACK", slack.unwrap_or_default()),
        ("WAIT", wait.to_owned()),
        ("CLOCK,", format!("{clock},")),
        ("EVERY", every_ns.to_string()),
    ];
    Some(replace_words(text, &words))
}
