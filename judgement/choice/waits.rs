//! Chooses the timer to wait with: the least late one. Also sums up the waits of a report in a
//! sentence.

use serde::Serialize;

use super::ChoiceError;
use super::clocks::{Choice, RankedTimer};
use super::language::Language;
use super::plan::percent;
use super::runtime::why_unavailable;
use super::wait_snippet::code_position;
use crate::model::{
    Granularity, Interval, Lateness, MAX_RATE_PPM, PeriodFigures, Platform, Report, USUAL_WAIT_NS,
    WaitActivity, WaitRow, value_of,
};
use crate::numbers::{short_time, significant, time};

/// Largest ratio between the requested length of waits and the nearest measured length, whichever
/// is longer, for which the measured length is used.
const MAX_LENGTH_RATIO: f64 = 1.25;

/// Smallest relative error of the period of a loop of fixed waits that is reported.
/// *Judgement*: a second a day.
const MIN_REPORTED_DRIFT: f64 = 1e-5;

/// Largest median lateness of a spinning or hybrid wait, as a share of that of the best blocking
/// wait, that justifies its CPU time.
/// *Judgement*.
const MAX_LATENESS_RATIO: f64 = 0.2;
/// Largest late tail of a spinning or hybrid wait, as a share of that of the best blocking wait, at
/// which it is recommended where waits must not be late.
/// *Judgement*: tails vary more than medians.
const MAX_TAIL_RATIO: f64 = 0.5;

/// Largest ratio of two figures of waits that count as equal even if their intervals differ.
/// *Judgement*: between runs on one machine, medians of the same primitive differ by up to as much.
const MAX_EQUAL_RATIO: f64 = 2.0;

/// Smallest granularity of waits, in nanoseconds, that the summary of a report mentions.
const MIN_COARSE_STEP_NS: f64 = 5e5;

/// What is to wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitRequirement {
    /// Length of a wait in nanoseconds.
    pub every_ns: f64,
    /// The language of the program that waits; null if any primitive may be picked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<Language>,
}

impl WaitRequirement {
    /// Whether there is code for this timer in the language, if one is given.
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
    /// 90th percentile of the lateness in nanoseconds; null if there were too few waits.
    pub p90_ns: Option<f64>,
    /// 99th percentile of the lateness in nanoseconds; null if there were too few waits.
    pub p99_ns: Option<f64>,
    /// Largest lateness in nanoseconds.
    pub max_ns: f64,
    /// CPU time of one wait in nanoseconds; null if unknown.
    pub cpu_ns: Option<f64>,
    /// Share of a CPU that these waits take; null if unknown.
    pub overhead: Option<f64>,
    /// Whether the timer blocks, spins, or does both.
    #[serde(skip)]
    pub(super) means: WaitActivity,
    /// Whether no further waits can show that the timer suffices, because it waits by another clock,
    /// returns at once or has no code.
    #[serde(skip)]
    unfit: bool,
    /// Distance of the median wait from the requested length, early or late, and CPU time of a
    /// wait, in nanoseconds, with their intervals.
    #[serde(skip)]
    distance: Option<Interval>,
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

/// The schema of the result.
const SCHEMA: &str = "timermeter.pick-wait.v1";

/// Compares the timers of a report by their waits of the measured length that is nearest to the
/// requested one.
///
/// # Errors
/// When the report has no waits of about that length in the language of the requirement.
pub fn choose(report: &Report, asked: &WaitRequirement) -> Result<WaitChoice, ChoiceError> {
    let usable = report.waits.iter().filter(|row| asked.has_code(&row.id));
    let near = nearest_length(usable, asked.every_ns);
    if let Some(near) = near.filter(|late| late.distance(asked.every_ns) <= MAX_LENGTH_RATIO.ln()) {
        return Ok(choose_at(report, asked, near.request_ns));
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
    let reason = unavailable.unwrap_or_else(|| format!(
        "the report has no waits of about {length}: measure them with `timermeter wait{flag} {compact} -o report.json`"
    ));
    Err(ChoiceError(reason))
}

/// The measured waits whose length is nearest to `ns` nanoseconds; `None` if there are no waits.
fn nearest_length<'a>(rows: impl Iterator<Item = &'a WaitRow>, ns: f64) -> Option<&'a Lateness> {
    let figures = rows.filter_map(|row| row.figures.as_ref());
    Lateness::nearest(figures.flat_map(|figures| &figures.lateness), ns)
}

