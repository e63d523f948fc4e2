//! Which method to wait with, every so often: the cheapest of those that are on time often enough.

mod exactness;

use serde::Serialize;
use statrs::distribution::{Beta, ContinuousCDF};

pub use self::exactness::{ExactWait, Exactness, exactness, in_a_sentence};
use super::plan::percent;
use crate::model::{Granularity, Lateness, LatenessHistogram, Means, Report, WaitFigures, WaitRow};
use crate::statistics::bisected;
use crate::text::numbers::{short_time, time};

/// Lengths that differ by more than this factor tell too little of each other.
const NEAR: f64 = 1.25;
/// By how much a fixed length comes out wrong that is worth telling: less than this, and the rate
/// of the clock itself is no better known. *Judgement*.
const REPORTED_DRIFT: f64 = 1e-5;

/// What is asked of a method to wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Punctuality {
    /// How often, in nanoseconds between.
    pub every_ns: f64,
    /// By how much a wait may be off, in nanoseconds.
    pub within_ns: f64,
    /// The share of waits that has to be, in (0, 1).
    pub share: f64,
    /// The share of a CPU that waiting may take, in (0, 1]; any where it is not said.
    pub overhead: Option<f64>,
}

/// Why this cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PunctualityError {
    /// A share is none.
    #[error("{0} must be more than 0 % and less than 100 %, as in 99%")]
    Share(&'static str),
    /// It may be off by more than it waits.
    #[error("a wait of {0} that may be off by {1} need not wait: give a shorter --within")]
    Loose(String, String),
    /// The report has no such waits.
    #[error(
        "the report has no waits of about {0}: measure them with `timermeter wait --durations {command} -o report.json`", command = compact(.0)
    )]
    NoSuchWaits(String),
}

/// A time as it is given on a command line.
fn compact(time: &str) -> String {
    time.replace(' ', "").replace('µ', "u")
}

/// How well a method keeps what is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Waiter {
    /// Its id.
    pub id: String,
    /// The call itself.
    pub label: String,
    /// The timer slack it waited with, in nanoseconds.
    pub slack_ns: Option<u64>,
    /// The policy of its thread.
    pub policy: String,
    /// The share of its waits that were within the bound.
    pub share: f64,
    /// What that share is at least, at 95 % confidence.
    pub share_at_least: f64,
    /// Waits that tell it.
    pub waits: u64,
    /// Median lateness, in nanoseconds.
    pub p50_ns: Option<f64>,
    /// 99th percentile, in nanoseconds; null where there were too few waits.
    pub p99_ns: Option<f64>,
    /// The latest, in nanoseconds.
    pub max_ns: f64,
    /// The share of a CPU that it takes; null where it is unknown.
    pub overhead: Option<f64>,
    /// Whether its steps are longer than the bound.
    #[serde(skip)]
    pub too_coarse: bool,
    /// What to mind.
    pub notes: Vec<String>,
    /// Why it does not suffice; null where it does.
    pub reason: Option<String>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitChoice {
    /// What was asked.
    pub asked: Punctuality,
    /// The length of the waits that tell it, in nanoseconds.
    pub length_ns: u64,
    /// The cheapest that suffices; null where none does.
    pub picked: Option<Waiter>,
    /// Where none does: the one that comes nearest.
    pub nearest: Option<Waiter>,
    /// The others, those that suffice first.
    pub others: Vec<Waiter>,
}

impl Punctuality {
    /// Wakes up at a period, off by at most a given error in a given share of cases; both in
    /// nanoseconds.
    ///
    /// # Errors
    /// When one of them makes no sense.
    pub fn new(
        every_ns: f64,
        within_ns: f64,
        share: f64,
        overhead: Option<f64>,
    ) -> Result<Self, PunctualityError> {
        if !(share > 0.0 && share < 1.0) {
            return Err(PunctualityError::Share("--share"));
        }
        if overhead.is_some_and(|overhead| !(overhead > 0.0 && overhead <= 1.0)) {
            return Err(PunctualityError::Share("--overhead"));
        }
        if within_ns >= every_ns {
            return Err(PunctualityError::Loose(
                short_time(every_ns),
                short_time(within_ns),
            ));
        }
        Ok(Self {
            every_ns,
            within_ns,
            share,
            overhead,
        })
    }
}

/// How exactly a report says that one can wait about so long.
///
/// # Errors
/// When the report has no waits of about that length.
pub fn as_exactly_as_possible(
    report: &Report,
    every_ns: f64,
) -> Result<Exactness, PunctualityError> {
    let near = |found: &Exactness| (found.length_ns as f64 / every_ns).ln().abs() <= NEAR.ln();
    let found = exactness(report, every_ns).filter(near);
    found.ok_or_else(|| PunctualityError::NoSuchWaits(short_time(every_ns)))
}

