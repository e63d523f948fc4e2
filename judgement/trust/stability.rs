//! Judges whether a timer is stable: whether it keeps its rate relative to the reference, without
//! jumps and freezes.
//!
//! A comparison reads the reference, the timer, and the reference again: a point, whose time has an
//! error of half the distance of both reference readings. A line through the points is the rate. A
//! window between two points in which the timer advanced by more or less than rate, error and steps
//! explain is a jump or a freeze. Tolerated is a difference of 1000 ppm: twice the most that the
//! kernel slews a clock (adjtimex(2)), and more than the error of any quartz.

mod rates;
mod windows;

use self::rates::{LONGEST_TICK_NS, Rates, rates};
use self::windows::{Expected, usual_rate};
use super::{Case, Judged, correction, reference, times};
use estimators::model::{Counted, Family, Outcome, Stable};
use estimators::numbers::{time, with_half_width};
use estimators::rate::line::{Reading, Slope};
use timers::clock_sources;

/// Uncertainty of a rate above which it counts as unknown.
/// *Judgement*: that of a timer whose step is a twentieth of the time watched.
const MAX_UNCERTAINTY: f64 = 0.05;

/// Judges the stability of the timer of `case`.
pub(super) fn judge(case: &Case) -> Stable {
    let limit = max_rate(case);
    let mut stable = Stable::default();
    let unfit = reference::unfit(case, limit.is_none());
    (stable.outcome, stable.evidence) = unfit.unwrap_or_else(|| {
        let rates = compare(case, limit, &mut stable);
        conclude(case, &stable, limit.is_some(), rates)
    });
    correction::apply(case, &mut stable);
    stable
}

/// Returns the highest rate of a clock that may stand still, relative to wall time; `None` for
/// others. The usual rate of CPU time is no limit, because a thread that is often interrupted runs
/// for half of most windows, and for all of some.
fn max_rate(case: &Case) -> Option<f64> {
    /// Largest number of cycles of a core in a nanosecond.
    /// *Definition*: no core is that fast.
    const MAX_CYCLES_PER_NS: f64 = 20.0;
    match case.claimed()? {
        Counted::ProcessCpu => Some(
            case.evidence()
                .order
                .map_or(1.0, |order| order.cpus.max(1).into()),
        ),
        Counted::ThreadCpu => Some(1.0),
        Counted::ThreadCycles => Some(MAX_CYCLES_PER_NS * case.figures.ns_per_tick.unwrap_or(1.0)),
        Counted::Wall | Counted::SomethingElse => None,
    }
}

/// Fills in what the comparisons show. Returns the rates of a clock without a `limit`.
fn compare(case: &Case, limit: Option<f64>, stable: &mut Stable) -> Option<Rates> {
    let mut runs = case.comparisons().map(|raw| to_readings(case, raw));
    let length_ns = |run: &Vec<Reading>| run.last().map_or(0.0, |last| last.time - run[0].time);
    runs.sort_by(|a, b| length_ns(a).total_cmp(&length_ns(b)));
    let longest = runs.last().filter(|run| length_ns(run) > 0.0);
    stable.longest_window_s = longest.map(|run| 1e-9 * length_ns(run));
    let step_ns = case.step_ns().unwrap_or(0.0);
    let steps_ns = 2.0 * case.trace.reference.uncertainty_ns() + step_ns;
    // Each other CPU adds the time of a thread to its process only once a tick.
    let late_ns = limit.map_or(0.0, |cpus| LONGEST_TICK_NS * (cpus - 1.0).max(0.0));
    let mut found = Vec::new();
    for run in runs.iter().filter(|_| case.knows_step()) {
        let highest = limit.map(|rate| Slope {
            rate,
            uncertainty: 0.0,
        });
        let Some(rate) = highest.or_else(|| usual_rate(run, steps_ns)) else {
            continue;
        };
        let expected = Expected {
            rate,
            is_limit: limit.is_some(),
            steps_ns: steps_ns + late_ns,
            step_ns,
        };
        let undetected_ns = expected.deviations(run, &mut found);
        // That of the longest run, which is the last.
        stable.smallest_jump_ns = Some(undetected_ns).filter(|_| limit.is_none());
    }
    let (jumps, freezes): (Vec<f64>, Vec<f64>) = found.into_iter().partition(|ns| *ns > 0.0);
    (stable.jumps, stable.freezes) = (jumps.len() as u32, freezes.len() as u32);
    let largest = |all: Vec<f64>| all.into_iter().map(f64::abs).reduce(f64::max);
    stable.largest_ns = largest(jumps).or(largest(freezes));
    stable.shares_oscillator = shares_oscillator(case);
    let rates = rates(case, longest.filter(|_| limit.is_none())?, steps_ns)?;
    let Slope { rate, uncertainty } = rates.typical;
    stable.offset_ppm = Some(1e6 * (rate - 1.0));
    stable.offset_uncertainty_ppm = Some(1e6 * uncertainty);
    stable.rate_processes = Some(rates.processes - 1).filter(|&fresh| fresh > 0);
    Some(rates)
}

