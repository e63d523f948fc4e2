//! Generates code, in several languages, that measures an operation as a plan specifies: with the
//! planned number of calls between two reads.

use serde::Serialize;

use super::choice::{Candidate, ClockPlan};
use super::plan::Method;

/// A language that code can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C, by the picked clock, if there is code for it.
    C,
    /// C++, by `steady_clock`.
    #[value(name = "cpp", alias = "c++")]
    Cpp,
    /// Rust, by `Instant`.
    Rust,
    /// Java, by `System.nanoTime`.
    Java,
    /// Python, by `perf_counter_ns`.
    Python,
    /// Go, by its monotonic clock.
    Go,
}

/// Language, id of the clock that the code reads, and the code. `CALLS` and `COST` (in nanoseconds)
/// are replaced by numbers; `NS_PER_TICK` stays, and the user has to define it.
const SNIPPETS: [(Language, &str, &str); 7] = [
    (
        Language::C,
        "monotonic",
        "\
#include <time.h>
static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * t.tv_sec + t.tv_nsec;
}
double begin = now();
for (long i = 0; i < CALLS; i++) operation();
double ns = (now() - begin - COST) / CALLS;  // less a read
",
    ),
    (
        Language::C,
        "rdtsc-lfence",
        "\
#include <x86intrin.h>
_mm_lfence();
unsigned long long begin = __rdtsc();
for (long i = 0; i < CALLS; i++) operation();
_mm_lfence();
double ns = ((__rdtsc() - begin) * NS_PER_TICK - COST) / CALLS;  // less a read
",
    ),
    (
        Language::Cpp,
        "monotonic",
        "\
#include <chrono>
using std::chrono::steady_clock;
auto begin = steady_clock::now();
for (long i = 0; i < CALLS; i++) operation();
std::chrono::duration<double, std::nano> t = steady_clock::now() - begin;
double ns = (t.count() - COST) / CALLS;  // less a read
",
    ),
    (
        Language::Rust,
        "instant",
        "\
let begin = std::time::Instant::now();
for _ in 0..CALLSu64 {
    std::hint::black_box(operation());
}
let taken = begin.elapsed().as_secs_f64() * 1e9;
let ns = (taken - COST) / CALLS.0; // less a read
",
    ),
    (
        Language::Java,
        "nanoTime",
        "\
long begin = System.nanoTime();
for (long i = 0; i < CALLSL; i++) operation();
double ns = (System.nanoTime() - begin - COST) / CALLS.0;  // less a read
",
    ),
    (
        Language::Python,
        "perf_counter_ns",
        "\
from time import perf_counter_ns
begin = perf_counter_ns()
for _ in range(CALLS):
    operation()
ns = (perf_counter_ns() - begin - COST) / CALLS  # less a read
",
    ),
    (
        Language::Go,
        "monotonic",
        "\
begin := time.Now()
for i := 0; i < CALLS; i++ {
\toperation()
}
ns := (float64(time.Since(begin).Nanoseconds()) - COST) / CALLS // less a read
",
    ),
];

impl Language {
    /// The runtime whose clocks the code calls; `None` for languages that call native clocks.
    #[must_use]
    pub fn runtime(self) -> Option<&'static str> {
        match self {
            Self::Java => Some("java"),
            Self::Python => Some("python"),
            Self::C | Self::Cpp | Self::Rust | Self::Go => None,
        }
    }

    /// Ids of the clocks that code in this language reads; empty for C, which can read any clock.
    #[must_use]
    pub fn clocks(self) -> Vec<String> {
        let of_language = SNIPPETS
            .iter()
            .filter(|(language, ..)| *language == self && self != Self::C);
        of_language
            .map(|(_, clock, _)| (*clock).to_owned())
            .collect()
    }
}

/// Generates code that measures with the picked clock and subtracts `cost_ns` nanoseconds for a
/// read. `None` if there is no code for this clock or plan.
#[must_use]
pub fn snippet(language: Language, picked: &Candidate<ClockPlan>, cost_ns: f64) -> Option<String> {
    let calls = match picked.figures.plan?.method {
        Method::Single => 1,
        Method::Batch { calls } => calls,
        Method::EdgeCrossing { .. } => return None,
    };
    let is_wanted = |(candidate, clock, _): &&(Language, &str, &str)| {
        *candidate == language && (language != Language::C || *clock == picked.id)
    };
    let (.., text) = SNIPPETS.iter().find(is_wanted)?;
    let cost = format!("{cost_ns:.1}");
    Some(
        text.replace("CALLS", &calls.to_string())
            .replace("COST", &cost),
    )
}
