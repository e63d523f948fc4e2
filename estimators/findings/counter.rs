//! Judges whether a program may read the counter of the processor itself, without the kernel, from
//! the rows of a probe and from what the processor, the kernel and the hypervisor declare.

use timers::clock_sources;

use super::{ns, number, values};
use crate::model::{Interval, Outcome, Platform, Question, Status, TimerRow, Unit, Values};
use crate::numbers::significant;
use crate::trace::Pair;

const INSTEAD: &str = "read a clock of the kernel instead";
const FENCE: &str =
    "put a fence before a reading whose order to other threads matters (lfence, isb)";

/// The input of the judgement.
#[derive(Clone, Debug)]
pub struct CounterCase<'a> {
    /// The machine.
    pub platform: &'a Platform,
    /// The counter, read by the bare instruction.
    pub bare: &'a TimerRow,
    /// The counter, read behind a fence if the processor has such an instruction.
    pub fenced: &'a TimerRow,
    /// The clocks of the kernel that can give its rate, the best measure first, the usual clock last.
    pub clocks: Vec<&'a TimerRow>,
    /// Handoffs between two CPUs in which the counter was read without a fence.
    pub unfenced: Option<Pair>,
    /// The declared rate in hertz, and what declares it.
    pub declared: Option<(f64, &'a str)>,
}

rules! {
    /// The rules about a counter: whether it may be read, its rate, the difference between CPUs, the
    /// fence, and the time saved. The severity of the first finding is the verdict.
    pub static COUNTER: CounterCase;
    "counter" {
        Problem "{why}" => INSTEAD, fault;
        Problem("stops") "its rate follows the frequency of the core, or it stops in deep idle states" => INSTEAD,
            |case| (case.platform.invariant_counter().value == Some(false)).then(Values::new);
        Problem("kernel") "the kernel uses {current} and does not offer the counter: it found the counter unreliable, or was configured not to use it"
            => "look for `tsc` in the kernel's log (dmesg) and on its command line",
            |case| {
                let source = &case.platform.clocksource;
                let mut names = source.available.iter().chain(&source.current);
                let current = source.current.as_deref()?;
                (!names.any(|name| clock_sources::reads_counter(name))).then(|| values! { current })
            };
        Unknown "{why}", gap;
        Unknown("rate") "its rate could not be measured",
            |case| case.rate().is_none().then(Values::new);
        Unknown("invariant") "neither CPUID nor the kernel says whether its rate is constant",
            |case| case.platform.invariant_counter().value.is_none().then(Values::new);
        Note "{hypervisor} may move this machine to another host, or restore it there from a snapshot, where the counter counts at another rate"
            => "measure the rate again from time to time, or read the kernel's clock",
            |case| Some(values! { hypervisor: case.platform.hypervisor.as_deref()? });
        Ok "it passed all tests, its rate is constant, and this is not a virtual machine";
    }
    "rate" {
        Note "it counts at {rate} ± {uncertainty}, measured with {clock} for {watched}; {by} declares {declared}, which is {off} too fast"
            => "measure its rate: a program that believes the declaration is wrong by that much",
            |case| rate(case, true);
        Ok "it counts at {rate} ± {uncertainty}, measured with {clock} for {watched}<; {by} declares {declared}>",
            |case| rate(case, false);
        Unknown "its rate could not be measured with the kernel's clock";
    }
    "cpus" {
        Note "the counter of CPU {cpu} is off by {value} ± {uncertainty}; those of {cpus} CPUs are apart by at most {within}",
            |case| cpus(case, true);
        Ok "the counters of {cpus} CPUs are apart by at most {within}", |case| cpus(case, false);
        Unknown "the counters of several CPUs could not be compared: this process may use one CPU only, or cannot choose";
    }
    "fence" {
        Note "without a fence it went back {backward} times in {handoffs} handoffs from CPU to CPU, by up to {largest}: the processor may execute the instruction before earlier ones"
            => FENCE,
            |case| unfenced(case).filter(|_| case.unfenced.as_ref().is_some_and(|it| it.backward > 0));
        Ok "without a fence it never went back in {handoffs} handoffs from CPU to CPU, though no manual promises that"
            => FENCE, unfenced;
        Unknown "readings without a fence could not be handed from CPU to CPU" => FENCE;
    }
    "gain" {
        Note "a fenced read takes {fenced}, {clock} {clocked}: it saves nothing" => INSTEAD,
            |case| gain(case).filter(|_| reads(case).is_some_and(|[read, clock]| read >= clock));
        Ok "a fenced read takes {fenced}, {clock} {clocked}: it saves {saved}<; without the fence it takes {read}>", gain;
        Unknown "the cost of a read could not be measured";
    }
}