/// Concludes in this order from jumps, freezes, and the rates of a clock that is not `limited`.
fn conclude(case: &Case, stable: &Stable, limited: bool, rates: Option<Rates>) -> Judged {
    use Outcome::{Fail, NotApplicable, NotTested};
    let counted = case.claimed().map_or("", Counted::in_words);
    let largest = time(stable.largest_ns);
    let (jumps, freezes) = (times(stable.jumps.into()), times(stable.freezes.into()));
    match rates {
        _ if stable.jumps > 0 && limited => {
            let evidence =
                format!("it counts {counted} but ran ahead of what is possible by {largest}");
            (Fail, evidence)
        }
        _ if stable.jumps > 0 => {
            let evidence = format!("it jumped ahead of its reference {jumps}, by up to {largest}");
            (Fail, evidence)
        }
        _ if stable.freezes > 0 => {
            let evidence = format!(
                "it stood still or fell behind its reference {freezes}, by up to {largest}"
            );
            (Fail, evidence)
        }
        _ if limited => {
            let evidence = format!("it counts {counted}, which has no constant rate");
            (NotApplicable, evidence)
        }
        None => {
            let why = case.refusal("comparisons");
            let why = why.unwrap_or("it moves too slowly");
            (NotTested, format!("its rate could not be watched: {why}"))
        }
        Some(rates) => conclude_from_rates(case, stable, &rates),
    }
}

/// Concludes from the rates of a clock without jumps and freezes.
fn conclude_from_rates(case: &Case, stable: &Stable, rates: &Rates) -> Judged {
    use Outcome::{Fail, NotTested, Pass};
    let Slope { rate, uncertainty } = rates.typical;
    let ppm = |offset: f64| with_half_width(1e6 * offset, 1e6 * uncertainty);
    let (wrong, processes) = (rates.wrong, rates.processes);
    let over = time(stable.longest_window_s.map(|s| s * 1e9));
    // A few processes of any run may calibrate their clock wrongly, so only a majority counts.
    if 2 * wrong > processes {
        let by = ppm((rate - 1.0).abs());
        let direction = if rate < 1.0 { "slower" } else { "faster" };
        let evidence = format!(
            "it runs {by} ppm {direction} than its reference over {over}, in {wrong} of {processes} processes"
        );
        return (Fail, evidence);
    }
    let by = ppm(rate - 1.0);
    if 2 * wrong == processes || uncertainty > MAX_UNCERTAINTY {
        let evidence = format!("its rate is not known: {by} ppm over {over}");
        return (NotTested, evidence);
    }
    if !case.knows_step() {
        let evidence = "it keeps its rate, but its step was not found, and steps look like jumps";
        return (NotTested, evidence.into());
    }
    let mut evidence = format!("it keeps the rate of its reference to {by} ppm over {over}");
    // Larger jumps would have been found anywhere in the watched time.
    if let Some(most_ns) = stable.smallest_jump_ns {
        evidence += &format!(", without jumps of more than {}", time(most_ns));
    }
    if let Some(fresh) = stable.rate_processes {
        evidence += &format!("; {fresh} fresh processes are within that");
    }
    if stable.shares_oscillator == Some(true) {
        evidence += "; both run on one oscillator, whose true frequency is unknown";
    }
    (Pass, evidence)
}

/// Converts raw comparisons to nanoseconds. Empty if the tick of the timer is unknown.
fn to_readings(case: &Case, raw: &[[i64; 3]]) -> Vec<Reading> {
    let to_ns = |ns| Reading::from_ticks(raw, case.trace.reference.ns_per_tick, ns);
    case.figures.ns_per_tick.map_or(Vec::new(), to_ns)
}

/// Returns `Some(true)` if timer and reference share an oscillator: the kernel builds its clocks on
/// the counter that the reference reads, or both are raw counters. Otherwise this is unknown, also
/// for other clock sources (hpet, acpi_pm).
fn shares_oscillator(case: &Case) -> Option<bool> {
    let is_cycles = case.claimed() == Some(Counted::ThreadCycles);
    let reads_counter = case.trace.reference.family == Some(Family::CpuCounter);
    let source = case.machine.baselines.clock_source.as_deref();
    let shares = !case.trace.declared || source.is_some_and(clock_sources::reads_counter);
    (reads_counter && shares && !is_cycles && case.device.is_none()).then_some(true)
}
