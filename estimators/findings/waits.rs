//! Defines the findings about a sleep primitive, which is a function that waits for a given time:
//! the text of each and the condition under which it is reported.

use super::{ns, number, values};
use crate::model::{
    Granularity, Lateness, MAX_FINE_STEP_NS, MAX_RATE_PPM, PeriodFigures, Unit, Values, WaitFigures,
};
use crate::numbers::short_time;
use crate::trace::WaitTrace;

/// The facts about a sleep primitive from which the rules decide.
#[derive(Default)]
pub struct WaitCase<'a> {
    /// The reason why the measurement of the sleep primitive was ended early; `None` if it was not.
    pub lost: Option<&'a str>,
    /// The results.
    pub figures: Option<&'a WaitFigures>,
    /// The observations.
    pub trace: Option<&'a WaitTrace>,
    /// The results of a periodic timer.
    pub period: Option<&'a PeriodFigures>,
}

rules! {
    /// The rules in the order of reports.
    pub static WAITS: WaitCase;
    // The observations made before a process failed are kept.
    "ended-early" {
        Note "its measurement was ended early: {cause}" in short "{cause}" => "measure again",
            |case| Some(values! { cause: case.lost? });
    }
    "loses-expirations" {
        Note "{lost} of {expirations} expirations ({share}) had no wake-up, and it did not report them"
            in short "{lost} of {expirations}" => "count periods by a clock, not by wake-ups",
            |case| {
                let period = case.period?;
                let expirations = period.expirations.saturating_add(period.lost).max(1);
                let share = period.lost as f64 / expirations as f64;
                (share >= MIN_LOST_SHARE).then(|| {
                    values! { lost: period.lost, expirations, share: number(share, Unit::Share) }
                })
            };
    }
    "clock-steps-back" {
        Problem "the clock that times it, {clock}, is at fault: {count} waits ended before they began, by steps back of up to {step:short}"
            => "trust no lateness below that; bind the process to one CPU (--cpu)",
            |case| {
                let trace = case.trace?;
                let (count, step_ns) = trace.backward_steps()?;
                Some(values! { clock: trace.reference.id.as_str(), step: ns(step_ns), count })
            };
    }
    "other-clock" {
        Problem "it is timed by another clock than it waits by: its waits deviate by {ppm} (± {uncertainty}) of their length"
            => "find out which of the two clocks is wrong (`check`)",
            |case| {
                let ppm = case.figures?.other_clock_ppm()?;
                let [ppm, uncertainty] = [ppm.value, ppm.half_width()].map(|ppm| number(ppm, Unit::Ppm));
                Some(values! { ppm, uncertainty })
            };
    }
    "returns-early" {
        Note "{share} of waits of {request:short} returned before their time, by up to {earliest:short}"
            in short "{share} by up to {earliest:short}" => "read the clock after a wait, and wait for the rest",
            |case| {
                let figures = case.figures.filter(|all| all.other_clock_ppm().is_none())?;
                let early = figures.lateness.iter().filter(|late| late.early > 0.0);
                let late = early.max_by(|a, b| a.early.total_cmp(&b.early))?;
                Some(values! {
                    share: number(late.early, Unit::Share),
                    request: ns(late.request_ns as f64),
                    earliest: ns(late.earliest_ns),
                })
            };
    }
    "coarse-reference" {
        Note "the clock that times the waits, {clock}, moves in steps of {step:short}: each lateness is known only to within a \
              step, and their median is estimated by a mean"
            in short "steps of {step:short}" => "measure where a finer clock can be read; a library that replaces clock_gettime may have made it coarse",
            |case| {
                let reference = &case.trace?.reference;
                let step_ns = reference.uncertainty_ns();
                (step_ns > MAX_FINE_STEP_NS)
                    .then(|| values! { clock: reference.id.as_str(), step: ns(step_ns) })
            };
    }
    "processes-differ" {
        Note "processes differ by more than their waits: the median lateness of waits of {request:short} is {median:short} \
              [{low:short}, {high:short}]"
            in short "{low:short} to {high:short}" => "measure on a quieter machine, or longer (--thorough, --budget)",
            |case| {
                let lateness = case.figures?.lateness.iter();
                let usual = lateness
                    .filter(|late| !late.with_others)
                    .max_by_key(|late| late.waits)?;
                let p50 = usual.p50_ns?;
                let (low, high) = p50.ends()?;
                (high - low - 2.0 * usual.uncertainty_ns > p50.value.abs()).then(|| {
                    values! {
                        request: ns(usual.request_ns as f64),
                        median: ns(p50.value),
                        low: ns(low),
                        high: ns(high),
                    }
                })
            };
    }
    "no-interval" {
        Note "the median lateness of waits of {requests} has no interval: {cause}"
            => "measure longer (--thorough, --budget): an interval needs six waits, from several processes",
            no_interval;
    }
    "requests-rounded" {
        Note "requests are rounded to steps of {step:short}"
            => "for shorter waits, use a timer that rounds requests to shorter steps",
            |case| {
                let mut steps = case.figures?.steps.iter();
                let step = steps.find_map(|steps| steps.rounding.and_then(Granularity::step))?;
                Some(values! { step: ns(step.value) })
            };
    }
    "wakes-on-a-grid" {
        Note "threads wake at points of time {step:short} apart<, and {grown:short} for longer waits>"
            => "expect waits to end up to a step late",
            |case| {
                let steps = case.figures?.steps.iter();
                let grids: Vec<f64> = steps
                    .filter_map(|steps| steps.grid.and_then(Granularity::step))
                    .map(|step| step.value)
                    .collect();
                let (first, rest) = grids.split_first()?;
                let longest = rest.iter().copied().fold(*first, f64::max);
                let grown = (longest > 1.5 * first).then(|| ns(longest));
                Some(values! { step: ns(*first), grown })
            };
    }
    "late-in-proportion" {
        Note "waits are longer than asked for by {excess} of their length: it is timed by another clock than it waits by, or \
              the system delays it, as Linux does poll"
            => "wait in parts, or to a point in absolute time",
            |case| {
                let figures = case.figures.filter(|all| all.other_clock_ppm().is_none())?;
                let ppm = figures.proportional_ppm?;
                (ppm.low()? > MAX_RATE_PPM).then(|| values! { excess: number(ppm.value, Unit::Ppm) })
            };
    }
    "one-moment" {
        Note "its waits of {length:short} and more were made within {watched:short}: lateness differs from minute to minute by \
              more than their intervals, as it depends on how deeply the CPU sleeps"
            => "measure longer (--budget 10m), or several times, some minutes apart",
            one_moment;
    }
}

