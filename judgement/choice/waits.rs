//! Chooses the timer to wait with. The first is the least late one that blocks; the second is, of those
//! that spin and are far less late, the one with the least CPU time. Equals are in the order of the table
//! of code, so that every run names the same.

use serde::Serialize;

use super::ChoiceError;
use super::clocks::{Choice, RankedTimer};
use super::language::Language;
use super::recipe::percent;
use super::runtime::why_unavailable;
use super::wait_snippet::coded;
use estimators::model::{
    Estimate, Finding, Lateness, MAX_RATE_PPM, Report, RowHead, USUAL_WAIT_NS, WaitActivity,
    WaitConditions, value_of,
};
use estimators::numbers::{short_time, time};

/// Largest ratio between the requested length of waits and the nearest measured length, whichever
/// is longer, for which the measured length is used.
const MAX_LENGTH_RATIO: f64 = 1.25;

/// Largest tail of a wait that spins, as a share of that of the best one that blocks, that justifies its
/// CPU time.
/// *Judgement*: tails vary by less from run to run.
const MAX_TAIL_RATIO: f64 = 0.5;

/// Largest ratio of two figures of waits that count as equal even if their intervals differ.
/// *Judgement*: between runs on one machine, medians of the same primitive differ by up to as much.
const MAX_EQUAL_RATIO: f64 = 2.0;

/// Smallest share of a CPU at which a wait counts as spinning.
/// *Judgement*: one that blocks uses a small part, one that spins all but interruptions.
const MIN_SPINNING_SHARE: f64 = 0.8;

/// What is to wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitRequirement {
    /// Length of a wait in nanoseconds.
    pub every_ns: f64,
    /// Whether it waits once, not every period.
    pub once: bool,
    /// The language of the program that waits; null if any primitive may be picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
}

impl WaitRequirement {
    /// Whether periodic timers are measured, and not waits, which code in the languages of other runtimes
    /// repeats.
    pub fn is_periodic(&self) -> bool {
        !self.once && !coded(self.language).any(|id| id.contains(':'))
    }

    /// How to measure these waits.
    pub fn remedy(&self) -> String {
        let every = if self.is_periodic() { "--every " } else { "" };
        let length = short_time(self.every_ns).replace(' ', "").replace('µ', "u");
        let ids: Vec<&str> = coded(self.language).collect();
        let ids = ids.join(" ");
        format!(
            "`timermeter wait {every}{length} {ids} -o report.json` measures them; give --from report.json"
        )
    }
}

/// Waits of one length, or those of a periodic timer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitRecord {
    /// How late they end, and their CPU time.
    #[serde(flatten)]
    pub lateness: Lateness,
    /// Share of due times without a wake-up; 0 for single waits.
    pub missed: f64,
    /// The conditions under which they were measured.
    pub conditions: WaitConditions,
    /// Whether the thread blocks, or runs a loop all the time or before the wake-up.
    pub means: WaitActivity,
}

/// A timer compared by its waits.
pub type RankedWait = RankedTimer<WaitRecord>;

/// The result of comparing the waits of a report.
pub type WaitChoice = Choice<WaitRequirement, WaitRecord>;

/// Compares the timers of a report: for a wait each period its periodic timers, or else its waits of the
/// length that is nearest to the requested one.
///
/// # Errors
/// When the report has no waits of about that length in the language of the requirement.
pub fn choose(report: &Report, asked: &WaitRequirement) -> Result<WaitChoice, ChoiceError> {
    let is_near = |late: &Lateness| late.distance(asked.every_ns) <= MAX_LENGTH_RATIO.ln();
    for is_periodic in [asked.is_periodic(), false] {
        let all = rank(report, asked, is_periodic, true).concat();
        if all
            .first()
            .is_some_and(|one| is_near(&one.figures.lateness))
        {
            let schema = "timermeter.pick-wait.v1";
            return Ok(Choice::from_ranked(report, schema, *asked, all));
        }
    }
    // The timers of a runtime that is not installed are one row, as in `java:*`.
    let is_own = |head: &&RowHead| {
        coded(asked.language).any(|id| id.starts_with(head.id.trim_end_matches('*')))
    };
    let unavailable = why_unavailable(report.heads().filter(is_own));
    Err(ChoiceError(unavailable.unwrap_or_else(|| {
        format!(
            "the report has no waits of about {}; {}",
            short_time(asked.every_ns),
            asked.remedy()
        )
    })))
}

