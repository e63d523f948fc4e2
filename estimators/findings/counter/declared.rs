//! The rules about what the processor, the kernel and the hypervisor say about the counter, and
//! about a counter that does not move.

use timers::clock_sources;

use super::{CounterCase, INSTEAD};
use crate::findings::machine::is_x86;
use crate::findings::{ns, number, values};
use crate::model::{KernelLog, Platform, Unit, Values};

const REMEASURE: &str = "measure the rate again from time to time, or read the kernel's clock";

/// The largest time that firmware and boot loader need, in seconds. If the time that the counter
/// shows exceeds the uptime of the system by more, the counter did not start with the machine.
/// *Judgement*.
const MAX_BOOT_S: f64 = 600.0;
/// The frequency of the counter in version 8.6 and later of the Arm architecture, in hertz.
/// *Definition*: Arm Architecture Reference Manual, D12.1.
const ARM_FREQUENCY_HZ: f64 = 1e9;

rules! {
    /// The rules about any counter.
    pub static DECLARED: CounterCase;
    "stuck" {
        Problem "it stood still while {watched} passed" => INSTEAD,
            |case| case.found.stuck.then(|| values! { watched: ns(case.found.observed_ns) });
    }
    "invariant" {
        Ok("architecture") "all CPUs read one counter of one rate, by the architecture",
            |case| (!is_x86(case.platform)).then(Values::new);
        Ok "it counts at one rate at any frequency of the core (constant), also in deep idle states (nonstop)",
            |case| case.platform.invariant_counter().value?.then(Values::new);
        Problem("stops") "it stops in deep idle states (no nonstop_tsc)" => INSTEAD,
            |case| {
                case.platform.invariant_counter().value?;
                (case.platform.tsc.constant == Some(true)).then(Values::new)
            };
        Problem "its rate follows the frequency of the core (no constant_tsc)" => INSTEAD,
            |case| case.platform.invariant_counter().value.map(|_| Values::new());
        Unknown "neither CPUID nor the kernel says whether its rate is constant";
    }
    "kernel" {
        Ok "the kernel builds its own clocks on it ({current})",
            |case| kernel_clock_uses_counter(case.platform).then(|| current(case))?;
        Note("offered") "the kernel uses {current}, and offers the counter as well",
            |case| {
                let mut available = case.platform.clocksource.available.iter();
                let is_offered = available.any(|name| clock_sources::is_counter(name));
                is_offered.then(|| current(case))?
            };
        Problem "the kernel uses {current} and does not offer the counter: it found the counter unreliable, or was configured not to use it"
            => "look for `tsc` in the kernel's log (dmesg) and on its command line",
            |case| {
                let is_constant = is_x86(case.platform) && case.platform.tsc.constant == Some(true);
                let is_listed = !case.platform.clocksource.available.is_empty();
                (is_constant && is_listed).then(|| current(case))?
            };
        Note "the kernel uses {current}, and does not say whether it trusts the counter",
            current;
        Unknown "which clock source the kernel trusts is not reported by this machine";
    }
    "log" {
        Problem "the kernel stopped using it: {line}" => INSTEAD,
            |case| match &case.facts.log {
                KernelLog::Read { distrust, .. } => Some(values! { line: distrust.first()?.as_str() }),
                KernelLog::Unreadable(_) => None,
            };
        Unknown "the kernel's log cannot be read: {why}"
            => "run as root, or read the log yourself: dmesg | grep -i -e tsc -e clocksource",
            |case| match &case.facts.log {
                KernelLog::Unreadable(why) => Some(values! { why: why.as_str() }),
                KernelLog::Read { .. } => None,
            };
        Ok "the kernel's log, which is complete, reports no fault of it",
            |case| {
                matches!(case.facts.log, KernelLog::Read { from_the_start: true, .. }).then(Values::new)
            };
        Note "the kernel's log reports no fault of it, but the beginning of the log is lost";
    }
    "witness" {
        Note "the kernel's clock is derived from this counter ({current}): if both leap, stop or change their rate, only the kernel's watchdog, if it has one, and other machines can detect it",
            |case| kernel_clock_uses_counter(case.platform).then(|| current(case))?;
    }
    "moved" {
        Ok "this is not a virtual machine, so it is never migrated",
            |case| virtual_machine(case).is_none().then(Values::new);
        Unknown("disrupted") "the machine was moved to another host, or restored from a snapshot, while the counter was measured (its VMClock device says so)"
            => "repeat",
            |case| (case.platform.vmclock?.disrupted == Some(true)).then(|| virtual_machine(case))?;
        Note("expected") "the VMClock device announces that the machine will be moved, or otherwise disturbed, within {within}"
            => "measure the rate again after that",
            |case| case.platform.vmclock?.expected.and(virtual_machine(case));
        Ok("vmclock") "the VMClock device publishes the rate, {rate} with an error of at most {bound}, and announces moves: a program may rely on a rate until disruption_marker in /dev/vmclock0 changes",
            |case| case.platform.vmclock?.known_rate().and(virtual_machine(case));
        Note("no-offset") "{hypervisor} does not offset the counter (it shows {age:short}, the system has run for {uptime:short}): on another host it shows another value",
            |case| {
                let is_open = case.facts.promise.is_none();
                (is_open && !starts_with_machine(case)?).then(|| virtual_machine(case))?
            };
        Ok("arm") "{hypervisor}: the counter has the rate that all hosts of this architecture version have (1 GHz), and the architecture provides an offset",
            |case| {
                let hz = 1e9 / case.found.rate?.ns_per_tick;
                let is_standard = case.platform.cpu.architecture == "aarch64"
                    && (hz / ARM_FREQUENCY_HZ - 1.0).abs() < 1e-3;
                is_standard.then(|| virtual_machine(case))?
            };
        Note("no-rate") "the VMClock device announces moves (disruption_marker in /dev/vmclock0), but publishes no rate of this counter with its maximum error"
            => "measure the rate again whenever disruption_marker changes",
            |case| case.platform.vmclock.and(virtual_machine(case));
        Note("declared") "{by}; even between identical hosts the rate changes by the tolerance of their oscillators, and nothing announces it"
            => REMEASURE,
            |case| (case.facts.promise.as_ref()?.keeps_rate).then(|| virtual_machine(case))?;
        Note("promise") "{by}: after a migration it counts at another rate" => REMEASURE,
            |case| case.facts.promise.as_ref().and(virtual_machine(case));
        Note("offset") "{hypervisor} offsets the counter (it shows {age:short}, the system has run for {uptime:short}), but nothing fixes its rate: migrations and snapshots bring a machine to hosts that count at another rate, also without scaling it"
            => REMEASURE,
            |case| starts_with_machine(case)?.then(|| virtual_machine(case))?;
        Note "{hypervisor} does not declare whether the counter keeps value and rate on another host",
            virtual_machine;
    }
}

