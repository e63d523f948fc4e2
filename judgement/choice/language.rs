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
        "\
@HEAD
COMMON
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>
static double tick;
__attribute__((constructor)) static void find_tick(void) {  // before main, in 0.1 s
    double at[2], count[2], width[] = {1e18, 1e18};
    for (int end = 0; end < 2; nanosleep(&(struct timespec){0, end++ ? 0 : 100000000}, NULL))
        for (int i = 0; i < 100; i++) {
            struct timespec a;
            unsigned long long begin = __rdtsc();
            syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &a);
            double t = __rdtsc() - begin;
            if (t >= width[end]) continue;
            width[end] = t, count[end] = begin + t / 2, at[end] = 1e9 * a.tv_sec + a.tv_nsec;
        }
    tick = (at[1] - at[0]) / (count[1] - count[0]);
    printf(\"tick %f ns ± %.0f ppm\\n\", tick, 5e5 * (width[0] + width[1]) / (count[1] - count[0]));
}
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
+#include <atomic>
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
@ARRAY
static std::atomic<double> took[COUNT];
@COUNTER
static std::atomic<unsigned long> count;
@SORT
std::sort(times, times + n);
@PROGRAM
// g++ -O2 a.cpp -o a && ./a
HEAD

KEEP

EXAMPLE