/// Compares the waits of `length_ns` nanoseconds of all timers.
fn choose_at(report: &Report, asked: &WaitRequirement, length_ns: u64) -> WaitChoice {
    let mut all: Vec<RankedWait> = Vec::new();
    for row in &report.waits {
        let Some(new) = candidate(row, asked, length_ns) else {
            continue;
        };
        // A timer that waited on several CPUs counts with its worst result.
        let has_same_key = |other: &&mut RankedWait| {
            let [new, other] = [&new.figures, &other.figures];
            (new.slack_ns, &new.policy) == (other.slack_ns, &other.policy)
        };
        let mut same_timer = all.iter_mut().filter(|other| other.id == new.id);
        match same_timer.find(has_same_key) {
            Some(other) if other.figures.distance_ns() < new.figures.distance_ns() => *other = new,
            Some(_) => {}
            None => all.push(new),
        }
    }
    let mut all = order_by_lateness(all, asked.language);
    let ids: Vec<String> = all.iter().map(|one| one.id.clone()).collect();
    for one in &mut all {
        if ids.iter().filter(|id| **id == one.id).count() > 1 {
            one.reason += &format!(" ({})", one.figures.conditions());
        }
    }
    Choice::from_ranked(report, SCHEMA, *asked, all)
}

/// The result of the waits of this row with a length of `length_ns`; `None` if there are none.
fn candidate(row: &WaitRow, asked: &WaitRequirement, length_ns: u64) -> Option<RankedWait> {
    let figures = row.figures.as_ref()?;
    let late = figures
        .lateness
        .iter()
        .find(|late| late.request_ns == length_ns)?;
    let unfit = figures.other_clock_ppm().map(|ppm| {
        format!(
            "it is timed by another clock than it waits by: they differ by {} ppm",
            significant(ppm.value.abs(), 3)
        )
    });
    let cpu_ns = value_of(late.cpu_ns);
    let distance = |late: Interval| Interval::around(late.value.abs(), late.half_width());
    let has_code = asked.has_code(&row.id);
    let record = WaitRecord {
        length_ns,
        slack_ns: row.conditions.slack_ns,
        policy: row.conditions.policy.clone(),
        waits: late.waits,
        p50_ns: value_of(late.p50_ns).filter(|median| median.is_finite()),
        p90_ns: value_of(late.p90_ns),
        p99_ns: value_of(late.p99_ns),
        max_ns: late.max_ns,
        cpu_ns,
        overhead: cpu_ns.map(|cpu| (cpu / asked.every_ns).max(0.0)),
        means: row.means,
        unfit: unfit.is_some() || !has_code,
        distance: late.p50_ns.map(distance),
        cpu: late.cpu_ns,
        leads: false,
    };
    let shortfall = match unfit {
        _ if !has_code => Some(format!(
            "{}; `pick` has no code for it in this language",
            record.lateness()
        )),
        Some(why) => Some(why),
        None => {
            let late = record.p50_ns?;
            (late >= asked.every_ns).then(|| {
                format!(
                    "it is {} late, longer than the period: calls come in bursts",
                    time(late)
                )
            })
        }
    };
    Some(RankedTimer {
        id: row.id.clone(),
        label: row.label.clone(),
        suffices: shortfall.is_none(),
        reason: shortfall.unwrap_or_else(|| record.lateness()),
        notes: notes(row.means, late, asked),
        figures: record,
    })
}

/// Orders timers: first the least late one that blocks, then, among those that spin
/// and are at most [`MAX_LATENESS_RATIO`] times as late, with a tail of at most [`MAX_TAIL_RATIO`]
/// times that of the first, the one with the least CPU time, then the rest by lateness.
fn order_by_lateness(all: Vec<RankedWait>, language: Option<Language>) -> Vec<RankedWait> {
    let blocks = |one: &RankedWait| one.suffices && one.figures.means == WaitActivity::Blocks;
    let (mut blocking, mut rest): (Vec<_>, Vec<_>) = all.into_iter().partition(blocks);
    order(&mut blocking, |record| record.distance, language);
    let first = (!blocking.is_empty()).then(|| blocking.remove(0));
    let is_in_time = |record: &WaitRecord| {
        first.as_ref().is_none_or(|one| {
            let blocking = &one.figures;
            record.distance_ns() <= MAX_LATENESS_RATIO * blocking.distance_ns()
                && record.has_shorter_tail(blocking)
        })
    };
    order(&mut rest, |record| record.cpu, language);
    let in_time = rest
        .iter()
        .position(|one| one.suffices && is_in_time(&one.figures));
    let most_punctual = in_time.map(|at| rest.remove(at)).map(|mut one| {
        one.reason = format!("where it must not be late: {}", one.reason);
        one
    });
    let mut leaders: Vec<RankedWait> = first.into_iter().chain(most_punctual).collect();
    for leader in &mut leaders {
        leader.figures.leads = true;
    }
    rest.extend(blocking);
    order(&mut rest, |record| record.distance, language);
    rest.sort_by_key(|one| (!one.suffices, one.figures.unfit));
    leaders.into_iter().chain(rest).collect()
}

