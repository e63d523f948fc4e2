//! Timers that waited, and their rows of the report.

use serde::{Deserialize, Serialize};

use crate::model::{
    Granularity, Lateness, Means, PeriodRow, Status, Timer, WaitConditions, WaitFigures, WaitRow,
    Warning,
};
use crate::periods;
use crate::scoring;
use crate::text::numbers::{short_time, significant};
use crate::trace::{PeriodTrace, WaitTrace};

/// Why a timer that waits has no figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotUsable {
    /// Whether the machine does not have it, or it failed.
    pub status: Status,
    /// The cause.
    pub reason: String,
    /// What to do about it, if anything.
    pub remedy: Option<String>,
}

/// A sleep primitive or a periodic timer, under one set of conditions, and what was observed of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaitObservation<T> {
    /// The timer.
    #[serde(flatten)]
    pub timer: Timer,
    /// What the thread does while it waits.
    #[serde(default)]
    pub means: Means,
    /// Under what it waited.
    pub conditions: WaitConditions,
    /// The period of a periodic timer, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ns: Option<u64>,
    /// What was observed, or why nothing was.
    pub outcome: Result<T, NotUsable>,
    /// Why it was not asked any more after that.
    pub lost: Option<String>,
}

impl WaitObservation<WaitTrace> {
    /// Its row. `hertz` turns CPU time into cycles.
    #[must_use]
    pub fn row(&self, hertz: Option<f64>) -> WaitRow {
        let (status, reason, remedy) = ended(&self.outcome);
        let figures = self
            .outcome
            .as_ref()
            .ok()
            .map(|trace| scoring::of_waits(trace, hertz));
        WaitRow {
            id: self.timer.id.clone(),
            label: self.timer.label.clone(),
            runtime: self.timer.runtime.clone(),
            conditions: self.conditions.clone(),
            means: self.means,
            status,
            reason,
            remedy,
            warnings: ended_early(&self.lost)
                .into_iter()
                .chain(figures.iter().flat_map(caveats))
                .chain(self.outcome.as_ref().ok().and_then(one_moment))
                .collect(),
            figures,
        }
    }
}

/// What was observed is kept, although a process failed.
fn ended_early(lost: &Option<String>) -> Option<Warning> {
    Some(Warning {
        code: "ended-early".into(),
        message: format!("it was not asked any more: {}", lost.as_ref()?),
        advice: "Its figures rest on what was observed until then; measure again.".into(),
    })
}

/// Waits from this length on are late by how deeply the CPU slept, and not by what the thread does.
/// *Judgement*: idle states are entered for less.
const SLEEPS_NS: u64 = MS;
/// How long a run has to watch for its intervals to hold what minutes differ by, in seconds:
/// several of them. *Judgement*.
const MINUTES_S: f64 = 180.0;
const MS: u64 = 1_000_000;

/// Waits in which a CPU may sleep were all made within so short a time that they do not tell what
/// other minutes are like.
fn one_moment(trace: &WaitTrace) -> Option<Warning> {
    let waits = trace
        .runs
        .iter()
        .flat_map(|run| run.lengths.iter().chain(&run.long));
    let begun = waits
        .filter(|wait| wait.request_ns >= SLEEPS_NS)
        .map(|wait| wait.before);
    let (first, last) = (begun.clone().min()?, begun.max()?);
    let watched_s = last.wrapping_sub(first) as f64 * trace.reference.ns_per_tick * 1e-9;
    // Whose processes count from a beginning of their own tell nothing of that.
    (trace.blocks && (0.0..MINUTES_S).contains(&watched_s)).then(|| Warning {
        code: "one-moment".into(),
        message: format!(
            "its waits of {} and more were made within {}: how late such are goes by how deeply the CPU sleeps, a host's too, and differs from minute to minute by more than their intervals, which hold what processes of this run differ by",
            short_time(SLEEPS_NS as f64),
            short_time(1e9 * watched_s)
        ),
        advice: "Measure longer (--for 10m), or several times, some minutes apart.".into(),
    })
}

/// What a user of the timer should know.
fn caveats(figures: &WaitFigures) -> Vec<Warning> {
    let caveats = [
        returns_early(figures),
        processes_differ(figures),
        no_interval(figures),
        requests_rounded(figures),
        wakes_on_a_grid(figures),
        late_in_proportion(figures),
    ];
    caveats.into_iter().flatten().collect()
}

fn warning(code: &str, message: String, advice: &str) -> Option<Warning> {
    Some(Warning {
        code: code.into(),
        message,
        advice: advice.into(),
    })
}

fn returns_early(figures: &WaitFigures) -> Option<Warning> {
    let early = figures.lateness.iter().filter(|late| late.early > 0.0);
    let late = early.max_by(|a, b| a.early.total_cmp(&b.early))?;
    warning(
        "returns-early",
        format!(
            "{} % of waits of {} returned before their time, by up to {}",
            significant(100.0 * late.early, 3),
            short_time(late.request_ns as f64),
            short_time(late.earliest_ns)
        ),
        "After a wait, look at the clock, and wait for what is left.",
    )
}

fn processes_differ(figures: &WaitFigures) -> Option<Warning> {
    let usual = figures
        .lateness
        .iter()
        .filter(|late| !late.beside_others)
        .max_by_key(|late| late.waits)?;
    let p50 = usual.p50_ns?;
    let (low, high) = (p50.low?, p50.high?);
    if high - low <= p50.value.abs() {
        return None;
    }
    warning(
        "processes-differ",
        format!(
            "processes differ by more than their waits: the median lateness of waits of {} is {} [{}, {}]; percentiles are means \
             over processes",
            short_time(usual.request_ns as f64),
            short_time(p50.value),
            short_time(low),
            short_time(high)
        ),
        "Measure on a quieter machine, or longer (--thorough, --for).",
    )
}

