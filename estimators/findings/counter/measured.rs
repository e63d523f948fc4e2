//! The rules about what was measured of the counter: its rate, its order, the agreement of CPUs, and
//! the result of each statistical test: the difference that was found, or the smallest one that would
//! have been.

use super::{CounterCase, INSTEAD};
use crate::findings::machine::is_x86;
use crate::findings::{ns, number, values};
use crate::model::{CpuOffset, MAX_SLEW, Unit, Values};
use crate::rate::counter::{CounterFindings, EXPECTED_FOR_DETECTION, TestedEffect};

/// The largest error of a declared rate that is only noted, in ppm. *Judgement*: ten times what a
/// crystal may be off; beyond that the declaration is wrong, and not the crystal.
const MAX_DECLARED_ERROR_PPM: f64 = 1e3;
/// The largest step back of unfenced readings that is only noted, in nanoseconds. *Judgement*: longer
/// than a processor executes ahead of a load that misses the caches.
const MAX_REORDERING_NS: f64 = 1e3;
/// A read is expensive if it costs this many times as much as one of the kernel's clock.
/// *Judgement*: fences make it cost twice or three times as much, a trap fifty times.
const EXPENSIVE: f64 = 10.0;

const FENCE: &str =
    "put a fence before a reading whose order to other threads matters (lfence, isb)";

