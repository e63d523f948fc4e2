//! Defines the findings about a measured clock, for its row of a report: the text of each and the
//! condition under which it is reported.

use super::{ns, number, values};
use crate::cost::edges;
use crate::model::{
    Core, Counted, Cycles, Device, Hertz, Interval, Outcome, Question, Unit, Values, Verdicts,
};
use crate::profile::{MIN_PROCESSES, Profile};
use crate::statistics::{quantile, sorted};
use crate::trace::{Reference, Trace};

/// The facts about a clock from which the rules decide.
pub struct ClockCase<'a> {
    /// The observations.
    pub trace: &'a Trace,
    /// The results.
    pub profile: &'a Profile,
    /// The device that reads the clock; `None` if a CPU does.
    pub device: Option<&'a Device>,
    /// The frequency of its processor that converts time to cycles.
    pub frequency: Option<Hertz>,
}

rules! {
    /// The rules in the order of reports.
    pub static CLOCKS: ClockCase;
    "grows-with-calls" {
        Problem "its value grows with each call by <{growth:short}><{ticks} ticks> more than the call takes: what it measures includes \
                 the number of calls"
            => UNUSABLE_ADVICE,
            |case| {
                let ticks = case.profile.growth_per_call?;
                let unit = case.profile.ns_per_tick.filter(|_| case.trace.declared);
                Some(values! {
                    growth: unit.map(|unit| ns(unit * ticks)),
                    ticks: unit.is_none().then(|| number(ticks, Unit::Count)),
                })
            };
    }
    "cycles-unknown" {
        Note "no figures in cycles, no Quality: <its agent declares neither a counter of the cycles of {device} nor a \
              frequency><their counter `{timer}` cannot be used here>",
            |case| {
                let device = case.device.filter(|_| case.frequency.is_none())?;
                let timer = device.cycles.as_deref();
                let undeclared = timer.is_none().then_some(device.name.as_str());
                Some(values! { device: undeclared, timer })
            };
    }
    "unit-finer-than-step" {
        Note "it counts in units of {unit} but moves in steps of {step}"
            => "take the step, not the unit, for its resolution",
            |case| {
                let (unit, step) = (case.profile.ns_per_tick?, case.step_ns()?);
                (case.trace.declared && step > 1.5 * unit)
                    .then(|| values! { unit: ns(unit), step: ns(step) })
            };
    }
    "edges-moved" {
        Note "it changes at random times, each up to its step of {step} away from the regular one"
            => "a single duration may be wrong by two steps, and waiting for a change before and after it makes it no better",
            |case| {
                let step = case.step_ns()?;
                edges::edges_are_moved(&case.trace.evidence.edges)?.then(|| values! { step: ns(step) })
            };
    }
    "cost-exceeds-step" {
        Note "a read takes {cost}, longer than the step of {step}"
            => "subtract the cost of a read, or time many operations between two reads",
            |case| {
                let (cost, step) = (case.profile.cost?.value, case.step_ns()?);
                (cost > 2.0 * step).then(|| values! { cost: ns(cost), step: ns(step) })
            };
    }
    "unsteady-cost" {
        Note "its median cost lies between {low} and {high} (95 % confidence)"
            in short "{low} to {high}" => "keep the machine idle and repeat with --thorough",
            unsteady_cost;
    }
    "vague-reference" {
        Note "the step of its reference `{reference}` is unknown, {step} at most"
            in short "the step of `{reference}` is unknown" => "do not rely on its spread and its Quality: repeat when the machine is quiet",
            |case| {
                let Reference {
                    id,
                    step_at_most,
                    ns_per_tick,
                    ..
                } = case.trace.calls_reference();
                let step = step_at_most.as_ref()? * ns_per_tick;
                Some(values! { reference: id.clone(), step: ns(step) })
            };
    }
    SHARED_CORE {
        Note "it shared its core: {disturbed} of its {all} processes were disturbed ({reasons}) but are used, because \
              too few were not; its intervals include all of them and a tenth of the cost beyond"
            in short "{disturbed} of {all} processes disturbed" => "stop what else runs on this machine or choose a quiet CPU with --cpu, and repeat",
            shared_core;
    }
    "restless-core" {
        Note "only {calm} of {all} processes had a core of their own at one frequency: its figures include all of them, and \
              an undisturbed read may cost less"
            in short "{calm} of {all} processes undisturbed" => "repeat when nothing else uses the core: other guests, its sibling, threads of the runtime",
            |case| {
                let runs = &case.trace.runs;
                let undisturbed = runs.iter().filter(|run| case.trace.is_undisturbed(run));
                let (calm, all) = (undisturbed.count(), runs.len());
                // Without observations of the core, no run counts as calm.
                let is_on_cpu = case.device.is_none() && case.trace.disturbed_runs == 0;
                (is_on_cpu && calm < MIN_PROCESSES.min(all))
                    .then(|| values! { calm, all })
            };
    }
    "next-to-neighbour" {
        Note "its figures are those of {alone} processes that had a core of their own; next to another thread on the core it \
              costs {low} to {high} (middle half of {shared})"
            => "expect that cost where the core is shared",
            next_to_neighbour;
    }
    "two-regimes" {
        Note "{cheap} of its {all} processes found a cost of {low}, the others one of {high}; its interval includes both"
            in short "{low} or {high}" => "expect either cost: the position of its code in memory, or another program on its processor, decides",
            |case| {
                let regimes = case.profile.regimes?;
                let [cheap, expensive] = regimes.processes;
                Some(values! {
                    cheap,
                    all: cheap + expensive,
                    low: ns(regimes.low.max(0.0)),
                    high: ns(regimes.high),
                })
            };
    }
    "single-process" {
        Note "its figures come from one process and have no interval"
            in short "no interval" => "repeat when the machine is quiet, or with --thorough",
            |case| (!case.profile.cost?.is_bounded()).then(Values::new);
    }
    "cost-contradiction" {
        Note "<calls in batches take {batches}, but no two reads are less than {shortest} apart: its interval \
              includes both><an isolated call takes {alone}, but each of many consecutive calls {row}>"
            in short "<{batches} in batches, {shortest} apart><{alone} alone, {row} in batches>" => "do not rely on its cost: check how its host times calls",
            contradiction;
    }
    "below-one-cycle" {
        Note "its cost ({cost}) or step ({step}) is below one cycle"
            => "none needed: it counts as one cycle",
            |case| {
                let cycle_ns = Cycles(1.0).nanos(case.frequency?).0;
                let (cost, step) = (case.profile.cost?.value, case.step_ns()?);
                (cost < cycle_ns || step < cycle_ns)
                    .then(|| values! { cost: ns(cost.max(0.0)), step: ns(step) })
            };
    }
    "runtime-at-work" {
        Note "its runtime collected garbage or compiled code in {windows} windows, even in their repetitions"
            => "take the median cost, not the tail: its calls make the garbage",
            |case| {
                let disturbed: u32 = case.trace.runs.iter().map(|run| run.disturbed).sum();
                (disturbed > 0).then(|| values! { windows: disturbed })
            };
    }
}

