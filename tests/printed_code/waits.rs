//! Tests the code that `pick --every` prints for each wait method.

use timermeter::choice::wait_snippet::wait_snippet;
use timermeter::choice::waits::{Punctuality, WaitRecord};
use timermeter::choice::{Choice, RankedTimer};

use super::run_program;

/// The code for each wait method compiles, and its 20 calls do not come early.
#[test]
fn code_waits_with_each_timer() {
    let asked = Punctuality {
        every_ns: 1e6,
        within_ns: None,
        share: 0.99,
        overhead: None,
    };
    let (mut count, mut missing) = (0, Vec::new());
    for entry in timers::waits::catalogue() {
        let candidate = RankedTimer {
            id: entry.info.id.into(),
            label: entry.info.label.into(),
            suffices: true,
            reason: String::new(),
            notes: Vec::new(),
            figures: WaitRecord::default(),
        };
        let choice = Choice {
            schema: "",
            requirement: asked,
            picked: Some(candidate),
            nearest: None,
            others: Vec::new(),
        };
        let Some((_, code)) = wait_snippet(&choice, 1_000_000) else {
            missing.push(entry.info.id);
            continue;
        };
        let is_narrow = code.lines().all(|line| line.len() <= 76);
        assert!(
            is_narrow && code.contains("1000000") && !code.contains("WAIT"),
            "{code}"
        );
        count += 1;
        // This code needs a crate.
        if entry.info.id == "spin-sleep" {
            continue;
        }
        let is_in_rust = code.contains("Instant");
        let printed = if is_in_rust {
            let text = format!(
                "use std::sync::atomic::{{AtomicU32, Ordering}};
static CALLS: AtomicU32 = AtomicU32::new(1);
static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
fn operation() {{ if CALLS.fetch_add(1, Ordering::Relaxed) == 20 {{
    println!(\"{{}}\", BEGIN.get().unwrap().elapsed().as_nanos()); std::process::exit(0) }} }}
fn main() {{ BEGIN.get_or_init(std::time::Instant::now);\n{code}}}\n"
            );
            let commands: &[&[&str]] = &[&["rustc", "--edition=2024", "a.rs", "-o", "a"], &["./a"]];
            run_program("a.rs", &text, commands, &[])
        } else {
            let (head, body): (Vec<&str>, Vec<&str>) =
                code.lines().partition(|line| line.starts_with('#'));
            let text = format!(
                "{}\n#include <stdio.h>\n#include <stdlib.h>
static struct timespec a, b;
static void operation(void) {{ static int calls; if (++calls < 20) return;
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf(\"%lld\\n\", 1000000000LL * (b.tv_sec - a.tv_sec) + b.tv_nsec - a.tv_nsec); exit(0); }}
int main(void) {{ clock_gettime(CLOCK_MONOTONIC, &a);\n{}\n}}\n",
                head.join("\n"),
                body.join("\n")
            );
            let commands: &[&[&str]] = &[&["cc", "-Wall", "-Werror", "a.c", "-o", "a"], &["./a"]];
            run_program("a.c", &text, commands, &[])
        };
        let took_ns = printed.and_then(|text| text.trim().parse::<u64>().ok());
        assert!(
            took_ns.is_none_or(|ns| ns > 19_900_000),
            "{took_ns:?}:\n{code}"
        );
    }
    assert!(count >= 14, "{count}; none for {missing:?}");
}
