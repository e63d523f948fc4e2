//! Defines the findings about a sleep primitive, which is a function that waits for a given time:
//! the text of each and the condition under which it is reported.

use super::{ns, number, values};
use crate::model::{
    Granularity, Lateness, MAX_FINE_STEP_NS, MAX_RATE_PPM, Steps, Unit, Value, WaitFigures,
};

rules! {
    /// The rules in the order of reports.
    pub static WAITS;
    // The observations made before a process failed are kept.
    "ended-early" {
        Note "its measurement was ended early: {cause}" in short "{cause}" => "measure again",
            |lost| Some(values! { cause: lost });
    }
    "loses-expirations" {
        Note "{lost} of {expirations} expirations ({share}) had no wake-up, and it did not report them"
            in short "{lost} of {expirations}" => "count periods by a clock, not by wake-ups",
            |period| {
                let (lost, expirations) = (period.lost(), period.due());
                let share = lost as f64 / expirations.max(1) as f64;
                (share >= MIN_LOST_SHARE)
                    .then(|| values! { lost, expirations, share: number(share, Unit::Share) })
            };
    }
    "clock-steps-back" {
        Problem "the clock that times it, {clock}, is at fault: {count} waits ended before they began, by steps back of up to {step}"
            => "trust no lateness below that; bind the process to one CPU (--cpu)",
            |wait_trace| {
                let (count, step_ns) = wait_trace.backward_steps()?;
                Some(values! { clock: wait_trace.reference.id.as_str(), step: ns(step_ns), count })
            };
    }
    "interrupted-by-signals" {
        Problem "signals interrupted {count} of {waits} waits: a program that does not repeat its wait returns early"
            => "find who sends them (a profiler, a library, an interval timer), or repeat each wait for the rest of its time",
            |signals| {
                let [count, waits] = signals;
                (count > 0).then(|| values! { count, waits })
            };
    }
    "other-clock" {
        Problem "it is timed by another clock than it waits by: its waits deviate by {ppm} (± {uncertainty}) of their length"
            => "find out which of the two clocks is wrong (`check`)",
            |waits| {
                let ppm = waits.other_clock_ppm()?;
                let [ppm, uncertainty] = [ppm.value, ppm.half_width()].map(|ppm| number(ppm, Unit::Ppm));
                Some(values! { ppm, uncertainty })
            };
    }
    "returns-early" {
        Note "{share} of waits of {request} returned before their time, by up to {earliest}<, {likely}>"
            in short "{share} by up to {earliest}" => "read the clock after a wait, and wait for the rest",
            |earliest| {
                let Lateness { early, earliest_ns, p50_ns, .. } = *earliest;
                let median_ns = p50_ns.map_or(0.0, |late| -late.value);
                let likely = match median_ns > MIN_EQUAL_SHARE * earliest_ns {
                    true => "all by about as much: their lengths are rounded down",
                    false => "by differing times: their clock is coarse, or fast",
                };
                (early > 0.0).then(|| values! {
                    share: number(early, Unit::Share),
                    request: ns(earliest.request_ns as f64),
                    earliest: ns(earliest_ns),
                    likely,
                })
            };
    }
    "coarse-reference" {
        Note "the clock that times the waits, {clock}, moves in steps of {step}: each lateness is known only to within a step"
            in short "steps of {step}" => "measure where a finer clock can be read",
            |wait_trace| {
                let reference = &wait_trace.reference;
                let step_ns = reference.uncertainty_ns();
                (step_ns > MAX_FINE_STEP_NS)
                    .then(|| values! { clock: reference.id.as_str(), step: ns(step_ns) })
            };
    }
    "requests-rounded" {
        Note "requests are rounded to steps of {step}"
            in short "steps of {step}" => "for shorter waits, use a timer that rounds requests to shorter steps",
            |waits| Some(values! { step: first_step(waits, |steps| steps.rounding)? });
    }
    "wakes-on-a-grid" {
        Note "threads wake at points of time {step} apart"
            in short "steps of {step}" => "expect waits to end up to a step late",
            |waits| Some(values! { step: first_step(waits, |steps| steps.grid)? });
    }
    "late-in-proportion" {
        Note "waits are longer than asked for by {excess} of their length: the system delays them, as Linux does poll, or they are timed by another clock"
            => "wait in parts, or to a point in absolute time",
            |waits| {
                let ppm = waits.proportional_ppm?;
                (waits.other_clock_ppm().is_none() && ppm.low()? > MAX_RATE_PPM).then(|| values! { excess: number(ppm.value, Unit::Ppm) })
            };
    }
}

/// The step of one kind at the shortest lengths at which it is known.
fn first_step(waits: &WaitFigures, kind: fn(&Steps) -> Option<Granularity>) -> Option<Value> {
    let step = waits.steps.iter().find_map(|steps| kind(steps)?.step())?;
    Some(ns(step.value))
}

/// The smallest median earliness of waits that are early by the same, as a share of the largest.
/// *Computed*: it is 1/2 if a coarse or fast clock makes them early.
const MIN_EQUAL_SHARE: f64 = 0.75;

/// The smallest share of expirations lost without a report that is worth a note.
/// *Judgement*: one in a run of some hundred may be an interruption.
const MIN_LOST_SHARE: f64 = 0.005;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Facts, apply};
    use crate::model::PeriodFigures;
    use crate::trace::{Reference, WaitTrace};

    #[test]
    fn facts_beyond_limits_are_reported() {
        let period = |lost| PeriodFigures {
            expirations: 980,
            missed: lost,
            ..PeriodFigures::default()
        };
        let trace = |step| WaitTrace {
            reference: Reference {
                ns_per_tick: 1.0,
                step,
                ..Reference::default()
            },
            runs: Vec::new(),
        };
        let (none, facts) = (Facts::default(), [period(1), period(20)]);
        let traces = [trace(1.0), trace(4e6)];
        let [few, many] = facts.each_ref().map(|period| Facts {
            period: Some(period),
            ..none
        });
        let [fine, coarse] = traces.each_ref().map(|it| Facts {
            wait_trace: Some(it),
            ..none
        });
        let [quiet, signals] = [0, 1].map(|count| Facts {
            signals: Some([count, 5]),
            ..none
        });
        for (within, beyond, words) in [
            (few, many, "20 of 1000 expirations (2"),
            (fine, coarse, "steps of 4 ms"),
            (quiet, signals, "signals interrupted 1 of 5 waits:"),
        ] {
            assert_eq!(apply(WAITS, &within), []);
            let message = apply(WAITS, &beyond)[0].message();
            assert!(message.contains(words), "{message}");
        }
    }
}
