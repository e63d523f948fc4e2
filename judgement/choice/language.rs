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

/// The snippets: the language, the ids of the clocks that it reads, and the text: lines that begin with
/// `-` are for batches, those with `+` for single calls, those with `*` for means of requests, and those
/// with `=` for the latter two, which are less indented. These words in it are replaced: `CALLS`, the
/// calls between two reads; `RUNS`, the number of runs; `CLOCK`, the name of the clock in C;
/// `NS_PER_TICK`; `READ`, the cost of a read in nanoseconds; `MEAN`, `ONCE`, `LESS` and `BOTH`, which
/// are comments. A batch of Python consists of `TURNS` turns of `UNROLLED` calls.
///
/// All batches but those of Python have one form. Even runs make no calls: the least of them is the *frame*, the time of the
/// read and of what stands around the calls, on the machine and with the compiler of the user. Odd
/// runs make the calls. The least of each is used, because interruptions and cold caches only
/// lengthen a run. A call goes through a pointer that the compiler does not know, or its result is
/// used: otherwise compilers remove an operation without effects, or move it out of the loop. In
/// Python, whose calls always differ, the medians are used, and calls stand in a row, because a turn
/// of a loop around a call differs by up to 5 ns from an empty one.
pub(super) const SNIPPETS: [(Language, &str, &str); 9] = [
    (
        Language::C,
        "monotonic monotonic-raw boottime realtime tai thread-cputime process-cputime",
        "\
#include <time.h>
__typeof__(operation) *volatile call = operation;  // not optimised away
-double least[] = {1e18, 1e18};  // BOTH
-for (long run = 0; run < RUNS; run++) {
*double sum = 0, count = 0;  // ONCE
    struct timespec a, b;
*struct timespec z;
*clock_gettime(CLOCK, &z);
    clock_gettime(CLOCK, &a);
-    for (long i = run % 2 * CALLS; i > 0; i--) call();
=call();
    clock_gettime(CLOCK, &b);
    double t = 1e9 * (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec);
-    if (t < least[run % 2]) least[run % 2] = t;
-}
-double ns = (least[1] - least[0]) / CALLS;
+double ns = t - READ;  // LESS
*sum += t - 1e9 * (a.tv_sec - z.tv_sec) - (a.tv_nsec - z.tv_nsec);
*double ns = sum / ++count;  // MEAN
",
    ),
    (
        Language::C,
        "rdtsc-lfence",
        "\
#include <x86intrin.h>
__typeof__(operation) *volatile call = operation;  // not optimised away
-double least[] = {1e18, 1e18};  // BOTH
-for (long run = 0; run < RUNS; run++) {
*double sum = 0, count = 0;  // ONCE
*_mm_lfence();
*unsigned long long before = __rdtsc();
    _mm_lfence();
    unsigned long long begin = __rdtsc();
-    for (long i = run % 2 * CALLS; i > 0; i--) call();
=call();
    _mm_lfence();
    double t = (__rdtsc() - begin) * NS_PER_TICK;
-    if (t < least[run % 2]) least[run % 2] = t;
-}
-double ns = (least[1] - least[0]) / CALLS;
+double ns = t - READ;  // LESS
*sum += t - (begin - before) * NS_PER_TICK;
*double ns = sum / ++count;  // MEAN
",
    ),
    (
        Language::Cpp,
        "monotonic steady_clock",
        "\
#include <chrono>
using steady = std::chrono::steady_clock;
auto *volatile call = operation;  // not optimised away
-double least[] = {1e18, 1e18};  // BOTH
-for (long run = 0; run < RUNS; run++) {
*double count = 0;  // ONCE
*std::chrono::duration<double, std::nano> sum{};
*auto before = steady::now();
    auto begin = steady::now();
-    for (long i = run % 2 * CALLS; i > 0; i--) call();
=call();
    std::chrono::duration<double, std::nano> t = steady::now() - begin;
-    if (t.count() < least[run % 2]) least[run % 2] = t.count();
-}
-double ns = (least[1] - least[0]) / CALLS;
+double ns = t.count() - READ;  // LESS
*sum += t - (begin - before);
*double ns = sum.count() / ++count;  // MEAN
",
    ),
    (
        Language::Rust,
        "instant",
        "\
-let call = std::hint::black_box(operation as fn() -> _);
-let mut least = [f64::INFINITY; 2]; // BOTH
-for run in 0..RUNS {
*let (mut sum, mut count) = (0.0, 0.0); // ONCE
*let before = std::time::Instant::now();
    let begin = std::time::Instant::now();
-    for _ in 0..run % 2 * CALLS {
=std::hint::black_box(operation());
-        std::hint::black_box(call());
-    }
    let t = begin.elapsed().as_secs_f64() * 1e9;
-    least[run % 2] = t.min(least[run % 2]);
-}
-let ns = (least[1] - least[0]) / CALLS.0;
+let ns = t - READ; // LESS
*sum += t - (begin - before).as_secs_f64() * 1e9;
*count += 1.0;
*let ns = sum / count; // MEAN
",
    ),
    (
        Language::Java,
        "nanoTime",
        "\
-double[] least = {1e18, 1e18};  // BOTH
-double sum = 0;
-for (int run = 0; run < RUNS; run++) {
*double sum = 0, count = 0;  // ONCE
*long before = System.nanoTime();
    long begin = System.nanoTime();
-    for (long i = run % 2 * CALLSL; i > 0; i--) sum += operation();
=double result = operation();
    double t = System.nanoTime() - begin;
-    least[run % 2] = Math.min(least[run % 2], t);
-}
-double ns = (least[1] - least[0]) / CALLS;
-if (sum == 0.1) System.out.println();  // so that no call is optimised away
+double ns = t - READ;  // LESS
*sum += t - (begin - before);
*double ns = sum / ++count;  // MEAN
",
    ),
    (
        Language::CSharp,
        "Stopwatch",
        "\
using System.Diagnostics;
-double[] least = {1e18, 1e18};  // BOTH
-double sum = 0;
-for (int run = 0; run < RUNS; run++) {
*double sum = 0, count = 0;  // ONCE
*long before = Stopwatch.GetTimestamp();
    long begin = Stopwatch.GetTimestamp();
-    for (long i = run % 2 * CALLSL; i > 0; i--) sum += operation();
=double result = operation();
    double t = (Stopwatch.GetTimestamp() - begin) * 1e9 / Stopwatch.Frequency;
-    if (t < least[run % 2]) least[run % 2] = t;
-}
-double ns = (least[1] - least[0]) / CALLS;
-if (sum == 0.1) System.Console.WriteLine();  // so that no call is optimised away
+double ns = t - READ;  // LESS
*sum += t - (begin - before) * 1e9 / Stopwatch.Frequency;
*double ns = sum / ++count;  // MEAN
",
    ),
    (
        Language::Python,
        "perf_counter_ns",
        "\
-from statistics import median
from time import perf_counter_ns
-CODE = \"\"\"def {}():
-    begin = perf_counter_ns()
-    for _ in range(TURNS): {}
-    return perf_counter_ns() - begin\"\"\"
-exec(CODE.format(\"frame\", \"pass\"))
-exec(CODE.format(\"batch\", \"operation();\" * UNROLLED))
-took = [median(run() for _ in range(RUNS)) for run in (frame, batch)]
-ns = (took[1] - took[0]) / CALLS
*total = count = 0  # ONCE
*before = perf_counter_ns()
=begin = perf_counter_ns()
=operation()
+ns = perf_counter_ns() - begin - READ  # LESS
*total += perf_counter_ns() - begin - (begin - before)
*count += 1
*ns = total / count  # MEAN
",
    ),
    (
        Language::JavaScript,
        "hrtime.bigint",
        "\
-const least = [Infinity, Infinity];  // BOTH
-let sum = 0;
-for (let run = 0; run < RUNS; run++) {
*let total = 0, count = 0;  // ONCE
*const before = process.hrtime.bigint();
    const begin = process.hrtime.bigint();
-    for (let i = run % 2 * CALLS; i > 0; i--) sum += operation();
=const result = operation();
    const t = Number(process.hrtime.bigint() - begin);
-    least[run % 2] = Math.min(least[run % 2], t);
-}
-const ns = (least[1] - least[0]) / CALLS;
-if (sum === 0.1) console.log();  // so that no call is optimised away
+const ns = t - READ;  // LESS
*total += t - Number(begin - before);
*const ns = total / ++count;  // MEAN
",
    ),
    (
        Language::Go,
        "monotonic",
        "\
-least := [2]float64{math.Inf(1), math.Inf(1)} // BOTH
-for run := 0; run < RUNS; run++ {
*total, count := 0.0, 0.0 // ONCE
*before := time.Now()
\tbegin := time.Now()
-\tfor i := run % 2 * CALLS; i > 0; i-- {
=runtime.KeepAlive(operation())
-\t\truntime.KeepAlive(operation())
-\t}
\tt := float64(time.Since(begin).Nanoseconds())
-\tleast[run%2] = math.Min(least[run%2], t)
-}
-ns := (least[1] - least[0]) / CALLS
+ns := t - READ // LESS
*total += t - float64(begin.Sub(before).Nanoseconds())
*count++
*ns := total / count // MEAN
",
    ),
];

impl Language {
    /// The runtime whose clocks the code calls; `None` for languages that call native clocks.
    pub fn runtime(self) -> Option<&'static str> {
        match self {
            Self::Java => Some("java"),
            Self::CSharp => Some("dotnet"),
            Self::Python => Some("python"),
            Self::JavaScript => Some("node"),
            Self::C | Self::Cpp | Self::Rust | Self::Go => None,
        }
    }

    /// The runtime whose sleep primitives the code calls; `None` for native ones.
    pub fn waiting_runtime(self) -> Option<&'static str> {
        match self {
            Self::Go => Some("go"),
            _ => self.runtime(),
        }
    }

    /// Ids of the clocks that code in this language reads.
    pub fn clocks(self) -> Vec<String> {
        SNIPPETS
            .iter()
            .filter(|(language, ..)| *language == self)
            .flat_map(|(_, clocks, _)| clocks.split(' '))
            .map(str::to_owned)
            .collect()
    }
}