/// The code of the finding that results come from processes on a shared core.
pub const SHARED_CORE: &str = "shared-core";

impl ClockCase<'_> {
    /// Returns the step in nanoseconds; `None` if it is unknown.
    fn step_ns(&self) -> Option<f64> {
        Some(self.profile.resolution_ns()?.value)
    }
}

/// Reports the cost of processes that shared their core, if it is clearly higher than that of the others.
fn next_to_neighbour(case: &ClockCase<'_>) -> Option<Values> {
    let costs_of = |core: Core| {
        let processes = case.profile.all_processes.iter();
        sorted(
            processes
                .filter(|it| it.core == core)
                .filter_map(|it| it.cost_ns),
        )
    };
    let [alone, shared] = [Core::Alone, Core::Shared].map(costs_of);
    let [low, high] = [0.25, 0.75].map(|share| quantile(&shared, share));
    let (low, high) = (low?, high?);
    let are_enough = alone.len().min(shared.len()) >= MIN_PROCESSES;
    (are_enough && low > case.profile.cost?.ends()?.1).then(|| {
        values! { alone: alone.len(), low: ns(low), high: ns(high), shared: shared.len() }
    })
}

/// Reports the interval of a cost that is uncertain.
fn unsteady_cost(case: &ClockCase<'_>) -> Option<Values> {
    /// The largest half-width of the interval of the cost that is not reported, as a share of the
    /// cost. A half-width of up to 0.5 ns is not reported either.
    const MAX_WIDTH_SHARE: f64 = 0.05;
    let cost = case.profile.cost.filter(Interval::is_bounded)?;
    let half = cost.half_width();
    (half > (MAX_WIDTH_SHARE * cost.value).max(0.5))
        .then(|| values! { low: ns(cost.low.max(0.0)), high: ns(cost.high) })
}