/// Returns whether the clock of the kernel is derived from this counter.
fn kernel_clock_uses_counter(platform: &Platform) -> bool {
    let current = platform.clocksource.current.as_deref();
    current.is_some_and(clock_sources::is_counter)
}

fn current(case: &CounterCase) -> Option<Values> {
    Some(values! { current: case.platform.clocksource.current.as_deref()? })
}

/// Whether the counter started with the virtual machine. Such a counter has an offset from that of
/// the host, which the hypervisor adds and can adapt after a migration. `None` if that is unknown.
fn starts_with_machine(case: &CounterCase) -> Option<bool> {
    Some(case.facts.age_s? <= case.facts.uptime_s? + MAX_BOOT_S)
}

/// What is known about moves of a virtual machine to other hosts; `None` if the machine is not
/// virtual.
fn virtual_machine(case: &CounterCase) -> Option<Values> {
    let (platform, facts) = (case.platform, case.facts);
    let vmclock = platform.vmclock;
    let unnamed = vmclock.map(|_| "a hypervisor");
    let (hz, ppm) = vmclock.and_then(|page| page.known_rate()).unzip();
    let (age, uptime) = facts.age_s.zip(facts.uptime_s).unzip();
    let seconds = |s: f64| ns(1e9 * s);
    Some(values! {
        hypervisor: platform.hypervisor.as_deref().or(unnamed)?,
        by: facts.promise.as_ref().map(|promise| promise.by.as_str()),
        rate: hz.map(|hz| number(hz, Unit::Hertz)),
        bound: ppm.map(|ppm| number(ppm, Unit::Ppm)),
        within: vmclock.and_then(|page| page.expected).map(|expected| expected.in_words()),
        age: age.map(seconds),
        uptime: uptime.map(seconds),
    })
}
