//! Tests whether the plans of `pick` keep their promised errors on this machine. Every clock of a
//! report measures a chain of multiplications with every method. The truth is the mean of long runs
//! timed by `monotonic`, which alternate with the samples because the core frequency varies.
//!
//! Single calls are compared with runs of serialised calls, batches with runs of consecutive calls,
//! which overlap in the core. The plan promises an error from the figures of the clock before
//! anything is measured. The variation of the operation itself between windows, as measured by
//! `monotonic`, is added to it, because it does not depend on the clock.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use timermeter::choice::{ClockFigures, MeasuringPlan, PlanMethod, Requirement, plan};
use timermeter::commands::CommandError;
use timermeter::measure::interference::WindowWatch;
use timermeter::measure::operations;
use timermeter::measure::window::{TimedOperation, open_timed};
use timermeter::model::{Nanos, TimerRow};
use timermeter::statistics::{mean_without_highest, median, quantile, sorted, student_quantile};
use timermeter::table::{CellValue, Format, Notation, Table, TableColumn};
use timermeter::text::numbers::time;
use timers::Deadline;

use super::progress;

/// The relative error that plans aim for.
const ERROR: f64 = 0.05;
/// The confidence of the promised errors.
const CONFIDENCE: f64 = 0.95;
/// The number of samples with each clock and method.
const SAMPLES: u32 = 12;
/// The time for all samples with one clock and method. A plan that needs more is reduced and
/// promises a larger error.
const BUDGET: Duration = Duration::from_millis(600);
/// The smallest share of promises that have to be kept.
const MIN_KEPT_SHARE: f64 = 0.95;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Single,
    Batch,
    EdgeCrossing,
}

const KINDS: [(Kind, &str); 3] = [
    (Kind::Single, "single"),
    (Kind::Batch, "batch"),
    (Kind::EdgeCrossing, "edge-crossing"),
];

/// A promised error and the measured one.
struct Promise {
    /// The duration of a call according to the long runs.
    truth_ns: f64,
    /// The duration of a call according to this clock and method.
    found_ns: f64,
    /// The measured relative error.
    error: f64,
    /// The relative error promised for the clock and the method.
    clock_error: f64,
    /// The same plus the variation of the operation itself.
    promised: f64,
}

/// Tests all clocks of a report and prints a table.
///
/// # Errors
/// If too few promises are kept, or the report cannot be read or lacks `monotonic`.
pub fn run(report: &Path, output: &mut dyn Write) -> Result<(), CommandError> {
    let failed = |why: String| CommandError::Failed(why);
    let report = timermeter::report::read(report).map_err(|error| failed(error.to_string()))?;
    if let Some(cpu) =
        timermeter::platform::quietest_cpu(&timers::allowed_cpus().unwrap_or_default())
    {
        timers::pin_to(cpu).map_err(|error| failed(error.to_string()))?;
    }
    let truth = report.timers.iter().find(|row| row.id == "monotonic");
    let truth = truth.ok_or_else(|| failed("the report has no `monotonic`".into()))?;
    let truth =
        ClockFigures::from_row(truth, &report.platform).map_err(|why| failed(why.to_string()))?;
    let percents = ["error %", "promised %", "clock's %"];
    let mut columns = vec![TableColumn::left("clock"), TableColumn::left("method")];
    columns.extend(["truth", "found"].map(|heading| TableColumn::right(heading, Notation::Time)));
    columns.extend(percents.map(|heading| TableColumn::right(heading, Notation::Fixed(2))));
    columns.push(TableColumn::left(""));
    let mut table = Table::new(columns);
    let (mut kept, mut promised, mut refused) = (0, 0, Vec::new());
    let rows: Vec<&TimerRow> = report
        .timers
        .iter()
        .filter(|row| row.runtime == "native")
        .collect();
    let progress = progress(rows.len());
    for row in rows {
        progress.inc(1);
        let clock = match ClockFigures::from_row(row, &report.platform) {
            Ok(clock) if clock.facts.counts.is_some() => clock,
            Ok(_) => {
                refused.push(format!("{}: it does not count time", row.id));
                continue;
            }
            Err(why) => {
                refused.push(format!("{}: {why}", row.id));
                continue;
            }
        };
        for (kind, name) in KINDS {
            match measure_promise(&clock, &truth, kind) {
                Ok(promise) => {
                    let is_kept = promise.error <= promise.promised;
                    promised += 1;
                    kept += u32::from(is_kept);
                    table.push(promise.cells(&clock.id, name, is_kept));
                }
                Err(why) => refused.push(format!("{} {name}: {why}", clock.id)),
            }
        }
    }
    progress.finish_and_clear();
    table.write(Format::Table, output)?;
    let share = format!("{kept} of {promised} promises were kept");
    writeln!(output, "\n{share}")?;
    refused
        .iter()
        .try_for_each(|why| writeln!(output, "no promise: {why}"))?;
    output.flush()?;
    if promised > 0 && f64::from(kept) >= MIN_KEPT_SHARE * f64::from(promised) {
        return Ok(());
    }
    Err(failed(format!(
        "the plans do not keep their promises: {share}"
    )))
}

