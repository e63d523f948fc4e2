//! Known properties of machines, and their comparison with the results of timermeter.

use std::fs;
use std::path::Path;

use estimators::model::{Estimate, Path as ReadPath, ResolutionKind, TimerRow, value_of};
use serde_json::Value;

/// A known property of a machine.
#[derive(Clone, Copy)]
pub enum Truth {
    /// The resolution of a timer in nanoseconds.
    Step(&'static str, f64),
    /// The resolution of a timer is a whole multiple of this many of its ticks.
    StepInTicks(&'static str, f64),
    /// A read costs more than the resolution of the timer.
    CostsMoreThanItsStep(&'static str),
    /// Whether a read of a timer stays in user mode.
    ReadInUserMode(&'static str, bool),
    /// `watch` reports these events, each a kind, a cause (any, if empty) and a number, and no others.
    Events(&'static [(&'static str, &'static str, usize)]),
    /// The interval of the size of an event, in seconds or ppm, contains this.
    Size(&'static str, f64),
    /// A result file contains this text.
    Contains(&'static str, &'static str),
}

/// The result as text and whether it is right; or the reason why there is none.
type Answer = Result<(String, bool), String>;

impl Truth {
    /// Returns the property as text, and the result in `folder` that it is compared with.
    pub fn compare(self, folder: &Path) -> (String, Answer) {
        let row = |timer| row(folder, timer);
        match self {
            Self::Step(timer, ns) => (
                format!("resolution of {timer}: {ns:.5} ns"),
                row(timer).and_then(|row| {
                    let step = row.resolution_ns.filter(Estimate::is_bounded);
                    Ok(within(step.ok_or_else(|| reason(&row))?, "ns", ns))
                }),
            ),
            Self::StepInTicks(timer, unit) => (
                format!("resolution of {timer}: a multiple of {unit} ticks"),
                row(timer).and_then(|row| {
                    let step = row.resolution.as_ref();
                    let step = step.filter(|step| step.kind == ResolutionKind::Resolved);
                    let ticks = step.ok_or_else(|| reason(&row))?.ticks;
                    let times = ticks / unit;
                    let is_whole = (times - times.round()).abs() < 1e-3 * times;
                    Ok((format!("{ticks:.3} ticks"), times >= 0.999 && is_whole))
                }),
            ),
            Self::CostsMoreThanItsStep(timer) => (
                format!("cost of {timer} exceeds its resolution"),
                row(timer).and_then(|row| {
                    let cost = row.cost_ns.and_then(|cost| cost.low());
                    let both = cost.zip(value_of(row.resolution_ns));
                    let (cost, step) = both.ok_or_else(|| reason(&row))?;
                    Ok((format!("costs {cost:.0} ns or more"), cost > step))
                }),
            ),
            Self::ReadInUserMode(timer, truth) => {
                let by = |user_mode| ["by the kernel", "in user mode"][usize::from(user_mode)];
                let path = row(timer).and_then(|row| {
                    let path = row.verdicts.as_ref().and_then(|all| all.read_path.path);
                    Ok(path.ok_or("unknown")? == ReadPath::UserMode)
                });
                (
                    format!("{timer} is read {}", by(truth)),
                    path.map(|found| (by(found).to_owned(), found == truth)),
                )
            }
            Self::Events(truth) => {
                let word = |(kind, cause, count): &(&str, &str, usize)| {
                    format!("{count} {kind} {cause}").trim().to_owned()
                };
                let words: Vec<String> = truth.iter().map(word).collect();
                let compared = events(folder).map(|events| {
                    let count = |kind: &str, cause: &str| {
                        let is_it = |event: &&Value| {
                            event["kind"] == kind && (cause.is_empty() || event["cause"] == cause)
                        };
                        events.iter().filter(is_it).count()
                    };
                    let mut counts = truth.iter().map(|known| (count(known.0, known.1), known.2));
                    let all: usize = truth.iter().map(|(_, _, count)| count).sum();
                    let is_right = counts.all(|(found, known)| found == known);
                    (
                        format!("{} events", events.len()),
                        is_right && events.len() == all,
                    )
                });
                (format!("events of watch: {}", words.join(", ")), compared)
            }
            Self::Size(kind, size) => {
                let compared = events(folder).and_then(|events| {
                    let event = events.iter().find(|event| event["kind"] == kind);
                    let event = event.ok_or("no event")?;
                    let found = serde_json::from_value(event["size"].clone());
                    let found: Estimate = found.map_err(|error| error.to_string())?;
                    Ok(within(found, event["unit"].as_str().unwrap_or(""), size))
                });
                (format!("size of the {kind}: {size}"), compared)
            }
            Self::Contains(file, words) => {
                let text = fs::read_to_string(folder.join(file)).map_err(|error| error.to_string());
                (
                    format!("`{words}` in {file}"),
                    text.map(|text| {
                        let is_there = text.contains(words);
                        (
                            ["absent", "present"][usize::from(is_there)].to_owned(),
                            is_there,
                        )
                    }),
                )
            }
        }
    }
}

fn within(found: Estimate, unit: &str, truth: f64) -> (String, bool) {
    let Estimate { value, low, high } = found;
    (
        format!("{value:.5} {unit} [{low:.5}, {high:.5}]"),
        low <= truth && truth <= high,
    )
}

/// Returns the events in the output of `watch`.
fn events(folder: &Path) -> Result<Vec<Value>, String> {
    let text = fs::read_to_string(folder.join("watch.jsonl")).map_err(|error| error.to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
    let mut lines = lines.map_err(|error| error.to_string())?;
    if lines.last().is_none_or(|line| line["line"] != "end") {
        return Err("the watch did not end".into());
    }
    lines.retain(|line| line["line"] == "event");
    Ok(lines)
}

fn row(folder: &Path, timer: &str) -> Result<TimerRow, String> {
    let report = reporting::report::read(&folder.join("report.json"));
    let report = report.map_err(|error| error.to_string())?;
    let row = report.timers.iter().find(|row| row.id == timer);
    row.cloned()
        .ok_or_else(|| format!("the report has no timer {timer}"))
}

/// Returns the reason why a row lacks a figure.
fn reason(row: &TimerRow) -> String {
    row.reason.clone().unwrap_or_else(|| "no figure".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges the kept results of a machine.
    fn judge(machine: &str, truth: Truth) -> Option<bool> {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../emulated/machines");
        let (_, answer) = truth.compare(&kept.join(machine));
        answer.ok().map(|(_, is_right)| is_right)
    }

    #[test]
    fn truth_holds_only_within_interval() {
        for (machine, truth, expected) in [
            ("hpet", Truth::Step("monotonic", 10.0), Some(true)),
            ("hpet", Truth::Step("monotonic", 10.01), Some(false)),
            ("hpet", Truth::Step("sundial", 10.0), None),
            (
                "hpet",
                Truth::ReadInUserMode("monotonic", true),
                Some(false),
            ),
            ("hpet", Truth::Events(&[]), None),
            ("quiet", Truth::Events(&[]), Some(true)),
            ("quiet", Truth::Events(&[("step", "", 1)]), Some(false)),
            ("rate-trimmed", Truth::Events(&[]), Some(false)),
            (
                "rate-trimmed",
                Truth::Events(&[("slew", "kernel", 1)]),
                Some(false),
            ),
            ("rate-trimmed", Truth::Size("slew", 100.0), Some(true)),
            ("rate-trimmed", Truth::Size("slew", 103.0), Some(false)),
        ] {
            assert_eq!(judge(machine, truth), expected, "{machine}");
        }
    }
}
