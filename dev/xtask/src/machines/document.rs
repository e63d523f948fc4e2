//! Formats the README of the kept results: the known properties of each machine and the results of
//! timermeter.

use std::fmt::Write as _;

use super::found::Found;
use super::list::{ALL, Machine};
use super::truth::{Judged, Verdict};

const HEAD: &str = "\
# Results of emulated machines

Written by `cargo xtask machines`, which boots each machine in QEMU and keeps its report, its kernel log and the events of `watch` in a folder here.
A property is *right* if the interval in the result contains it, and *not determined* if the program says that it could not determine the figure. Costs
are those of the emulator, except with `-icount`, where an instruction takes a known time. [Summary](../../../docs/results.md#emulated-machines)

";

/// Judges the results of each machine, in the order of the list; `None` for a machine without
/// results.
pub fn judge(kept: &[Option<Found>]) -> Vec<Option<Vec<Judged>>> {
    let results_of = |name: &str| {
        let at = ALL.iter().position(|machine| machine.name == name)?;
        kept.get(at)?.as_ref()
    };
    let judge_machine = |(machine, found): (&Machine, &Option<Found>)| {
        let found = found.as_ref()?;
        Some(
            machine
                .truths
                .iter()
                .map(|truth| truth.judge(found, &results_of))
                .collect(),
        )
    };
    ALL.iter().zip(kept).map(judge_machine).collect()
}

/// Returns the number of results that contradict a known property.
pub fn count_wrong(judged: &[Option<Vec<Judged>>]) -> usize {
    count(judged, Verdict::Wrong)
}

fn count(judged: &[Option<Vec<Judged>>], verdict: Verdict) -> usize {
    judged
        .iter()
        .flatten()
        .flatten()
        .filter(|judged| judged.verdict == verdict)
        .count()
}

/// Formats the document.
pub fn format(judged: &[Option<Vec<Judged>>]) -> String {
    let mut text = HEAD.to_owned();
    let all: usize = judged.iter().flatten().map(Vec::len).sum();
    let [right, wrong, undetermined] = [Verdict::Right, Verdict::Wrong, Verdict::NotDetermined]
        .map(|verdict| count(judged, verdict));
    let _ = write!(
        text,
        "Of {all} known properties of {} machines, {right} results were right, {wrong} wrong, {undetermined} not determined.\n\n",
        judged.iter().flatten().count()
    );
    text += "| machine | configuration | known property | result | |\n|---|---|---|---|---|\n";
    let mut absent = Vec::new();
    for (machine, judged) in ALL.iter().zip(judged) {
        let Some(judged) = judged else {
            absent.push(machine.name);
            continue;
        };
        for (
            at,
            Judged {
                truth,
                found,
                verdict,
            },
        ) in judged.iter().enumerate()
        {
            let (name, configuration) = if at == 0 {
                (machine.name, configuration(machine))
            } else {
                ("", String::new())
            };
            let _ = writeln!(
                text,
                "| {name} | {configuration} | {truth} | {found} | {} |",
                verdict.word()
            );
        }
    }
    if !absent.is_empty() {
        let _ = write!(text, "\nNo results are kept for: {}.\n", absent.join(", "));
    }
    text
}

/// Formats the configuration of a machine: architecture, options of the emulator except the number
/// of CPUs, and kernel parameters.
fn configuration(machine: &Machine) -> String {
    let cpus = machine.options.iter().position(|option| *option == "-smp");
    let is_cpus = |at: usize| cpus.is_some_and(|cpus| at == cpus || at == cpus + 1);
    let options = machine
        .options
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_cpus(*at));
    let options: Vec<&str> = options.map(|(_, option)| *option).collect();
    let words = [
        machine.emulator.architecture,
        &options.join(" "),
        machine.parameters,
    ]
    .map(str::to_owned);
    let words: Vec<String> = words
        .into_iter()
        .filter(|word| !word.is_empty())
        .map(|word| format!("`{word}`"))
        .collect();
    words.join(" ")
}