impl Promise {
    fn cells(&self, clock: &str, method: &str, is_kept: bool) -> Vec<CellValue> {
        let percents = [self.error, self.promised, self.clock_error]
            .map(|share| CellValue::from(100.0 * share));
        let mut cells: Vec<CellValue> = vec![
            clock.into(),
            method.into(),
            self.truth_ns.into(),
            self.found_ns.into(),
        ];
        cells.extend(percents);
        cells.push(if is_kept { "" } else { "BROKEN" }.into());
        cells
    }
}

/// Returns the length of the measured chain in multiplications. For single calls it is long enough
/// for the clock if possible, because no plan promises anything for shorter ones.
fn chain_links(clock: &ClockFigures, kind: Kind) -> u64 {
    /// The approximate duration of a multiplication; the true one is measured.
    const LINK_NS: f64 = 1.5;
    const LONGEST_NS: f64 = 5e7;
    let needed_ns = match kind {
        Kind::Single => 3.0 * (clock.step_ns + clock.cost_ns + 50.0) / ERROR,
        Kind::Batch => 200.0,
        Kind::EdgeCrossing => (clock.step_ns / 3.0)
            .clamp(400.0, 3e5)
            .max(20.0 * clock.cost_ns)
            .max(3.0 * clock.pipeline_ns(true) / ERROR),
    };
    (needed_ns.min(LONGEST_NS) / LINK_NS) as u64
}

/// Measures alternately with the clock and with the clock that gives the truth.
///
/// # Errors
/// If the method cannot be used with this clock within the budget, with the reason.
fn measure_promise(
    clock: &ClockFigures,
    truth_clock: &ClockFigures,
    kind: Kind,
) -> Result<Promise, String> {
    let links = chain_links(clock, kind);
    let mut chains = [0; 2].map(|_| operations::create("chain", links).expect("it is built in"));
    let [chain, same] = &mut chains;
    let open = |id, chain| {
        let timed = open_timed(id, chain).ok_or("this program does not host it")?;
        timed.map_err(|why| why.to_string())
    };
    let mut timed = open(&clock.id, &mut **chain)?;
    let mut true_timed = open(&truth_clock.id, &mut **same)?;
    let (timed, mut truth) = (
        &mut *timed,
        Truth {
            timed: &mut *true_timed,
            kind,
        },
    );
    let calls = truth.calls();
    let duration_ns = truth.ns_per_call(calls).max(1e-3);
    let plan = make_plan(clock, kind, duration_ns)?;
    let floor = measure_floor(timed, clock);
    let (mut ratios, mut truths, mut short) = (Vec::new(), Vec::new(), Vec::new());
    let deadline = Deadline::after(4 * BUDGET);
    while ratios.len() < SAMPLES as usize {
        if deadline.remaining().is_none() {
            return Err(format!(
                "{} of {SAMPLES} samples were undisturbed",
                ratios.len()
            ));
        }
        let watch = WindowWatch::begin();
        let before = truth.ns_per_call(calls);
        let found = sample(timed, clock, &plan, floor, ratios.len() as u64);
        let after = truth.ns_per_call(calls);
        let repeated_run = truth.repeated_run(&plan);
        // A long sample always contains interruptions, and its mean tolerates them.
        if watch.end().is_none() || plan.campaign_ns > 5e6 {
            let classic = f64::midpoint(before, after);
            truths.push(classic);
            ratios.push(found / classic);
            short.push(repeated_run / classic);
        }
    }
    let count = ratios.len() as f64;
    // A plan for a single call is judged by the first sample, the others by the median of all,
    // whose standard error is 1.25 times that of a mean.
    let (ratio, standard_errors) = match kind {
        Kind::Single => (ratios[0], (1.0 + 1.0 / count).sqrt()),
        _ => (median(&ratios).unwrap_or(f64::NAN), 1.25 / count.sqrt()),
    };
    let variation =
        student_quantile(CONFIDENCE, ratios.len() - 1) * standard_errors * scatter(&short);
    let classic_ns = duration_ns * calls as f64;
    let true_error = (truth_clock.step_ns + 2.0 * truth_clock.cost_error_ns) / classic_ns.max(1.0);
    let (truth_ns, clock_error) = (median(&truths).unwrap_or(f64::NAN), plan.error + true_error);
    Ok(Promise {
        truth_ns,
        found_ns: ratio * truth_ns,
        error: (ratio - 1.0).abs(),
        clock_error,
        promised: clock_error + variation,
    })
}

/// Estimates the standard deviation of normally distributed values with outliers, from their
/// interquartile range.
fn scatter(figures: &[f64]) -> f64 {
    /// The interquartile range of a normal distribution in standard deviations.
    const NORMAL_RANGE: f64 = 1.349;
    let sorted = sorted(figures);
    let at = |share| quantile(&sorted, share).unwrap_or(0.0);
    (at(0.75) - at(0.25)) / NORMAL_RANGE
}

