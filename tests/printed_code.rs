//! Tests the code that `pick` prints, in each language, with operations of known duration.

use std::path::Path;
use std::process::Command;

use clap::ValueEnum as _;
use timermeter::assessment::USUAL_DURATION;
use timermeter::choice::snippet::snippet;
use timermeter::choice::{Language, Requirement, choose};
use timermeter::model::Nanos;

use super::program::program;
use super::skipping::{is_installed, skipped};

#[cfg(target_os = "linux")]
mod waits;

const REPORT: &str = "tests/data/epyc-2026-11-21.json";

/// A program that runs the code. `HEAD` and `CODE` are placeholders for the includes and the rest
/// of the code. The argument of the program is a number of rounds. In each round it prints the
/// duration that the code measured, and the actual duration: the minimum (in Python the median) of
/// several loops of 1000 calls of a copy of the operation that the compiler cannot optimise. The
/// operation has neither inputs nor effects.
struct Around {
    language: Language,
    file: &'static str,
    program: &'static str,
    commands: &'static [&'static [&'static str]],
}

const PROGRAMS: [Around; 8] = [
    Around {
        language: Language::C,
        file: "a.c",
        program: "#include <stdio.h>\n#include <stdlib.h>\nHEAD
#define WORK { double x = 1.5; for (int i = 0; i < 200; i++) x = x * 1.0000001 + 0.25; return x; }
static double operation(void) WORK
__attribute__((noinline, noipa)) static double twin(void) WORK
static double measured(void) {\nCODE\nreturn ns; }
static double row(void) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < 100; i++) {
        twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin();
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (1e9 * (b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec)) / 1000;
}
int main(int count, char **words) {
    for (int i = atoi(words[count - 1]); i > 0; i--) {
        double found = measured(), length = 1e9;
        for (int j = 0; j < 50; j++) { double t = row(); if (t < length) length = t; }
        printf(\"%f %f\\n\", found, length);
    }
}\n",
        commands: &[&["cc", "-O2", "-Wall", "-Werror", "a.c", "-o", "a"], &["./a"]],
    },
    Around {
        language: Language::Cpp,
        file: "a.cpp",
        program: "#include <algorithm>\n#include <cstdio>\n#include <cstdlib>\nHEAD
#define WORK { double x = 1.5; for (int i = 0; i < 200; i++) x = x * 1.0000001 + 0.25; return x; }
static double operation() WORK
__attribute__((noinline, noipa)) static double twin() WORK
static double measured() {\nCODE\nreturn ns; }
static double row() {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; i++) {
        twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin();
    }
    std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - begin;
    return t.count() / 1000;
}
int main(int count, char **words) {
    for (int i = std::atoi(words[count - 1]); i > 0; i--) {
        double found = measured(), length = 1e9;
        for (int j = 0; j < 50; j++) length = std::min(length, row());
        std::printf(\"%f %f\\n\", found, length);
    }
}\n",
        commands: &[
            &["g++", "-O2", "-Wall", "-Werror", "a.cpp", "-o", "a"],
            &["./a"],
        ],
    },
    Around {
        language: Language::Rust,
        file: "a.rs",
        program: "fn work() -> f64 { (0..200).fold(1.5, |x, _| x * 1.0000001 + 0.25) }
fn operation() -> f64 { work() }
#[inline(never)] fn twin() -> f64 { std::hint::black_box(work()) }
fn measured() -> f64 {\nCODE\nns }
fn row() -> f64 {
    let begin = std::time::Instant::now();
    for _ in 0..100 {
        twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin();
    }
    begin.elapsed().as_secs_f64() * 1e6
}
fn main() {
    let rounds = std::env::args().last().and_then(|word| word.parse().ok()).unwrap_or(0);
    for _ in 0..rounds {
        let found = measured();
        println!(\"{found} {}\", (0..50).map(|_| row()).fold(1e9, f64::min));
    }
}\n",
        commands: &[
            &["rustc", "--edition=2024", "-O", "a.rs", "-o", "a"],
            &["./a"],
        ],
    },
    Around {
        language: Language::Java,
        file: "A.java",
        program: "class A {
static double work() { double x = 1.5; for (int i = 0; i < 200; i++) x = x * 1.0000001 + 0.25; return x; }
static double operation() { return work(); }
static double twin() { return work(); }
static double measured() {\nCODE\nreturn ns; }
static double kept;
static double row() {
    long begin = System.nanoTime();
    for (int i = 0; i < 1000; i++) kept += twin();
    return (System.nanoTime() - begin) / 1e3;
}
public static void main(String[] words) {
    for (int i = Integer.parseInt(words[0]); i > 0; i--) {
        double found = measured(), length = 1e9;
        for (int j = 0; j < 1000; j++) length = Math.min(length, row());
        System.out.println(found + \" \" + length);
    }
} }\n",
        commands: &[
            &["javac", "A.java"],
            &["java", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,A::twin", "-cp", ".", "A"],
        ],
    },
    Around {
        language: Language::CSharp,
        file: "a.cs",
        program: "HEAD
class A {
static double work() { double x = 1.5; for (int i = 0; i < 200; i++) x = x * 1.0000001 + 0.25; return x; }
static double operation() { return work(); }
[System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
static double twin() { return work(); }
static double measured() {\nCODE\nreturn ns; }
static double kept;
static double row() {
    long begin = Stopwatch.GetTimestamp();
    for (int i = 0; i < 1000; i++) kept += twin();
    return (Stopwatch.GetTimestamp() - begin) * 1e6 / Stopwatch.Frequency;
}
static void Main(string[] words) {
    for (int i = int.Parse(words[0]); i > 0; i--) {
        double found = measured(), length = 1e9;
        for (int j = 0; j < 50; j++) length = System.Math.Min(length, row());
        System.Console.WriteLine(found + \" \" + length);
    }
} }\n",
        commands: &[&["mcs", "-optimize+", "-out:a.exe", "a.cs"], &["mono", "a.exe"]],
    },
    Around {
        language: Language::Python,
        file: "a.py",
        program: "import statistics, sys, time
def operation():
    x = 1.5
    for _ in range(8): x = x * 1.0000001 + 0.25
    return x
exec('def row():\\n begin = time.perf_counter_ns()\\n ' + 'operation();' * 1000 +
     '\\n return (time.perf_counter_ns() - begin) / 1000')
for _ in range(int(sys.argv[1])):
    exec(CODE)
    print(ns, statistics.median(row() for _ in range(50)))\n",
        commands: &[&["python3", "a.py"]],
    },
    Around {
        language: Language::JavaScript,
        file: "a.js",
        // Too long to be inlined, because the engine compiles inlined code differently in each
        // place.
        program: "const operation = new Function('let x = 1.5; for (let i = 0; i < 4; i++) {' +
    'x = x * 1.0000001 + 0.25; '.repeat(100) + '} return x;');
function thousand() {
    let sum = 0;
    for (let i = 0; i < 1000; i++) sum += operation();
    return sum;
}
function measured() {\nCODE\nreturn ns; }
%NeverOptimizeFunction(row);
function row() {
    const begin = process.hrtime.bigint();
    globalThis.sum = thousand();
    return Number(process.hrtime.bigint() - begin) / 1000;
}
for (let i = 0; i < process.argv.at(-1); i++) {
    const found = measured();
    let length = 1e9;
    for (let j = 0; j < 500; j++) length = Math.min(length, row());
    console.log(found, length);
}\n",
        commands: &[&["node", "--allow-natives-syntax", "a.js"]],
    },
    Around {
        language: Language::Go,
        file: "a.go",
        program: "package main
import (\"fmt\"; \"math\"; \"os\"; \"runtime\"; \"strconv\"; \"time\")
func operation() float64 { x := 1.5; for i := 0; i < 200; i++ { x = x*1.0000001 + 0.25 }; return x }
//go:noinline\nfunc twin() float64 { return operation() }
func measured() float64 {\nCODE\nreturn ns }
func row() float64 {
    begin := time.Now()
    for i := 0; i < 100; i++ {
        twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin(); twin()
    }
    return float64(time.Since(begin).Nanoseconds()) / 1000
}
func main() {
    runtime.KeepAlive(operation())
    rounds, _ := strconv.Atoi(os.Args[len(os.Args)-1])
    for ; rounds > 0; rounds-- {
        found, length := measured(), 1e9
        for i := 0; i < 50; i++ { length = math.Min(length, row()) }
        fmt.Println(found, length)
    }
}\n",
        commands: &[&["go", "build", "-o", "a", "a.go"], &["./a"]],
    },
];

impl Around {
    /// The measured and the actual duration in each round; `None` if a command is not
    /// installed.
    fn run(&self, rounds: usize, duration: Nanos, rate_hz: Option<f64>) -> Option<Vec<[f64; 2]>> {
        let code = snippet_in(self.language, duration, rate_hz);
        let is_head =
            |line: &&str| line.starts_with("#include") || line.starts_with("using System");
        let (head, body): (Vec<&str>, Vec<&str>) = code.lines().partition(is_head);
        let body = match self.language {
            Language::Python => format!("{code:?}"),
            _ => body.join("\n"),
        };
        let text = self.program.replace("HEAD", &head.join("\n"));
        let text = text.replace("CODE", &body);
        let printed = run_program(self.file, &text, self.commands, &[&rounds.to_string()])?;
        let rows = printed.lines().map(|line| {
            let numbers = line.split_whitespace().map(str::parse::<f64>);
            let numbers: Vec<f64> = numbers
                .collect::<Result<_, _>>()
                .expect("the output consists of numbers");
            <[f64; 2]>::try_from(numbers).expect("a line has two numbers")
        });
        let rows: Vec<[f64; 2]> = rows.collect();
        assert_eq!(rows.len(), rounds, "{printed}");
        Some(rows)
    }
}

/// Compiles and runs a program by these commands; the last command gets the arguments. Returns its
/// output, or `None` if one of the commands is not installed.
fn run_program(file: &str, text: &str, commands: &[&[&str]], arguments: &[&str]) -> Option<String> {
    let programs = commands.iter().map(|words| words[0]);
    let mut others = programs.filter(|program| !program.starts_with("./"));
    if let Some(missing) = others.find(|program| !is_installed(program)) {
        skipped(
            format!("{file}, code that `pick` writes: no {missing}"),
            "install it",
        );
        return None;
    }
    let folder = tempfile::tempdir().expect("the folder is created");
    std::fs::write(folder.path().join(file), text).expect("the file is written");
    let mut printed = String::new();
    for (at, words) in commands.iter().enumerate() {
        let program = match words[0].strip_prefix("./") {
            Some(built) => folder.path().join(built),
            None => words[0].into(),
        };
        let mut command = Command::new(&program);
        command.args(&words[1..]).current_dir(folder.path());
        if at + 1 == commands.len() {
            command.args(arguments);
        }
        match command.output() {
            Err(error) => panic!("{words:?}: {error}"),
            Ok(ended) => {
                assert!(ended.status.success(), "{words:?}: {ended:?}\n{text}");
                printed = String::from_utf8(ended.stdout).expect("the output is text");
            }
        }
    }
    Some(printed)
}

#[test]
fn code_in_each_language_runs() {
    let long = Nanos(1e5);
    for around in PROGRAMS {
        around.run(1, USUAL_DURATION, None);
        around.run(1, Nanos(1.3e3), Some(1e5));
        let mean = snippet_in(around.language, Nanos(1.3e3), Some(1e5));
        assert!(
            mean.contains("// the mean, good from") || mean.contains("# the mean"),
            "{mean}"
        );
        for rate_hz in [None, Some(1e3)] {
            let single = snippet_in(around.language, long, rate_hz);
            assert!(single.lines().count() <= 8, "{single}");
        }
    }
}

/// The code measures the duration of an operation to 2 %: it promises 1 %, and the operation itself
/// may vary by 1 %. On a busy machine, one of a few attempts suffices.
#[test]
#[ignore = "run by .ci/runtimes"]
fn code_measures_known_duration() {
    const ROUNDS: usize = 5;
    const ATTEMPTS: usize = 6;
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    for around in PROGRAMS {
        let mut ratios: Vec<f64> = Vec::new();
        let is_right = |ratio: &f64| (ratio - 1.0).abs() <= 0.02;
        while ratios.len() < ATTEMPTS && !ratios.iter().any(is_right) {
            let Some(rows) = around.run(ROUNDS, USUAL_DURATION, None) else {
                break;
            };
            ratios.push(median(
                rows.iter().map(|[found, length]| found / length).collect(),
            ));
        }
        println!("{:?}: {ratios:?}", around.language);
        assert!(
            ratios.last().is_none_or(is_right),
            "{:?}: {ratios:?}",
            around.language
        );
    }
}

/// For each language, `pick` selects a clock of that language and prints code for it.
#[test]
fn language_gets_its_own_clocks() {
    for duration in ["250ns"] {
        for language in Language::value_variants() {
            let value = language
                .to_possible_value()
                .expect("the language has a name");
            for name in value.get_name_and_aliases() {
                let words = [
                    "pick",
                    duration,
                    "--all",
                    "--for",
                    &name.to_uppercase(),
                    "--from",
                    REPORT,
                ];
                let ended = Command::new(program())
                    .args(words)
                    .output()
                    .expect("the program starts");
                let text = String::from_utf8(ended.stdout).expect("the output is text");
                assert_eq!(ended.status.code(), Some(0), "{words:?}: {text}");
                let clocks = language.clocks();
                let id = text
                    .split_whitespace()
                    .nth(2)
                    .and_then(|id| id.rsplit(':').next());
                let is_own = id.is_some_and(|id| clocks.iter().any(|clock| clock == id));
                assert!(
                    is_own
                        && ["least", "median", "less the cost of a read"]
                            .iter()
                            .any(|word| text.contains(word)),
                    "{words:?}: {text}"
                );
                for word in [
                    "CALLS",
                    "RUNS",
                    "CLOCK,",
                    "NS_PER_TICK",
                    "READ",
                    "MEAN",
                    "ONCE",
                    "LESS",
                    "BOTH",
                ] {
                    assert!(!text.contains(word), "{words:?}: {text}");
                }
                let (_, others) = text
                    .split_once("other clocks\n")
                    .expect("the output lists other clocks");
                assert!(others.lines().count() >= 2, "{words:?}: {text}");
            }
        }
    }
}

/// The code for the clock that `pick` selects for an operation of this duration.
fn snippet_in(language: Language, duration: Nanos, rate_hz: Option<f64>) -> String {
    let report = timermeter::report::read(Path::new(REPORT)).expect("the report is readable");
    let usual = Requirement::new(duration, 0.01).expect("the requirement is valid");
    let wanted = Requirement {
        runtime: language.runtime().map(str::to_owned),
        clocks: match language {
            // The portable clock, because its code in C compiles on every machine.
            Language::C => vec!["monotonic".to_owned()],
            _ => language.clocks(),
        },
        by_code: true,
        rate_hz,
        ..usual
    };
    let choice = choose(&report, &wanted).expect("the report has the clocks");
    let picked = choice.picked.expect("a clock suffices");
    let row = report.timers.iter().find(|row| row.id == picked.id);
    snippet(language, &picked, row.expect("the report has the clock"))
        .expect("the clock has a snippet")
}
