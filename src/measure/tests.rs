//! The library's instruments in virtual time, where the truth is known and nothing has to be waited
//! for.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use super::window::ClockAndOperation;
use super::{
    Goal, Instrument, MeasuredOperation, Operation, Stopwatch, TrialError, WithSetUp, instruments,
};
use judgement::choice::ClockFigures;

/// A clock in virtual time: it moves in steps and costs a little.
#[derive(Clone)]
struct Virtual {
    now: Rc<Cell<f64>>,
    step_ns: f64,
    cost_ns: f64,
}

impl Virtual {
    fn new(step_ns: f64, cost_ns: f64) -> Self {
        Self {
            now: Rc::new(Cell::new(12_345.6)),
            step_ns,
            cost_ns,
        }
    }

    fn pass(&self, ns: f64) {
        self.now.set(self.now.get() + ns);
    }

    /// Measures an operation with this clock, whose step and cost are known.
    fn measure(
        &self,
        instrument: Instrument,
        mut operation: impl Operation,
        goal: &Goal,
    ) -> Result<MeasuredOperation, TrialError> {
        let figures = ClockFigures {
            id: "virtual".into(),
            step_ns: self.step_ns,
            resolved: true,
            cost_ns: self.cost_ns,
            cost_error_ns: 0.02 * self.cost_ns,
            adds_ns: None,
            variation_ns: self.step_ns.min(0.1 * self.cost_ns),
            properties: timers::Properties::MONOTONIC.into_owned(),
        };
        let mut pair = ClockAndOperation {
            clock: self,
            operation: &mut operation,
        };
        instruments::measure(instrument, &mut pair, &figures, goal)
    }

    /// Measures an operation that always takes as long.
    fn measure_constant(
        &self,
        instrument: Instrument,
        ns: f64,
        goal: &Goal,
    ) -> Result<MeasuredOperation, TrialError> {
        self.measure(instrument, || self.pass(ns), goal)
    }
}

impl Stopwatch for Virtual {
    type Reading = f64;

    fn read(&self) -> f64 {
        self.pass(self.cost_ns / 2.0);
        let reading = (self.now.get() / self.step_ns).floor();
        self.pass(self.cost_ns / 2.0);
        reading
    }

    fn elapsed_ns(&self, first: f64, second: f64) -> f64 {
        (second - first) * self.step_ns
    }
}

const CLOCKS: [(f64, f64); 4] = [(10.0, 22.0), (1e3, 22.0), (4e6, 4.0), (1e7, 550.0)];

fn goal(error: f64) -> Goal {
    Goal {
        error,
        limit: Duration::from_secs(600),
        span: Duration::from_millis(10),
        watched: false,
        ..Goal::default()
    }
}

/// Checks that the mean is off by less than a share, and the error of the clock at most another.
#[track_caller]
fn assert_near(found: &MeasuredOperation, ns: f64, share: f64, clock_error: f64) {
    let off = (found.mean_ns.value / ns - 1.0).abs();
    assert!(
        off < share && found.clock_error <= clock_error,
        "{ns}: {found:?}"
    );
}

#[test]
fn adaptive_batches_bound_the_error() {
    for (step, cost) in CLOCKS {
        for ns in [47.3, 1_234.5, 98_765.4] {
            let clock = Virtual::new(step, cost);
            let found = clock
                .measure_constant(Instrument::Adaptive, ns, &goal(0.01))
                .unwrap();
            assert_near(&found, ns, 0.01, 0.0101);
            let [low, high] = [found.mean_ns.low(), found.mean_ns.high()];
            assert!(low < Some(ns) && Some(ns) < high, "{found:?}");
        }
    }
}

/// An operation of 80 ns whose first call takes a thousand times as long, and each window of which
/// may be interrupted.
#[test]
fn a_cold_first_call_fools_nobody() {
    for error in [0.01, 0.2] {
        for instrument in [Instrument::Adaptive, Instrument::Micro] {
            let (clock, is_warm) = (Virtual::new(10.0, 22.0), Cell::new(false));
            let operation = || {
                clock.pass(if is_warm.replace(true) {
                    80.0
                } else {
                    80_000.0
                })
            };
            let found = clock.measure(instrument, operation, &goal(error)).unwrap();
            assert_near(&found, 80.0, error, 1.3 * error);
            assert!(found.calls > 1);
        }
    }
}

/// The set-up, which takes far longer, is not timed.
#[test]
fn measures_setup_calls_with_coarse_clock() {
    let clock = Virtual::new(1e6, 22.0);
    let turn = Cell::new(0.0_f64);
    let sort = WithSetUp {
        data: (),
        set_up: |_: &mut ()| {
            turn.set((turn.get() + 0.618_034).fract());
            clock.pass(turn.get() * 1e6);
        },
        call: |_: &mut ()| clock.pass(40_000.0),
    };
    let found = clock
        .measure(Instrument::Adaptive, sort, &goal(0.2))
        .unwrap();
    assert_near(&found, 40_000.0, found.error, 0.24);
}

#[test]
fn edge_crossing_averages_single_calls() {
    let clock = Virtual::new(1e5, 20.0);
    // Virtual time knows no noise: what passes between two calls is made irregular here.
    let turn = Cell::new(0.0_f64);
    let jittered = WithSetUp {
        data: (),
        set_up: |_: &mut ()| clock.pass(turn.get() * 1e5),
        call: |_: &mut ()| {
            clock.pass(5e3);
            turn.set((turn.get() + 0.618_034).fract());
        },
    };
    let found = clock
        .measure(Instrument::Discrete, jittered, &goal(0.05))
        .unwrap();
    assert_near(&found, 5e3, 0.05, 0.06);
}

#[test]
fn instruments_weigh_their_samples() {
    let clock = Virtual::new(10.0, 22.0);
    for (instrument, ns, least, most) in [
        (Instrument::Throughput, 250.0, 39_100, 40_900),
        (Instrument::Macro, 1e6, 1, 1),
    ] {
        let found = clock.measure_constant(instrument, ns, &goal(0.01)).unwrap();
        assert_near(&found, ns, 0.004, 1.0);
        let mut weights = found.samples.iter().map(|sample| sample.weight);
        assert!(
            weights.all(|weight| (least..=most).contains(&weight)),
            "{found:?}"
        );
    }
    let micro = clock
        .measure_constant(Instrument::Micro, 100.0, &goal(0.01))
        .unwrap();
    assert_near(&micro, 100.0, 0.01, 1.0);
    let weights: BTreeSet<u64> = micro.samples.iter().map(|sample| sample.weight).collect();
    assert!(weights.len() > 3, "{weights:?}");
}

#[test]
fn what_cannot_be_measured_says_so() {
    let stuck = Goal {
        limit: Duration::ZERO,
        ..goal(0.01)
    };
    let (fine, coarse) = (Virtual::new(10.0, 22.0), Virtual::new(4e6, 4.0));
    for (clock, instrument, ns, goal, words) in [
        (&fine, Instrument::Adaptive, 10.0, goal(0.0001), "0.05 %"),
        (&fine, Instrument::Adaptive, 10.0, stuck, ""),
        (&fine, Instrument::Macro, 100.0, goal(0.01), "too short"),
        (&coarse, Instrument::Throughput, 250.0, goal(0.01), "--time"),
    ] {
        let error = clock.measure_constant(instrument, ns, &goal).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
}
