//! Judges whether a program may read the counter of the processor itself, without the kernel, from
//! the rows of a probe and from what the processor, the kernel and the hypervisor declare.

use super::machine::{distrust, is_x86};
use super::{ns, number, values};
use crate::model::{Estimate, Outcome, Platform, Question, Status, TimerRow, Unit};
use crate::numbers::significant;
use crate::trace::Pair;

/// The counter of the processor, with what it is compared with.
#[derive(Clone, Debug)]
pub struct Counter<'a> {
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
    pub static COUNTER;
    "counter" {
        Problem "{why}" => "read a clock of the kernel instead",
            |counter| counter.fault().map(|why| values! { why });
        Unknown "{why}", |counter| counter.gap().map(|why| values! { why });
        Note "{hypervisor} may move this machine to another host, or restore it there from a snapshot, where the counter counts at another rate"
            => "measure the rate again from time to time, or read the kernel's clock",
            |counter| {
                // Only x86 always shows a guest its hypervisor; containers hide what the firmware says.
                let unseen = (!is_x86(counter.platform)).then_some("a hypervisor, if there is one,");
                Some(values! { hypervisor: counter.platform.hypervisor.as_deref().or(unseen)? })
            };
        Ok "it passed all tests, its rate is constant, and this is not a virtual machine",
            |counter| Some(values! { clocks: counter.clocks.len() });
    }
    "rate" {
        Ok "it counts at {rate} ± {uncertainty}, measured with {clock}",
            |counter| {
                let (hz, clock) = counter.rate()?;
                let rate = format!("{} Hz", significant(hz.value, 10));
                Some(values! { rate, uncertainty: number(uncertainty_ppm(hz), Unit::Ppm), clock: clock.label.as_str() })
            };
    }
    "declared-rate" {
        Note "{by} declares a rate that is {off} too fast"
            => "measure its rate: a program that believes the declaration is wrong by that much",
            |counter| {
                let ((hz, _), (declared, by)) = (counter.rate()?, counter.declared?);
                let off = 1e6 * (declared / hz.value - 1.0);
                (off.abs() > uncertainty_ppm(hz)).then(|| values! { by, off: number(off, Unit::Ppm) })
            };
    }
    "cpus" {
        Ok "the counters of {cpus} CPUs are apart by at most {within}",
            |counter| {
                let cpus = counter.fenced.verdicts.as_ref()?.thread_safe.offsets.len();
                Some(values! { cpus, within: ns(counter.apart_ns()?) })
            };
    }
    "fence" {
        Note "without a fence it went back {backward} times in {handoffs} handoffs from CPU to CPU<, by up to {largest}>; no manual promises an order"
            => "put a fence before a reading whose order to other threads matters (lfence, isb)",
            |counter| {
                let Pair { handoffs, backward, largest, .. } = *counter.unfenced.as_ref()?;
                let largest = counter.bare.ns_per_tick.map(|ns| ns * largest as f64);
                let largest = largest.filter(|_| backward > 0).map(ns);
                Some(values! { handoffs, backward, largest })
            };
    }
    "gain" {
        Note "a fenced read takes {fenced}, {clock} {clocked}: it saves nothing"
            => "read a clock of the kernel instead",
            |counter| {
                let ([fenced, clocked], clock) = counter.reads()?;
                (fenced >= clocked).then(|| values! { fenced: ns(fenced), clock, clocked: ns(clocked) })
            };
        Ok "a fenced read saves {saved} of a read of {clock}<; without the fence it takes {read}>",
            |counter| {
                let ([fenced, clocked], clock) = counter.reads()?;
                let bare = counter.bare.cost_ns.filter(|_| counter.fenced.id != counter.bare.id);
                Some(values! { saved: ns(clocked - fenced), clock, read: bare.map(|cost| ns(cost.value)) })
            };
    }
}

impl Counter<'_> {
    /// The measured rate in hertz, and the clock that gives it: one that keeps its rate, which of two
    /// that disagree only a verdict shows.
    pub fn rate(&self) -> Option<(Estimate, &TimerRow)> {
        let counted = 1e9 / self.bare.ns_per_tick?;
        self.clocks.iter().find_map(|clock| {
            let stable = &clock.verdicts.as_ref()?.stable;
            let trust = clock.trust.as_ref()?;
            let is_right =
                stable.outcome == Outcome::Pass && trust.defect.is_none() && trust.part.is_none();
            let hz = counted / (1.0 + 1e-6 * stable.offset_ppm.filter(|_| is_right)?);
            let half_width = 1e-6 * hz * stable.offset_uncertainty_ppm?;
            Some((Estimate::around(hz, half_width), *clock))
        })
    }

    /// The largest possible difference between the counters of a CPU and of the first CPU, in
    /// nanoseconds.
    pub fn apart_ns(&self) -> Option<f64> {
        let offsets = &self.fenced.verdicts.as_ref()?.thread_safe.offsets;
        let apart = offsets.iter().map(|it| it.ns.abs() + it.uncertainty_ns);
        apart.reduce(f64::max)
    }

    /// The costs of a fenced read and of a read of the usual clock in nanoseconds, and its name.
    fn reads(&self) -> Option<([f64; 2], &str)> {
        let clock = self.clocks.last()?;
        let costs = [self.fenced.cost_ns?.value, clock.cost_ns?.value];
        Some((costs, clock.label.as_str()))
    }

    /// What is wrong with it.
    fn fault(&self) -> Option<String> {
        let found = self.fenced.trust.as_ref().and_then(|trust| trust.defect);
        let told = || distrust(self.platform).map(str::to_owned);
        let what = found.map(|defect| defect.in_words()).or_else(told);
        let failed = || self.fenced.reason.clone().unwrap_or_default();
        let has_failed = self.fenced.status == Status::Failed;
        what.map(|what| format!("it {what}"))
            .or_else(|| has_failed.then(failed))
    }

    /// What is not known of it although it decides.
    fn gap(&self) -> Option<String> {
        let verdicts = self.fenced.verdicts.as_ref();
        let order = [Question::Monotonic, Question::ThreadSafe];
        let mut answers = order
            .into_iter()
            .filter_map(|question| Some(verdicts?.answer(question)));
        if let Some(open) = answers.find(|answer| answer.outcome != Outcome::Pass) {
            return Some(open.evidence.to_owned());
        }
        let words = match self.platform.invariant_counter().value {
            _ if self.rate().is_none() => "its rate could not be measured",
            None => "neither CPUID nor the kernel says whether its rate is constant",
            Some(_) => return None,
        };
        Some(words.to_owned())
    }
}

/// Half the width of the interval of a rate, relative to the rate.
fn uncertainty_ppm(hz: Estimate) -> f64 {
    1e6 * hz.half_width() / hz.value
}