/// Orders the periodic timers of a report, or its waits, of the length nearest to the requested one: those to
/// use, and the others by lateness. Loops keep no schedule, which suffices `with_loops`.
fn rank(
    report: &Report,
    asked: &WaitRequirement,
    is_periodic: bool,
    with_loops: bool,
) -> [Vec<RankedWait>; 2] {
    let mut all = candidates(report, asked, is_periodic, with_loops);
    let place = |one: &RankedWait| coded(asked.language).position(|id| id == one.id);
    all.retain(|one| asked.language.is_none() || place(one).is_some());
    all.sort_by_key(|one| place(one).unwrap_or(usize::MAX));
    let blocks = |one: &RankedWait| one.figures.means == WaitActivity::Blocks;
    let first = take_best(&mut all, |one| {
        one.figures.distance().filter(|_| blocks(one))
    });
    let mut second = take_best(&mut all, |one| {
        let late = &one.figures.lateness;
        let is_better = |best: &RankedWait| {
            let distance = |one: &RankedWait| value_of(one.figures.distance());
            distance(one) <= distance(best) && has_short_tail(late, &best.figures.lateness)
        };
        let serves = !blocks(one) && first.as_ref().is_none_or(is_better);
        let all_ns = Estimate::exact(late.request_ns as f64);
        serves.then(|| late.cpu_ns.unwrap_or(all_ns))
    });
    if let Some(one) = &mut second {
        one.reason = format!("where it must not be late: {}", one.reason);
    }
    all.sort_by_key(|one| {
        (
            !one.suffices,
            one.figures.distance().map(|late| late.value as u64),
        )
    });
    [first.into_iter().chain(second).collect(), all]
}

/// Whether the tail of waits that spin, the 99th percentile or else the longest lateness, is far shorter
/// than that of others.
fn has_short_tail(late: &Lateness, other: &Lateness) -> bool {
    let p99_ns = late.p99_ns.zip(other.p99_ns);
    let tails = p99_ns.map(|(tail, other)| [tail.value, other.value]);
    let [tail_ns, other_ns] = tails.unwrap_or([late.max_ns, other.max_ns]);
    tail_ns <= MAX_TAIL_RATIO * other_ns
}

/// Takes the timer with the least figure of those that suffice and have one; the first one of all that are
/// as good, as far as their intervals and [`MAX_EQUAL_RATIO`] show.
fn take_best(
    all: &mut Vec<RankedWait>,
    figure: impl Fn(&RankedWait) -> Option<Estimate>,
) -> Option<RankedWait> {
    let figure = |one: &RankedWait| figure(one).filter(|_| one.suffices);
    let values = all.iter().filter_map(|one| value_of(figure(one)));
    let most = MAX_EQUAL_RATIO * values.min_by(f64::total_cmp)?;
    let is_best = |found: Estimate| found.low().unwrap_or(found.value) <= most;
    let at = all
        .iter()
        .position(|one| figure(one).is_some_and(is_best))?;
    Some(all.remove(at))
}