/// The cheapest method of a report that suffices.
///
/// # Errors
/// When the report has no waits of about that length.
pub fn choose(report: &Report, asked: &Punctuality) -> Result<WaitChoice, PunctualityError> {
    let figures = report.waits.iter().filter_map(|row| row.figures.as_ref());
    let length_ns = Lateness::nearest(
        figures.flat_map(|figures| &figures.lateness),
        asked.every_ns,
    )
    .filter(|late| late.distance(asked.every_ns) <= NEAR.ln())
    .ok_or_else(|| PunctualityError::NoSuchWaits(short_time(asked.every_ns)))?
    .request_ns;
    let mut all: Vec<Waiter> = Vec::new();
    for row in &report.waits {
        let Some(figures) = &row.figures else {
            continue;
        };
        let Some(late) = figures
            .lateness
            .iter()
            .find(|late| late.request_ns == length_ns)
        else {
            continue;
        };
        let waiter = Waiter::judged(row, figures, late, asked);
        // Of one that waited on several CPUs, and beside others, the worst counts.
        let same = |other: &&mut Waiter| {
            (&other.id, other.slack_ns, &other.policy)
                == (&waiter.id, waiter.slack_ns, &waiter.policy)
        };
        match all.iter_mut().find(same) {
            Some(other) if other.shortfall_by(asked) < waiter.shortfall_by(asked) => {
                *other = waiter
            }
            Some(_) => {}
            None => all.push(waiter),
        }
    }
    // Those that suffice by what they cost, the others by what they lack.
    let order = |waiter: &Waiter| match waiter.reason {
        None => (false, waiter.overhead.unwrap_or(f64::INFINITY)),
        Some(_) => (true, waiter.shortfall_by(asked)),
    };
    all.sort_by(|a, b| {
        let ((a_fails, a), (b_fails, b)) = (order(a), order(b));
        a_fails.cmp(&b_fails).then(a.total_cmp(&b))
    });
    let best = (!all.is_empty()).then(|| all.remove(0));
    let (picked, nearest) = match best {
        Some(best) if best.reason.is_none() => (Some(best), None),
        best => (None, best),
    };
    Ok(WaitChoice {
        asked: *asked,
        length_ns,
        picked,
        nearest,
        others: all,
    })
}

/// Methods of which the waits that a report has do not exclude that they suffice, the cheapest
/// first.
#[must_use]
pub fn promising(report: &Report, asked: &Punctuality) -> Vec<String> {
    let Ok(choice) = choose(report, asked) else {
        return Vec::new();
    };
    let mut all: Vec<Waiter> = choice
        .picked
        .into_iter()
        .chain(choice.nearest)
        .chain(choice.others)
        .filter(|waiter| waiter.may_suffice(asked))
        .collect();
    let cost = |waiter: &Waiter| waiter.overhead.unwrap_or(f64::INFINITY);
    all.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    all.into_iter().map(|waiter| waiter.id).collect()
}

impl Waiter {
    /// Whether more waits may show that it suffices.
    fn may_suffice(&self, asked: &Punctuality) -> bool {
        let affordable = |most: f64| self.overhead.is_none_or(|overhead| overhead <= most);
        let at_most = 1.0 - at_least(1.0 - self.share, self.waits);
        !self.too_coarse && at_most >= asked.share && asked.overhead.is_none_or(affordable)
    }

    fn judged(row: &WaitRow, figures: &WaitFigures, late: &Lateness, asked: &Punctuality) -> Self {
        let share = within(late, asked.within_ns);
        let share_at_least = at_least(share, late.waits);
        let overhead = late.cpu_ns.map(|cpu| (cpu.value / asked.every_ns).max(0.0));
        let mut waiter = Self {
            id: row.id.clone(),
            label: row.label.clone(),
            slack_ns: row.conditions.slack_ns,
            policy: row.conditions.policy.clone(),
            share,
            share_at_least,
            waits: late.waits,
            p50_ns: late.p50_ns.map(|known| known.value),
            p99_ns: late.p99_ns.map(|known| known.value),
            max_ns: late.max_ns,
            overhead,
            too_coarse: false,
            notes: Vec::new(),
            reason: None,
        };
        let step = coarsest(figures).filter(|step| *step > asked.within_ns);
        waiter.too_coarse = step.is_some();
        waiter.reason = match step {
            Some(step) => Some(format!(
                "it waits in steps of {}, and what is left of a period is no multiple of that",
                short_time(step)
            )),
            None => waiter.shortfall(asked),
        };
        waiter.notes = notes(row, late, asked);
        waiter
    }