/// Reports that results come from processes on a shared core.
fn shared_core(case: &ClockCase<'_>) -> Option<Values> {
    let (disturbed, all) = (case.trace.disturbed_runs, case.trace.runs.len());
    (disturbed > 0).then(|| {
        values! { disturbed, all, reasons: case.trace.disturbances() }
    })
}

/// Reports that the cost of an isolated call contradicts the intervals between reads, or the
/// amortised cost.
fn contradiction(case: &ClockCase<'_>) -> Option<Values> {
    let profile = case.profile;
    let cost = profile.cost?.value;
    if let Some(shortest) = profile.contradicting_interval_ns {
        return Some(values! { batches: ns(cost), shortest: ns(shortest) });
    }
    let amortised = profile.amortised?;
    let noticeable = profile.single_median?.max(1.0);
    (amortised <= 0.0 && cost >= noticeable || cost <= 0.0 && amortised >= noticeable)
        .then(|| values! { alone: ns(cost), row: ns(amortised) })
}

rules! {
    /// The rules about verdicts that set the Quality to 0. Their findings precede all others of a row.
    pub static DISQUALIFYING: Verdicts;
    "not-monotonic" {
        Problem "{evidence}, so its Quality is 0" => UNUSABLE_ADVICE,
            |verdicts| failed(verdicts, Question::Monotonic);
    }
    "not-thread-safe" {
        Problem "{evidence}, so its Quality is 0" => UNUSABLE_ADVICE,
            |verdicts| failed(verdicts, Question::ThreadSafe);
    }
    "not-stable" {
        Problem "{evidence}, so its Quality is 0" => UNUSABLE_ADVICE,
            |verdicts| failed(verdicts, Question::Stable);
    }
}

const UNUSABLE_ADVICE: &str = "take no durations with it";

rules! {
    /// The rules about other failed verdicts that matter to users of the clock. Their findings follow
    /// all others of a row.
    pub static FAILED: Verdicts;
    "counts-something-else" {
        Problem "{evidence}" => "choose a clock that counts what you want to know",
            |verdicts| failed(verdicts, Question::Counts);
    }
    "read-path" {
        Problem "{evidence}"
            => "<have the hypervisor pass the counters of the {cpu} through><see `{verb}` for the clock source in use>",
            |verdicts| {
                let mut values = failed(verdicts, Question::ReadPath)?;
                values.extend(match verdicts.counts.claimed {
                    Some(Counted::ThreadCycles) => values! { cpu: "CPU" },
                    _ => values! { verb: "timermeter check" },
                });
                Some(values)
            };
    }
}

/// Returns the evidence of the verdict on this question; `None` if the verdict is not a failure.
fn failed(verdicts: &Verdicts, question: Question) -> Option<Values> {
    let mut answers = verdicts.answers();
    let failed =
        answers.find(|answer| answer.question == question && answer.outcome == Outcome::Fail)?;
    Some(values! { evidence: failed.evidence })
}

/// The precision of the Quality of a row, and the requested precision.
pub struct PrecisionCase {
    /// Half the width of the interval of the Quality, which is a number from 0 to 1.
    pub half: f64,
    /// The requested half of the width.
    pub precision: f64,
    /// The number of processes in which the clock was measured.
    pub processes: u32,
    /// Half the width that results from the variation between processes alone, which more processes
    /// reduce; `None` if it is unknown.
    pub scatter: Option<f64>,
}

rules! {
    /// The rule about the precision of the Quality.
    pub static PRECISION: PrecisionCase;
    "precision-not-reached" {
        Note "its Quality is known to ±{half} points, not to ±{precision}: <its {processes} processes agree to ±{scatter}; the \
              rest is uncertain in all of them alike: how single reads are distributed, and the frequency of the core><its \
              {differing} processes differ>"
            => "<more processes than {processes} do not help, a constant frequency of the core may><repeat when the machine is \
              quiet, or with more than {differing} processes (--budget, --thorough)>",
            |case| {
                let points = |share: f64| number(100.0 * share, Unit::Points);
                let scatter = case
                    .scatter
                    .filter(|scatter| *scatter <= case.precision)
                    .map(points);
                (case.half > case.precision).then(|| {
                    values! {
                        half: points(case.half),
                        precision: points(case.precision),
                        processes: scatter.as_ref().map(|_| case.processes),
                        differing: scatter.is_none().then_some(case.processes),
                        scatter,
                    }
                })
            };
    }
}
