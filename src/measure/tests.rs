//! The library's instruments in virtual time, where the truth is known and nothing has to be waited
//! for.

use std::cell::Cell;
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
        watched: false,
        ..Goal::default()
    }
}

#[test]
fn adaptive_batches_bound_the_error() {
    for (step, cost) in CLOCKS {
        for duration in [47.3, 1_234.5, 98_765.4] {
            let clock = Virtual::new(step, cost);
            let measured = clock
                .measure(Instrument::Adaptive, || clock.pass(duration), &goal(0.01))
                .unwrap();
            let found = measured.mean_ns.value;
            assert!(
                (found / duration - 1.0).abs() < 0.01,
                "step {step}, {duration} ns: found {found}"
            );
            assert!(measured.clock_error <= 0.0101, "{:?}", measured);
            assert!(
                measured.mean_ns.low() < Some(duration) && Some(duration) < measured.mean_ns.high()
            );
        }
    }
}

/// An operation of 80 ns whose first call takes a thousand times as long, and each window of which
/// may be interrupted.
#[test]
fn a_cold_first_call_fools_nobody() {
    for error in [0.01, 0.2] {
        let clock = Virtual::new(10.0, 22.0);
        let calls = Cell::new(0_u32);
        let operation = || {
            calls.set(calls.get() + 1);
            clock.pass(if calls.get() == 1 { 80_000.0 } else { 80.0 });
        };
        let goal = goal(error);
        for measured in [
            clock.measure(Instrument::Adaptive, operation, &goal),
            clock.measure(Instrument::Micro, operation, &goal),
        ] {
            let summary = measured.unwrap();
            assert!(
                (summary.mean_ns.value / 80.0 - 1.0).abs() < error,
                "{error}: {summary:?}"
            );
            assert!(
                summary.clock_error <= 1.3 * error && summary.calls > 1,
                "{error}: {summary:?}"
            );
            calls.set(0);
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
    let summary = clock
        .measure(Instrument::Adaptive, sort, &goal(0.2))
        .expect("measured");
    assert!(
        (summary.mean_ns.value / 40_000.0 - 1.0).abs() < summary.error,
        "{summary:?}"
    );
    assert!(summary.clock_error < 0.24, "{summary:?}");
}

#[test]
fn edge_crossing_agrees_with_classic() {
    let clock = Virtual::new(1e5, 20.0);
    // Virtual time knows no noise: what passes between two calls is made irregular here.
    let turn = Cell::new(0.0_f64);
    let operation = || {
        clock.pass(5e3);
        turn.set((turn.get() + 0.618_034).fract());
    };
    let classic = clock
        .measure(Instrument::Adaptive, operation, &goal(0.01))
        .expect("classic");
    let jittered = WithSetUp {
        data: (),
        set_up: |_: &mut ()| clock.pass(turn.get() * 1e5),
        call: |_: &mut ()| operation(),
    };
    let discrete = clock
        .measure(Instrument::Discrete, jittered, &goal(0.05))
        .expect("edge-crossing");
    let ratio = discrete.mean_ns.value / classic.mean_ns.value;
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    assert!(discrete.clock_error < 0.06, "{discrete:?}");
}

#[test]
fn throughput_span_or_coarse_clock() {
    let clock = Virtual::new(10.0, 22.0);
    let spanned = Goal {
        span: Duration::from_millis(10),
        ..goal(0.01)
    };
    let often = clock
        .measure(Instrument::Throughput, || clock.pass(250.0), &spanned)
        .expect("often");
    assert!((often.mean_ns.value - 250.0).abs() < 1.0);
    assert!(
        often
            .samples
            .iter()
            .all(|sample| (sample.weight as f64 - 40_000.0).abs() < 900.0)
    );
    let coarse = Virtual::new(4e6, 4.0);
    let error = coarse
        .measure(Instrument::Throughput, || coarse.pass(250.0), &spanned)
        .unwrap_err();
    assert!(error.to_string().contains("--time"), "{error}");
}

#[test]
fn only_micro_trials_vary_weight() {
    let clock = Virtual::new(10.0, 22.0);
    let micro = clock
        .measure(Instrument::Micro, || clock.pass(100.0), &goal(0.01))
        .expect("micro");
    let weights: std::collections::BTreeSet<u64> =
        micro.samples.iter().map(|sample| sample.weight).collect();
    assert!(weights.len() > 3, "{weights:?}");
    assert!((micro.mean_ns.value - 100.0).abs() < 1.0);
    let long = clock
        .measure(Instrument::Macro, || clock.pass(1e6), &goal(0.01))
        .expect("macro");
    assert!(long.samples.iter().all(|sample| sample.weight == 1));
    let error = clock
        .measure(Instrument::Macro, || clock.pass(100.0), &goal(0.01))
        .unwrap_err();
    assert!(error.to_string().contains("too short"), "{error}");
}

#[test]
fn what_cannot_be_measured_says_so() {
    let clock = Virtual::new(10.0, 22.0);
    let error = clock
        .measure(Instrument::Adaptive, || clock.pass(10.0), &goal(0.0001))
        .unwrap_err();
    assert!(error.to_string().contains("0.05 %"), "{error}");
    let stuck = Goal {
        limit: Duration::ZERO,
        ..goal(0.01)
    };
    assert!(
        clock
            .measure(Instrument::Adaptive, || clock.pass(10.0), &stuck)
            .is_err()
    );
}