fn no_interval(figures: &WaitFigures) -> Option<Warning> {
    let untold: Vec<&Lateness> = figures
        .lateness
        .iter()
        .filter(|late| late.p50_ns.is_none_or(|p50| p50.low.is_none()))
        .collect();
    let most = untold.iter().map(|late| late.waits).max()?;
    let lengths: Vec<String> = untold
        .iter()
        .map(|late| short_time(late.request_ns as f64))
        .collect();
    let why = match figures.processes {
        1 => "all of them are of one process".to_owned(),
        _ if untold.first().is_some_and(|first| first.waits == most) => format!("they are {most}"),
        _ => format!("they are {most} at most"),
    };
    warning(
        "no-interval",
        format!(
            "the median lateness of waits of {} has no interval: {why}, and six of several processes tell one",
            lengths.join(", ")
        ),
        "Measure longer (--thorough, --for).",
    )
}

fn requests_rounded(figures: &WaitFigures) -> Option<Warning> {
    let step = figures
        .steps
        .iter()
        .find_map(|steps| steps.rounding.and_then(Granularity::step))?;
    warning(
        "requests-rounded",
        format!(
            "requests are rounded to steps of {}",
            short_time(step.value)
        ),
        "Where shorter waits matter, take a timer whose requests are finer.",
    )
}

fn wakes_on_a_grid(figures: &WaitFigures) -> Option<Warning> {
    let steps = figures
        .steps
        .iter()
        .filter_map(|steps| steps.grid.and_then(Granularity::step));
    let grids: Vec<f64> = steps.map(|step| step.value).collect();
    let (first, rest) = grids.split_first()?;
    let grown = rest.iter().copied().fold(*first, f64::max);
    let grows = if grown > 1.5 * first {
        format!(", and of {} for longer waits", short_time(grown))
    } else {
        String::new()
    };
    warning(
        "wakes-on-a-grid",
        format!(
            "threads wake at points of time {} apart{grows}",
            short_time(*first)
        ),
        "Expect waits to end up to a step late, whatever is asked for.",
    )
}

fn late_in_proportion(figures: &WaitFigures) -> Option<Warning> {
    let ppm = figures
        .proportional_ppm
        .filter(|ppm| ppm.low.is_some_and(|low| low > LARGE_PPM))?;
    warning(
        "late-in-proportion",
        format!(
            "waits are longer than asked for by {} ppm of their length",
            significant(ppm.value, 3)
        ),
        "For long waits, wait in parts, or to a point in absolute time.",
    )
}

/// What clocks differ by from each other is less.
const LARGE_PPM: f64 = 200.0;

impl WaitObservation<PeriodTrace> {
    /// Its row.
    #[must_use]
    pub fn period_row(&self) -> PeriodRow {
        let (status, reason, remedy) = ended(&self.outcome);
        PeriodRow {
            id: self.timer.id.clone(),
            label: self.timer.label.clone(),
            runtime: self.timer.runtime.clone(),
            conditions: self.conditions.clone(),
            period_ns: self.period_ns.unwrap_or_default(),
            status,
            reason,
            remedy,
            figures: self.outcome.as_ref().ok().map(periods::figures),
            warnings: ended_early(&self.lost).into_iter().collect(),
        }
    }
}

fn ended<T>(outcome: &Result<T, NotUsable>) -> (Status, Option<String>, Option<String>) {
    match outcome {
        Ok(_) => (Status::Ok, None, None),
        Err(why) => (why.status, Some(why.reason.clone()), why.remedy.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Reference, Wait, WaitRun};

    /// Waits of 10 ms, `apart` seconds from one process to the next.
    fn waited(apart: i64) -> WaitTrace {
        let wait = |before: i64| Wait {
            request_ns: 10_000_000,
            before,
            after: before + 10_100_000,
            cpu_ns: None,
            run_delay_ns: None,
        };
        let run = |process: i64| WaitRun {
            lengths: vec![wait(process * apart * 1_000_000_000)],
            ..WaitRun::default()
        };
        let reference = Reference {
            ns_per_tick: 1.0,
            ..Reference::default()
        };
        WaitTrace {
            reference,
            blocks: true,
            runs: (0..5).map(run).collect(),
        }
    }

    #[test]
    fn a_run_of_a_moment_says_that_it_does_not_tell_what_minutes_differ_by() {
        let warning = one_moment(&waited(2)).expect("eight seconds are no minutes");
        assert!(
            warning.code == "one-moment" && warning.message.contains("within 8"),
            "{}",
            warning.message
        );
        assert_eq!(one_moment(&waited(60)), None);
        assert_eq!(
            one_moment(&WaitTrace {
                blocks: false,
                ..waited(2)
            }),
            None,
            "who spins does not sleep"
        );
        assert_eq!(one_moment(&WaitTrace::default()), None);
    }

    #[test]
    fn a_length_without_an_interval_says_why() {
        let noted = |trace: &WaitTrace| {
            let found = caveats(&scoring::of_waits(trace, None));
            found
                .into_iter()
                .find(|warning| warning.code == "no-interval")
        };
        let few = noted(&waited(2)).expect("five waits have no interval");
        assert!(
            few.message.contains("waits of 10") && few.message.contains("they are 5"),
            "{}",
            few.message
        );
        let mut twice = waited(2);
        for (run, again) in twice.runs.iter_mut().zip(waited(3).runs) {
            run.lengths.extend(again.lengths);
        }
        assert_eq!(noted(&twice), None);
    }
}
