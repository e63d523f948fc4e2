//! Builds the short answer that `timermeter` prints without a command: the clock to use, from the
//! figures of a few clocks and waits.

use serde::Serialize;

use super::recommendation::{faster_in_words, figures_in_words, usual};
use super::{USUAL_DURATION, USUAL_ERROR};
use crate::choice::clock_figures::{DRIFT, PORTABLE};
use crate::choice::recipe::{RecipeMethod, plan_batch, plan_single};
use crate::choice::{ClockFigures, Language, RankedClock, Requirement, choose, clock_row};
use estimators::model::{
    Assessment, Finding, Fit, MAX_FINE_STEP_NS, Path, Report, Status, TimerRow, WaitRow,
};
use estimators::numbers::{short_time, time};

/// Length of the measured waits in nanoseconds.
pub const WAIT_NS: u64 = 1_000_000;
/// Why a clock is not known if no row says it.
const UNKNOWN: &str = "the measurement was short → timermeter check";
/// Functions of common languages that read the monotonic clock on Linux.
const MONOTONIC_FUNCTIONS: &str =
    " (steady_clock, Instant, System.nanoTime, time.perf_counter, process.hrtime)";

/// The short answer: the clocks to use, and the state of the machine.
#[derive(Debug, Serialize)]
pub struct ClockAnswer {
    /// The schema of this document.
    pub schema: &'static str,
    /// The clock source of the kernel; null if unknown.
    pub clock_source: Option<String>,
    /// The path by which the portable clock is read; null if unknown.
    pub path: Option<Path>,
    /// Whether the kernel provides a vDSO that reads clocks without a system call; null if unknown.
    pub vdso: Option<bool>,
    /// The clock to time operations with: the one that `pick` picks for 250 ns and 1 %.
    pub to_time: Option<AnswerClock>,
    /// The clock with the cheapest read, if it is not `to_time`.
    pub cheapest: Option<AnswerClock>,
    /// Duration in nanoseconds from which a single operation can be timed to 1 %; null if there is
    /// none.
    pub alone_from_ns: Option<f64>,
    /// Number of calls between two reads that time an operation of 10 ns to 1 %; null if no number
    /// is enough.
    pub calls_of_10_ns: Option<u64>,
    /// The durations of waits of 1 ms.
    pub waits: Vec<AnswerWait>,
    /// The timer slack of the waiting thread in nanoseconds.
    pub slack_ns: Option<u64>,
    /// What is wrong with the clocks, and what disturbed the measurement.
    pub assessment: Assessment,
}

/// The figures of a clock in the short answer.
#[derive(Debug, Serialize)]
pub struct AnswerClock {
    /// Id of the clock.
    pub id: String,
    /// The call that reads the clock.
    pub label: String,
    /// The resolution in nanoseconds, or its upper bound if `resolved` is false.
    pub step_ns: f64,
    /// Whether the resolution is known; if not, `step_ns` is an upper bound.
    pub resolved: bool,
    /// Cost of a read in nanoseconds.
    pub cost_ns: f64,
}

/// The duration of a wait with one timer.
#[derive(Debug, Serialize)]
pub struct AnswerWait {
    /// Id of the timer.
    pub id: String,
    /// Median duration of a wait of 1 ms in nanoseconds.
    pub takes_ns: f64,
    /// Largest error of a duration, due to the clock that timed it, in nanoseconds.
    pub uncertainty_ns: f64,
}

impl ClockAnswer {
    /// Builds the answer from a report of a few clocks, and of waits of 1 ms.
    pub fn from_report(report: &Report) -> Self {
        let assessment = report.assessment.clone();
        let row = |id: &Option<String>| clock_row(report, id.as_ref()?);
        let to_time = row(&assessment.to_time);
        let clock = to_time.and_then(|row| ClockFigures::from_row(row, &report.platform).ok());
        let path = |id: &&str| clock_row(report, id)?.verdicts.as_ref()?.read_path.path;
        let (source, waits) = (&report.platform.clocksource, report.waits.iter());
        Self {
            schema: "timermeter.answer.v2",
            clock_source: source.current.clone(),
            path: PORTABLE.iter().find_map(path),
            vdso: source.vdso,
            alone_from_ns: clock.as_ref().map(min_single_ns),
            calls_of_10_ns: clock.as_ref().and_then(calls_of_10_ns),
            to_time: to_time.and_then(AnswerClock::from_row),
            cheapest: row(&assessment.cheapest).and_then(AnswerClock::from_row),
            slack_ns: waits.clone().find_map(|row| row.conditions.slack_ns),
            waits: waits.filter_map(AnswerWait::from_row).collect(),
            assessment,
        }
    }

