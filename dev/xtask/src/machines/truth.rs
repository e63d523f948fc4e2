//! Known properties of machines, and their comparison with the results of timermeter.

use timermeter::model::{Interval, Path, Report, ResolutionKind, TimerRow, value_of};
use timermeter::report::parse_line;
use timermeter::watching::ClockEvent;
use timermeter::watching::log::{self, WatchLog};

use super::found::Found;

/// A known property of a machine.
#[derive(Clone, Copy)]
pub enum Truth {
    /// The resolution of a timer in nanoseconds.
    Step(&'static str, f64),
    /// The resolution of a timer is a whole multiple of this many of its ticks.
    StepInTicks(&'static str, f64),
    /// The cost of a read of a timer in ticks, relative to the cost on another machine.
    CostInTicks(&'static str, &'static str, f64),
    /// The resolution of a timer is the period of the HPET, whose frequency is in the kernel log,
    /// times a factor.
    StepOfHpet(&'static str, f64),
    /// A read costs more than the resolution of the timer.
    CostsMoreThanItsStep(&'static str),
    /// Whether a read of a timer stays in user mode.
    ReadInUserMode(&'static str, bool),
    /// `watch` reports exactly one event of this kind. It has this cause, and its interval contains
    /// the size in seconds or ppm.
    SingleEvent(&'static str, &'static str, Option<f64>),
    /// `watch` reports this many events of a kind.
    Events(&'static str, usize),
    /// `watch` reports this many events of a kind with this cause.
    EventsByCause(&'static str, &'static str, usize),
    /// A result file contains this text.
    Contains(&'static str, &'static str),
}

/// A known property and the result, as text, with the verdict.
#[derive(Debug)]
pub struct Judged {
    /// The known property.
    pub truth: String,
    /// The result.
    pub found: String,
    /// Whether they agree.
    pub verdict: Verdict,
}

/// The agreement of a result with a known property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The result is right.
    Right,
    /// The result is wrong.
    Wrong,
    /// The program says that it could not determine the figure.
    NotDetermined,
}

impl Verdict {
    /// Returns the verdict as printed in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "**wrong**",
            Self::NotDetermined => "not determined",
        }
    }
}

/// The result as text and whether it is right; or the reason why there is none.
type Answer = Result<(String, bool), String>;

impl Truth {
    /// Compares the results of a machine with this property; `others` returns the results of other
    /// machines.
    pub fn judge<'a>(self, found: &Found, others: &dyn Fn(&str) -> Option<&'a Found>) -> Judged {
        let (truth, answer) = self.compare(found, others);
        match answer {
            Ok((found, true)) => Judged {
                truth,
                found,
                verdict: Verdict::Right,
            },
            Ok((found, false)) => Judged {
                truth,
                found,
                verdict: Verdict::Wrong,
            },
            Err(why) => Judged {
                truth,
                found: why,
                verdict: Verdict::NotDetermined,
            },
        }
    }

    /// Returns the property as text, and the comparison.
    fn compare<'a>(
        self,
        found: &Found,
        others: &dyn Fn(&str) -> Option<&'a Found>,
    ) -> (String, Answer) {
        match self {
            Self::Step(timer, ns) => (
                format!("resolution of {timer}: {ns:.5} ns"),
                row(found, timer).and_then(|row| resolution(row, ns)),
            ),
            Self::StepOfHpet(timer, factor) => match period_of_hpet(found) {
                Ok(ns) => Self::Step(timer, factor * ns).compare(found, others),
                Err(why) => (format!("resolution of {timer}"), Err(why)),
            },
            Self::StepInTicks(timer, ticks) => (
                format!("resolution of {timer}: a multiple of {ticks} ticks"),
                row(found, timer).and_then(|row| step_in_ticks(row, ticks)),
            ),
            Self::CostInTicks(timer, other, factor) => (
                format!("cost of {timer} in ticks: {factor} times the cost on {other}"),
                cost_in_ticks(found, others(other), timer, factor),
            ),
            Self::CostsMoreThanItsStep(timer) => (
                format!("cost of {timer} exceeds its resolution"),
                row(found, timer).and_then(costs_more_than_its_step),
            ),
            Self::SingleEvent(kind, cause, size) => {
                let reported = size.map_or_else(String::new, |size| format!(" of {size}"));
                (
                    format!("one event `{kind}`{reported}, cause `{cause}`"),
                    single_event(found, kind, cause, size),
                )
            }
            Self::Events(kind, count) => {
                let events = read_watch(found).map(|kept| {
                    kept.events
                        .iter()
                        .filter(|event| word(serde_json::to_string(&event.kind)) == kind)
                        .count()
                });
                (
                    format!("{count} events `{kind}`"),
                    events.map(|events| (events.to_string(), events == count)),
                )
            }
            Self::EventsByCause(kind, cause, count) => {
                let matches = |event: &&ClockEvent| {
                    word(serde_json::to_string(&event.kind)) == kind
                        && word(serde_json::to_string(&event.cause)) == cause
                };
                let reported =
                    read_watch(found).map(|kept| kept.events.iter().filter(matches).count());
                let truth = format!("{count} events `{kind}`, cause `{cause}`");
                (
                    truth,
                    reported.map(|reported| (reported.to_string(), reported == count)),
                )
            }
            Self::Contains(file, words) => {
                let text = found.text(file).ok_or_else(|| format!("no {file}"));
                (
                    format!("`{words}` in {file}"),
                    text.map(|text| {
                        (
                            if text.contains(words) {
                                "present"
                            } else {
                                "absent"
                            }
                            .into(),
                            text.contains(words),
                        )
                    }),
                )
            }
            Self::ReadInUserMode(timer, truth) => (
                format!(
                    "{timer} is read {}",
                    if truth {
                        "in user mode"
                    } else {
                        "by the kernel"
                    }
                ),
                row(found, timer).and_then(|row| read_in_user_mode(row, truth)),
            ),
        }
    }
}

/// Returns the period of the HPET in nanoseconds, from its frequency in the kernel log.
fn period_of_hpet(found: &Found) -> Result<f64, String> {
    let mhz = hpet_mhz(&found.text("kernel.log").unwrap_or_default());
    mhz.map(|mhz| 1e3 / mhz)
        .ok_or_else(|| "the kernel log has no frequency of the HPET".into())
}

/// Reads the output of `watch`.
fn read_watch(found: &Found) -> Result<WatchLog, String> {
    let text = found.text("watch.jsonl");
    let kept = log::parse(&text.ok_or("there is no output of watch")?, parse_line);
    kept.end
        .is_some()
        .then_some(kept)
        .ok_or("the watch did not end".into())
}

/// Returns a kind or a cause as it is written in JSON.
fn word(json: serde_json::Result<String>) -> String {
    json.unwrap_or_default().trim_matches('"').to_owned()
}

fn single_event(found: &Found, kind: &str, cause: &str, size: Option<f64>) -> Answer {
    let kept = read_watch(found)?;
    let events: Vec<_> = kept
        .events
        .iter()
        .filter(|event| word(serde_json::to_string(&event.kind)) == kind)
        .collect();
    let words: Vec<String> = events
        .iter()
        .map(|event| {
            let size = event.size.map_or_else(String::new, |size| {
                let Interval { value, low, high } = size;
                format!(" {value:.4} [{low:.4}, {high:.4}]")
            });
            format!(
                "{}{size}, {}{}",
                word(serde_json::to_string(&event.kind)),
                word(serde_json::to_string(&event.cause)),
                if event.note.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", event.note)
                }
            )
        })
        .collect();
    let is_right = events.iter().any(|event| {
        let ends = event.size.and_then(|size| size.ends());
        word(serde_json::to_string(&event.cause)) == cause
            && size.is_none_or(|size| ends.is_some_and(|(low, high)| (low..=high).contains(&size)))
    });
    let found = if words.is_empty() {
        format!("no {kind}")
    } else {
        words.join("; ")
    };
    Ok((found, is_right && events.len() == 1))
}