/// Orders timers by a figure. Those that are as good as the first, as far as the intervals and
/// [`MAX_EQUAL_RATIO`] tell, are in the order of their code, so that every run names the same first.
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
    timers.sort_by_key(|one| {
        let low = figure(&one.figures).map(|found| found.low().unwrap_or(found.value));
        match low.is_some_and(|low| low <= most) {
            true => (
                0,
                code_position(&one.id, language).unwrap_or(usize::MAX),
                one.id.clone(),
            ),
            false => (1, 0, String::new()),
        }
    });
}

/// Ids of the leading timers, which are measured for longer.
pub fn list_promising(choice: &WaitChoice) -> Vec<String> {
    let all = choice.picked.iter().chain(&choice.others);
    let leading = all.filter(|one| one.figures.leads);
    leading.map(|one| one.id.clone()).collect()
}

impl WaitRecord {
    /// Distance of the median wait from the requested length in nanoseconds, whether early or late.
    fn distance_ns(&self) -> f64 {
        self.p50_ns.map_or(f64::INFINITY, f64::abs)
    }

    /// Whether the tail of these waits is at most [`MAX_TAIL_RATIO`] times that of `other`: by the
    /// 99th percentile if both have one, or else by the largest lateness.
    fn has_shorter_tail(&self, other: &Self) -> bool {
        let tails = |record: &Self| [record.p99_ns, Some(record.max_ns)];
        is_shorter_tail(tails(self), tails(other))
    }

    /// Median, 99th percentile and maximum of the lateness, and the CPU time of a wait, for people.
    pub fn lateness(&self) -> String {
        let median = format!("median of {} waits", self.waits);
        let cpu = self
            .cpu_ns
            .map(|ns| format!("; {} of CPU per wake-up", time(ns)));
        late_in_words(self.p50_ns, &median, self.p99_ns, self.max_ns) + &cpu.unwrap_or_default()
    }

    /// The conditions of these waits, for people.
    pub fn conditions(&self) -> String {
        let slack = self
            .slack_ns
            .map_or_else(|| "none".into(), |ns| short_time(ns as f64));
        format!("timer slack {slack}, policy {}", self.policy)
    }
}

/// How late waits are, in words.
fn late_in_words(
    p50_ns: Option<f64>,
    median: &str,
    p99_ns: Option<f64>,
    max_ns: impl Into<Option<f64>>,
) -> String {
    let side = if p50_ns < Some(0.0) { "early" } else { "late" };
    let most = p99_ns.map(|ns| format!("; 99 % by at most {}", time(ns)));
    format!(
        "{side} by {} ({median}{}), {} at worst",
        time(p50_ns.map(f64::abs)),
        most.unwrap_or_default(),
        time(max_ns)
    )
}

/// `use TIMER: …` for the first, and where it must not be late for one that spins.
fn advice(is_first: bool, activity: WaitActivity, id: &str, late: &str) -> String {
    let condition = match (activity, is_first) {
        (WaitActivity::Blocks, _) => "use",
        (_, true) => "where it must not be late, use",
        (_, false) => "Where it must not be late, use",
    };
    format!("{condition} {id}: {late}")
}

/// Advice for users of a timer with these waits.
fn notes(activity: WaitActivity, late: &Lateness, asked: &WaitRequirement) -> Vec<String> {
    let mut notes = Vec::new();
    if late.early > 0.0 {
        notes.push(format!(
            "{} of waits return before their time, by up to {}: look at the clock and wait for the rest",
            percent(late.early),
            time(late.earliest_ns)
        ));
    }
    if activity == WaitActivity::Spins {
        notes.push("it spins all the time: no other thread gets the CPU".into());
        return notes;
    }
    if let Some(late) = late
        .p50_ns
        .filter(|late| late.value.abs() >= MIN_REPORTED_DRIFT * asked.every_ns)
    {
        let [every, takes] = [asked.every_ns, asked.every_ns + late.value].map(short_time);
        notes.push(format!(
            "wait until the next point in time: a loop that sleeps for {every} takes {takes} a turn"
        ));
    }
    notes
}

