//! What a machine was built to be, and whether a report says so.

use timermeter::model::{Path, Report, TimerRow};

use crate::Outcome;

/// Something that is true of a machine.
#[derive(Clone, Copy)]
pub enum Truth {
    /// The step of a timer, in nanoseconds.
    Step(&'static str, f64),
    /// The step of a timer is the period of the HPET, as the kernel's log prints its frequency, times a factor.
    StepOfHpet(&'static str, f64),
    /// A read costs more than a step.
    CostsMoreThanItsStep(&'static str),
    /// Whether a read stays in user mode.
    ReadInUserMode(&'static str, bool),
}

/// In words: the truth, what was found, and whether that is the same.
type Judged = (String, String, bool);

impl Truth {
    /// Holds a report against it.
    ///
    /// # Errors
    /// When the report lacks the timer, or the log the frequency.
    pub fn judged(self, report: &Report, log: &str) -> Outcome<Judged> {
        match self {
            Self::Step(timer, ns) => Ok(step(row(report, timer)?, ns)),
            Self::StepOfHpet(timer, factor) => {
                let mhz = hpet_mhz(log).ok_or("the kernel's log tells no frequency of the HPET")?;
                Ok(step(row(report, timer)?, factor * 1e3 / mhz))
            }
            Self::CostsMoreThanItsStep(timer) => {
                let row = row(report, timer)?;
                let step = row.accuracy.as_ref().and_then(|accuracy| accuracy.ns);
                let cost = row.cost.as_ref().and_then(|cost| cost.low_ns);
                let holds = step.zip(cost).is_some_and(|(step, cost)| cost > step);
                let found = cost.map_or("no cost".to_owned(), |cost| format!("costs {cost:.0} ns or more"));
                Ok((format!("a read of {timer} costs more than its step"), found, holds))
            }
            Self::ReadInUserMode(timer, truth) => {
                let row = row(report, timer)?;
                let path = row.verdicts.as_ref().and_then(|verdicts| verdicts.read_path.path);
                let stays = |path| path == Path::UserMode;
                let found = match path {
                    Some(path) if stays(path) => "in user mode",
                    Some(_) => "by the kernel",
                    None => "unknown",
                };
                let told = if truth { "in user mode" } else { "by the kernel" };
                Ok((format!("{timer} is read {told}"), found.into(), path.map(stays) == Some(truth)))
            }
        }
    }
}

fn row<'a>(report: &'a Report, timer: &str) -> Result<&'a TimerRow, String> {
    report.timers.iter().find(|row| row.id == timer).ok_or_else(|| format!("the report has no timer {timer}"))
}

fn step(row: &TimerRow, truth: f64) -> Judged {
    let ends = row.accuracy.as_ref().and_then(|step| Some([step.ns?, step.low_ns?, step.high_ns?]));
    let (found, holds) = match ends {
        Some([ns, low, high]) => (format!("{ns:.5} ns [{low:.5}, {high:.5}]"), low <= truth && truth <= high),
        None => ("no step".to_owned(), false),
    };
    (format!("step of {} {truth:.5} ns", row.id), found, holds)
}

/// As in `hpet0: 3 comparators, 64-bit 100.000000 MHz counter`.
fn hpet_mhz(log: &str) -> Option<f64> {
    let line = log.lines().find(|line| line.contains("hpet0:") && line.contains(" MHz counter"))?;
    let mhz: f64 = line.split(" MHz").next()?.rsplit(' ').next()?.parse().ok()?;
    (mhz > 0.0).then_some(mhz)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "[ 1.0] hpet0: at MMIO 0xfed00000, IRQs 2, 8, 0\r\n[ 1.1] hpet0: 3 comparators, 64-bit 100.000000 MHz counter\r\n";

    fn report() -> Report {
        let text = include_str!("../../../tests/data/xeon-2026-11-21.json");
        let mut report = timermeter::report::parse(text, "a report").expect("it is one");
        let row = report.timers.iter_mut().find(|row| row.id == "monotonic").expect("it has it");
        let step = row.accuracy.as_mut().expect("it has a step");
        (step.ns, step.low_ns, step.high_ns) = (Some(10.001), Some(10.0009), Some(10.0011));
        report
    }

    #[test]
    fn a_truth_holds_within_the_interval_and_not_beyond() {
        for (truth, holds) in [
            (Truth::Step("monotonic", 10.001), true),
            (Truth::Step("monotonic", 10.0), false),
            (Truth::StepOfHpet("monotonic", 1.0001), true),
            (Truth::StepOfHpet("monotonic", 1.0), false),
            (Truth::ReadInUserMode("monotonic", true), true),
            (Truth::ReadInUserMode("monotonic", false), false),
        ] {
            let judged = truth.judged(&report(), LOG).expect("all is there");
            assert_eq!(judged.2, holds, "{judged:?}");
        }
        assert!(Truth::Step("sundial", 1.0).judged(&report(), LOG).is_err());
        assert!(Truth::StepOfHpet("monotonic", 1.0).judged(&report(), "").is_err());
    }
}
