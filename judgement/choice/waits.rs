//! Chooses the timer to wait with. The candidates are rows of waits, or of periodic timers, with their
//! lateness and CPU time; the first is the least late one that blocks, the second one that spins and
//! is hardly late. Of equals the first that has code is taken, so that every run names the same.

use std::cmp::Reverse;
use std::collections::HashSet;

use serde::Serialize;

use super::ChoiceError;
use super::clocks::{Choice, RankedTimer};
use super::language::Language;
use super::plan::percent;
use super::runtime::why_unavailable;
use super::wait_snippet::{code_position, sets_slack};
use crate::model::{
    Interval, Lateness, PeriodRow, Report, RowHead, USUAL_WAIT_NS, WaitActivity, WaitConditions,
    WaitRow, value_of,
};
use crate::numbers::{short_time, significant, time};

/// Largest ratio between the requested length of waits and the nearest measured length, whichever
/// is longer, for which the measured length is used.
const MAX_LENGTH_RATIO: f64 = 1.25;

/// Largest median lateness of a wait that spins, as a share of that of the best one that blocks, that
/// justifies its CPU time.
/// *Judgement*.
const MAX_LATENESS_RATIO: f64 = 0.2;
/// Largest tail of a wait that spins, as a share of that of the best one that blocks, at which it is
/// recommended where waits must not be late.
/// *Judgement*: tails vary more than medians.
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
    /// Whether there is code that waits with this timer in the language, if one is asked for.
    fn has_code(&self, id: &str) -> bool {
        self.language.is_none() || code_position(id, self.language).is_some()
    }
}

/// Lateness and CPU time of one timer under one set of conditions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WaitRecord {
    /// Requested length of the waits in nanoseconds.
    pub length_ns: u64,
    /// Timer slack of the waiting thread in nanoseconds; null if it has none.
    pub slack_ns: Option<u64>,
    /// Scheduling policy of the waiting thread.
    pub policy: String,
    /// Number of measured waits.
    pub waits: u64,
    /// Median lateness in nanoseconds; negative if wake-ups are early.
    pub p50_ns: Option<f64>,
    /// 99th percentile of the lateness in nanoseconds; null if there were too few waits.
    pub p99_ns: Option<f64>,
    /// Largest lateness in nanoseconds.
    pub max_ns: f64,
    /// CPU time of one wait in nanoseconds; null if unknown.
    pub cpu_ns: Option<f64>,
    /// Share of a CPU that these waits take; null if unknown.
    pub overhead: Option<f64>,
    /// Whether it spins, all the time or before the wake-up.
    #[serde(skip)]
    spins: bool,
    /// Whether it waits by another clock, falls behind its schedule, or has no code in the language.
    #[serde(skip)]
    unfit: bool,
    /// Distance of the median wait from the requested length, early or late, in nanoseconds.
    #[serde(skip)]
    distance: Option<Interval>,
    /// CPU time of a wait in nanoseconds, with its interval.
    #[serde(skip)]
    cpu: Option<Interval>,
    /// Whether this is the timer to use among those that block, or among those that spin.
    #[serde(skip)]
    leads: bool,
}

/// A timer compared by its waits.
pub type RankedWait = RankedTimer<WaitRecord>;

/// The result of comparing the waits of a report.
pub type WaitChoice = Choice<WaitRequirement, WaitRecord>;

/// Compares the timers of a report by their waits of the measured length that is nearest to the
/// requested one.
///
/// # Errors
/// When the report has no waits of about that length in the language of the requirement.
pub fn choose(report: &Report, asked: &WaitRequirement) -> Result<WaitChoice, ChoiceError> {
    let usable = report.waits.iter().filter(|row| asked.has_code(&row.id));
    let near = nearest_length(usable, asked.every_ns)
        .filter(|late| late.distance(asked.every_ns) <= MAX_LENGTH_RATIO.ln());
    if let Some(near) = near {
        let all = rank(list_waits(report, asked, near.request_ns), asked.language);
        return Ok(Choice::from_ranked(
            report,
            "timermeter.pick-wait.v1",
            *asked,
            all,
        ));
    }
    let length = short_time(asked.every_ns);
    let compact = length.replace(' ', "").replace('µ', "u");
    let runtime = asked.language.and_then(Language::waiting_runtime);
    let flag = runtime.map_or_else(String::new, |name| format!(" --runtime {name}"));
    let of_runtime = report
        .waits
        .iter()
        .filter(|row| runtime.is_some_and(|name| row.id.starts_with(name)));
    let unavailable = why_unavailable(of_runtime.map(|row| &row.head));
    Err(ChoiceError(unavailable.unwrap_or_else(|| format!(
        "the report has no waits of about {length}: measure them with `timermeter wait{flag} {compact} -o report.json`"
    ))))
}

