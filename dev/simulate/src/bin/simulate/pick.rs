//! Whether the plans of `pick` keep their promises on this machine: a chain of multiplications is
//! measured by every clock of a report and every method, each sample next to long classic runs by
//! `monotonic`, which is the truth.
//!
//! Single calls are compared with calls that fences keep apart, batches with calls in a row, which
//! overlap in the core. The two take turns, as the frequency of the core wanders. The promise is
//! made before: by the plan, from the figures of the clock. What is added to it has nothing to do
//! with that clock: how much the operation itself varies from window to window, as `monotonic` sees
//! it.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use timermeter::commands::CommandError;
use timermeter::measure::interference::Watch;
use timermeter::measure::operations;
use timermeter::measure::window::{Timed, timed_by};
use timermeter::method::{ClockFigures, Method, Plan, Requirement, plan};
use timermeter::model::{Nanos, TimerRow};
use timermeter::statistics::{mean_without_highest, median, quantile, sorted, student_quantile};
use timermeter::table::{Format, Notation, Table, TableColumn, Value};
use timermeter::text::numbers::time;
use timers::Deadline;

use super::progress;

/// The error and the confidence that plans are made for.
const ERROR: f64 = 0.05;
const CONFIDENCE: f64 = 0.95;
const SAMPLES: u32 = 12;
/// What a clock and a method may take; plans that do not fit promise less.
const BUDGET: Duration = Duration::from_millis(600);
/// Of all promises at least this share has to be kept.
const KEPT: f64 = 0.95;

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

/// A promise and what became of it.
struct Promise {
    /// Nanoseconds a call by the classic runs, and by this clock and method.
    truth_ns: f64,
    found_ns: f64,
    error: f64,
    /// What the plan promised of clock and method, and with it what the operation itself varies by.
    clock_error: f64,
    promised: f64,
}

/// Runs the command.
///
/// # Errors
/// When too few promises are kept, or the report cannot be read or has no truth.
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
    let truth = ClockFigures::from_row(truth, &report.platform).map_err(failed)?;
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
            match tried(&clock, &truth, kind) {
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
        .try_for_each(|why| writeln!(output, "nothing was promised: {why}"))?;
    output.flush()?;
    if promised > 0 && f64::from(kept) >= KEPT * f64::from(promised) {
        return Ok(());
    }
    Err(failed(format!(
        "plans do not keep what they promise: {share}"
    )))
}