/// Sums up the waits of a report in a sentence: the least late timer that blocks, a timer that
/// spins and is hardly late, and timers with a coarse granularity. `None` if the report has no
/// waits.
pub fn summarize_waits(report: &Report) -> Option<String> {
    let length_ns = nearest_length(report.waits.iter(), USUAL_WAIT_NS)?.request_ns;
    let asked = WaitRequirement {
        // A wait that is later than it is long is named nevertheless.
        every_ns: f64::INFINITY,
        language: None,
    };
    let choice = choose_at(report, &asked, length_ns);
    let parts: Vec<String> = choice
        .picked
        .iter()
        .chain(&choice.others)
        .filter(|one| one.figures.leads)
        .enumerate()
        .map(|(at, one)| advice(at == 0, one.figures.means, &one.id, &one.figures.lateness()))
        .collect();
    if parts.is_empty() {
        return None;
    }
    // The first coarse step of each timer.
    let mut coarse: Vec<(&str, String)> = Vec::new();
    for row in &report.waits {
        let steps = row
            .figures
            .iter()
            .filter_map(|figures| figures.steps.first());
        let mut steps = steps
            .flat_map(|steps| steps.known())
            .filter_map(Granularity::step);
        if let Some(step) = steps.find(|step| step.value >= MIN_COARSE_STEP_NS)
            && coarse.iter().all(|(id, _)| *id != row.id)
        {
            coarse.push((&row.id, format!("{} ({})", row.id, short_time(step.value))));
        }
    }
    let coarse: Vec<String> = coarse.into_iter().map(|(_, words)| words).collect();
    let caveat = match coarse.as_slice() {
        [] => String::new(),
        coarse => format!(". Coarse steps: {}", coarse.join(", ")),
    };
    Some(format!(
        "To wait {} on this machine{}, {}{caveat}.",
        short_time(length_ns as f64),
        load_in_words(&report.platform),
        parts.join(". ")
    ))
}

/// Sums up the periodic timers of a report in a sentence: the least late one that blocks, of equals
/// the first that has code, and one that spins and is hardly late, also in the tail. `None` if the
/// lateness of none is known.
pub fn summarize_periods(report: &Report) -> Option<String> {
    let by_lateness = |spins: bool| {
        let rows = report.periods.iter().filter_map(|row| {
            let figures = row.figures.as_ref()?;
            // A loop of relative waits is slow by its lateness.
            let rate = figures.rate_error_ppm;
            let keeps_rate = rate.is_none_or(|ppm| ppm.low().unwrap_or(ppm.value) < MAX_RATE_PPM);
            let may_spin = row.means != WaitActivity::Blocks;
            (keeps_rate && may_spin == spins).then_some((
                figures.lateness_p50_ns?.value,
                row,
                figures,
            ))
        });
        let mut rows: Vec<_> = rows.collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        rows
    };
    let blocking = by_lateness(false);
    let most = blocking.first().map_or(0.0, |one| MAX_EQUAL_RATIO * one.0);
    let blocks = blocking
        .into_iter()
        .take_while(|one| one.0 <= most)
        .min_by_key(|one| code_position(&one.1.id, None).unwrap_or(usize::MAX));
    let tails = |figures: &PeriodFigures| [value_of(figures.lateness_p99_ns), figures.max_ns];
    let spins = by_lateness(true).into_iter().find(|one| {
        blocks.is_none_or(|best| {
            one.0 <= MAX_LATENESS_RATIO * best.0 && is_shorter_tail(tails(one.2), tails(best.2))
        })
    });
    let parts: Vec<String> = blocks
        .into_iter()
        .chain(spins)
        .enumerate()
        .map(|(at, (late_ns, row, figures))| {
            let p99_ns = value_of(figures.lateness_p99_ns);
            let late = late_in_words(Some(late_ns), "median", p99_ns, figures.max_ns);
            advice(at == 0, row.means, &row.id, &late)
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "To wake every {} on this machine{}, {}.",
            short_time(report.periods[0].period_ns as f64),
            load_in_words(&report.platform),
            parts.join(". ")
        )
    })
}

/// Whether a tail is clearly shorter than another: the 99th percentiles, otherwise the maxima.
fn is_shorter_tail(own: [Option<f64>; 2], other: [Option<f64>; 2]) -> bool {
    own.into_iter()
        .zip(other)
        .find_map(|(own, other)| own.zip(other))
        .is_some_and(|(own, other)| own <= MAX_TAIL_RATIO * other)
}

/// The load that the waits were measured under, in brackets.
fn load_in_words(platform: &Platform) -> String {
    let load = platform
        .load
        .map(|load| format!("load {:.2}", load.one_minute));
    let others = platform
        .cpus_of_others
        .map(|cpus| format!("other programs used {cpus:.1} CPUs"));
    let known: Vec<String> = load.into_iter().chain(others).collect();
    match known.as_slice() {
        [] => " (load unknown)".into(),
        known => format!(" ({})", known.join(", ")),
    }
}

#[cfg(test)]
mod tests;