/// The periodic timers of a report, or its waits of the length nearest to the requested one.
fn candidates(
    report: &Report,
    asked: &WaitRequirement,
    is_periodic: bool,
    with_loops: bool,
) -> Vec<RankedWait> {
    let periods = report.periods.iter().filter_map(|row| {
        let figures = row.figures.as_ref().filter(|_| is_periodic)?;
        let is_fast = figures
            .rate_error_ppm
            .is_some_and(|ppm| ppm.high < -MAX_RATE_PPM);
        let serves = figures.keeps_schedule() || (figures.is_loop && with_loops);
        let unfit = match (serves, is_fast) {
            (false, _) => Some("it falls behind its schedule"),
            (true, true) => Some("it runs ahead of its schedule: its clock is fast"),
            (true, false) => None,
        };
        let late = figures.lateness.clone()?;
        let missed = figures.missed as f64 / figures.due().max(1) as f64;
        Some((&row.head, &row.conditions, row.means, (late, missed), unfit))
    });
    let waits = report.waits.iter().filter_map(|row| {
        let figures = row.figures.as_ref().filter(|_| !is_periodic)?;
        let late = Lateness::nearest(figures.lateness.iter(), asked.every_ns)?;
        let other_clock = figures.other_clock_ppm();
        let unfit = other_clock.map(|_| "it waits by another clock than it is timed by");
        Some((
            &row.head,
            &row.conditions,
            row.means,
            (late.clone(), 0.0),
            unfit,
        ))
    });
    let all = periods.chain(waits);
    let all = all.filter_map(|(head, conditions, means, (late, missed), unfit)| {
        let lateness = late.p50_ns?.value / late.request_ns as f64;
        let in_bursts = (lateness >= 1.0 && !asked.once)
            .then_some("it is later than the period: calls come in bursts");
        let too_early =
            (lateness < -0.5).then_some("it returns before half of the time has passed");
        let signals = |finding: &&Finding| finding.code == "interrupted-by-signals";
        let notes = head.findings.iter().filter(signals).map(Finding::message);
        let unfit = unfit.or(in_bursts).or(too_early);
        let figures = WaitRecord {
            lateness: late,
            missed,
            conditions: conditions.clone(),
            means,
        };
        Some(RankedTimer {
            id: head.id.clone(),
            label: head.label.clone(),
            suffices: unfit.is_none(),
            reason: unfit.map_or_else(|| figures.in_words(), Into::into),
            notes: notes.collect(),
            figures,
        })
    });
    all.collect()
}

impl WaitRecord {
    /// How far the median is from the time that was due, early or late, in nanoseconds.
    fn distance(&self) -> Option<Estimate> {
        let late = self.lateness.p50_ns?;
        Some(Estimate::around(late.value.abs(), late.half_width()))
    }

    /// Median, 99th percentile and maximum of the lateness, and the CPU time of a wait, for people.
    pub fn in_words(&self) -> String {
        let late = &self.lateness;
        let is_early = late.p50_ns.is_some_and(|late| late.value < 0.0);
        let side = if is_early { "early" } else { "late" };
        let tail = late
            .p99_ns
            .map(|tail| format!("; 99 % by at most {}", time(tail.value)));
        let most_ns = MIN_SPINNING_SHARE * late.request_ns as f64;
        let cpu = late.cpu_ns.map(|cpu| {
            if self.means != WaitActivity::Blocks && cpu.value >= most_ns {
                "; it spins: 100 % of a CPU".into()
            } else {
                format!("; {} of CPU per wake-up", time(cpu.value))
            }
        });
        let missed = (self.missed > 0.0)
            .then(|| format!("; {} of due times had no wake-up", percent(self.missed)));
        let early = (late.early > 0.0).then(|| {
            format!(
                "; {} return up to {} early: wait for the rest",
                percent(late.early),
                time(late.earliest_ns)
            )
        });
        format!(
            "{side} by {} (median of {} waits{}), {} at worst{}{}{}",
            time(value_of(self.distance())),
            late.waits,
            tail.unwrap_or_default(),
            time(late.max_ns),
            cpu.unwrap_or_default(),
            early.unwrap_or_default(),
            missed.unwrap_or_default()
        )
    }
}

/// The timers that the report recommends for waits of about this length in nanoseconds, or to be woken by
/// with this period: those that keep a schedule.
pub fn leading(report: &Report, every_ns: f64, is_periodic: bool) -> Vec<RankedWait> {
    let asked = WaitRequirement {
        every_ns,
        once: !is_periodic,
        language: None,
    };
    let [leading, _] = rank(report, &asked, is_periodic, false);
    leading
}

/// Sums up the waits of a report, or else its periodic timers, in a sentence: the leading ones. `None`
/// if there are none.
pub fn summarize_waits(report: &Report) -> Option<String> {
    [("wait", false), ("wake every", true)]
        .into_iter()
        .find_map(|(what, is_periodic)| {
            let leading = leading(report, USUAL_WAIT_NS, is_periodic);
            let length_ns = leading.first()?.figures.lateness.request_ns;
            let length = short_time(length_ns as f64);
            let in_words = |one: &RankedWait| format!("{}, {}", one.id, one.reason);
            let words: Vec<String> = leading.iter().map(in_words).collect();
            let words = words.join("; or ");
            Some(format!("To {what} {length} on this machine, use {words}."))
        })
}

#[cfg(test)]
mod tests;