    /// By what factor it misses what is asked, the share or the overhead; up to 1 where it does
    /// not.
    fn shortfall_by(&self, asked: &Punctuality) -> f64 {
        let overhead = asked
            .overhead
            .map_or(0.0, |most| self.overhead.unwrap_or(f64::INFINITY) / most);
        let late = (1.0 - self.share_at_least) / (1.0 - asked.share);
        late.max(overhead)
    }

    fn shortfall(&self, asked: &Punctuality) -> Option<String> {
        let within = short_time(asked.within_ns);
        if self.share < asked.share {
            let tail = self.p99_ns.filter(|p99| *p99 > asked.within_ns);
            let tail =
                tail.map_or_else(String::new, |p99| format!(" (p99 is {})", time(Some(p99))));
            return Some(format!(
                "{} of waits are within {within}{tail}",
                percent(self.share)
            ));
        }
        if self.share_at_least < asked.share {
            return Some(format!(
                "{} of {} waits were within {within}, which may be {} by chance: measure longer",
                percent(self.share),
                self.waits,
                percent(self.share_at_least)
            ));
        }
        let most = asked.overhead?;
        match self.overhead {
            None => Some("what it costs is unknown".into()),
            Some(overhead) if overhead > most => {
                Some(format!("it takes {} of a CPU", percent(overhead)))
            }
            Some(_) => None,
        }
    }
}

/// What a user who waits like that should know.
fn notes(row: &WaitRow, late: &Lateness, asked: &Punctuality) -> Vec<String> {
    let mut notes = Vec::new();
    if late.early > 0.0 {
        notes.push(format!(
            "{} of waits return before their time, by up to {}: look at the clock and wait for the rest",
            percent(late.early),
            time(Some(late.earliest_ns))
        ));
    }
    notes.push(match row.means {
        Means::Spins => "it computes all the time: no other thread gets the CPU".to_owned(),
        Means::Blocks | Means::Hybrid => {
            let drift = late.p50_ns.map_or(0.0, |late| late.value / asked.every_ns);
            let drift_note = match drift {
                drift if drift >= REPORTED_DRIFT => {
                    format!(": a fixed length comes out {} slow", percent(drift))
                }
                drift if drift <= -REPORTED_DRIFT => {
                    format!(": a fixed length comes out {} fast", percent(-drift))
                }
                _ => String::new(),
            };
            format!("before each wait, compute what is left to the next point in time{drift_note}")
        }
    });
    notes
}

/// The share of waits that were off by no more than that many nanoseconds. A bin counts where it is
/// within as a whole.
fn within(late: &Lateness, within_ns: f64) -> f64 {
    let LatenessHistogram { bins } = late.histogram.get().unwrap_or_default();
    let ends_within = |bin: u32| 10_f64.powf(LatenessHistogram::end(bin)) <= within_ns;
    let inside: f64 = bins
        .iter()
        .filter(|(bin, _)| ends_within(**bin))
        .map(|(_, count)| *count as f64)
        .sum();
    // All early waits stand in the first bin.
    let too_early = if late.earliest_ns > within_ns {
        late.early
    } else {
        0.0
    };
    (inside / late.waits.max(1) as f64 - too_early).clamp(0.0, 1.0)
}

/// What a share is at least, at 95 %: the lower end of Clopper and Pearson's interval, one-sided
/// (Biometrika 26, 1934).
fn at_least(share: f64, waits: u64) -> f64 {
    /// More prove no more that matters.
    const MOST: u64 = 10_000_000;
    /// Halvings of an interval of shares: to a billionth. The library's own search for the quantile
    /// does not end for some numbers.
    const HALVINGS: u32 = 30;
    let waits = waits.min(MOST);
    let kept = (share * waits as f64).round().min(waits as f64);
    if kept < 1.0 {
        return 0.0;
    }
    let Ok(beta) = Beta::new(kept, waits as f64 - kept + 1.0) else {
        return 0.0;
    };
    bisected((0.0, 1.0), HALVINGS, |share| beta.cdf(share) < 0.05).0
}

/// Waits that prove a share at 95 %, where as many miss as may by chance: with none 3 over the rest
/// would do.
#[must_use]
pub fn waits_to_prove(share: f64) -> f64 {
    12.0 / (1.0 - share)
}

/// The longest step of a timer's requests or wake-ups, in nanoseconds.
fn coarsest(figures: &WaitFigures) -> Option<f64> {
    figures
        .granularities()
        .filter_map(Granularity::step)
        .map(|step| step.value)
        .reduce(f64::max)
}

#[cfg(test)]
mod tests;