    /// The headings and texts that are printed for people, from the answer and its report of clocks.
    pub fn lines(&self, report: &Report) -> impl Iterator<Item = (&'static str, String)> {
        let row = |clock: &Option<AnswerClock>| clock_row(report, &clock.as_ref()?.id);
        let source = self.clock_source.as_ref();
        let remark = match self.assessment.fit {
            Fit::Yes => "read without a system call".to_owned(),
            _ => self.assessment.fit_in_words(),
        };
        let is_linux = report.platform.os.family == "linux";
        let to_time = row(&self.to_time).map(|row| {
            let is_monotonic = is_linux && row.id == PORTABLE[0];
            let functions = if is_monotonic {
                MONOTONIC_FUNCTIONS
            } else {
                ""
            };
            format!("{}: {}{functions}", row.label, figures_in_words(row))
        });
        let busy: Vec<String> = self.assessment.busy.iter().map(Finding::message).collect();
        let machine = match self.assessment.quiet {
            Some(true) => "quiet".to_owned(),
            Some(false) => format!("busy: {}", busy.join("; ")),
            None => "not known to be quiet: it does not report its load".to_owned(),
        };
        let rows = report.timers.iter();
        let mut failed = rows.filter(|row| row.status == Status::Failed);
        let unknown = failed.find_map(|row| row.reason.as_deref());
        let wrong = self.assessment.wrong_in_words().into_iter();
        let lines = [
            (
                "clock source",
                source.map(|source| format!("{source}, {remark}")),
            ),
            (
                "to time things",
                to_time.or_else(|| Some(format!("not known: {}", unknown.unwrap_or(UNKNOWN)))),
            ),
            (
                "cheapest",
                row(&self.cheapest).map(|row| faster_in_words(row, report, "")),
            ),
            ("start and stop", self.start_and_stop()),
            ("sleep 1 ms", self.sleeps()),
            ("this machine", Some(machine)),
        ];
        let lines = lines
            .into_iter()
            .filter_map(|(name, text)| Some((name, text?)));
        wrong.map(|text| ("wrong", text)).chain(lines)
    }

    /// The cost of two reads, and the durations that can be timed alone or in batches.
    fn start_and_stop(&self) -> Option<String> {
        let clock = self.to_time.as_ref()?;
        let cost = time(clock.cost_ns);
        let Some(from) = self.alone_from_ns else {
            return Some(format!("a read costs {cost}"));
        };
        let mut text = format!(
            "two reads, less the cost of one ({cost}), time one operation of {} or more to within 1 %",
            two_digits(from)
        );
        if let Some(calls) = self.calls_of_10_ns {
            text += &format!("; for shorter ones time a batch (of 10 ns: {calls} calls)");
        }
        Some(text)
    }

    /// The durations of waits of 1 ms; `None` if none were measured.
    fn sleeps(&self) -> Option<String> {
        let (first, others) = self.waits.split_first()?;
        let slack = self.slack_ns.map_or_else(String::new, |ns| {
            format!(" (timer slack {})", two_digits(ns as f64))
        });
        let mut text = format!("{} takes {}{slack}", first.id, first.in_words());
        for other in others {
            text += &format!(", {} {}", other.id, other.in_words());
        }
        Some(text)
    }
}

impl AnswerClock {
    fn from_row(row: &TimerRow) -> Option<Self> {
        Some(Self {
            id: row.id.clone(),
            label: row.label.clone(),
            step_ns: row.step_or_limit_ns()?.value,
            resolved: row.resolution_ns.is_some(),
            cost_ns: row.cost_ns?.value,
        })
    }
}

impl AnswerWait {
    fn from_row(row: &WaitRow) -> Option<Self> {
        let late = row
            .figures
            .as_ref()?
            .lateness
            .iter()
            .find(|late| late.request_ns == WAIT_NS)?;
        Some(Self {
            id: row.id.clone(),
            takes_ns: WAIT_NS as f64 + late.p50_ns?.value,
            uncertainty_ns: late.uncertainty_ns,
        })
    }

    /// The duration, with the error of the clock that timed it if that is coarse.
    fn in_words(&self) -> String {
        let takes = time(self.takes_ns);
        match self.uncertainty_ns > MAX_FINE_STEP_NS {
            true => format!("{takes} ± {}", two_digits(self.uncertainty_ns)),
            false => takes,
        }
    }
}

/// The shortest duration, in nanoseconds, for which a single call with the best clock of a language in a
/// report keeps the usual error, and the plan. `None` if there is none.
pub fn plan_alone(report: &Report, language: Language) -> Option<(f64, RankedClock)> {
    let pick = |duration_ns, clocks| {
        let requirement = Requirement {
            runtime: language.runtime().map(str::to_owned),
            clocks,
            ..usual(duration_ns)
        };
        choose(report, &requirement).ok()?.picked
    };
    let id = pick(USUAL_DURATION.0, language.clocks())?.id;
    let clock = ClockFigures::from_row(clock_row(report, &id)?, &report.platform);
    let from_ns = min_single_ns(&clock.ok()?);
    let own = id.rsplit(':').next()?.to_owned();
    Some((from_ns, pick(from_ns, vec![own])?))
}

/// The shortest duration, in nanoseconds, for which a single call keeps the usual error, rounded up
/// to two digits. All parts of the error except the drift are constant in nanoseconds, so this follows
/// from the error of one plan.
fn min_single_ns(clock: &ClockFigures) -> f64 {
    /// A duration for which any clock keeps the error, in nanoseconds.
    const LONG_NS: f64 = 1e10;
    let plan = plan_single(clock, &usual(LONG_NS));
    let from_ns = LONG_NS * (plan.error - DRIFT) / (USUAL_ERROR - DRIFT);
    let digits = two_digits_unit(from_ns);
    (from_ns / digits).ceil() * digits
}

/// The number of calls between two reads with which an operation of 10 ns is timed to the usual
/// error; `None` if no number is enough.
fn calls_of_10_ns(clock: &ClockFigures) -> Option<u64> {
    let plan = plan_batch(clock, &usual(10.0));
    match plan.method {
        RecipeMethod::Batch { calls } if plan.suffices => Some(calls),
        _ => None,
    }
}

/// Formats a time in nanoseconds with two significant digits.
fn two_digits(ns: f64) -> String {
    let digits = two_digits_unit(ns);
    short_time((ns / digits).round() * digits)
}

/// The unit of the second significant digit.
fn two_digits_unit(ns: f64) -> f64 {
    10_f64.powf(ns.log10().floor() - 1.0)
}