/// The measured waits whose length is nearest to `ns` nanoseconds; `None` if there are no waits.
fn nearest_length<'a>(rows: impl Iterator<Item = &'a WaitRow>, ns: f64) -> Option<&'a Lateness> {
    let figures = rows.filter_map(|row| row.figures.as_ref());
    Lateness::nearest(figures.flat_map(|figures| &figures.lateness), ns)
}

/// The candidates: the waits of `length_ns` nanoseconds of all timers. A timer that waited on several
/// CPUs counts with its worst result; code that cannot set the timer slack has the longest one.
fn list_waits(report: &Report, asked: &WaitRequirement, length_ns: u64) -> Vec<RankedWait> {
    let candidates = report
        .waits
        .iter()
        .filter_map(|row| candidate(row, asked, length_ns));
    let mut all: Vec<RankedWait> = candidates.collect();
    all.sort_by(|a, b| b.figures.distance_ns().total_cmp(&a.figures.distance_ns()));
    all.sort_by_key(|one| Reverse(one.figures.slack_ns));
    let mut seen = HashSet::new();
    all.retain(|one| {
        let slack_ns = one
            .figures
            .slack_ns
            .filter(|_| sets_slack(&one.id, asked.language));
        seen.insert((one.id.clone(), slack_ns, one.figures.policy.clone()))
    });
    all
}

/// The result of the waits of this row with a length of `length_ns`; `None` if there are none.
fn candidate(row: &WaitRow, asked: &WaitRequirement, length_ns: u64) -> Option<RankedWait> {
    let figures = row.figures.as_ref()?;
    let of_length = |late: &&Lateness| late.request_ns == length_ns;
    let late = figures.lateness.iter().find(of_length)?;
    let record = WaitRecord {
        overhead: value_of(late.cpu_ns).map(|cpu| (cpu / asked.every_ns).max(0.0)),
        ..WaitRecord::of(&row.conditions, row.means, late)
    };
    let unfit = match figures.other_clock_ppm() {
        _ if !asked.has_code(&row.id) => {
            Some("`pick` has no code for it in this language".to_owned())
        }
        Some(ppm) => Some(format!(
            "it is timed by another clock than it waits by: they differ by {} ppm",
            significant(ppm.value.abs(), 3)
        )),
        None => None,
    };
    let period_ns = if asked.once {
        f64::INFINITY
    } else {
        asked.every_ns
    };
    let mut one = ranked(&row.head, record, unfit, period_ns)?;
    one.notes.extend(early_note(late));
    Some(one)
}

/// The result of a periodic timer; `None` if its lateness is unknown.
fn periodic(row: &PeriodRow) -> Option<RankedWait> {
    let figures = row.figures.as_ref()?;
    let record = WaitRecord::of(&row.conditions, row.means, figures.lateness.as_ref()?);
    let drifts = !figures.keeps_schedule();
    ranked(
        &row.head,
        record,
        drifts.then(|| "it falls behind its schedule".into()),
        f64::INFINITY,
    )
}

