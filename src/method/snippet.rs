//! Code that measures as a plan says, to be pasted: by the clock of a language, with the number of
//! calls between two reads.

use serde::Serialize;

use super::choice::Candidate;
use super::plan::Method;

/// A language to write in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C
    C,
    /// C++
    #[value(name = "cpp", alias = "c++")]
    Cpp,
    /// Rust
    Rust,
    /// Java
    Java,
    /// Python
    Python,
    /// Go
    Go,
}

/// The clocks that C calls by itself: each with what stands before the function, what reads it, and
/// what a difference is in nanoseconds.
const IN_C: [(&str, [&str; 3]); 2] = [
    (
        "monotonic",
        [
            "#include <time.h>",
            "    struct timespec t;\n    clock_gettime(CLOCK_MONOTONIC, &t);\n    return 1e9 * t.tv_sec + t.tv_nsec;",
            "1",
        ],
    ),
    (
        "rdtsc-lfence",
        [
            "#include <x86intrin.h>",
            "    _mm_lfence();\n    return __rdtsc();",
            "NS_PER_TICK",
        ],
    ),
];

impl Language {
    /// The runtime whose timers stand for its clocks, where it has one of its own.
    #[must_use]
    pub fn runtime(self) -> Option<&'static str> {
        match self {
            Self::Java => Some("java"),
            Self::Python => Some("python"),
            Self::C | Self::Cpp | Self::Rust | Self::Go => None,
        }
    }

    /// The ids of those timers that its standard library reads durations from, of a report of its
    /// runtime; empty for C, which calls any.
    #[must_use]
    pub fn clocks(self) -> &'static [&'static str] {
        match self {
            Self::C => &[],
            Self::Cpp | Self::Go => &["monotonic"],
            Self::Rust => &["instant"],
            Self::Java => &["nanoTime"],
            Self::Python => &["perf_counter_ns"],
        }
    }
}

/// Code for what was picked; `None` where this language has no call for that clock, or the plan is
/// none that a few lines keep.
#[must_use]
pub fn snippet(language: Language, picked: &Candidate, cost_ns: f64) -> Option<String> {
    let calls = match picked.plan.method {
        Method::Single => 1,
        Method::Batch { calls } => calls,
        Method::EdgeCrossing { .. } => return None,
    };
    let cost = format!("{cost_ns:.1}");
    let text = match language {
        Language::C => return in_c(&picked.id, calls, &cost),
        Language::Cpp => CPP,
        Language::Rust => RUST,
        Language::Java => JAVA,
        Language::Python => PYTHON,
        Language::Go => GO,
    };
    Some(filled(text, calls, &cost))
}

fn in_c(id: &str, calls: u64, cost: &str) -> Option<String> {
    let (_, [include, read, unit]) = IN_C.iter().find(|(clock, _)| *clock == id)?;
    let counter = if *unit == "1" {
        "double"
    } else {
        "unsigned long long"
    };
    let scale = if *unit == "1" {
        String::new()
    } else {
        format!(" * {unit}")
    };
    let text = C
        .replace("INCLUDE", include)
        .replace("TYPE", counter)
        .replace("READ", read);
    let text = text.replace("SCALE", &scale);
    Some(filled(&text, calls, cost))
}

fn filled(text: &str, calls: u64, cost: &str) -> String {
    text.replace("CALLS", &calls.to_string())
        .replace("COST", cost)
}

const C: &str = "\
INCLUDE
static inline TYPE now(void) {
READ
}
TYPE begin = now();
for (long i = 0; i < CALLS; i++) operation();
double ns = ((now() - begin)SCALE - COST) / CALLS;  // less a read
";

const CPP: &str = "\
#include <chrono>
using std::chrono::steady_clock;
auto begin = steady_clock::now();
for (long i = 0; i < CALLS; i++) operation();
std::chrono::duration<double, std::nano> t = steady_clock::now() - begin;
double ns = (t.count() - COST) / CALLS;  // less a read
";

const RUST: &str = "\
let begin = std::time::Instant::now();
for _ in 0..CALLSu64 {
    std::hint::black_box(operation());
}
let taken = begin.elapsed().as_secs_f64() * 1e9;
let ns = (taken - COST) / CALLS.0; // less a read
";

const JAVA: &str = "\
long begin = System.nanoTime();
for (long i = 0; i < CALLSL; i++) operation();
double ns = (System.nanoTime() - begin - COST) / CALLS.0;  // less a read
";

const PYTHON: &str = "\
from time import perf_counter_ns
begin = perf_counter_ns()
for _ in range(CALLS):
    operation()
ns = (perf_counter_ns() - begin - COST) / CALLS  # less a read
";

const GO: &str = "\
begin := time.Now()
for i := 0; i < CALLS; i++ {
\toperation()
}
ns := (float64(time.Since(begin).Nanoseconds()) - COST) / CALLS // less a read
";
