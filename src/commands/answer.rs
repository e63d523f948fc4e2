//! `timermeter` alone: which clock to use on this machine, in a few lines.

use std::io::Write;

use super::first_look::{first_look, first_waits};
use super::{CommandError, terminal_style};
use crate::cli::AnswerArgs;
use crate::method::Answer;
use crate::method::answer::WAIT_NS;
use crate::model::{Platform, Report};
use crate::suitability::{self, Severity};
use crate::text::hang;

/// The clocks that are looked at, of each line the first that this system has: one that every platform has, and the counter of the CPU, in
/// order and by itself.
const CLOCKS: [&[&str]; 3] = [
    &["monotonic", "instant"],
    &["rdtsc-lfence", "cntvct-isb", "rdtime-fence"],
    &["rdtsc", "cntvct", "rdtime"],
];
/// The ways to wait: what a sleep is, and what the timer slack does not concern.
const WAITS: [&str; 2] = ["nanosleep", "timerfd"];
/// A change of the core's frequency while it was measured that is worth telling.
/// *Judgement*.
const RESTLESS: f64 = 0.03;

/// Runs the command.
///
/// # Errors
/// When no clock can be measured, or the output cannot be written.
pub fn run(args: AnswerArgs, output: &mut dyn Write) -> Result<(), CommandError> {
    let is_here = |id: &&&str| timers::find(id).is_some_and(|entry| (entry.availability)().is_ok());
    let clocks: Vec<String> =
        CLOCKS.iter().filter_map(|any| any.iter().find(is_here)).map(|id| (*id).to_owned()).collect();
    let report = first_look(&clocks, &[], None)?;
    let waits_here = |id: &&str| timers::waits::find(id).is_some_and(|entry| (entry.availability)().is_ok());
    let waits: Vec<&str> = WAITS.into_iter().filter(waits_here).collect();
    let waited = if waits.is_empty() { Vec::new() } else { first_waits(&waits, WAIT_NS)?.waits };
    let answer = Answer::of(&report, &waited, unquiet(&report));
    if args.json {
        writeln!(output, "{}", super::pretty(&answer)?)?;
    } else {
        for (heading, text) in answer.lines(report.platform.os.family == "linux") {
            let mut line = String::new();
            hang(&mut line, &format!("{heading:<16}"), &" ".repeat(16), &text, terminal_style().columns());
            output.write_all(line.as_bytes())?;
        }
    }
    Ok(output.flush()?)
}

/// What makes figures worse here and now, with its size where there is one.
fn unquiet(report: &Report) -> Vec<String> {
    let platform: &Platform = &report.platform;
    let problems = suitability::judge(platform);
    let problems = problems.iter().filter(|finding| finding.severity == Severity::Problem);
    let mut told: Vec<String> = problems
        .map(|finding| match finding.code.as_str() {
            "load" => {
                platform.load.as_ref().map_or("load".into(), |load| format!("load {:.1}", load.one_minute))
            }
            "steal" => {
                platform.steal_share.map_or("steal".into(), |share| format!("{:.0} % stolen", 100.0 * share))
            }
            code => code.replace('-', " "),
        })
        .collect();
    if let Some(hertz) = report.frequency.cycles() {
        let moved = (hertz.high - hertz.low) / hertz.value;
        if moved > RESTLESS {
            told.push(format!("frequency moves by {:.0} %", 100.0 * moved));
        }
    }
    told
}