/// Long runs of the same operation, timed by `monotonic`.
struct Truth<'a> {
    timed: &'a mut dyn TimedOperation,
    kind: Kind,
}

impl Truth<'_> {
    /// Returns the number of calls that take a quarter of a millisecond: long compared with the
    /// step of `monotonic`, and short enough that most runs are not interrupted.
    fn calls(&mut self) -> u64 {
        const RUN_NS: f64 = 2.5e5;
        let mut calls = 1;
        while self.ns_per_call(calls) * (calls as f64) < RUN_NS && calls < 1 << 40 {
            calls *= 2;
        }
        calls
    }

    /// Measures the duration of a call: of consecutive calls for batches, otherwise of serialised
    /// calls.
    fn ns_per_call(&mut self, calls: u64) -> f64 {
        let ns = match self.kind {
            Kind::Batch => self.timed.window(calls) - self.timed.window(0),
            Kind::Single | Kind::EdgeCrossing => self.timed.fenced_window(calls),
        };
        ns / calls as f64
    }

    /// Measures the duration of a call, in nanoseconds, with a window like those of the plan. For
    /// edge-crossing, which averages single calls, it is the mean of several windows.
    fn repeated_run(&mut self, plan: &MeasuringPlan) -> f64 {
        /// More windows do not change the estimate of the variation.
        const MAX_WINDOWS: u64 = 64;
        let (calls, times) = match plan.method {
            PlanMethod::Single => (1, 1),
            PlanMethod::Batch { calls } => (calls, 1),
            PlanMethod::EdgeCrossing { samples, .. } | PlanMethod::Mean { requests: samples } => {
                (1, samples.min(MAX_WINDOWS))
            }
        };
        self.timed.warm_up(calls);
        let total: f64 = (0..times)
            .map(|_| self.timed.window(calls) - self.timed.window(0))
            .sum();
        total / (times * calls) as f64
    }
}

/// Returns the plan that reaches the error, or the best plan within the budget.
fn make_plan(clock: &ClockFigures, kind: Kind, duration_ns: f64) -> Result<MeasuringPlan, String> {
    let requirement =
        Requirement::new(Nanos(duration_ns), ERROR).map_err(|error| error.to_string())?;
    let budget_ns = BUDGET.as_nanos() as f64;
    let each_ns = budget_ns / f64::from(SAMPLES);
    let (planned, share_ns) = match kind {
        Kind::Single => (plan::plan_single(clock, &requirement), each_ns),
        Kind::Batch => (plan::plan_batch(clock, &requirement), each_ns),
        Kind::EdgeCrossing => (plan::plan_edge_crossing(clock, &requirement), budget_ns),
    };
    let plan = planned.map_err(|shortfall| shortfall.reason)?;
    if plan.campaign_ns <= share_ns {
        return Ok(plan);
    }
    let took = time(Some(plan.campaign_ns * budget_ns / share_ns));
    plan::plan_within(clock, &requirement, plan.method, share_ns)
        .ok_or_else(|| format!("it would take {took}"))
}

/// Returns the duration of an empty interval: measured if the step of the clock is fine enough,
/// otherwise the cost of a read.
fn measure_floor(timed: &mut dyn TimedOperation, clock: &ClockFigures) -> f64 {
    if clock.step_ns > clock.cost_ns {
        return clock.cost_ns;
    }
    let floors: Vec<f64> = (0..501).map(|_| timed.window(0)).collect();
    mean_without_highest(&floors, 0.02).unwrap_or(clock.cost_ns)
}

/// Takes one sample as planned and returns the duration of a call in nanoseconds.
fn sample(
    timed: &mut dyn TimedOperation,
    clock: &ClockFigures,
    plan: &MeasuringPlan,
    floor: f64,
    turn: u64,
) -> f64 {
    match plan.method {
        PlanMethod::Single | PlanMethod::Mean { .. } => {
            timed.warm_up(0);
            timed.window(1) - floor
        }
        PlanMethod::Batch { calls } => {
            timed.warm_up(calls);
            (timed.window(calls) - floor) / calls as f64
        }
        PlanMethod::EdgeCrossing {
            samples,
            floor_samples,
        } => {
            let wait = (plan.campaign_ns / (samples + floor_samples) as f64)
                .min(clock.step_ns)
                .max(1.0);
            let mut state = 2 * turn + 1;
            let mut mean_of = |count: u64, calls: u64| {
                let count = count.div_ceil(SAMPLES.into());
                let total: f64 = (0..count)
                    .map(|_| {
                        state = state
                            .wrapping_mul(0xd134_2543_de82_ef95)
                            .wrapping_add(0x9e37_79b9_7f4a_7c15);
                        let share = (state >> 32) as f64 / 2_f64.powi(32);
                        // A random pause keeps the samples from synchronising with the clock.
                        std::hint::black_box(timers::run_chain(1, (share * wait) as u64));
                        timed.window(calls)
                    })
                    .sum();
                total / count as f64
            };
            mean_of(samples, 1) - mean_of(floor_samples, 0)
        }
    }
}