impl Promise {
    fn cells(&self, clock: &str, method: &str, is_kept: bool) -> Vec<Value> {
        let percents =
            [self.error, self.promised, self.clock_error].map(|share| Value::from(100.0 * share));
        let mut cells: Vec<Value> = vec![
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

/// Links of the chain that is measured: for single calls enough for the clock if that is possible,
/// so that there is something to promise.
fn links(clock: &ClockFigures, kind: Kind) -> u64 {
    /// Roughly what a link takes; how long it really is, is found.
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

/// Measures with the clock and with the one that is the truth, in turns.
///
/// # Errors
/// Says why the method cannot be used with this clock within the budget.
fn tried(clock: &ClockFigures, truth_clock: &ClockFigures, kind: Kind) -> Result<Promise, String> {
    let links = links(clock, kind);
    let mut chains = [0; 2].map(|_| operations::of_name("chain", links).expect("it is built in"));
    let [chain, same] = &mut chains;
    let open = |id, chain| {
        let timed = timed_by(id, chain).ok_or("this program does not host it")?;
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
    let plan = planned(clock, kind, duration_ns)?;
    let floor = floor_of(timed, clock);
    let (mut ratios, mut truths, mut short) = (Vec::new(), Vec::new(), Vec::new());
    let deadline = Deadline::after(4 * BUDGET);
    while ratios.len() < SAMPLES as usize {
        if deadline.remaining().is_none() {
            return Err(format!(
                "{} of {SAMPLES} samples were undisturbed",
                ratios.len()
            ));
        }
        let watch = Watch::begin();
        let before = truth.ns_per_call(calls);
        let found = sample(timed, clock, &plan, floor, ratios.len() as u64);
        let after = truth.ns_per_call(calls);
        let repeated_run = truth.repeated_run(&plan);
        // What takes long is disturbed now and then, and its mean bears it.
        if watch.end().is_none() || plan.campaign_ns > 5e6 {
            let classic = f64::midpoint(before, after);
            truths.push(classic);
            ratios.push(found / classic);
            short.push(repeated_run / classic);
        }
    }
    let count = ratios.len() as f64;
    // Of single calls one is looked at, the first; of the others the middle one, whose error is a
    // quarter more than that of a mean.
    let (ratio, by) = match kind {
        Kind::Single => (ratios[0], (1.0 + 1.0 / count).sqrt()),
        _ => (median(&ratios).unwrap_or(f64::NAN), 1.25 / count.sqrt()),
    };
    let variation = student_quantile(CONFIDENCE, ratios.len() - 1) * by * scatter(&short);
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

/// The standard deviation of figures that are normal but for a few: from what the middle half lies
/// between.
fn scatter(figures: &[f64]) -> f64 {
    const OF_NORMAL: f64 = 1.349;
    let sorted = sorted(figures);
    let at = |share| quantile(&sorted, share).unwrap_or(0.0);
    (at(0.75) - at(0.25)) / OF_NORMAL
}

/// Classic runs of the same operation, by a clock that is known to be good.
struct Truth<'a> {
    timed: &'a mut dyn Timed,
    kind: Kind,
}

impl Truth<'_> {
    /// As many calls as fill a quarter of a millisecond: a thousandfold of any step, and short
    /// enough not to be interrupted each time.
    fn calls(&mut self) -> u64 {
        const LONG_NS: f64 = 2.5e5;
        let mut calls = 1;
        while self.ns_per_call(calls) * (calls as f64) < LONG_NS && calls < 1 << 40 {
            calls *= 2;
        }
        calls
    }

    /// Of calls in a row for batches, else of calls that fences keep apart.
    fn ns_per_call(&mut self, calls: u64) -> f64 {
        let ns = match self.kind {
            Kind::Batch => self.timed.window(calls) - self.timed.window(0),
            Kind::Single | Kind::EdgeCrossing => self.timed.apart(calls),
        };
        ns / calls as f64
    }

    /// Nanoseconds a call by a window like those of the plan. Of single calls that are averaged the
    /// mean of as many.
    fn repeated_run(&mut self, plan: &Plan) -> f64 {
        /// More of them show no more.
        const MOST: u64 = 64;
        let (calls, times) = match plan.method {
            Method::Single => (1, 1),
            Method::Batch { calls } => (calls, 1),
            Method::EdgeCrossing { samples, .. } => (1, samples.min(MOST)),
        };
        self.timed.warm_up(calls);
        let total: f64 = (0..times)
            .map(|_| self.timed.window(calls) - self.timed.window(0))
            .sum();
        total / (times * calls) as f64
    }
}

/// The plan of that method that keeps the error, or what the budget allows.
fn planned(clock: &ClockFigures, kind: Kind, duration_ns: f64) -> Result<Plan, String> {
    let requirement = Requirement::new(Nanos(duration_ns), ERROR, CONFIDENCE)
        .map_err(|error| error.to_string())?;
    let budget_ns = BUDGET.as_nanos() as f64;
    let each_ns = budget_ns / f64::from(SAMPLES);
    let (planned, share_ns) = match kind {
        Kind::Single => (plan::single(clock, &requirement), each_ns),
        Kind::Batch => (plan::batch(clock, &requirement), each_ns),
        Kind::EdgeCrossing => (plan::edge_crossing(clock, &requirement), budget_ns),
    };
    let plan = planned.map_err(|shortfall| shortfall.reason)?;
    if plan.campaign_ns <= share_ns {
        return Ok(plan);
    }
    let took = time(Some(plan.campaign_ns * budget_ns / share_ns));
    plan::within(clock, &requirement, plan.method, share_ns)
        .ok_or_else(|| format!("it would take {took}"))
}

/// What an empty interval shows: measured where the steps are fine enough for that.
fn floor_of(timed: &mut dyn Timed, clock: &ClockFigures) -> f64 {
    if clock.step_ns > clock.cost_ns {
        return clock.cost_ns;
    }
    let floors: Vec<f64> = (0..501).map(|_| timed.window(0)).collect();
    mean_without_highest(&floors, 0.02).unwrap_or(clock.cost_ns)
}

/// One sample by the plan: nanoseconds a call.
fn sample(timed: &mut dyn Timed, clock: &ClockFigures, plan: &Plan, floor: f64, turn: u64) -> f64 {
    match plan.method {
        Method::Single => {
            timed.warm_up(0);
            timed.window(1) - floor
        }
        Method::Batch { calls } => {
            timed.warm_up(calls);
            (timed.window(calls) - floor) / calls as f64
        }
        Method::EdgeCrossing {
            samples,
            floor_samples,
            ..
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
                        // So that samples do not keep in step with the clock.
                        std::hint::black_box(timers::links(1, (share * wait) as u64));
                        timed.window(calls)
                    })
                    .sum();
                total / count as f64
            };
            mean_of(samples, 1) - mean_of(floor_samples, 0)
        }
    }
}
