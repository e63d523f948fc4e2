//! Tests the code that `pick --every` prints for each way to wait.

use judgement::choice::Language;
use judgement::choice::wait_snippet::{coded, wait_snippet};

use super::run_program;

/// A program around the code in a language, which begins at `CODE`, with its includes at `HEAD`: the
/// call of number `TURNS` of `operation` prints the nanoseconds since the start.
const PROGRAMS: [(Language, &str, &[&[&str]]); 8] = [
    (Language::C, C, &[&["cc", "-Wall", "-Werror", "a.c", "-o", "a"], &["./a"]]),
    (Language::Cpp, C, &[&["g++", "-Wall", "-Werror", "-x", "c++", "a.c", "-o", "a"], &["./a"]]),
    (
        Language::Rust,
        "use std::sync::atomic::{AtomicU32, Ordering};
static CALLS: AtomicU32 = AtomicU32::new(1);
static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
fn operation() { if CALLS.fetch_add(1, Ordering::Relaxed) == TURNS {
    println!(\"{}\", BEGIN.get().unwrap().elapsed().as_nanos()); std::process::exit(0) } }
fn main() { BEGIN.get_or_init(std::time::Instant::now);\nCODE}\n",
        &[&["rustc", "--edition=2024", "a.c", "-o", "a"], &["./a"]],
    ),
    (
        Language::Java,
        "HEAD
class A { static int calls; static long begin = System.nanoTime();
static void operation() { if (++calls < TURNS) return;
    System.out.println(System.nanoTime() - begin); System.exit(0); }
public static void main(String[] words) throws Exception {\nCODE } }\n",
        &[&["java", "--source", "11", "a.c"]],
    ),
    (
        Language::CSharp,
        "HEAD
class A { static int calls; static long begin = System.Diagnostics.Stopwatch.GetTimestamp();
static void operation() { if (++calls < TURNS) return;
    System.Console.WriteLine((long) ((System.Diagnostics.Stopwatch.GetTimestamp() - begin) * 1e9 / System.Diagnostics.Stopwatch.Frequency));
    System.Environment.Exit(0); }
static void Main() {\nCODE } }\n",
        &[&["mcs", "-out:a.exe", "a.c"], &["mono", "a.exe"]],
    ),
    (
        Language::Python,
        "import sys, time
begin, calls = time.monotonic_ns(), 0
def operation():
    global calls
    calls += 1
    if calls == TURNS: print(time.monotonic_ns() - begin); sys.exit()
CODE",
        &[&["python3", "a.c"]],
    ),
    (
        Language::JavaScript,
        "const begin = process.hrtime.bigint(); let calls = 0;
function operation() { if (++calls < TURNS) return;
    console.log(String(process.hrtime.bigint() - begin)); process.exit(); }
CODE",
        &[&["cp", "a.c", "a.js"], &["node", "a.js"]],
    ),
    (
        Language::Go,
        "package main
import (\"fmt\"; \"os\"; \"time\")
var begin, calls = time.Now(), 0
func operation() { calls++; if calls == TURNS { fmt.Println(time.Since(begin).Nanoseconds()); os.Exit(0) } }
func main() {\nCODE}\n",
        &[&["cp", "a.c", "a.go"], &["go", "run", "a.go"]],
    ),
];
const C: &str = "HEAD
#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>
static struct timespec a, b;
static void operation(void) { static int calls; if (++calls < TURNS) return;
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf(\"%lld\\n\", 1000000000LL * (b.tv_sec - a.tv_sec) + b.tv_nsec - a.tv_nsec); exit(0); }
int main(void) { clock_gettime(CLOCK_MONOTONIC, &a);\nCODE\n}\n";

/// The code for each way to wait in each language compiles, and its call, or its 20 calls, do not come early.
#[test]
fn code_waits_in_each_language() {
    for (language, program, commands) in PROGRAMS {
        let ids = coded(Some(language));
        for (id, once) in ids.flat_map(|id| [(id, false), (id, true)]) {
            let code = wait_snippet(id, 1_000_000, once).unwrap();
            let is_narrow = code.lines().all(|line| line.len() <= 88);
            assert!(
                is_narrow && code.contains("1000000") && !code.contains("WAIT"),
                "{code}"
            );
            let is_head = |line: &&str| {
                ["#", "import java", "using System"]
                    .iter()
                    .any(|word| line.starts_with(word))
            };
            let is_split = program.contains("HEAD");
            let (head, body): (Vec<&str>, Vec<&str>) =
                code.lines().partition(|line| is_split && is_head(line));
            let turns = if once { "1" } else { "20" };
            let text = program
                .replace("TURNS", turns)
                .replace("HEAD", &head.join("\n"));
            let text = text.replace("CODE", &(body.join("\n") + "\n"));
            let printed = run_program("a.c", &text, commands);
            let took_ns = printed.and_then(|text| text.trim().parse::<u64>().ok());
            assert!(
                took_ns.is_none_or(|ns| ns > if once { 999_000 } else { 19_900_000 }),
                "{took_ns:?}:\n{code}"
            );
        }
    }
}