impl CounterCase<'_> {
    /// The measured rate in hertz, and the clock that gives it: one that keeps its rate, which of two
    /// that disagree only a verdict shows.
    pub fn rate(&self) -> Option<(Interval, &TimerRow)> {
        let counted = 1e9 / self.bare.ns_per_tick?;
        self.clocks.iter().find_map(|clock| {
            let stable = &clock.verdicts.as_ref()?.stable;
            let trust = clock.trust.as_ref()?;
            let is_right =
                stable.outcome == Outcome::Pass && trust.defect.is_none() && trust.part.is_none();
            let hz = counted / (1.0 + 1e-6 * stable.offset_ppm.filter(|_| is_right)?);
            let half_width = 1e-6 * hz * stable.offset_uncertainty_ppm?;
            Some((Interval::around(hz, half_width), *clock))
        })
    }

    /// The largest possible difference between the counters of a CPU and of the first CPU, in
    /// nanoseconds.
    pub fn apart_ns(&self) -> Option<f64> {
        let offsets = &self.fenced.verdicts.as_ref()?.thread_safe.offsets;
        let apart = offsets.iter().map(|it| it.ns.abs() + it.uncertainty_ns);
        apart.reduce(f64::max)
    }
}

/// What is wrong with the counter itself.
fn fault(case: &CounterCase) -> Option<Values> {
    let defect = case.fenced.trust.as_ref().and_then(|trust| trust.defect);
    if let Some(defect) = defect {
        return Some(values! { why: format!("it {}", defect.in_words()) });
    }
    (case.fenced.status == Status::Failed).then(|| values! { why: case.fenced.reason.clone() })
}

/// The order of readings that could not be tested.
fn gap(case: &CounterCase) -> Option<Values> {
    let verdicts = case.fenced.verdicts.as_ref()?;
    [Question::Monotonic, Question::ThreadSafe]
        .map(|question| verdicts.answer(question))
        .into_iter()
        .find(|answer| answer.outcome != Outcome::Pass)
        .map(|answer| values! { why: answer.evidence })
}

/// The rate, if the declared one is off or may be off.
fn rate(case: &CounterCase, is_off: bool) -> Option<Values> {
    let (hz, clock) = case.rate()?;
    let uncertainty_ppm = 1e6 * (hz.high - hz.value) / hz.value;
    let off_ppm = case
        .declared
        .map(|(declared, _)| 1e6 * (declared / hz.value - 1.0));
    let exceeds = off_ppm.is_some_and(|ppm| ppm.abs() > uncertainty_ppm);
    let exact = |hz: f64| format!("{} Hz", significant(hz, 10));
    (exceeds || !is_off).then(|| {
        values! {
            rate: exact(hz.value),
            uncertainty: number(uncertainty_ppm, Unit::Ppm),
            clock: clock.label.as_str(),
            watched: clock.verdicts.as_ref().and_then(|all| all.stable.longest_window_s).map(|s| ns(1e9 * s)),
            by: case.declared.map(|(_, by)| by),
            declared: case.declared.map(|(hz, _)| exact(hz)),
            off: off_ppm.map(|ppm| number(ppm, Unit::Ppm)),
        }
    })
}

fn cpus(case: &CounterCase, differ: bool) -> Option<Values> {
    let found = &case.fenced.verdicts.as_ref()?.thread_safe;
    let differing = found.differing();
    (differing.is_some() || !differ).then_some(values! {
        cpus: found.offsets.len(),
        within: ns(case.apart_ns()?),
        cpu: differing.map(|it| it.cpu),
        value: differing.map(|it| ns(it.ns)),
        uncertainty: differing.map(|it| ns(it.uncertainty_ns)),
    })
}

fn unfenced(case: &CounterCase) -> Option<Values> {
    let unfenced = case.unfenced.as_ref()?;
    let largest = unfenced.largest as f64 * case.bare.ns_per_tick?;
    Some(values! { handoffs: unfenced.handoffs, backward: unfenced.backward, largest: ns(largest) })
}

/// The costs of a fenced read of the counter and of a read of the usual clock, in nanoseconds.
fn reads(case: &CounterCase) -> Option<[f64; 2]> {
    Some([
        case.fenced.cost_ns?.value,
        case.clocks.last()?.cost_ns?.value,
    ])
}

fn gain(case: &CounterCase) -> Option<Values> {
    let [fenced, clock] = reads(case)?;
    let bare = case.bare.cost_ns.filter(|_| case.fenced.id != case.bare.id);
    Some(values! {
        fenced: ns(fenced),
        read: bare.map(|cost| ns(cost.value)),
        clock: case.clocks.last()?.label.as_str(),
        clocked: ns(clock),
        saved: ns(clock - fenced),
    })
}
