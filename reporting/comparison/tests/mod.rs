//! Tests comparisons of small runs, by topic.

mod conditions;
mod sentences;

use serde_json::from_value;

use super::{ChangeCondition, Comparison, Decision};
use crate::glob::Glob;
use estimators::model::{
    Defect, DefectKind, Estimate, Family, ProcessFigures, Properties, ReadsBy, Report, Status,
    TimerInfo, TimerRow, Trust,
};

/// The first letters of the clocks of a family, how they are read, and what they cost in nanoseconds.
const FAMILIES: [(&str, ReadsBy, f64); 5] = [
    ("i", ReadsBy::Instruction, 11.0),
    ("v", ReadsBy::Vdso, 27.0),
    ("s", ReadsBy::SystemCall, 200.0),
    ("c", ReadsBy::SystemCall, 300.0),
    ("j", ReadsBy::Instruction, 40.0),
];

/// A run of four clocks of each family in eight processes, as a line describes it. `s 1.2` multiplies the costs
/// of the clocks whose names begin so, and `* 1.2` those of all; `step`, `status` and `trust` are of `v0`.
fn run(line: &str) -> Report {
    let mut report = Report::default();
    for (family, reads_by, ns) in FAMILIES {
        for number in 0..4 {
            let id = format!("{family}{number}");
            let runtime = if family == "j" { "java" } else { "native" };
            let timer = TimerInfo {
                id,
                runtime: runtime.into(),
                ..TimerInfo::default()
            };
            let mut row = TimerRow::without_results(&timer, Status::Ok);
            row.resolution_ns = Some(Estimate::unbounded(10.0));
            row.properties = Some(Properties {
                reads_by: Some(reads_by),
                family: (family == "c").then_some(Family::CpuTime),
                ..Properties::default()
            });
            let clock = report.timers.len() as u32;
            let of_process = |process: u32| {
                // Much is common to the clocks of a process, little is of one clock.
                let [common, own] = [process, (7 * process + 5 * clock) % 11].map(f64::from);
                ProcessFigures {
                    process: Some(process),
                    width: Some(1.0),
                    amortised_ns: ns * (1.0 + common / 90.0 + own / 2000.0),
                    ..ProcessFigures::default()
                }
            };
            row.processes = (0..8).map(of_process).collect();
            report.timers.push(row);
        }
    }
    for (name, value) in line.split(", ").filter_map(|part| part.split_once(' ')) {
        let number = value.parse::<f64>().ok();
        let (platform, timers) = (&mut report.platform, &mut report.timers);
        match name {
            "source" => platform.clocksource.current = Some(value.into()),
            "library" => platform.preloaded.push(value.into()),
            "CPU" => platform.cpu.model = Some(value.into()),
            "steal" => platform.steal_share = number,
            "hertz" => report.frequency.effective_hz = number.map(Estimate::unbounded),
            "step" => timers[4].resolution_ns = number.map(Estimate::unbounded),
            "status" => timers[4].head.status = from_value(value.into()).unwrap(),
            "trust" => {
                timers[4].trust = Some(Trust {
                    answer: from_value(value.into()).unwrap(),
                    open: None,
                    defect: (value == "no").then_some(Defect {
                        kind: DefectKind::Rate,
                        size: Some(500.0),
                    }),
                    part: None,
                    caution: None,
                });
            }
            "without" => timers.retain(|row| row.id != value),
            "runtime" => timers
                .iter_mut()
                .for_each(|row| row.head.runtime = value.into()),
            "processes" => timers
                .iter_mut()
                .for_each(|row| row.processes.truncate(value.parse().unwrap())),
            _ => {
                let rows = timers
                    .iter_mut()
                    .filter(|row| ["width", "*"].contains(&name) || row.id.starts_with(name));
                for process in rows.flat_map(|row| &mut row.processes) {
                    match name {
                        "width" => process.width = number,
                        _ => process.amortised_ns *= number.unwrap(),
                    }
                }
            }
        }
    }
    for row in &mut report.timers {
        row.cost_ns = Some(Estimate::unbounded(row.processes[0].amortised_ns));
    }
    report
}

/// Compares runs; `|` is between those of a side.
fn compared(old: &str, new: &str) -> Comparison {
    let [old, new] = [old, new].map(|side| side.split(" | ").map(run).collect::<Vec<_>>());
    let [old, new] = [&old, &new].map(|side| side.iter().collect::<Vec<_>>());
    Comparison::between(&old, &new).unwrap()
}

fn decide(condition: &str, comparison: &Comparison) -> (Decision, String) {
    let condition: ChangeCondition = condition.parse().unwrap();
    let glob = Glob::parse(&condition.glob).unwrap();
    let timers = comparison.timers.iter().map(String::as_str);
    let timers: Vec<&str> = timers.filter(|timer| glob.matches(timer)).collect();
    condition.decide(comparison, &timers)
}
