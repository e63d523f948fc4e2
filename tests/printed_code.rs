//! Tests the code that `pick` prints, in each language, with operations of known duration.

use std::path::Path;
use std::process::{Child, Command};

use assert_cmd::assert::OutputAssertExt;
use clap::ValueEnum as _;
use estimators::model::Nanos;
use judgement::choice::snippet::{Wanted, snippet};
use judgement::choice::{Language, Requirement, choose};

use super::program::{self, command};
use super::skipping::{is_installed, skipped};

#[cfg(target_os = "linux")]
mod waits;

const REPORT: &str = "tests/data/epyc-2026-11-21.json";

/// A language, the program around its code, and what compiles and runs the program. `HEAD` stands for what
/// belongs to the beginning of a file, `KEEP` for what stands outside of functions, `CODE(f)` for the code that
/// measures `f`, and `VALUE` for the body of an operation with five thousand short calls, five thousand long ones, and so on. The program prints the
/// true lengths last, by rows of a thousand calls: that of the quickest row, and the mean.
type Around = (Language, &'static str, &'static [&'static [&'static str]]);

const VALUE: &str =
    "{ for (int i = n++ / 5000 % 2 == 0 ? 300 : 100; i > 0; i--) x = x * 0.9 + 1; return x; }";
const PROGRAMS: [Around; 8] = [
    (
        Language::C,
        "HEAD
KEEP
static double x = 1; static int n;
static double value(void) VALUE
static void nothing(void) { value(); }
static void first(void) {\n    CODE(value)\n}
static void second(void) {\n    CODE(nothing)\n}
int main(void) {
    first(); second();
    struct timespec a, b;
    double (*volatile call)(void) = value, quick = 1e18, sum = 0;
    for (int i = 0; i < 100; i++) {
        clock_gettime(CLOCK_MONOTONIC, &a);
        for (int j = 0; j < 1000; j++) call();
        clock_gettime(CLOCK_MONOTONIC, &b);
        double t = 1e9 * (b.tv_sec - a.tv_sec) + b.tv_nsec - a.tv_nsec;
        sum += t;
        if (t < quick) quick = t;
    }
    printf(\"quick %f true %f\\n\", quick / 1e3, sum / 1e5);
}",
        &[&["cc", "-O2", "-Wall", "-Wextra", "-Werror", "FILE", "-o", "a"], &["./a"]],
    ),
    (
        Language::Cpp,
        "HEAD
#include <string>
KEEP
static double x = 1; static int n;
static double value() VALUE
static void nothing() { value(); }
static std::string object() { value(); return {}; }
static void first() {\n    CODE(value)\n}
static void second() {\n    CODE(nothing)\n}
static void third() {\n    CODE(object)\n}
int main() {
    double y = 0;
    auto lambda = [&y] { return y += value(); };
    first(); second(); third();
    {\n        CODE(lambda)\n    }
    double (*volatile call)() = value, quick = 1e18, sum = 0;
    for (int i = 0; i < 100; i++) {
        auto begin = std::chrono::steady_clock::now();
        for (int j = 0; j < 1000; j++) call();
        std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - begin;
        sum += t.count();
        if (t.count() < quick) quick = t.count();
    }
    std::printf(\"quick %f true %f\\n\", quick / 1e3, sum / 1e5);
}",
        &[&["g++", "-O2", "-Wall", "-Wextra", "-Werror", "FILE", "-o", "a"], &["./a"]],
    ),
    (
        Language::Rust,
        "HEAD
KEEP
use std::sync::atomic::{AtomicU32, Ordering};
static N: AtomicU32 = AtomicU32::new(0);
fn value() -> f64 {
    let steps = if N.fetch_add(1, Ordering::Relaxed) / 5000 % 2 == 0 { 300 } else { 100 };
    (0..steps).fold(std::hint::black_box(1.0), |x, _| x * 0.9 + 1.0)
}
fn nothing() { std::hint::black_box(value()); }
fn object() -> Result<String, String> { nothing(); Ok(String::new()) }
fn first() {\n    CODE(value)\n}
fn second() {\n    CODE(nothing)\n}
fn third() {\n    CODE(object)\n}
fn main() {
    first(); second(); third();
    let (mut y, z) = (0.0, vec![1.0]);
    let mut closure = || { y += value() * z[0]; y };
    CODE(closure)
    let row = |_| { let begin = Instant::now(); for _ in 0..1000 { black_box(value()); } begin.elapsed().as_nanos() as f64 };
    let rows: Vec<f64> = (0..100).map(row).collect();
    println!(\"quick {} true {}\", rows.iter().copied().fold(1e18, f64::min) / 1e3, rows.iter().sum::<f64>() / 1e5);
}",
        &[&["rustc", "--edition=2021", "-O", "-D", "warnings", "FILE", "-o", "a"], &["./a"]],
    ),
    (
        Language::Java,
        "HEAD
class A {
KEEP
static double x = 1; static int n; static double[] y = {0};
static double value() VALUE
static void nothing() throws Exception { value(); }
static String object() throws java.io.IOException { y[0] += value(); return \"\"; }
static void first() {\n    CODE(value)\n}
static void second() throws Exception {\n    CODE(nothing)\n}
void third() throws Exception {\n    CODE(object)\n}
public static void main(String[] words) throws Exception {
    double z = words.length;
    java.util.function.DoubleSupplier lambda = () -> y[0] += value() + z;
    first(); second(); new A().third();
    CODE(lambda.getAsDouble)
    double quick = 1e18, sum = 0;
    for (int i = 0; i < 100; i++) {
        long begin = System.nanoTime();
        for (int j = 0; j < 1000; j++) y[0] += value();
        double t = System.nanoTime() - begin;
        sum += t;
        quick = Math.min(quick, t);
    }
    System.out.println(\"quick \" + quick / 1e3 + \" true \" + sum / 1e5);
} }",
        &[&["javac", "-Xlint:all", "-Werror", "FILE"], &["java", "-cp", ".", "A"]],
    ),
    (
        Language::CSharp,
        "HEAD
class A {
KEEP
static double x = 1; static int n;
static double value() VALUE
static void nothing() { value(); }
static string text() { value(); return \"\"; }
static void first() {\n    CODE(value)\n}
static void second() {\n    CODE(nothing)\n}
static void third() {\n    CODE(text)\n}
static void Main() {
    double y = 0, quick = 1e18, sum = 0;
    System.Func<double> lambda = () => y += value();
    first(); second(); third();
    {\n        CODE(lambda)\n    }
    for (int j = 0; j < 100; j++) {
        long start = Stopwatch.GetTimestamp();
        for (int i = 0; i < 1000; i++) value();
        double time = (Stopwatch.GetTimestamp() - start) * 1e9 / Stopwatch.Frequency;
        sum += time;
        quick = System.Math.Min(quick, time);
    }
    System.Console.WriteLine(\"quick \" + quick / 1e3 + \" true \" + sum / 1e5);
} }",
        &[&["mcs", "-optimize+", "-warnaserror", "-out:a.exe", "FILE"], &["mono", "a.exe"]],
    ),
    (
        Language::Python,
        "n = 0
def value():
    global n
    n += 1
    x = 1
    for _ in range(30 if n // 5000 % 2 else 10): x = x * 0.9 + 1
    return x
def nothing(): value()
HEAD
KEEP
def first(y):
    closure = lambda: value() + y
    CODE(closure)
CODE(value)
CODE(nothing)
first(1)
def row():
    begin = perf_counter_ns()
    for _ in range(1000): value()
    return perf_counter_ns() - begin
rows = [row() for _ in range(100)]
print('quick', min(rows) / 1e3, 'true', sum(rows) / 1e5)",
        &[&["python3", "-W", "error", "FILE"]],
    ),
    (
        Language::JavaScript,
        "KEEP
let x = 1, n = 0;
function value() { let y = x; for (let i = Math.floor(n++ / 5000) % 2 ? 300 : 100; i > 0; i--) y = y * 0.9 + 1; return x = y; }
function nothing() { value(); }
function object() { return { x: value() }; }
function first() {\n    CODE(object)\n}
function second(y) {\n    const closure = () => y += value();\n    CODE(closure)\n}
{\n    CODE(nothing)\n}
first(); second(1);
CODE(value)
let quick = 1e18, sum = 0;
for (let i = 0; i < 100; i++) {
    const begin = process.hrtime.bigint();
    for (let j = 0; j < 1000; j++) value();
    const t = Number(process.hrtime.bigint() - begin);
    sum += t;
    quick = Math.min(quick, t);
}
console.log('quick', quick / 1e3, 'true', sum / 1e5);",
        &[&["node", "FILE"]],
    ),
    (
        Language::Go,
        "package main
HEAD
KEEP
var x, n = 1.0, 0
func value() float64 {
\tsteps := 100
\tif n++; n/5000%2 == 0 { steps = 300 }
\tfor ; steps > 0; steps-- { x = x*0.9 + 1 }
\treturn x
}
func nothing() { value() }
func object() []float64 { return []float64{value()} }
func first() {\n\tCODE(value)\n}
func second() {\n\tCODE(nothing)\n}
func third() {\n\tCODE(object)\n}
func main() {
\tfirst(); second(); third()
\ty, quick, sum := 0.0, 1e18, 0.0
\tclosure := func() float64 { y += value(); return y }
\t{\n\t\tCODE(closure)\n\t}
\tfor i := 0; i < 100; i++ {
\t\tbegin := time.Now()
\t\tfor j := 0; j < 1000; j++ { value() }
\t\tt := float64(time.Since(begin))
\t\tsum += t
\t\tquick = math.Min(quick, t)
\t}
\tfmt.Println(\"quick\", quick / 1e3, \"true\", sum / 1e5)
}",
        &[&["go", "vet", "FILE"], &["go", "build", "-o", "a", "FILE"], &["./a"]],
    ),
];

/// The name of a file in a language.
fn file(language: Language) -> String {
    let endings = ["c", "cpp", "rs", "java", "cs", "py", "js", "go"];
    format!("A.{}", endings[language as usize])
}

/// The code that `pick` prints: for the beginning of a file, for outside of functions, and for measuring.
/// That of requests is in a handler, which the whole program calls in a loop.
fn parts(language: Language, requests: bool) -> [String; 3] {
    let code = printed(language, requests, false);
    let (outside, mut body) = code.rsplit_once("\n\n").unwrap_or(("", &code));
    let (head, keep) = match requests || language == Language::Java {
        true => outside.rsplit_once("\n\n").unwrap_or(("", outside)),
        false => (outside, ""),
    };
    let whole = printed(language, true, true);
    if requests {
        let calls = whole.rfind("for ").unwrap();
        let indent = whole[..calls].rsplit('\n').next().unwrap_or_default();
        let end = whole[calls..].find("results()").unwrap() + "results()".len();
        let end = calls + end + usize::from(whole[calls + end..].starts_with(';'));
        let text = whole[calls..end].replace(&format!("\n{indent}"), "\n");
        return [head, keep, &text].map(str::to_owned);
    }
    body = body.trim_end();
    [head, keep, body].map(str::to_owned)
}

/// The code around, with the code that `pick` prints in it.
fn with_code((language, program, _): Around, requests: bool) -> String {
    let [head, keep, code] = parts(language, requests);
    let mut text = String::new();
    for line in program.replace("VALUE", VALUE).lines() {
        let name = line
            .split_once("CODE(")
            .map(|(_, name)| name.trim_end_matches(')'));
        let body = match name {
            Some(name) => code.replace("operation", name),
            None => line
                .trim_start()
                .replace("HEAD", &head)
                .replace("KEEP", &keep),
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        for line in body.lines() {
            text += &format!("{indent}{line}\n");
        }
    }
    text
}

/// Compiles a program by all of these commands but the last. Returns what runs it by the last and
/// gives its output, or `None` if one of the commands is not installed.
fn compiled(file: &str, text: &str, commands: &[&[&str]]) -> Option<impl Fn() -> String + use<>> {
    let programs = commands.iter().map(|words| words[0]);
    let mut others = programs.filter(|program| !program.starts_with("./"));
    if let Some(missing) = others.find(|program| !is_installed(program)) {
        let lacking = format!("{file}, code that `pick` writes: no {missing}");
        skipped(lacking, "install it");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), text).unwrap();
    let text = text.to_owned();
    let run = move |line: &[String]| {
        let program = match line[0].strip_prefix("./") {
            Some(built) => folder.path().join(built),
            None => line[0].clone().into(),
        };
        let mut command = Command::new(program);
        let ended = command
            .args(&line[1..])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(ended.status.success(), "{command:?}: {ended:?}\n{text}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let words = |line: &&[&str]| line.iter().map(|word| word.replace("FILE", file)).collect();
    let mut lines: Vec<Vec<String>> = commands.iter().map(words).collect();
    let last = lines.pop()?;
    for line in lines {
        run(&line);
    }
    Some(move || run(&last))
}

/// Compiles and runs a program.
fn run_program(file: &str, text: &str, commands: &[&[&str]]) -> Option<String> {
    compiled(file, text, commands).map(|run| run())
}

/// The numbers that a program prints after this word.
fn after(printed: &str, word: &str) -> Vec<f64> {
    let words: Vec<&str> = printed.split_whitespace().collect();
    let pairs = words.windows(2).filter(|pair| pair[0] == word);
    pairs.map(|pair| pair[1].parse().unwrap()).collect()
}

/// Whether the results of a program are right to 15 %. On a busy machine means include interruptions.
fn is_right(printed: &str) -> bool {
    let [least, mean, p50, p99] = ["least", "mean", "p50", "p99"].map(|word| after(printed, word));
    let [quick, truth] = ["quick", "true"].map(|word| after(printed, word)[0]);
    let mut all = [&least, &mean, &p50, &p99].into_iter().flatten();
    assert!(all.all(|ns| *ns > 0.0) && mean.len() > 1, "{printed}");
    let mut ordered = least.iter().zip(&mean).chain(p50.iter().zip(&p99));
    assert!(ordered.all(|(less, more)| less <= more), "{printed}");
    let is_near = |found: f64, truth: f64| (found / truth - 1.0).abs() < 0.15;
    let is_busy = truth > 2.2 * quick;
    // The mean of requests includes the first ones, for which runtimes compile the code.
    let is_slow_start = |ns: f64| !p50.is_empty() && (0.85..2.0).contains(&(ns / truth));
    let is_mean = |ns: f64| is_near(ns, truth) || is_slow_start(ns) || is_busy && ns > 1.4 * quick;
    least.iter().all(|ns| is_near(*ns, quick)) && mean.iter().all(|ns| is_mean(*ns))
}

/// The code compiles without a warning and finds the least and the mean of an operation of two lengths:
/// a function, one without a result, one with an object, a closure. One of the attempts has to be
/// quiet; at the last ones no other test runs.
fn assert_found(requests: bool) {
    for around in PROGRAMS {
        let text = with_code(around, requests);
        let Some(run) = compiled(&file(around.0), &text, around.2) else {
            continue;
        };
        let is_good = (0..30).any(|_| {
            let printed = run();
            println!("{:?}: {printed:?}", around.0);
            is_right(&printed)
        });
        assert!(is_good, "{:?}", around.0);
    }
}

#[test]
fn code_finds_least_and_mean() {
    assert_found(false);
}

#[test]
fn code_finds_mean_of_requests() {
    assert_found(true);
}

#[test]
#[ignore = "run by .ci/runtimes"]
fn code_stands_busy_machine() {
    let cpus = std::thread::available_parallelism().map_or(2, usize::from);
    let burn = || {
        Command::new("sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
    };
    let burning: Vec<_> = (0..cpus).map(|_| Burning(burn().unwrap())).collect();
    assert_found(false);
    assert_found(true);
    drop(burning);
}

/// A program that keeps a CPU busy, until it is dropped.
struct Burning(Child);

impl Drop for Burning {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).unwrap();
    }
}

#[test]
fn whole_programs_run() {
    for (language, _, commands) in PROGRAMS {
        for requests in [false, true] {
            let text = printed(language, requests, true);
            assert_eq!(text.matches("<- your operation").count(), 1, "{text}");
            let printed = run_program(&file(language), &text, commands);
            let results = printed.map(|text| after(&text, "mean"));
            assert!(
                results.is_none_or(|all| all.len() == 1 && all[0] > 0.0),
                "{text}"
            );
        }
    }
}

/// A clock that is interrupted for 10 ms between any two reads changes no result by more than its share.
#[test]
fn interruption_changes_results_by_its_share() {
    const CLOCK: &str = "
import contextlib, io, sys, time
now = reads = late = 0
def clock():
    global now, reads
    reads += 1
    now += 50 + (reads == late) * 10**7
    return now
def operation():
    global now
    now += 3000
time.perf_counter_ns = clock
def run(at):
    global reads, late
    reads, late = 0, at
    out = io.StringIO()
    with contextlib.redirect_stdout(out): exec(CODE, {'operation': operation})
    return {line.split()[0]: float(line.split()[1]) for line in out.getvalue().splitlines()}
quiet = run(0)
count = reads
for at in range(1, count, count // 12):
    for name, ns in run(at).items():
        more = ns - quiet[name]
        assert -0.01 <= more <= (1e7 / 10000 if name == 'mean' else 0.01), (at, name, ns, quiet)
print('mean', quiet['mean'])";
    for requests in [false, true] {
        let code = parts(Language::Python, requests).join("\n");
        let text = format!("CODE = {code:?}{CLOCK}");
        let printed = run_program("A.py", &text, &[&["python3", "A.py"]]);
        let mean = printed.map(|text| after(&text, "mean")[0]);
        assert!(mean.is_none_or(|ns| (ns - 3000.0).abs() < 1.0), "{mean:?}");
    }
}

/// For each language, `pick` selects a clock of that language and prints code for it.
#[test]
fn language_gets_its_own_clocks() {
    for language in Language::value_variants() {
        let value = language.to_possible_value().unwrap();
        for name in value.get_name_and_aliases() {
            let name = name.to_uppercase();
            let line = format!("pick 250ns --whole --for {name} --from {REPORT}");
            let text = program::printed(&command(&line).assert().success());
            let id = text
                .split_once("measure with ")
                .and_then(|(_, id)| id.split(' ').next());
            let id = id.and_then(|id| id.rsplit(':').next());
            let is_own = id.is_some_and(|id| language.clocks().iter().any(|clock| clock == id));
            let is_whole = text.ends_with(&printed(*language, false, true));
            assert!(is_own && is_whole, "{name}: {text}");
        }
    }
}

/// The code for the clock that `pick` selects.
fn printed(language: Language, requests: bool, whole: bool) -> String {
    let report = reporting::report::read(Path::new(REPORT)).unwrap();
    let duration = if requests { 3000.0 } else { 250.0 };
    let usual = Requirement::new(Nanos(duration), 0.01);
    let asked = Requirement {
        runtime: language.runtime().map(str::to_owned),
        clocks: language.clocks(),
        by_code: true,
        rate_hz: requests.then_some(1e5),
        ..usual
    };
    let rate_hz = asked.rate_hz;
    let picked = choose(&report, &asked).unwrap().picked;
    let wanted = Wanted {
        language: Some(language),
        rate_hz,
        whole,
    };
    snippet(&picked.unwrap(), wanted).unwrap()
}