rules! {
    /// The rules about a counter that moves.
    pub static MEASURED: CounterCase;
    "rate" {
        Unknown("corrected") "its rate is known to {uncertainty} only, because the kernel corrects the rate of its clocks by so much, and nothing here tells whether the corrected or the uncorrected ones are right"
            => "compare this machine with another one for some minutes (`chronyc tracking`)",
            |case| {
                let uncertainty = case.found.rate?.uncertainty;
                let ppm = number(1e6 * uncertainty, Unit::Ppm);
                (uncertainty > MAX_SLEW).then(|| values! { uncertainty: ppm })
            };
        Ok "compared with the kernel's clock over {watched}, it counts at {rate} ± {uncertainty}",
            |case| {
                let rate = case.found.rate?;
                Some(values! {
                    rate: number(1e9 / rate.ns_per_tick, Unit::Hertz),
                    uncertainty: number(1e6 * rate.uncertainty, Unit::Ppm),
                    watched: ns(case.found.observed_ns),
                })
            };
        Unknown "its rate could not be determined: there were too few comparisons with the kernel's clock, or it went back between two of them";
    }
    "order" {
        Problem "it went back {backward} times in {readings} readings of one thread, by up to {largest}"
            => INSTEAD,
            |case| {
                let (backward, readings, largest_ns) = case.found.backward;
                (backward > 0).then(|| values! { readings, backward, largest: ns(largest_ns) })
            };
        Ok("one-cpu") "{readings} readings of a thread on one CPU never went back< (its value changed {changes} times)>; steps back in a share of {shows} of the changes would have been detected, differences between CPUs not",
            |case| (case.found.order_cpus < 2).then(|| ordered_readings(case))?;
        Ok "{readings} readings of a thread that went from CPU to CPU never went back< (its value changed {changes} times)>; steps back in a share of {shows} of the changes would have been detected",
            ordered_readings;
        Unknown "the order of its readings could not be observed";
    }
    "one-rate" {
        Problem "CPU {cpu} counts {value} ± {uncertainty} faster than the first one" => INSTEAD,
            |case| {
                let certain_part = |tested: &TestedEffect| tested.value.abs() - tested.uncertainty;
                let rates = case.found.cpu_rates.iter();
                let worst = rates
                    .max_by(|a, b| certain_part(&a.tested).total_cmp(&certain_part(&b.tested)))?;
                let mut values = effect(Some(worst.tested), Unit::Ppm)?;
                values.extend(values! { cpu: worst.cpu });
                Some(values)
            };
        Ok "all CPUs count at one rate; a difference of {sees} would have been detected",
            |case| {
                let detectable = case.found.cpu_rates.iter().map(|rate| rate.tested.detectable);
                Some(values! { sees: number(detectable.reduce(f64::max)?, Unit::Ppm) })
            };
    }
    "cpus" {
        Problem "the counter of CPU {cpu} is off by {value} ± {uncertainty} from that of the first one: time goes back for a thread that is moved"
            => INSTEAD,
            |case| different_cpu(case, true);
        Note "the counter of CPU {cpu} is off by {value} ± {uncertainty} from that of the first one; a move from CPU to CPU takes longer, so that no thread can observe it",
            |case| different_cpu(case, false);
        Ok "the counters of {cpus} CPUs agree within {within}; an offset of {sees} would have been detected",
            |case| {
                let offsets = &case.found.offsets;
                let largest = |of: fn(&CpuOffset) -> f64| offsets.iter().map(of).reduce(f64::max);
                Some(values! {
                    cpus: offsets.len(),
                    within: ns(largest(|offset| offset.ns.abs() + offset.uncertainty_ns)?),
                    sees: ns(largest(|offset| 2.0 * offset.uncertainty_ns)?),
                })
            };
        Unknown("backward") "single readings went back between CPUs, so that no offset is known",
            |case| case.found.across_cpus.map(|_| Values::new());
        Unknown "the counters of several CPUs could not be compared: this process may use one CPU only, or cannot choose";
    }
    "between-cpus" {
        Problem "it went back {backward} times in {handoffs} handoffs from CPU to CPU, by up to {largest}, and no offset explains it"
            => INSTEAD,
            |case| {
                let between = case.found.across_cpus?;
                (between.backward > 0).then(|| {
                    values! {
                        handoffs: between.handoffs,
                        backward: between.backward,
                        largest: ns(between.largest_ns),
                    }
                })
            };
        Ok "{handoffs} handoffs from CPU to CPU showed no step back that an offset does not explain< (in {changed} the value changed)>; steps of more than {usual} in a share of {shows} of the changes would have been detected",
            |case| {
                let between = case.found.across_cpus?;
                Some(values! {
                    handoffs: between.handoffs,
                    changed: (between.changed < between.handoffs).then_some(between.changed),
                    shows: detectable_share(between.changed)?,
                    usual: ns(between.usual_ns),
                })
            };
    }
    "asleep" {
        Problem "it counts {value} ± {uncertainty} slower while the thread sleeps than while it computes"
            => INSTEAD,
            |case| effect(case.found.sleep_rate_loss, Unit::Ppm);
        Ok "it counts equally while the thread sleeps and computes; a difference of {sees} would have been detected",
            |case| no_effect(case.found.sleep_rate_loss, Unit::Ppm);
    }
    "leap" {
        Problem "it leapt ahead of the kernel's clock by {value} ± {uncertainty} at once" => INSTEAD,
            |case| effect(gain(case.found.sudden_gain), Unit::Nanoseconds);
        Ok "it never leapt ahead of the kernel's clock; a leap of {sees} would have been detected",
            |case| no_effect(case.found.sudden_gain, Unit::Nanoseconds);
    }
    "freeze" {
        Problem "it stood still, or fell behind the kernel's clock, by {value} ± {uncertainty} at once"
            => INSTEAD,
            |case| effect(gain(case.found.sudden_loss), Unit::Nanoseconds);
        Ok "it never stood still; a halt of {sees} would have been detected",
            |case| no_effect(case.found.sudden_loss, Unit::Nanoseconds);
    }
    "change" {
        Problem "its rate changed by {value} ± {uncertainty} while it was watched" => INSTEAD,
            |case| effect(case.found.lasting_change, Unit::Ppm);
        Ok "its rate did not change while it was watched; a change by {sees} for an eighth of the time would have been detected",
            |case| no_effect(case.found.lasting_change, Unit::Ppm);
    }
    "declared" {
        Problem "compared with the kernel's clock, it counts {value} ± {uncertainty} faster than declared: {programs}, which believe the declaration, are wrong by that much"
            => "measure its rate; in PostgreSQL, set timing_clock_source to system",
            |case| declared(case, MAX_DECLARED_ERROR_PPM);
        Note "compared with the kernel's clock, it counts {value} ± {uncertainty} faster than declared"
            => "measure its rate; a program that uses the declared rate is wrong by that much",
            |case| declared(case, 0.0);
        Ok "it counts as fast as declared; a difference of {sees} would have been detected",
            |case| no_effect(case.found.declared, Unit::Ppm);
    }
    "unfenced" {
        Problem "without a fence it went back {backward} times in {handoffs} handoffs, by up to {largest}, longer than a processor executes ahead"
            => FENCE,
            |case| {
                let largest_ns = case.found.unfenced?.largest_ns;
                (largest_ns > MAX_REORDERING_NS).then(|| unfenced(case.found))?
            };
        Note "without a fence it went back {backward} times in {handoffs} handoffs, by up to {largest}: the processor may execute the instruction before earlier ones"
            => FENCE,
            |case| (case.found.unfenced?.backward > 0).then(|| unfenced(case.found))?;
        Ok "without a fence it never went back in {handoffs} handoffs, though no manual promises that",
            |case| unfenced(case.found);
    }
    "cost" {
        Problem "the amortised cost of a read is {counter}, of the kernel's clock {clock}: a hypervisor, an emulator or the kernel traps the instruction"
            => INSTEAD,
            |case| costs(case, EXPENSIVE);
        Note "the amortised cost of a read is {counter}, of the kernel's clock {clock}: reading it gains nothing"
            => INSTEAD,
            |case| costs(case, 1.0);
        Ok "the amortised cost of a read is {counter}, of the kernel's clock {clock}",
            |case| costs(case, 0.0);
    }
}