/// A timer with its waits, one every `every_ns` nanoseconds; `unfit` says why it cannot serve.
fn ranked(
    head: &RowHead,
    mut record: WaitRecord,
    unfit: Option<String>,
    every_ns: f64,
) -> Option<RankedWait> {
    let late_ns = record.p50_ns?;
    record.unfit = unfit.is_some();
    let in_bursts = (late_ns >= every_ns).then(|| {
        format!(
            "it is {} late, longer than the period: calls come in bursts",
            time(late_ns)
        )
    });
    let shortfall = unfit.or(in_bursts);
    Some(RankedTimer {
        id: head.id.clone(),
        label: head.label.clone(),
        suffices: shortfall.is_none(),
        reason: shortfall
            .unwrap_or_else(|| format!("{} ({})", record.lateness(), record.conditions())),
        notes: Vec::new(),
        figures: record,
    })
}

/// Orders timers: the least late one that blocks; of those that spin and are at most
/// [`MAX_LATENESS_RATIO`] times as late, with a tail of at most [`MAX_TAIL_RATIO`] times that of the
/// first, the one with the least CPU time; then the rest by lateness.
fn rank(all: Vec<RankedWait>, language: Option<Language>) -> Vec<RankedWait> {
    let (mut spinning, mut rest): (Vec<_>, Vec<_>) =
        (all.into_iter()).partition(|one| one.figures.spins);
    order(&mut rest, |record| record.distance, language);
    let first = rest
        .iter()
        .position(|one| one.suffices)
        .map(|at| rest.remove(at));
    order(&mut spinning, |record| record.cpu, language);
    let in_time = spinning.iter().position(|one| {
        let best = first.as_ref().map(|first| &first.figures);
        one.suffices && best.is_none_or(|best| one.figures.is_far_less_late(best))
    });
    let mut second = in_time.map(|at| spinning.remove(at));
    if let Some(one) = &mut second {
        one.reason = format!("where it must not be late: {}", one.reason);
    }
    rest.extend(spinning);
    order(&mut rest, |record| record.distance, language);
    rest.sort_by_key(|one| (!one.suffices, one.figures.unfit));
    let mut leaders: Vec<RankedWait> = first.into_iter().chain(second).collect();
    leaders.iter_mut().for_each(|one| one.figures.leads = true);
    leaders.into_iter().chain(rest).collect()
}

/// Orders timers by a figure. Those that are as good as the first, as far as the intervals and
/// [`MAX_EQUAL_RATIO`] show, are in the order of their code.
fn order(
    timers: &mut [RankedWait],
    figure: impl Fn(&WaitRecord) -> Option<Interval>,
    language: Option<Language>,
) {
    let value = |one: &RankedWait| figure(&one.figures).map_or(f64::INFINITY, |found| found.value);
    timers.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let Some(best) = timers.first().and_then(|one| figure(&one.figures)) else {
        return;
    };
    let most = best.high().unwrap_or(0.0).max(MAX_EQUAL_RATIO * best.value);
    let is_equal = |found: Interval| found.low().unwrap_or(found.value) <= most;
    timers.sort_by_key(|one| {
        let is_equal = figure(&one.figures).is_some_and(is_equal);
        // Of one timer, the usual slack is first.
        let fixed = is_equal.then(|| {
            let code = code_position(&one.id, language).unwrap_or(usize::MAX);
            (code, one.id.clone(), Reverse(one.figures.slack_ns))
        });
        (!is_equal, fixed)
    });
}

/// Ids and timer slacks of the leading timers, which are measured for longer.
pub fn list_promising(choice: &WaitChoice) -> impl Iterator<Item = (String, Option<u64>)> {
    let all = choice.picked.iter().chain(&choice.others);
    all.filter(|one| one.figures.leads)
        .map(|one| (one.id.clone(), one.figures.slack_ns))
}

impl WaitRecord {
    /// What the conditions and the lateness of these waits say.
    fn of(conditions: &WaitConditions, means: WaitActivity, late: &Lateness) -> Self {
        let p50 = late.p50_ns;
        Self {
            length_ns: late.request_ns,
            slack_ns: conditions.slack_ns,
            policy: conditions.policy.clone(),
            waits: late.waits,
            p50_ns: value_of(p50),
            p99_ns: value_of(late.p99_ns),
            max_ns: late.max_ns,
            cpu_ns: value_of(late.cpu_ns),
            cpu: late.cpu_ns,
            distance: p50.map(|late| Interval::around(late.value.abs(), late.half_width())),
            spins: means != WaitActivity::Blocks,
            ..Self::default()
        }
    }

