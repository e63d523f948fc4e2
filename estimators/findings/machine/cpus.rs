//! The rules about the CPUs of a machine: their frequency, which of them there are, and what else uses
//! them.

use super::is_x86;
use crate::findings::{ns, number, values};
use crate::model::{Unit, Values};

/// The largest harmless share of the time in which CPUs had work but the hypervisor ran other
/// guests. A larger share affects the 99th percentile.
const MAX_STEAL_SHARE: f64 = 0.01;
/// The largest harmless load of a machine with one CPU: the number of threads that want to run.
const MAX_LOAD_ONE_CPU: f64 = 0.5;

rules! {
    pub static RULES;
    "governor" about "the frequency governor" {
        Problem "the governor is {governor}: the frequency follows the load, and with it every cost"
            => "as root, `cpupower frequency-set -g performance`",
            |machine| {
                let governor = machine.cpu.governor.as_deref()?;
                (!["performance", "userspace"].contains(&governor)).then(|| values! { governor })
            };
    }
    "turbo" about "turbo" {
        Problem "turbo is on: above the nominal frequency a core runs as fast as its temperature and its neighbours let it"
            => "as root, `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`, or `echo 0 > /sys/devices/system/cpu/cpufreq/boost`",
            |machine| machine.cpu.turbo?.then(Values::new);
    }
    "smt" about "other CPUs of the core" {
        Note "CPUs share a core< ({list})>: programs on the others use its execution units and caches"
            => "keep the other CPUs of the core idle, or switch simultaneous multithreading off (Linux, as root: `echo off > /sys/devices/system/cpu/smt/control`)",
            |machine| {
                let several = machine.cpu.threads_per_core.map(|threads| threads > 1);
                let list = machine.cpu.core_list.as_deref();
                several.or(machine.cpu.smt)?.then(|| values! { list })
            };
    }
    "cpus-allowed" about "the CPUs that may be used" {
        Problem "only one CPU may be used: whatever else runs there interrupts the measurement, and clocks cannot be compared between CPUs"
            => "start it with a wider CPU set (taskset, --cpuset-cpus of the container), or on a machine of more CPUs",
            |machine| (machine.cpu.allowed.filter(|count| *count > 0)? == 1).then(Values::new);
    }
    "core-kinds" about "the kinds of cores" {
        Note "cores are of {kinds} kinds: costs are valid for the kind that they were measured on<, here {measured}>"
            => "measure on one CPU of each kind, with --cpu N, and compare the reports",
            |machine| {
                let kinds = machine.cpu.core_kinds.as_ref()?.len();
                let measured = machine.cpu.core_kind.as_deref();
                (kinds > 1).then(|| values! { kinds, measured })
            };
    }
    "load" about "the load" {
        Problem "load {load} on {cpus} CPUs, so other programs take the CPU time that the measurement needs"
            => "end what runs (`top` shows it), and wait a minute",
            |machine| {
                let cpus = machine.cpu.online.or(machine.cpu.allowed);
                let (load, cpus) = (machine.load?.one_minute, cpus.filter(|cpus| *cpus > 0)?);
                // One CPU must remain free for the measurement.
                (load > f64::from(cpus - 1).max(MAX_LOAD_ONE_CPU))
                    .then(|| values! { load: number(load, Unit::Ratio), cpus })
            };
    }
    "cpu-quota" about "limits of CPU time" {
        Problem "a control group limits CPU time to {cpus} CPUs<, in each period of {period}>: when that is used up, every thread is stopped until the period ends"
            => "start the container without a CPU limit; give it CPUs of its own instead (--cpuset-cpus)",
            |machine| {
                let quota = machine.limits.cpu?;
                let period = quota.period_ns.map(|period| ns(period as f64));
                // Threads cannot use more CPU time than there are CPUs.
                let is_limit = |cpus: &f64| machine.cpu.allowed.is_none_or(|allowed| *cpus < f64::from(allowed));
                let limit = quota.cpus.filter(is_limit);
                limit.map(|cpus| values! { cpus: number(cpus, Unit::Ratio), period })
            };
    }
    "steal" about "CPU time of other guests" {
        Problem "the hypervisor ran other guests in {share} of the time in which CPUs had work: clocks went on meanwhile"
            => "use a machine with CPUs of its own, or measure at another time",
            |machine| {
                let share = machine.steal_share?;
                (share > MAX_STEAL_SHARE).then(|| values! { share: number(share, Unit::Share) })
            };
    }
    "hypervisor" about "virtualisation" {
        Note "this is a guest of {name}: the host may take the CPU away at any time, and the machine reports what the host lets it report"
            => "measure on bare metal if the results must be valid there",
            |machine| {
                let name = machine.hypervisor.as_deref();
                // A processor of x86 shows its hypervisor, or there is none that wants to be seen.
                name.or(is_x86(machine).then_some(""))?;
                name.filter(|_| machine.emulator().is_none()).map(|name| values! { name })
            };
    }
}