/// The costs of a read of the counter and of the kernel's clock, if that of the counter is at least
/// so many times the other.
fn costs(case: &CounterCase, ratio: f64) -> Option<Values> {
    let [counter, clock] = case.found.costs?;
    (counter >= ratio * clock).then(|| values! { counter: ns(counter), clock: ns(clock) })
}

/// The difference from the declared rate, if it exceeds `least` parts per million with certainty, and
/// the programs that it makes wrong: DPDK (`get_tsc_freq_arch`) reads CPUID leaf 15h, PostgreSQL
/// (`instr_time.c`) leaves 15h, 16h and 40000010h, Redis and Valkey (`monotonic.c`) read CNTFRQ_EL0;
/// Wine measures.
fn declared(case: &CounterCase, least: f64) -> Option<Values> {
    let error = case.found.declared?;
    let is_certain = error.value.abs() - error.uncertainty > least;
    let mut values = effect(Some(error).filter(|_| is_certain), Unit::Ppm)?;
    let programs = match is_x86(case.platform) {
        true => "PostgreSQL 19 and DPDK",
        false => "Redis and Valkey",
    };
    values.extend(values! { programs });
    Some(values)
}

/// The smallest share of wrong changes that would have been detected; `None` without changes.
fn detectable_share(changes: u64) -> Option<String> {
    (changes > 0).then(|| format!("{:.0e}", EXPECTED_FOR_DETECTION / changes as f64))
}

/// The readings of one thread; `None` if their value never changed.
fn ordered_readings(case: &CounterCase) -> Option<Values> {
    let (_, readings, _) = case.found.backward;
    let changes = case.found.order_changes.unwrap_or(readings);
    let shows = detectable_share(changes)?;
    Some(values! { readings, changes: (changes < readings).then_some(changes), shows })
}

fn unfenced(found: &CounterFindings) -> Option<Values> {
    let unfenced = found.unfenced?;
    Some(values! {
        handoffs: unfenced.handoffs,
        backward: unfenced.backward,
        largest: ns(unfenced.largest_ns),
    })
}

/// The offset of the CPU that certainly differs most from the first one, if it is significant and
/// longer, or not longer, than the fastest handoff.
fn different_cpu(case: &CounterCase, exceeds_handoff: bool) -> Option<Values> {
    let certain_part = |offset: &CpuOffset| offset.ns.abs() - offset.uncertainty_ns;
    let offsets = case.found.offsets.iter();
    let worst = offsets.max_by(|a, b| certain_part(a).total_cmp(&certain_part(b)))?;
    let exceeds = worst.ns.abs() > case.found.fastest_handoff_ns;
    (worst.is_significant() && exceeds == exceeds_handoff).then(|| {
        values! {
            cpu: worst.cpu,
            value: ns(worst.ns),
            uncertainty: ns(worst.uncertainty_ns),
        }
    })
}

/// A difference in one direction only.
fn gain(tested: Option<TestedEffect>) -> Option<TestedEffect> {
    tested.filter(|tested| tested.value > 0.0)
}

/// The difference that a test found, with its uncertainty.
fn effect(tested: Option<TestedEffect>, unit: Unit) -> Option<Values> {
    let tested = tested.filter(TestedEffect::is_found)?;
    Some(values! {
        value: number(tested.value, unit),
        uncertainty: number(tested.uncertainty, unit),
    })
}

/// The smallest difference that a test would have detected.
fn no_effect(tested: Option<TestedEffect>, unit: Unit) -> Option<Values> {
    Some(values! { sees: number(tested?.detectable, unit) })
}
