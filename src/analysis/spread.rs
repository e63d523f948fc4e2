//! Spread: the share of single invocations within ±1 accuracy of their median (ICPE 2011, section 4.2).
//!
//! The share is taken of the distribution itself and not of its quantised image, so that a figure quantised at just one
//! accuracy does not lose its neighbouring level.

use std::rc::Rc;

use crate::analysis::moments::{self, Moments};
use crate::analysis::pace::Pace;
use crate::analysis::shape::{Shape, cheapest};
use crate::trace::{Reference, Run, Trace};

/// Fewest successive readings from which a shape is taken.
const FEWEST: usize = 100;

/// Who shows single invocations, and what kind of shape they have in all processes together.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Whether it is the timer itself.
    pub(super) of_intervals: bool,
    /// Nanoseconds in a tick of whoever shows them.
    pub(super) ns_per_tick: f64,
    /// Its step, in its ticks.
    pub(super) step: f64,
    kind: Option<usize>,
    skewness: Option<f64>,
}

impl View {
    /// The reference shows the invocations.
    #[must_use]
    pub fn by_reference(trace: &Trace) -> Self {
        Self::of_reference(trace).with_kind(&trace.runs)
    }

    /// The timer itself shows them by its successive readings, where it moves in markedly finer steps than the reference. `step`
    /// is its resolution in its ticks, where known.
    #[must_use]
    pub fn by_readings(trace: &Trace, step: Option<f64>) -> Option<Self> {
        Some(Self::of_readings(trace, step)?.with_kind(&trace.runs))
    }

    /// Whoever shows them, without looking for the kind of their shape.
    pub(super) fn without_kind(trace: &Trace, step: Option<f64>) -> Self {
        Self::of_readings(trace, step).unwrap_or_else(|| Self::of_reference(trace))
    }

    fn of_reference(trace: &Trace) -> Self {
        Self {
            of_intervals: false,
            ns_per_tick: trace.reference.ns_per_tick,
            step: trace.reference.step,
            kind: None,
            skewness: moments::skewness(&trace.runs, &trace.reference),
        }
    }

    fn of_readings(trace: &Trace, step: Option<f64>) -> Option<Self> {
        let (step, ns_per_tick) = (step?, trace.ns_per_tick?);
        let finer = step * ns_per_tick < 0.75 * trace.reference.step * trace.reference.ns_per_tick;
        let read = trace.runs.iter().all(|run| run.readings.values.len() > FEWEST);
        let view = Self { of_intervals: true, ns_per_tick, step, ..Self::of_reference(trace) };
        (finer && read).then_some(view)
    }

    fn with_kind(self, runs: &[Run]) -> Self {
        Self { kind: self.agreed(runs), ..self }
    }

    /// The kind of shape that explains most over all processes.
    fn agreed(&self, runs: &[Run]) -> Option<usize> {
        let each: Vec<_> = runs.iter().map(|run| Shape::surprises(&self.samples(run), self.step)).collect();
        let told: Vec<_> = each.into_iter().flatten().collect();
        // Where most processes ask for no more than one cost, the others are left to themselves.
        (2 * told.len() > runs.len()).then(|| {
            let sum = std::array::from_fn(|kind| told.iter().map(|surprises| surprises[kind]).sum());
            cheapest(&sum, told.len())
        })
    }

    /// Single invocations of a process, in ticks of whoever shows them; with the bracket where that is the reference.
    pub(super) fn samples(&self, run: &Run) -> Vec<i64> {
        if self.of_intervals { successive(&run.readings.values) } else { run.singles.deltas.clone() }
    }
}

/// What single invocations look like, in nanoseconds.
#[derive(Clone)]
pub struct Singles {
    shape: Rc<Shape>,
    /// At the pace that times are told at.
    ns_per_tick: f64,
    core_hz: Option<f64>,
    /// Whether it comes from the intervals of the timer itself and not from brackets by the reference.
    pub of_intervals: bool,
}

impl Singles {
    /// From the observations of one process, as they were measured. `None` when nothing was observed.
    #[must_use]
    pub fn of(run: &Run, reference: &Reference, view: &View) -> Option<Self> {
        let rare = Shape::rare_among(&run.singles.deltas, reference.step)?;
        let samples = view.samples(run);
        let deviation = if view.of_intervals {
            moments::deviation_of_readings(&samples, view.step)?
        } else {
            moments::deviation(run, reference, rare)? / view.ns_per_tick / view.step
        };
        let moments = Moments { deviation, skewness: view.skewness };
        let shape = Shape::of(&samples, view.step, moments, view.kind, view.of_intervals)?;
        let core_hz = if view.of_intervals { run.readings.core_hz } else { run.singles.core_hz };
        let ns_per_tick = view.ns_per_tick;
        Some(Self { shape: Rc::new(shape), ns_per_tick, core_hz, of_intervals: view.of_intervals })
    }

    /// The same at `pace`.
    #[must_use]
    pub fn at(&self, pace: Pace) -> Self {
        Self { ns_per_tick: self.ns_per_tick * pace.scale(self.core_hz), ..self.clone() }
    }

    /// Share of invocations within ±`accuracy_ns` of the median, in (0, 1].
    #[must_use]
    pub fn spread(&self, accuracy_ns: f64) -> f64 {
        self.shape.share_within(accuracy_ns / self.ns_per_tick)
    }

    /// The median, the bracket included where there is one.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// A quantile, likewise.
    #[must_use]
    pub fn quantile(&self, probability: f64) -> f64 {
        self.shape.quantile(probability) * self.ns_per_tick
    }

    /// The mean of all but rare interruptions, likewise.
    #[must_use]
    pub fn core_mean(&self) -> f64 {
        self.shape.core_mean() * self.ns_per_tick
    }

    /// The share of invocations that are rare interruptions.
    #[must_use]
    pub fn rare(&self) -> f64 {
        self.shape.rare()
    }

    /// The third central moment over the second, in nanoseconds.
    #[must_use]
    pub fn skewness_length(&self) -> f64 {
        self.shape.skewness_length() * self.ns_per_tick
    }

    /// The variance of all but rare interruptions, in nanoseconds squared.
    #[must_use]
    pub fn core_variance(&self) -> f64 {
        self.shape.core_variance() * self.ns_per_tick * self.ns_per_tick
    }
}

/// Differences of successive readings.
#[must_use]
pub fn successive(readings: &[i64]) -> Vec<i64> {
    readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect()
}
