//! The rules about a measured clock.

use super::machine::slowing_library;
use super::{ns, number, values};
use crate::cost::edges;
use crate::figures::MIN_PROCESSES;
use crate::model::{Estimate, Outcome, Path, Question, Unit, Values, Verdicts};

/// The largest half width of the interval of the cost that is not reported, as a share of the cost. A
/// half width of up to 0.5 ns is not reported either.
/// *Judgement*.
const MAX_WIDTH_SHARE: f64 = 0.05;

rules! {
    /// The rules in the order of rows.
    pub static CLOCKS;
    "wrong" {
        Problem "a test of it fails: {evidence}" => "take no durations with it",
            |row| failed(row.verdicts.as_ref()?, &[Question::Monotonic, Question::ThreadSafe, Question::Stable, Question::Counts]);
    }
    "grows-with-calls" {
        Problem "its value grows with each call by <{growth}><{ticks} ticks> more than the call takes: what it measures includes \
                 the number of calls"
            => "take no durations with it",
            |figures, trace| figures.growth_per_call.map(|ticks| {
                let unit = figures.ns_per_tick.filter(|_| trace.declared);
                values! {
                    growth: unit.map(|unit| ns(unit * ticks)),
                    ticks: unit.is_none().then(|| number(ticks, Unit::Count)),
                }
            });
    }
    "cycles-unknown" {
        Note "no figures in cycles, no Quality: the cycles of {device} cannot be counted<, because `{timer}` cannot be used>"
            => "have its agent declare a counter of cycles that can be read, or a frequency",
            |row| {
                let device = row.device.as_ref().filter(|device| device.cycles_hz.is_none());
                device.map(|it| values! { device: it.name.as_str(), timer: it.cycles.as_deref() })
            };
    }
    "edges-moved" {
        Note "it changes at random times, each up to its step of {step} away from the regular one"
            => "a single duration may be wrong by two steps, and waiting for a change before and after it makes it no better",
            |figures, trace| {
                let step = figures.resolution_ns()?.value;
                edges::edges_are_moved(&trace.evidence.edges)?.then(|| values! { step: ns(step) })
            };
    }
    "unsteady-cost" {
        Note "its median cost lies between {low} and {high} (95 % confidence)"
            in short "{low} to {high}" => "keep the machine idle and repeat with --thorough",
            |figures| {
                let cost = figures.cost.filter(Estimate::is_bounded)?;
                (cost.half_width() > (MAX_WIDTH_SHARE * cost.value).max(0.5))
                    .then(|| values! { low: ns(cost.low.max(0.0)), high: ns(cost.high) })
            };
    }
    "vague-reference" {
        Note "the step of its reference `{reference}` is unknown, {step} at most"
            in short "the step of `{reference}` is unknown" => "do not rely on its spread and its Quality: repeat when the machine is quiet",
            |trace| {
                let reference = trace.calls_reference();
                let step = reference.step_at_most? * reference.ns_per_tick;
                Some(values! { reference: reference.id.as_str(), step: ns(step) })
            };
    }
    "shared-core" {
        Note "{disturbed} of its {all} processes shared their core ({reasons}), and too few others were left: its intervals \
              include all of them and a tenth of the cost beyond"
            in short "{disturbed} of {all} processes disturbed" => "stop what else runs on this machine or choose a quiet CPU with --cpu, and repeat",
            |trace| {
                let (disturbed, all) = (trace.disturbed_runs, trace.runs.len());
                (disturbed > 0).then(|| values! { disturbed, all, reasons: trace.disturbances() })
            };
    }
    "restless-core" {
        Note "only {calm} of {all} processes had a core of their own at one frequency: an undisturbed read may cost less"
            in short "{calm} of {all} processes undisturbed" => "repeat when nothing else uses the core: other guests, its sibling, threads of the runtime",
            |trace, row| {
                let (runs, all) = (trace.runs.iter(), trace.runs.len());
                let calm = runs.filter(|run| trace.is_undisturbed(run)).count();
                // Without observations of the core, no run counts as calm.
                let is_on_cpu = row.device.is_none() && trace.disturbed_runs == 0;
                (is_on_cpu && calm < MIN_PROCESSES.min(all)).then(|| values! { calm, all })
            };
    }
    "two-regimes" {
        Note "{cheap} of its {all} processes found a cost of {low}, the others one of {high}; its interval includes both"
            in short "{low} or {high}" => "expect either cost: the position of its code in memory, or another program on its processor, decides",
            |figures| {
                let regimes = figures.regimes?;
                let [cheap, expensive] = regimes.processes;
                let [low, high] = [regimes.low.max(0.0), regimes.high].map(ns);
                Some(values! { cheap, all: cheap + expensive, low, high })
            };
    }
    "single-process" {
        Note "its figures come from one process and have no interval"
            in short "no interval" => "repeat when the machine is quiet, or with --thorough",
            |figures| (!figures.cost?.is_bounded()).then(Values::new);
    }
    "cost-contradiction" {
        Note "one method finds a cost of {cost}, another one of {other}"
            in short "{cost} or {other}" => "do not rely on its cost: check how its host times calls",
            |figures| {
                let cost = figures.cost?.value;
                let other = figures.contradicting_interval_ns.or_else(|| {
                    let (amortised, least) = (figures.amortised?, figures.single_median?.max(1.0));
                    (cost.min(amortised) <= 0.0 && cost.max(amortised) >= least).then_some(amortised)
                });
                other.map(|other| values! { cost: ns(cost), other: ns(other) })
            };
    }
    "runtime-at-work" {
        Note "its runtime collected garbage or compiled code in {windows} windows, even in their repetitions"
            => "take the median cost, not the tail: its calls make the garbage",
            |trace| {
                let windows: u32 = trace.runs.iter().map(|run| run.disturbed).sum();
                (windows > 0).then(|| values! { windows })
            };
    }
    "precision-not-reached" {
        Note "its Quality is known to ±{half} points, not to ±{precision}<, although its processes agree to ±{scatter}>"
            => "repeat when the machine is quiet, with more processes (--budget, --thorough); where these agree, only a constant frequency of the core helps",
            |row, precision| {
                let quality = row.quality.filter(Estimate::is_bounded)?;
                let half = (quality.value - quality.low).max(quality.high - quality.value);
                let (precision, scatter) = precision;
                let points = |share: f64| number(100.0 * share, Unit::Points);
                (half > precision).then(|| values! {
                    half: points(half),
                    precision: points(precision),
                    scatter: scatter.filter(|scatter| *scatter <= precision).map(points),
                })
            };
    }
    "read-path" {
        Problem "read in a slower way than declared<: {how}><. Cause: probably {cause}>"
            => "`timermeter check` names the clock source; in a guest, have the hypervisor pass the counters of the CPU through",
            |row, machine| {
                let verdicts = row.verdicts.as_ref()?;
                let is_call = verdicts.read_path.path == Some(Path::SystemCall);
                let how = is_call.then_some("by system calls");
                failed(verdicts, &[Question::ReadPath]).map(|_| values! { how, cause: slowing_library(machine) })
            };
    }
}

/// The evidence of the failed verdicts on these questions, if there are any.
fn failed(verdicts: &Verdicts, questions: &[Question]) -> Option<Values> {
    let answers = questions.iter().map(|question| verdicts.answer(*question));
    let failed = answers.filter(|answer| answer.outcome == Outcome::Fail);
    let evidence: Vec<&str> = failed.map(|answer| answer.evidence).collect();
    (!evidence.is_empty()).then(|| values! { evidence: evidence.join("; ") })
}
