//! What a machine was built to be, and whether it was found to be so.

use timermeter::model::{Interval, Path, Report, ResolutionKind, TimerRow, value_of};
use timermeter::watching::Event;
use timermeter::watching::log::{self, Log};

use super::found::Found;

/// Something that is true of a machine.
#[derive(Clone, Copy)]
pub enum Truth {
    /// The step of a timer, in nanoseconds.
    Step(&'static str, f64),
    /// The step of a timer, in its own ticks: a whole multiple of so many.
    StepInTicks(&'static str, f64),
    /// A read costs this many times what it costs on another machine, both in ticks.
    CostInTicks(&'static str, &'static str, f64),
    /// The step of a timer is the period of the HPET, as the kernel's log prints its frequency,
    /// times a factor.
    StepOfHpet(&'static str, f64),
    /// The step of `monotonic` by a clock source of the machine, in nanoseconds, as
    /// `check --sources` tells it.
    SourceStep(&'static str, f64),
    /// The same of the HPET, whose period the kernel's log prints.
    SourceStepOfHpet(&'static str),
    /// Reads of a clock a second that `check --sources` counts, to a twentieth: the machine's own
    /// programs read clocks, too.
    ReadsCounted(f64),
    /// A read costs more than a step.
    CostsMoreThanItsStep(&'static str),
    /// Whether a read stays in user mode.
    ReadInUserMode(&'static str, bool),
    /// `watch` tells such an event once, by its kind and cause, whose interval holds the size, in
    /// seconds or ppm.
    Happened(&'static str, &'static str, Option<f64>),
    /// `watch` tells this many events of a kind.
    Events(&'static str, usize),
    /// `watch` tells this many events of a kind, with this cause.
    WatchEvents(&'static str, &'static str, usize),
    /// The same words are in a file that was handed back.
    Says(&'static str, &'static str),
}

/// In words: the truth, what was found, and whether that is the same.
#[derive(Debug)]
pub struct Judged {
    /// What is true.
    pub truth: String,
    /// What was found.
    pub found: String,
    /// Whether that is the same.
    pub verdict: Verdict,
}

/// Whether what was found is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Held,
    /// It is not.
    NotHeld,
    /// Nothing was found, and the program says so.
    NotDetermined,
}

impl Verdict {
    /// As in the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::NotHeld => "**not held**",
            Self::NotDetermined => "not determined",
        }
    }
}

/// What was found, where something was: in words, and whether it is the truth.
type Answer = Result<(String, bool), String>;

impl Truth {
    /// Holds what a machine handed back against it; `others` are the other machines.
    pub fn judged<'a>(self, found: &Found, others: &dyn Fn(&str) -> Option<&'a Found>) -> Judged {
        let (truth, answer) = self.held(found, others);
        match answer {
            Ok((found, true)) => Judged {
                truth,
                found,
                verdict: Verdict::Held,
            },
            Ok((found, false)) => Judged {
                truth,
                found,
                verdict: Verdict::NotHeld,
            },
            Err(why) => Judged {
                truth,
                found: why,
                verdict: Verdict::NotDetermined,
            },
        }
    }

    fn held<'a>(
        self,
        found: &Found,
        others: &dyn Fn(&str) -> Option<&'a Found>,
    ) -> (String, Answer) {
        match self {
            Self::Step(timer, ns) => (
                format!("step of {timer} {ns:.5} ns"),
                row(found, timer).and_then(|row| step(row, ns)),
            ),
            Self::StepOfHpet(timer, factor) => match period_of_hpet(found) {
                Ok(ns) => Self::Step(timer, factor * ns).held(found, others),
                Err(why) => (format!("step of {timer}"), Err(why)),
            },
            Self::SourceStep(source, ns) => (
                format!("step by {source} {ns:.5} ns"),
                source_step(found, source, ns),
            ),
            Self::SourceStepOfHpet(source) => match period_of_hpet(found) {
                Ok(ns) => Self::SourceStep(source, ns).held(found, others),
                Err(why) => (format!("step by {source}"), Err(why)),
            },
            Self::ReadsCounted(reads) => (
                format!("{reads} reads a second, counted"),
                reads_counted(found, reads),
            ),
            Self::StepInTicks(timer, ticks) => (
                format!("step of {timer} a multiple of {ticks} ticks"),
                row(found, timer).and_then(|row| step_in_ticks(row, ticks)),
            ),
            Self::CostInTicks(timer, other, factor) => (
                format!(
                    "a read of {timer} takes {factor} times what it takes on {other}, in ticks"
                ),
                cost_in_ticks(found, others(other), timer, factor),
            ),
            Self::CostsMoreThanItsStep(timer) => (
                format!("a read of {timer} costs more than its step"),
                row(found, timer).and_then(costs_more_than_its_step),
            ),
            Self::Happened(kind, cause, size) => {
                let reported = size.map_or_else(String::new, |size| format!(" of {size}"));
                (
                    format!("{kind}{reported}, by {cause}"),
                    happened(found, kind, cause, size),
                )
            }
            Self::Events(kind, count) => {
                let events = watched(found).map(|kept| {
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
            Self::WatchEvents(kind, cause, count) => {
                let is = |event: &&Event| {
                    word(serde_json::to_string(&event.kind)) == kind
                        && word(serde_json::to_string(&event.cause)) == cause
                };
                let reported = watched(found).map(|kept| kept.events.iter().filter(is).count());
                let truth = format!("{count} events `{kind}` by {cause}");
                (
                    truth,
                    reported.map(|reported| (reported.to_string(), reported == count)),
                )
            }
            Self::Says(file, words) => {
                let text = found.text(file).ok_or_else(|| format!("no {file}"));
                (
                    format!("`{words}` in {file}"),
                    text.map(|text| {
                        (
                            if text.contains(words) {
                                "it is there"
                            } else {
                                "it is not there"
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

/// The period of the HPET as the kernel's log prints its frequency, in nanoseconds.
fn period_of_hpet(found: &Found) -> Result<f64, String> {
    let mhz = hpet_mhz(&found.text("kernel.log").unwrap_or_default());
    mhz.map(|mhz| 1e3 / mhz)
        .ok_or_else(|| "the kernel's log tells no frequency of the HPET".into())
}

/// The output of `check --sources`; it is JSON, and what ends so below reports/ is taken for a report.
fn sources(found: &Found) -> Result<serde_json::Value, String> {
    let text = found
        .text("sources.out")
        .ok_or("no sources were measured")?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

fn source_step(found: &Found, name: &str, truth: f64) -> Answer {
    let reported = sources(found)?;
    let mut all = reported["sources"].as_array().into_iter().flatten();
    let source = all
        .find(|source| source["name"] == name)
        .ok_or_else(|| format!("{name} is not offered"))?;
    let ends = ["step_ns", "step_low_ns", "step_high_ns"].map(|key| source[key].as_f64());
    let [Some(ns), Some(low), Some(high)] = ends else {
        return Err(source["reason"].as_str().unwrap_or("no step").to_owned());
    };
    Ok((
        format!("{ns:.5} ns [{low:.5}, {high:.5}]"),
        low <= truth && truth <= high,
    ))
}

fn reads_counted(found: &Found, truth: f64) -> Answer {
    let reported = sources(found)?;
    if reported["reads_from"] != "counted" {
        return Err("they were not counted".into());
    }
    let reads = reported["reads_a_second"]
        .as_f64()
        .ok_or("no number of reads")?;
    Ok((format!("{reads:.0}"), (reads / truth - 1.0).abs() < 0.05))
}

/// The output of `watch`.
fn watched(found: &Found) -> Result<Log, String> {
    let kept = log::parse(&found.text("watch.jsonl").ok_or("nothing was watched")?);
    kept.end
        .is_some()
        .then_some(kept)
        .ok_or("the watch did not end".into())
}

/// A kind or a cause, as documents have it.
fn word(json: serde_json::Result<String>) -> String {
    json.unwrap_or_default().trim_matches('"').to_owned()
}

fn happened(found: &Found, kind: &str, cause: &str, size: Option<f64>) -> Answer {
    let kept = watched(found)?;
    let of_kind: Vec<_> = kept
        .events
        .iter()
        .filter(|event| word(serde_json::to_string(&event.kind)) == kind)
        .collect();
    let words: Vec<String> = of_kind
        .iter()
        .map(|event| {
            let size = event.size.map_or_else(String::new, |size| {
                let Interval { value, low, high } = size;
                format!(" {value:.4} {} [{low:.4}, {high:.4}]", event.unit)
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
    let held = of_kind.iter().any(|event| {
        let ends = event.size.and_then(|size| size.ends());
        word(serde_json::to_string(&event.cause)) == cause
            && size.is_none_or(|size| ends.is_some_and(|(low, high)| (low..=high).contains(&size)))
    });
    let found = if words.is_empty() {
        format!("no {kind}")
    } else {
        words.join("; ")
    };
    Ok((found, held && of_kind.len() == 1))
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

fn none(row: &TimerRow, what: &str) -> String {
    row.reason.clone().unwrap_or_else(|| format!("no {what}"))
}

fn step(row: &TimerRow, truth: f64) -> Answer {
    let bounded = row.resolution_ns.filter(Interval::is_bounded);
    let Interval {
        value: ns,
        low,
        high,
    } = bounded.ok_or_else(|| none(row, "step"))?;
    Ok((
        format!("{ns:.5} ns [{low:.5}, {high:.5}]"),
        low <= truth && truth <= high,
    ))
}

/// In the timer's own ticks, which are whole numbers.
fn step_in_ticks(row: &TimerRow, truth: f64) -> Answer {
    let step = row
        .resolution
        .as_ref()
        .filter(|step| step.kind == ResolutionKind::Resolved);
    let ticks = step.ok_or_else(|| none(row, "step"))?.ticks;
    let times = ticks / truth;
    Ok((
        format!("{ticks:.3} ticks"),
        times >= 0.999 && (times - times.round()).abs() < 1e-3 * times,
    ))
}

fn cost_in_ticks(found: &Found, other: Option<&Found>, timer: &str, factor: f64) -> Answer {
    let cost = |found: &Found| -> Result<[f64; 3], String> {
        let row = row(found, timer)?;
        let unit = row.ns_per_tick.ok_or("its unit is not known")?;
        let bounded = row.cost_ns.filter(Interval::is_bounded);
        let cost = bounded.ok_or_else(|| none(row, "cost"))?;
        Ok([cost.value, cost.low, cost.high].map(|ns| ns / unit))
    };
    let [here, low, high] = cost(found)?;
    let [there, least, most] = cost(other.ok_or("the other machine was not booted")?)?;
    let text =
        format!("{here:.2} ticks [{low:.2}, {high:.2}], there {there:.2} [{least:.2}, {most:.2}]");
    Ok((text, low <= most * factor && least * factor <= high))
}

fn costs_more_than_its_step(row: &TimerRow) -> Answer {
    let step = value_of(row.resolution_ns).ok_or_else(|| none(row, "step"))?;
    let cost = row
        .cost_ns
        .and_then(|cost| cost.low())
        .ok_or_else(|| none(row, "cost"))?;
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

/// As in `hpet0: 3 comparators, 64-bit 100.000000 MHz counter`.
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
    const SOURCES: &str = r#"{"sources":[{"name":"hpet","step_ns":10.0,"step_low_ns":9.99,"step_high_ns":10.01},
        {"name":"acpi_pm","step_ns":null,"reason":"busy"}],"reads_a_second":2031,"reads_from":"counted"}"#;
    const EVENT: &str = r#"{"schema":"timermeter.watch.v1","line":"event","kind":"pause","cause":"machine","at_s":1.0,"since_s":8.0,"size":{"value":4.95,"low":4.95,"high":5.05},"unit":"s","note":""}"#;
    const END: &str = r#"{"schema":"timermeter.watch.v1","line":"end","date":"","watched_s":25.0,"cpu_share":null,"events":1,"monotonic_stability":[],"counter_stability":[]}"#;

    fn found(folder: &std::path::Path) -> Found {
        let place = folder.join("made-up");
        fs::create_dir_all(&place).expect("a folder");
        let text = include_str!("../../../../tests/data/xeon-2026-11-21.json");
        let mut report = timermeter::report::parse(text, "a report").expect("it is one");
        let row = report
            .timers
            .iter_mut()
            .find(|row| row.id == "monotonic")
            .expect("it has it");
        row.resolution_ns = Some(Interval::with_ends(10.001, Some((10.0009, 10.0011))));
        fs::write(place.join("kernel.log"), LOG).expect("there is room");
        fs::write(place.join("sources.out"), SOURCES).expect("there is room");
        fs::write(place.join("watch.jsonl"), format!("{EVENT}\n{END}\n")).expect("there is room");
        let mut found = Found::read(folder, "made-up").expect("it is kept");
        found.report = Some(report);
        found
    }

    #[test]
    fn truth_holds_only_within_interval() {
        let folder = tempfile::tempdir().expect("a folder");
        let found = found(folder.path());
        for (truth, verdict) in [
            (Truth::Step("monotonic", 10.001), Verdict::Held),
            (Truth::Step("monotonic", 10.0), Verdict::NotHeld),
            (Truth::StepOfHpet("monotonic", 1.0001), Verdict::Held),
            (Truth::StepOfHpet("monotonic", 1.0), Verdict::NotHeld),
            (Truth::ReadInUserMode("monotonic", true), Verdict::Held),
            (Truth::ReadInUserMode("monotonic", false), Verdict::NotHeld),
            (Truth::Step("sundial", 1.0), Verdict::NotDetermined),
            (
                Truth::CostInTicks("rdtsc", "icount-0", 2.0),
                Verdict::NotDetermined,
            ),
            (
                Truth::Happened("pause", "machine", Some(5.0)),
                Verdict::Held,
            ),
            (
                Truth::Happened("pause", "machine", Some(5.2)),
                Verdict::NotHeld,
            ),
            (Truth::Happened("pause", "process", None), Verdict::NotHeld),
            (Truth::Happened("step", "clock-set", None), Verdict::NotHeld),
            (Truth::Events("step", 0), Verdict::Held),
            (Truth::Events("pause", 0), Verdict::NotHeld),
            (Truth::Says("kernel.log", "hpet0"), Verdict::Held),
            (Truth::SourceStepOfHpet("hpet"), Verdict::Held),
            (Truth::SourceStep("hpet", 10.1), Verdict::NotHeld),
            (Truth::SourceStep("acpi_pm", 279.4), Verdict::NotDetermined),
            (Truth::ReadsCounted(2_000.0), Verdict::Held),
            (Truth::ReadsCounted(1_000.0), Verdict::NotHeld),
        ] {
            let judged = truth.judged(&found, &|_| None);
            assert_eq!(judged.verdict, verdict, "{judged:?}");
        }
    }

    #[test]
    fn log_without_frequency_gives_none() {
        assert_eq!(hpet_mhz(LOG), Some(100.0));
        assert_eq!(hpet_mhz("hpet0: 0 MHz counter"), None);
    }
}
