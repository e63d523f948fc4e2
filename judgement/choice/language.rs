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

/// The code: the language, the ids of the clocks that it reads, and its parts, each after a line with `@` and
/// its name. Parts that are missing are those of [`COMMON`]; the name of a part in a text stands for it.
/// `PROGRAM` is a whole program, `PRINT` prints a result. `CALLS`, `RUNS` and the like are numbers.
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
/// From requests the mean of pairs of reads is subtracted, the least such mean of a hundred, at most the
/// shortest request.
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
        "\
@HEAD
COMMON
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>
@SETUP
COMMON
double at[2], count[2], width[] = {1e18, 1e18};  // the rate, in 0.1 s
for (int end = 0; end < 2; nanosleep(&(struct timespec){0, end++ ? 0 : 100000000}, NULL))
    for (int i = 0; i < 100; i++) {
        struct timespec a;
        unsigned long long begin = __rdtsc();
        syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &a);
        double t = __rdtsc() - begin;
        if (t >= width[end]) continue;
        width[end] = t, count[end] = begin + t / 2, at[end] = 1e9 * a.tv_sec + a.tv_nsec;
    }
double tick = (at[1] - at[0]) / (count[1] - count[0]);
printf(\"tick %f ns ± %.0f ppm\\n\", tick, 5e5 * (width[0] + width[1]) / (count[1] - count[0]));
@BEGIN
_mm_lfence();
unsigned long long begin = __rdtsc();
@END
_mm_lfence();
double t = (__rdtsc() - begin) * tick;",
    ),
    (
        Language::Cpp,
        "monotonic steady_clock",
        "\
@HEAD
#include <chrono>
#include <cstdio>
+#include <algorithm>
@SETUP
auto op = [&] { return operation(); };  // <- your operation
auto *volatile call = +[](decltype(op) &hidden) { return hidden(); };
@BEGIN
auto begin = std::chrono::steady_clock::now();
@OPERATE
call(op);
@END
auto lasted = std::chrono::steady_clock::now() - begin;
double t = std::chrono::duration<double, std::nano>(lasted).count();
@SORT
std::sort(took, took + COUNT);
@PROGRAM
// g++ -O2 a.cpp -o a && ./a
HEAD

EXAMPLE

int main() {
    BODY
}",
    ),
    (
        Language::Rust,
        "instant",
        "\
@HEAD
use std::{hint::black_box, time::Instant};
@BODY
let mut op = || _ = black_box(operation()); // <- your operation
let call: &mut dyn FnMut() = black_box(&mut op);
-let (mut least, mut total) = ([1e18_f64; 2], 0.0);
-for run in 0..TWICE {
+let (mut cost, mut total, mut took) = (1e18_f64, 0.0, vec![]);
+for _ in 0..100 {
+    // the cost of reads: once, at the start
+    let pair = |_| Instant::now().elapsed().as_nanos() as f64;
+    cost = cost.min((0..100).map(pair).sum::<f64>() / 100.0);
+}
+for _ in 0..COUNT {
+    // this for each request
    let begin = Instant::now();
-    for _ in 0..run % 2 * CALLS {
-        call();
-    }
+    call();
    let t = begin.elapsed().as_nanos() as f64;
-    least[run % 2] = t.min(least[run % 2]);
-    if run % 2 == 1 && run > BOUND {
-        total += t;
-    }
+    total += t;
+    took.push(t);
}
+took.sort_by(f64::total_cmp);
+cost = cost.min(took[0]);
RESULTS
@PRINT
println!(\"NAME {:.2} ns\", VALUE);
@PROGRAM
// rustc -O a.rs && ./a
HEAD

fn operation() -> f64 {
    // <- your operation
    (0..100).fold(black_box(1.0), |x, _| x * 0.9 + 1.0)
}

fn main() {
    BODY
}",
    ),
    (
        Language::Java,
        "nanoTime",
        "\
@HEAD
@SETUP
class Kept {  // results, so that no call is optimised away
    double number;
    Object last;
    Runnable of(Runnable f) { return f; }
    Runnable of(java.util.function.Supplier<?> f) { return () -> last = f.get(); }
    Runnable of(java.util.function.DoubleSupplier f) { return () -> number += f.getAsDouble(); }
}
Kept kept = new Kept();
Runnable call = kept.of(() -> operation());  // <- your operation
@BEGIN
long begin = System.nanoTime();
@OPERATE
call.run();
@END
double t = System.nanoTime() - begin;
@SORT
java.util.Arrays.sort(took);
@AFTER
if (kept.number == 0.1) System.out.println(kept.last);
@PRINT
System.out.printf(\"NAME %.2f ns%n\", VALUE);
@PROGRAM
// javac A.java && java A
class A {
    EXAMPLE

    public static void main(String[] words) {
        BODY
    }
}",
    ),
    (
        Language::CSharp,
        "Stopwatch",
        "\
@HEAD
using System.Diagnostics;
@SETUP
@BEGIN
long begin = Stopwatch.GetTimestamp();
@OPERATE
operation();  // <- your operation
@END
double t = (Stopwatch.GetTimestamp() - begin) * 1e9 / Stopwatch.Frequency;
@SORT
System.Array.Sort(took);
@PRINT
System.Console.WriteLine(\"NAME {0:F2} ns\", VALUE);
@PROGRAM
// mcs -optimize+ A.cs && mono A.exe
HEAD

class A {
    EXAMPLE

    static void Main() {
        BODY
    }
}",
    ),
    (
        Language::Python,
        "perf_counter_ns",
        "\
@HEAD
from time import perf_counter_ns
-from timeit import Timer
@BODY
-call = operation  # <- your operation
-empty = Timer(\"pass\", timer=perf_counter_ns)
-batch = Timer(\"call();\" * UNROLLED, timer=perf_counter_ns, globals={\"call\": call})
-least, total = [1e18, 1e18], 0
-for run in range(TWICE):
-    t = (empty, batch)[run % 2].timeit(TURNS)  # without garbage collection
-    least[run % 2] = min(least[run % 2], t)
-    if run > BOUND: total += run % 2 * t
+pair = lambda: -perf_counter_ns() + perf_counter_ns()
+cost = min(sum(pair() for _ in range(100)) / 100 for _ in range(100))  # at the start
+took = []
+for _ in range(COUNT):  # this for each request
+    begin = perf_counter_ns()
+    operation()  # <- your operation
+    took.append(perf_counter_ns() - begin)
+total = sum(took)
+took.sort()
+cost = min(cost, took[0])
RESULTS
@PRINT
print(f\"NAME {VALUE:.2f} ns\")
@PROGRAM
# python3 a.py
HEAD

def operation():  # <- your operation
    return sum(range(30))

BODY",
    ),
    (
        Language::JavaScript,
        "hrtime.bigint",
        "\
@HEAD
@SETUP
const kept = [];  // results, so that no call is optimised away
@FEW
const least = [1e18, 1e18];
let total = 0;
@MANY
const took = new Float64Array(COUNT);
let cost = 1e18, total = 0;
@BEGIN
const begin = process.hrtime.bigint();
@OPERATE
kept[0] = operation();  // <- your operation
@END
const t = Number(process.hrtime.bigint() - begin);
@SORT
took.sort();
@PRINT
console.log(\"NAME\", (VALUE).toFixed(2), \"ns\");
@PROGRAM
// node a.js
let x = 1;
function operation() {  // <- your operation
    for (let i = 0; i < 100; i++) x = x * 0.9 + 1;
    return x;
}

BODY",
    ),
    (
        Language::Go,
        "monotonic",
        "\
@HEAD
-import (\"fmt\"; \"math\"; \"time\")
+import (\"fmt\"; \"math\"; \"sort\"; \"time\")
@BODY
op := operation // <- your operation
call := &op // not optimised away
-least, total := [2]float64{1e18, 1e18}, 0.0
-for run := 0; run < TWICE; run++ {
+cost, total, took := 1e18, 0.0, make([]float64, COUNT)
+for range took[:100] { // the cost of reads: once, at the start
+\tpairs := 0.0
+\tfor range took[:100] {
+\t\tbegin := time.Now()
+\t\tpairs += float64(time.Since(begin))
+\t}
+\tcost = math.Min(cost, pairs/100)
+}
+for i := range took { // this for each request
\tbegin := time.Now()
-\tfor i := run % 2 * CALLS; i > 0; i-- {
-\t\t(*call)()
-\t}
+\t(*call)()
\tt := float64(time.Since(begin))
-\tleast[run%2] = math.Min(least[run%2], t)
-\tif run%2 == 1 && run > BOUND {
-\t\ttotal += t
-\t}
+\ttook[i] = t
+\ttotal += t
}
+sort.Float64s(took)
+cost = math.Min(cost, took[0])
RESULTS
@PRINT
fmt.Printf(\"NAME %.2f ns\\n\", VALUE)
@PROGRAM
// go run a.go
package main

HEAD

var x = 1.0

func operation() float64 { // <- your operation
\tfor i := 0; i < 100; i++ {
\t\tx = x*0.9 + 1
\t}
\treturn x
}

func main() {
\tBODY
}",
    ),
];

/// The parts of C, which other languages share.
pub(super) const COMMON: &str = "\
@HEAD
#include <stdio.h>
+#include <stdlib.h>
#include <time.h>
+static int ascending(const void *a, const void *b) {
+    const double *x = a, *y = b;
+    return (*x > *y) - (*x < *y);
+}
@SETUP
__typeof__(operation) *volatile call = operation;  // <- your operation
@BODY
SETUP
-FEW
-for (int run = 0; run < TWICE; run++) {
+MANY
+for (int i = 0; i < 100; i++) {  // the cost of reads: once, at the start
+    double pairs = 0;
+    for (int j = 0; j < 100; j++) {
+        BEGIN
+        END
+        pairs += t;
+    }
+    if (pairs / 100 < cost) cost = pairs / 100;
+}
+for (int i = 0; i < COUNT; i++) {  // this for each request
    BEGIN
-    for (long i = run % 2 * CALLS; i > 0; i--) OPERATE
+    OPERATE
    END
-    if (t < least[run % 2]) least[run % 2] = t;
-    if (run > BOUND) total += run % 2 * t;
+    total += took[i] = t;
}
+SORT
+if (took[0] < cost) cost = took[0];
RESULTS
AFTER
@FEW
double least[] = {1e18, 1e18};
double total = 0;
@MANY
static double took[COUNT];
double cost = 1e18, total = 0;
@BEGIN
struct timespec a, b;
clock_gettime(CLOCK_ID, &a);
@OPERATE
call();
@END
clock_gettime(CLOCK_ID, &b);
double t = 1e9 * (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec);
@SORT
qsort(took, COUNT, sizeof *took, ascending);
@AFTER
@PRINT
printf(\"NAME %.2f ns\\n\", VALUE);
@PROGRAM
// cc -O2 a.c -o a && ./a
HEAD

EXAMPLE

int main(void) {
    BODY
}
@EXAMPLE
static double x = 1;
static double operation() {  // <- your operation
    for (int i = 0; i < 100; i++) x = x * 0.9 + 1;
    return x;
}
@RESULTS
-least (least[1] - least[0]) / CALLS.0
-mean (total / RUNS.0 - least[0]) / CALLS.0
+mean total / COUNT.0 - cost
+p50 took[HALF] - cost
+p99 took[MOST] - cost";

/// How people write each language, its runtime, what they call its clock, and a harness for benchmarks.
type Names = (
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
    Option<&'static str>,
);
const NAMES: [Names; 8] = [
    ("C", None, None, None),
    (
        "C++",
        None,
        Some("std::chrono::steady_clock"),
        Some("Google Benchmark"),
    ),
    ("Rust", None, None, Some("Criterion")),
    ("Java", Some("java"), None, Some("JMH")),
    ("C#", Some("dotnet"), None, Some("BenchmarkDotNet")),
    ("Python", Some("python"), None, Some("pytest-benchmark")),
    ("JavaScript", Some("node"), None, Some("mitata")),
    ("Go", None, None, Some("testing.B")),
];

impl Language {
    /// How people write the language.
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

    /// A harness for benchmarks that repeats what the code does.
    pub fn harness(self) -> Option<&'static str> {
        NAMES[self as usize].3
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
        let own = CODES.iter().filter(|(language, ..)| *language == self);
        own.flat_map(|(_, clocks, _)| clocks.split(' '))
            .map(str::to_owned)
            .collect()
    }
}