/// The smallest share of expirations lost without a report that is worth a note.
/// *Judgement*: one in a run of some hundred may be an interruption.
const MIN_LOST_SHARE: f64 = 0.005;

/// Reports the lengths of waits whose median lateness has no interval, and the cause.
fn no_interval(case: &WaitCase<'_>) -> Option<Values> {
    let figures = case.figures?;
    let unbounded: Vec<&Lateness> = figures
        .lateness
        .iter()
        .filter(|late| late.p50_ns.is_none_or(|p50| p50.low().is_none()))
        .collect();
    let most = unbounded.iter().map(|late| late.waits).max()?;
    let requests: Vec<String> = unbounded
        .iter()
        .map(|late| short_time(late.request_ns as f64))
        .collect();
    let cause = match figures.processes {
        1 => "all of them come from one process".to_owned(),
        _ if unbounded.first().is_some_and(|first| first.waits == most) => {
            format!("there are only {most}")
        }
        _ => format!("there are at most {most} of one length"),
    };
    Some(values! { requests: requests.join(", "), waits: most, cause })
}

/// The shortest wait, in nanoseconds, in which CPUs enter the idle states that make lateness vary.
/// *Judgement*: CPUs enter shallow idle states in shorter waits too.
const MIN_IDLE_STATE_NS: u64 = 1_000_000;
/// The smallest duration of a measurement, in seconds, whose intervals include the variation of
/// lateness from minute to minute. *Judgement*: three minutes, which can be compared.
const MIN_RUN_S: f64 = 180.0;