fn row<'a>(found: &'a Found, timer: &str) -> Result<&'a TimerRow, String> {
    found
        .report
        .as_ref()
        .ok_or("there is no report".to_owned())
        .and_then(|report| row_of(report, timer))
}

fn row_of<'a>(report: &'a Report, timer: &str) -> Result<&'a TimerRow, String> {
    report
        .timers
        .iter()
        .find(|row| row.id == timer)
        .ok_or_else(|| format!("the report has no timer {timer}"))
}

/// Returns the reason why a row lacks a figure.
fn reason_for_lack(row: &TimerRow, what: &str) -> String {
    row.reason.clone().unwrap_or_else(|| format!("no {what}"))
}

fn resolution(row: &TimerRow, truth: f64) -> Answer {
    let bounded = row.resolution_ns.filter(Interval::is_bounded);
    let Interval {
        value: ns,
        low,
        high,
    } = bounded.ok_or_else(|| reason_for_lack(row, "resolution"))?;
    Ok((
        format!("{ns:.5} ns [{low:.5}, {high:.5}]"),
        low <= truth && truth <= high,
    ))
}

/// Compares the resolution in ticks of the timer, which are whole numbers.
fn step_in_ticks(row: &TimerRow, truth: f64) -> Answer {
    let step = row
        .resolution
        .as_ref()
        .filter(|step| step.kind == ResolutionKind::Resolved);
    let ticks = step
        .ok_or_else(|| reason_for_lack(row, "resolution"))?
        .ticks;
    let times = ticks / truth;
    Ok((
        format!("{ticks:.3} ticks"),
        times >= 0.999 && (times - times.round()).abs() < 1e-3 * times,
    ))
}

fn cost_in_ticks(found: &Found, other: Option<&Found>, timer: &str, factor: f64) -> Answer {
    let cost = |found: &Found| -> Result<[f64; 3], String> {
        let row = row(found, timer)?;
        let unit = row.ns_per_tick.ok_or("the length of its tick is unknown")?;
        let bounded = row.cost_ns.filter(Interval::is_bounded);
        let cost = bounded.ok_or_else(|| reason_for_lack(row, "cost"))?;
        Ok([cost.value, cost.low, cost.high].map(|ns| ns / unit))
    };
    let [here, low, high] = cost(found)?;
    let [there, least, most] = cost(other.ok_or("the other machine was not booted")?)?;
    let text = format!(
        "{here:.2} ticks [{low:.2}, {high:.2}], on the other {there:.2} [{least:.2}, {most:.2}]"
    );
    Ok((text, low <= most * factor && least * factor <= high))
}