int main() {
    MAIN
}",
    ),
    (
        Language::Rust,
        "instant",
        "\
@HEAD
use std::{hint::black_box, time::Instant};
+use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
@KEEP
+static TOOK: [AtomicU64; COUNT] = [const { AtomicU64::new(0) }; COUNT]; // the last COUNT: SPAN at this rate
+static NEXT: AtomicUsize = AtomicUsize::new(0);
+fn keep(ns: u64) { // any thread may call it
+    TOOK[NEXT.fetch_add(1, Relaxed) % COUNT].store(ns, Relaxed);
+}
+fn results() { // at the end
+    let pair = |_| Instant::now().elapsed().as_nanos() as f64;
+    let pairs = (0..100).map(|_| (0..100).map(pair).sum::<f64>() / 100.0);
+    let kept = TOOK.iter().take(NEXT.load(Relaxed));
+    let mut times: Vec<f64> = kept.map(|ns| ns.load(Relaxed) as f64).collect();
+    times.sort_by(f64::total_cmp);
+    if times.is_empty() {
+        return;
+    }
+    let (n, cost) = (times.len(), pairs.fold(times[0], f64::min));
+    let mean = times.iter().sum::<f64>() / n as f64;
+    RESULTS
+}
@BODY
-let mut op = || _ = black_box(operation()); // <- your operation
-let call: &mut dyn FnMut() = black_box(&mut op);
-let (mut least, mut total) = ([1e18_f64; 2], 0.0);
-for run in 0..TWICE {
-    let begin = Instant::now();
-    for _ in 0..run % 2 * CALLS {
-        call();
-    }
-    let t = begin.elapsed().as_nanos() as f64;
-    least[run % 2] = t.min(least[run % 2]);
-    if run % 2 == 1 && run > BOUND {
-        total += t;
-    }
-}
-RESULTS
+// in each handler
+let begin = Instant::now();
+_ = black_box(operation()); // <- your operation
+keep(begin.elapsed().as_nanos() as u64);
@PRINT
println!(\"NAME {:.2} ns\", VALUE);
@PROGRAM
// rustc -O a.rs && ./a
HEAD

KEEP

fn operation() -> f64 {
    // <- your operation
    (0..100).fold(black_box(1.0), |x, _| x * 0.9 + 1.0)
}

fn main() {
-    BODY
+    for _ in 0..COUNT {
+        BODY
+    }
+    results();
}",
    ),
    (
        Language::Java,
        "nanoTime",
        "\
@HEAD
+import java.util.concurrent.atomic.AtomicLong;
@KEEP
-interface Kept {  // beside your method; keeps each result
-    double[] number = {0};
-    Object[] last = {null};
-    void run() throws Exception;
-    interface Real { double get() throws Exception; }
-    static Runnable of(Real f) { return of(() -> { number[0] += f.get(); }); }
-    static Runnable of(java.util.concurrent.Callable<?> f) { return of(() -> { last[0] = f.call(); }); }
-    static Runnable of(Kept f) {
-        return () -> { try { f.run(); } catch (Exception e) { throw new RuntimeException(e); } };
-    }
-}
COMMON
@ARRAY
static double[] took = new double[COUNT];
@COUNTER
static AtomicLong count = new AtomicLong();
@SLOT
(int) (count.getAndIncrement() % COUNT)
@NUMBER
int n = (int) Math.min(count.get(), COUNT);
@SETUP
Runnable call = Kept.of(() -> operation());  // <- your operation
@BEGIN
long begin = System.nanoTime();
@OPERATE
call.run();
@END
double t = System.nanoTime() - begin;
@SORT
java.util.Arrays.sort(times, 0, n);
@WORDS
CALLS; → CALLSL;
double least[] → double[] least
double times[COUNT] → double[] times = new double[COUNT]
@PRINT
System.out.printf(\"NAME %.2f ns%n\", VALUE);
@PROGRAM
// javac A.java && java A
HEAD

class A {
    KEEP

    EXAMPLE

    public static void main(String[] words) {
        MAIN
    }
}",
    ),
    (
        Language::CSharp,
        "Stopwatch",
        "\
@HEAD
using System.Diagnostics;
@ARRAY
static double[] took = new double[COUNT];
@COUNTER
static long count;
@SLOT
(System.Threading.Interlocked.Increment(ref count) - 1) % COUNT
@SETUP
@BEGIN
long begin = Stopwatch.GetTimestamp();
@OPERATE
operation();  // <- your operation
@END
double t = (Stopwatch.GetTimestamp() - begin) * 1e9 / Stopwatch.Frequency;
@SORT
System.Array.Sort(times, 0, n);
@WORDS
double least[] → double[] least
double times[COUNT] → double[] times = new double[COUNT]
@PRINT
System.Console.WriteLine(\"NAME {0:F2} ns\", VALUE);
@PROGRAM
// mcs -optimize+ A.cs && mono A.exe
HEAD

class A {
    KEEP

    EXAMPLE

    static void Main() {
        MAIN
    }
}",
    ),
    (
        Language::Python,
        "perf_counter_ns",
        "\
@HEAD
+from collections import deque
from time import perf_counter_ns
-from timeit import Timer
@KEEP
+took = deque(maxlen=COUNT)  # the last COUNT: SPAN at this rate
+def results():  # at the end
+    if not took: return
+    pair = lambda: -perf_counter_ns() + perf_counter_ns()
+    cost = min(sum(pair() for _ in range(100)) / 100 for _ in range(100))
+    times, n = sorted(took), len(took)
+    mean, cost = sum(times) / n, min(cost, times[0])
+    RESULTS
@BODY
-call = operation  # <- your operation
-empty = Timer(\"pass\", timer=perf_counter_ns)
-batch = Timer(\"call();\" * UNROLLED, timer=perf_counter_ns, globals={\"call\": call})
-least, total = [1e18, 1e18], 0
-for run in range(TWICE):
-    t = (empty, batch)[run % 2].timeit(TURNS)  # without garbage collection
-    least[run % 2] = min(least[run % 2], t)
-    if run > BOUND: total += run % 2 * t
-RESULTS
+# in each handler
+begin = perf_counter_ns()
+operation()  # <- your operation
+took.append(perf_counter_ns() - begin)
@WORDS
n / 2 → n // 2
99 / 100 → 99 // 100
@PRINT
print(f\"NAME {VALUE:.2f} ns\")
@PROGRAM
# python3 a.py
HEAD

KEEP

def operation():  # <- your operation
    return sum(range(30))

-BODY
+for _ in range(COUNT):
+    BODY
+results()",
    ),
    (
        Language::JavaScript,
        "hrtime.bigint",
        "\
@HEAD
@ARRAY
const took = [];
@COUNTER
let count = 0;
@NUMBER
const n = took.length;
@SETUP
const kept = [];  // keeps each result
@WORDS
any thread may call it → one array per worker
double least[] = {1e18, 1e18} → const least = [1e18, 1e18]
double times[COUNT] → const times = []
double ns → ns
double → let
for (int → for (let
for (long → for (let
static void → function
[n / 2] → .at(n / 2)
[n * 99 / 100] → .at(n * 99 / 100)
@BEGIN
const begin = process.hrtime.bigint();
@OPERATE
kept[0] = operation();  // <- your operation
@END
const t = Number(process.hrtime.bigint() - begin);
@SORT
times.sort((a, b) => a - b);
@PRINT
console.log(\"NAME\", (VALUE).toFixed(2), \"ns\");
@PROGRAM
// node a.js
KEEP

let x = 1;
function operation() {  // <- your operation
    for (let i = 0; i < 100; i++) x = x * 0.9 + 1;
    return x;
}

MAIN",
    ),
    (
        Language::Go,
        "monotonic",
        "\
@HEAD
-import (\"fmt\"; \"math\"; \"time\")
+import (\"fmt\"; \"math\"; \"sort\"; \"sync/atomic\"; \"time\")
@KEEP
+var took [COUNT]int64 // the last COUNT: SPAN at this rate
+var count int64
+func keep(ns time.Duration) { // any goroutine may call it
+\tatomic.StoreInt64(&took[(atomic.AddInt64(&count, 1)-1)%COUNT], int64(ns))
+}
+func results() { // at the end
+\tn := int(math.Min(float64(count), COUNT))
+\tif n == 0 {
+\t\treturn
+\t}
+\ttimes, cost, mean := make([]float64, n), 1e18, 0.0
+\tfor i := 0; i < 100; i++ {
+\t\tpairs := 0.0
+\t\tfor j := 0; j < 100; j++ {
+\t\t\tbegin := time.Now()
+\t\t\tpairs += float64(time.Since(begin))
+\t\t}
+\t\tcost = math.Min(cost, pairs/100)
+\t}
+\tfor i := range times {
+\t\ttimes[i] = float64(took[i])
+\t\tmean += times[i] / float64(n)
+\t}
+\tsort.Float64s(times)
+\tcost = math.Min(cost, times[0])
+\tRESULTS
+}
@BODY
-op := operation // <- your operation
-call := &op // not optimised away
-least, total := [2]float64{1e18, 1e18}, 0.0
-for run := 0; run < TWICE; run++ {
-\tbegin := time.Now()
-\tfor i := run % 2 * CALLS; i > 0; i-- {
-\t\t(*call)()
-\t}
-\tt := float64(time.Since(begin))
-\tleast[run%2] = math.Min(least[run%2], t)
-\tif run%2 == 1 && run > BOUND {
-\t\ttotal += t
-\t}
-}
-RESULTS
+// in each handler
+begin := time.Now()
+operation() // <- your operation
+keep(time.Since(begin))
@PRINT
fmt.Printf(\"NAME %.2f ns\\n\", VALUE)
@PROGRAM
// go run a.go
package main

HEAD

KEEP

var x = 1.0

func operation() float64 { // <- your operation
\tfor i := 0; i < 100; i++ {
\t\tx = x*0.9 + 1
\t}
\treturn x
}

func main() {
-\tBODY
+\tfor i := 0; i < COUNT; i++ {
+\t\tBODY
+\t}
+\tresults()
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
@KEEP
+ARRAY  // the last COUNT: SPAN at this rate
+COUNTER
+static void keep(double ns) { took[SLOT] = ns; }  // any thread may call it
+static void results() {  // at the end
+    NUMBER
+    if (n == 0) return;
+    double cost = 1e18, mean = 0;
+    double times[COUNT];
+    for (int i = 0; i < 100; i++) {  // the cost of reads
+        double pairs = 0;
+        for (int j = 0; j < 100; j++) {
+            BEGIN
+            END
+            pairs += t;
+        }
+        if (pairs / 100 < cost) cost = pairs / 100;
+    }
+    for (int i = 0; i < n; i++) mean += (times[i] = took[i]) / n;
+    SORT
+    if (times[0] < cost) cost = times[0];
+    RESULTS
+}
@ARRAY
static _Atomic double took[COUNT];
@COUNTER
static _Atomic unsigned long count;
@SLOT
count++ % COUNT
@NUMBER
int n = count < COUNT ? (int)count : COUNT;
@BODY
-SETUP
-double least[] = {1e18, 1e18};
-double total = 0;
-for (int run = 0; run < TWICE; run++) {
-    BEGIN
-    for (long i = run % 2 * CALLS; i > 0; i--) OPERATE
-    END
-    if (t < least[run % 2]) least[run % 2] = t;
-    if (run > BOUND) total += run % 2 * t;
-}
-RESULTS
+// in each handler
+BEGIN
+operation();  // <- your operation
+END
+keep(t);
@CODE
HEAD

KEEP

BODY
@MAIN
-BODY
+for (int i = 0; i < COUNT; i++) {
+    BODY
+}
+results();
@BEGIN
struct timespec a, b;
clock_gettime(CLOCK_ID, &a);
@OPERATE
call();
@END
clock_gettime(CLOCK_ID, &b);
double t = 1e9 * (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec);
@SORT
qsort(times, n, sizeof *times, ascending);
@PRINT
printf(\"NAME %.2f ns\\n\", VALUE);
@PROGRAM
// cc -O2 a.c -o a && ./a
HEAD

KEEP

EXAMPLE

int main(void) {
    MAIN
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
+mean mean - cost
+p50 times[n / 2] - cost
+p99 times[n * 99 / 100] - cost";

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