    /// Distance of the median wait from the requested length in nanoseconds, whether early or late.
    fn distance_ns(&self) -> f64 {
        self.p50_ns.map_or(f64::INFINITY, f64::abs)
    }

    /// Whether median and tail of these waits are far below those of `best`; the tail is the 99th
    /// percentile if both have one, or else the largest lateness.
    fn is_far_less_late(&self, best: &Self) -> bool {
        let (own, other) = match self.p99_ns.zip(best.p99_ns) {
            Some(tails) => tails,
            None => (self.max_ns, best.max_ns),
        };
        self.distance_ns() <= MAX_LATENESS_RATIO * best.distance_ns()
            && own <= MAX_TAIL_RATIO * other
    }

    /// Whether it takes the CPU all the time.
    fn occupies_cpu(&self) -> bool {
        self.spins && self.cpu_ns >= Some(MIN_SPINNING_SHARE * self.length_ns as f64)
    }

    /// Median, 99th percentile and maximum of the lateness, and the CPU time of a wait, for people.
    pub fn lateness(&self) -> String {
        let side = if self.p50_ns < Some(0.0) {
            "early"
        } else {
            "late"
        };
        let most = self
            .p99_ns
            .map(|ns| format!("; 99 % by at most {}", time(ns)));
        let cpu = match (self.occupies_cpu(), self.cpu_ns) {
            (true, _) => "; it spins: 100 % of a CPU".into(),
            (_, cpu) => cpu.map_or_else(String::new, |ns| {
                format!("; {} of CPU per wake-up", time(ns))
            }),
        };
        format!(
            "{side} by {} (median of {} waits{}), {} at worst{cpu}",
            time(self.p50_ns.map(f64::abs)),
            self.waits,
            most.unwrap_or_default(),
            time(self.max_ns)
        )
    }

    /// The conditions of these waits, for people.
    pub fn conditions(&self) -> String {
        let slack = self
            .slack_ns
            .map_or_else(|| "none".into(), |ns| short_time(ns as f64));
        format!("timer slack {slack}, policy {}", self.policy)
    }
}

/// Advice for users of a timer whose waits may end early.
fn early_note(late: &Lateness) -> Option<String> {
    (late.early > 0.0).then(|| {
        format!(
            "{} of waits return before their time, by up to {}: wait for the rest",
            percent(late.early),
            time(late.earliest_ns)
        )
    })
}

/// The timers that the report recommends for waits of `length_ns` nanoseconds, or those that it
/// recommends to be woken by periodically if there is no length.
pub fn leading(report: &Report, length_ns: Option<u64>) -> Vec<RankedWait> {
    let asked = WaitRequirement {
        every_ns: USUAL_WAIT_NS,
        once: true,
        language: None,
    };
    let all = match length_ns {
        Some(ns) => list_waits(report, &asked, ns),
        None => report.periods.iter().filter_map(periodic).collect(),
    };
    let ranked = rank(all, None).into_iter();
    ranked.filter(|one| one.figures.leads).collect()
}

/// Sums up the waits of a report, or else its periodic timers, in a sentence: the leading ones. `None`
/// if the lateness of none is known.
pub fn summarize_waits(report: &Report) -> Option<String> {
    let near = nearest_length(report.waits.iter(), USUAL_WAIT_NS).map(|near| near.request_ns);
    let (what, length_ns) = match near {
        Some(ns) => ("wait", ns),
        None => ("wake every", report.periods.first()?.period_ns),
    };
    let leading = leading(report, near).into_iter().enumerate();
    let parts: Vec<String> = leading
        .map(|(at, one)| {
            let condition = match (one.figures.spins, at) {
                (false, _) => "use",
                (true, 0) => "where it must not be late, use",
                (true, _) => "Where it must not be late, use",
            };
            format!("{condition} {}: {}", one.id, one.figures.lateness())
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "To {what} {} on this machine, {}.",
            short_time(length_ns as f64),
            parts.join(". ")
        )
    })
}

#[cfg(test)]
mod tests;