fn costs_more_than_its_step(row: &TimerRow) -> Answer {
    let step = value_of(row.resolution_ns).ok_or_else(|| reason_for_lack(row, "resolution"))?;
    let cost = row
        .cost_ns
        .and_then(|cost| cost.low())
        .ok_or_else(|| reason_for_lack(row, "cost"))?;
    Ok((format!("costs {cost:.0} ns or more"), cost > step))
}

fn read_in_user_mode(row: &TimerRow, truth: bool) -> Answer {
    let path = row
        .verdicts
        .as_ref()
        .and_then(|verdicts| verdicts.read_path.path)
        .ok_or("unknown")?;
    let stays = path == Path::UserMode;
    Ok((
        if stays {
            "in user mode"
        } else {
            "by the kernel"
        }
        .into(),
        stays == truth,
    ))
}

/// Finds the frequency in a line such as `hpet0: 3 comparators, 64-bit 100.000000 MHz counter`.
fn hpet_mhz(log: &str) -> Option<f64> {
    let line = log
        .lines()
        .find(|line| line.contains("hpet0:") && line.contains(" MHz counter"))?;
    let mhz: f64 = line
        .split(" MHz")
        .next()?
        .rsplit(' ')
        .next()?
        .parse()
        .ok()?;
    (mhz > 0.0).then_some(mhz)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const LOG: &str = "[ 1.0] hpet0: at MMIO 0xfed00000, IRQs 2, 8, 0\r\n[ 1.1] hpet0: 3 comparators, 64-bit 100.000000 MHz counter\r\n";
    const EVENT: &str = r#"{"schema":"timermeter.watch.v1","line":"event","kind":"pause","cause":"machine","at_s":1.0,"since_s":8.0,"size":{"value":4.95,"low":4.95,"high":5.05},"unit":"s","note":""}"#;
    const END: &str = r#"{"schema":"timermeter.watch.v1","line":"end","date":"","watched_s":25.0,"cpu_share":null,"events":1,"monotonic_stability":[],"counter_stability":[]}"#;

    /// Writes result files of a machine and reads them.
    fn write_results(folder: &std::path::Path) -> Found {
        let results = folder.join("made-up");
        fs::create_dir_all(&results).expect("a folder");
        let text = include_str!("../../../../tests/data/xeon-2026-11-21.json");
        let mut report = timermeter::report::parse(text, "a report").expect("a report");
        let row = report
            .timers
            .iter_mut()
            .find(|row| row.id == "monotonic")
            .expect("the row of monotonic");
        row.resolution_ns = Some(Interval::with_ends(10.001, Some((10.0009, 10.0011))));
        fs::write(results.join("kernel.log"), LOG).expect("written");
        fs::write(results.join("watch.jsonl"), format!("{EVENT}\n{END}\n")).expect("written");
        let mut found = Found::read(folder, "made-up").expect("the results");
        found.report = Some(report);
        found
    }

    #[test]
    fn truth_holds_only_within_interval() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = write_results(folder.path());
        for (truth, verdict) in [
            (Truth::Step("monotonic", 10.001), Verdict::Right),
            (Truth::Step("monotonic", 10.0), Verdict::Wrong),
            (Truth::StepOfHpet("monotonic", 1.0001), Verdict::Right),
            (Truth::StepOfHpet("monotonic", 1.0), Verdict::Wrong),
            (Truth::ReadInUserMode("monotonic", true), Verdict::Right),
            (Truth::ReadInUserMode("monotonic", false), Verdict::Wrong),
            (Truth::Step("sundial", 1.0), Verdict::NotDetermined),
            (
                Truth::CostInTicks("rdtsc", "icount-0", 2.0),
                Verdict::NotDetermined,
            ),
            (
                Truth::SingleEvent("pause", "unknown", Some(5.0)),
                Verdict::Right,
            ),
            (
                Truth::SingleEvent("pause", "unknown", Some(5.2)),
                Verdict::Wrong,
            ),
            (Truth::SingleEvent("pause", "quota", None), Verdict::Wrong),
            (
                Truth::SingleEvent("step", "clock-set", None),
                Verdict::Wrong,
            ),
            (Truth::Events("step", 0), Verdict::Right),
            (Truth::Events("pause", 0), Verdict::Wrong),
            (Truth::Contains("kernel.log", "hpet0"), Verdict::Right),
        ] {
            let judged = truth.judge(&found, &|_| None);
            assert_eq!(judged.verdict, verdict, "{judged:?}");
        }
    }

    #[test]
    fn log_without_frequency_gives_none() {
        assert_eq!(hpet_mhz(LOG), Some(100.0));
        assert_eq!(hpet_mhz("hpet0: 0 MHz counter"), None);
    }
}
