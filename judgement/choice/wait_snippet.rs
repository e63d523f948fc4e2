//! Generates code, in C or in Rust, that wakes a program at a period: each wait lasts until the next
//! point in time, so that late wake-ups do not add up.

use super::snippet::{clock_name, replace_words};
use super::waits::{RankedWait, WaitChoice};

/// Loops around a way to wait, in which `FIRST` and `WAIT` stand for the parts of a [`Way`], and
/// `CLOCK` for the clock in the label of the timer.
const RELATIVE: &str = "\
FIRST#include <time.h>
struct timespec now;
clock_gettime(CLOCK, &now);
long long next = 1000000000LL * now.tv_sec + now.tv_nsec;
for (;; operation()) {
    next += EVERY;
    clock_gettime(CLOCK, &now);
    long long left = next - 1000000000LL * now.tv_sec - now.tv_nsec;
    struct timespec wait = {left / 1000000000, left % 1000000000};
    if (left > 0) WAIT;
}
";
const ABSOLUTE: &str = "\
#include <time.h>
struct timespec next;
clock_gettime(CLOCK, &next);
for (;; operation()) {
    next.tv_nsec += EVERY;
    next.tv_sec += next.tv_nsec / 1000000000;
    next.tv_nsec %= 1000000000;
    WAIT;
}
";
const TIMERFD: &str = "\
#include <sys/timerfd.h>
#include <unistd.h>
int fd = timerfd_create(CLOCK_MONOTONIC, 0);
struct timespec t = {EVERY / 1000000000, EVERY % 1000000000};
timerfd_settime(fd, 0, &(struct itimerspec){t, t}, NULL);
// n: periods since the last; above 1, some were missed
for (unsigned long long n; WAIT;) operation();
";
const RUST: &str = "\
use std::time::{Duration, Instant};
FIRSTlet mut next = Instant::now();
loop {
    next += Duration::from_nanos(EVERY);
    let left = next.saturating_duration_since(Instant::now());
    WAIT;
    operation();
}
";

/// The code of a way to wait: the loop around it; the ids of timers; the lines before the loop; what
/// waits, for `left` nanoseconds or until `next`.
const WAYS: [[&str; 4]; 14] = [
    [RELATIVE, "nanosleep", "", "nanosleep(&wait, NULL)"],
    [
        RELATIVE,
        "clock-nanosleep-monotonic clock-nanosleep-boottime clock-nanosleep-realtime",
        "",
        "clock_nanosleep(CLOCK, 0, &wait, NULL)",
    ],
    [
        ABSOLUTE,
        "clock-nanosleep-monotonic-absolute clock-nanosleep-boottime-absolute clock-nanosleep-realtime-absolute",
        "",
        "clock_nanosleep(CLOCK, TIMER_ABSTIME, &next, NULL)",
    ],
    [
        RELATIVE,
        "ppoll",
        "#define _GNU_SOURCE\n#include <poll.h>\n",
        "ppoll(NULL, 0, &wait, NULL)",
    ],
    [
        RELATIVE,
        "select pselect",
        "#include <sys/select.h>\n",
        "pselect(0, NULL, NULL, NULL, &wait, NULL)",
    ],
    [TIMERFD, "timerfd", "", "read(fd, &n, sizeof n) > 0"],
    [RUST, "std-sleep", "", "std::thread::sleep(left)"],
    [
        RUST,
        "std-park-timeout",
        "",
        "std::thread::park_timeout(left)",
    ],
    [
        RUST,
        "std-condvar-wait-timeout",
        "let (mutex, none) = (std::sync::Mutex::new(()), std::sync::Condvar::new());\n",
        "drop(none.wait_timeout(mutex.lock().unwrap(), left))",
    ],
    [
        RUST,
        "std-recv-timeout",
        "let (_sender, receiver) = std::sync::mpsc::channel::<()>();\n",
        "let _ = receiver.recv_timeout(left)",
    ],
    [
        RUST,
        "spin",
        "",
        "while Instant::now() < next { std::hint::spin_loop() }",
    ],
    [
        RUST,
        "yield",
        "",
        "while Instant::now() < next { std::thread::yield_now() }",
    ],
    [
        RUST,
        "hybrid",
        "",
        "std::thread::sleep(left.saturating_sub(Duration::from_micros(120)));\n    \
         while Instant::now() < next { std::hint::spin_loop() }",
    ],
    [RUST, "spin-sleep", "", "spin_sleep::sleep(left)"],
];

/// Generates code that waits every `every_ns` nanoseconds with the picked timer, or, if there is
/// none, with the best one that has code and also blocks or also spins: the id of that timer, and
/// the code.
pub fn wait_snippet(choice: &WaitChoice, every_ns: u64) -> Option<(String, String)> {
    let picked = choice.picked.as_ref()?;
    let mut usable = choice
        .others
        .iter()
        .filter(|one| one.suffices && one.figures.means == picked.figures.means);
    let code = |one: &RankedWait| Some((one.id.clone(), snippet_of(one, every_ns)?));
    code(picked).or_else(|| usable.find_map(code))
}

fn snippet_of(timer: &RankedWait, every_ns: u64) -> Option<String> {
    let has_id = |[_, ids, ..]: &&[&str; 4]| ids.split(' ').any(|id| id == timer.id);
    let [text, _, first, wait] = WAYS.iter().find(has_id)?;
    let clock = clock_name(&timer.label).unwrap_or("CLOCK_MONOTONIC");
    let words = [
        ("FIRST", (*first).to_owned()),
        ("WAIT;", format!("{wait};")),
        ("CLOCK,", format!("{clock},")),
        ("EVERY", every_ns.to_string()),
    ];
    Some(replace_words(text, &words))
}
