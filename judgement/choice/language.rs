//! The languages that code can be written in, and the code of each that measures with a clock.

use clap::ValueEnum;
use serde::Serialize;

/// A language that code can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// C, by `clock_gettime` or `lfence; rdtsc`.
    C,
    /// C++, by `steady_clock`.
    #[value(name = "cpp", aliases = ["c++", "cxx"])]
    Cpp,
    /// Rust, by `Instant`.
    #[value(alias = "rs")]
    Rust,
    /// Java, by `System.nanoTime`.
    Java,
    /// C#, by `Stopwatch`.
    #[value(name = "csharp", aliases = ["c#", "cs", ".net", "dotnet"])]
    CSharp,
    /// Python, by `perf_counter_ns`.
    #[value(aliases = ["py", "python3", "cpython"])]
    Python,
    /// JavaScript in Node, by `process.hrtime.bigint`.
    #[value(name = "javascript", aliases = ["js", "node", "node.js", "nodejs", "typescript", "ts"])]
    JavaScript,
    /// Go, by its monotonic clock.
    #[value(alias = "golang")]
    Go,
}

/// The code: the language, the ids of the clocks that it reads, and its parts in `code/`, each after a line with
/// `@` and its name. Parts that are missing are those of [`COMMON`]; the name of a part in a text stands for it.
/// `KEEP` stands outside of functions, `PROGRAM` is a whole program, `PRINT` prints a result, `WORDS` are
/// replaced at the end. `CALLS`, `RUNS` and the like are numbers.
///
/// One algorithm: lines that begin with `-` are for operations that can be repeated, lines with `+` for
/// requests of a service.
///
/// Even runs make no calls: the least of them is the *frame*, the time of the reads and of what stands
/// around the calls, on the machine and with the compiler of the user. Odd runs make the calls. The least
/// of these less the frame is the least result; interruptions only lengthen a run. The mean of the second
/// half of them, after the code is warm, less the same frame is the mean result. So an interruption changes
/// no result by more than its share of the runs, and makes none negative.
///
/// Handlers of requests keep their times in one array, of which a counter gives each the next place: so any
/// thread may do so, without a lock, and nothing has to be merged. Threads of their own for each request, and
/// goroutines, have no arrays of their own. From the results the mean of pairs of reads is subtracted, the
/// least such mean of a hundred, at most the shortest request.
///
/// A call is hidden from the compiler, or its result is used: otherwise compilers remove an operation
/// without effects, or move it out of the loop. In Python calls stand in a row, because a turn of a loop
/// around a call differs by up to 5 ns from an empty one.
pub(super) const CODES: [(Language, &str, &str); 9] = [
    (
        Language::C,
        "monotonic monotonic-raw boottime realtime tai thread-cputime process-cputime",
        "",
    ),
    (
        Language::C,
        "rdtsc-lfence",
        include_str!("code/c-rdtsc.txt"),
    ),
    (
        Language::Cpp,
        "monotonic steady_clock",
        include_str!("code/cpp.txt"),
    ),
    (Language::Rust, "instant", include_str!("code/rust.txt")),
    (Language::Java, "nanoTime", include_str!("code/java.txt")),
    (
        Language::CSharp,
        "Stopwatch",
        include_str!("code/csharp.txt"),
    ),
    (
        Language::Python,
        "perf_counter_ns",
        include_str!("code/python.txt"),
    ),
    (
        Language::JavaScript,
        "hrtime.bigint",
        include_str!("code/javascript.txt"),
    ),
    (Language::Go, "monotonic", include_str!("code/go.txt")),
];

/// The parts of C, which other languages share.
pub(super) const COMMON: &str = include_str!("code/common.txt");

/// The name of each language, its runtime, and what its users call its clock.
type Names = (&'static str, Option<&'static str>, Option<&'static str>);
const NAMES: [Names; 8] = [
    ("C", None, None),
    ("C++", None, Some("std::chrono::steady_clock")),
    ("Rust", None, None),
    ("Java", Some("java"), None),
    ("C#", Some("dotnet"), None),
    ("Python", Some("python"), None),
    ("JavaScript", Some("node"), None),
    ("Go", None, None),
];

impl Language {
    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// The runtime whose clocks the code calls; `None` for languages that call native clocks.
    pub fn runtime(self) -> Option<&'static str> {
        NAMES[self as usize].1
    }

    /// What users of the language call its only clock; `None` if the label of each clock says it.
    pub fn clock(self) -> Option<&'static str> {
        NAMES[self as usize].2
    }

    /// Ids of the clocks that code in this language reads.
    pub fn clocks(self) -> Vec<String> {
        let own = CODES.iter().filter(|(language, ..)| *language == self);
        own.flat_map(|(_, clocks, _)| clocks.split(' '))
            .map(str::to_owned)
            .collect()
    }
}