/// Reports that all waits in which CPUs enter idle states were made within a short time, so that
/// waits at another time may differ.
fn one_moment(case: &WaitCase<'_>) -> Option<Values> {
    let trace = case.trace?;
    let waits = trace
        .runs
        .iter()
        .flat_map(|run| run.lengths.iter().chain(&run.long));
    let begun = waits
        .filter(|wait| wait.request_ns >= MIN_IDLE_STATE_NS)
        .map(|wait| wait.before);
    let (first, last) = (begun.clone().min()?, begun.max()?);
    let duration_s = last.wrapping_sub(first) as f64 * trace.reference.ns_per_tick * 1e-9;
    // A negative duration shows that each process has its own origin of time; the duration of the
    // measurement is then unknown.
    (trace.blocks && (0.0..MIN_RUN_S).contains(&duration_s)).then(|| {
        values! { length: ns(MIN_IDLE_STATE_NS as f64), watched: ns(1e9 * duration_s) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::apply_rules;
    use crate::model::Finding;
    use crate::scoring;
    use crate::trace::{Reference, Wait, WaitRun};

    /// Five processes that each wait once for 10 ms; they start `interval_s` seconds apart.
    fn wait_trace(interval_s: i64) -> WaitTrace {
        let wait = |before: i64| Wait {
            request_ns: 10_000_000,
            before,
            after: before + 10_100_000,
            cpu_ns: None,
            run_delay_ns: None,
        };
        let run = |process: i64| WaitRun {
            lengths: vec![wait(process * interval_s * 1_000_000_000)],
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

    fn found(trace: &WaitTrace, code: &str) -> Option<Finding> {
        let figures = scoring::wait_figures(trace, None);
        let case = WaitCase {
            figures: Some(&figures),
            trace: Some(trace),
            ..WaitCase::default()
        };
        apply_rules(WAITS, &case)
            .into_iter()
            .find(|it| it.code == code)
    }

    #[test]
    fn short_runs_are_one_moment() {
        let code = "one-moment";
        let short = found(&wait_trace(2), code).expect("all waits were made within eight seconds");
        assert!(
            short.message().contains("within 8 s"),
            "{}",
            short.message()
        );
        assert_eq!(found(&wait_trace(60), code), None);
        let spinning = WaitTrace {
            blocks: false,
            ..wait_trace(2)
        };
        assert_eq!(found(&spinning, code), None);
        assert_eq!(found(&WaitTrace::default(), code), None);
    }

    #[test]
    fn lost_expirations_are_reported() {
        let notes = |lost| {
            let period = PeriodFigures {
                expirations: 980,
                lost,
                ..PeriodFigures::default()
            };
            let case = WaitCase {
                period: Some(&period),
                ..WaitCase::default()
            };
            apply_rules(WAITS, &case)
        };
        assert_eq!(notes(1), []);
        let message = notes(20)[0].message();
        assert!(
            message.starts_with("20 of 1000 expirations (2"),
            "{message}"
        );
    }

    #[test]
    fn coarse_reference_is_reported() {
        let code = "coarse-reference";
        assert_eq!(found(&wait_trace(2), code), None);
        let mut coarse = wait_trace(2);
        coarse.reference.step = 4e6 / coarse.reference.ns_per_tick;
        let message = found(&coarse, code).expect("its steps are 4 ms").message();
        assert!(message.contains("steps of 4 ms"), "{message}");
    }

    #[test]
    fn missing_interval_has_a_cause() {
        let code = "no-interval";
        let few = found(&wait_trace(2), code).expect("five waits have no interval");
        let message = few.message();
        assert!(
            message.contains("waits of 10 ms") && message.contains("there are only 5"),
            "{message}"
        );
        let mut twice = wait_trace(2);
        for (run, again) in twice.runs.iter_mut().zip(wait_trace(3).runs) {
            run.lengths.extend(again.lengths);
        }
        assert_eq!(found(&twice, code), None);
    }
}
