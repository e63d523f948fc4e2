//! The rules about the CPUs of a machine: their frequency, and which of them there are.

use super::on_linux;
use crate::findings::values;
use crate::model::{CoreKind, Platform, Values};

const WIDEN: &str = "start it with a wider CPU set (taskset, --cpuset-cpus of the container)";
const NO_SMT: &str = "keep the other CPUs of the core idle, or switch simultaneous multithreading off (Linux, as root: `echo off > \
                      /sys/devices/system/cpu/smt/control`)";

rules! {
    pub static RULES: Platform;
    "governor" {
        Ok "the governor is performance< ({driver})>",
            |machine| (machine.cpu.governor.as_deref()? == "performance").then(|| driver(machine));
        Note "the governor is userspace< ({driver})>: the frequency stays at what a program has set",
            |machine| (machine.cpu.governor.as_deref()? == "userspace").then(|| driver(machine));
        Problem "the governor is {governor}< ({driver})>: the frequency follows the load, and with it every cost"
            => "as root, `cpupower frequency-set -g performance`",
            |machine| {
                let mut values = values! { governor: machine.cpu.governor.as_deref()? };
                values.extend(driver(machine));
                Some(values)
            };
        Unknown("guest") "a guest of {hypervisor} has no frequency governor: the host decides the frequency",
            |machine| Some(values! { hypervisor: machine.frequency_host()? });
        Unknown "the frequency governor is not reported by this machine"
            => "compare the effective frequencies before and after the measurement, which are in the report",
            on_linux;
    }
    "turbo" {
        Problem "turbo is on: above the nominal frequency a core runs as fast as its temperature and its neighbours let it, so costs change between runs"
            => "as root, `echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo`, or `echo 0 > /sys/devices/system/cpu/cpufreq/boost`",
            |machine| machine.cpu.turbo?.then(Values::new);
        Ok "turbo is off",
            |machine| {
                (!machine.cpu.turbo?).then(Values::new)
            };
        Unknown "whether turbo is on is not reported by this machine";
    }
    "smt" {
        Ok "no other CPU shares the core that is measured on< (according to {hypervisor})>",
            |machine| {
                let cpu = &machine.cpu;
                let is_alone = cpu.threads_per_core.map(|threads| threads == 1);
                (is_alone.or(cpu.smt.map(|smt| !smt))?)
                    .then(|| values! { hypervisor: machine.hypervisor.as_deref() })
            };
        Note "{threads} CPUs share a core< ({list})>< (according to {hypervisor})>: programs on the other CPUs of the core use its execution units and caches"
            => NO_SMT,
            |machine| {
                Some(values! {
                    threads: machine.cpu.threads_per_core?,
                    list: machine.cpu.core_list.as_deref(),
                    hypervisor: machine.hypervisor.as_deref(),
                })
            };
        Note("which") "cores run several threads; which CPUs share a core is unknown" => NO_SMT,
            |machine| machine.cpu.smt?.then(Values::new);
        Unknown "whether CPUs share a core is not reported by this machine";
    }
    "isolated" {
        Note "no CPU is isolated: the scheduler may run anything on the CPU that measures"
            => "if results must be repeatable, start the kernel with isolcpus=N and measure with --cpu N",
            |machine| {
                let list = machine.cpu.isolated.as_deref()?;
                list.trim().is_empty().then(Values::new)
            };
        Ok "CPUs {list} are isolated; measure on one of them with --cpu",
            |machine| Some(values! { list: machine.cpu.isolated.as_deref()? });
        Unknown "whether CPUs are isolated is not reported by this machine",
            on_linux;
    }
    "cpus-allowed" {
        Problem("only") "there is only one CPU: whatever else runs interrupts the measurement, and clocks cannot be compared between CPUs"
            => "use a machine of two CPUs or more",
            |machine| (allowed(machine)? == 1 && machine.cpu.online == Some(1)).then(Values::new);
        Problem "only one CPU may be used< ({list})>: whatever else runs there interrupts the measurement, and clocks cannot be compared between CPUs"
            => WIDEN,
            |machine| {
                let list = machine.cpu.allowed_list.as_deref();
                (allowed(machine)? == 1).then(|| values! { list })
            };
        Note "{allowed} of {online} online CPUs may be used< ({list})>" => WIDEN,
            |machine| {
                let (allowed, online) = (allowed(machine)?, machine.cpu.online?);
                let list = machine.cpu.allowed_list.as_deref();
                (allowed < online).then(|| values! { allowed, online, list })
            };
        Ok "{allowed} CPUs may be used< ({list})>",
            |machine| {
                let list = machine.cpu.allowed_list.as_deref();
                Some(values! { allowed: allowed(machine)?, list })
            };
        Unknown "which CPUs may be used is not reported by this machine";
    }
    "core-kinds" {
        Ok "all cores are of one kind",
            |machine| {
                (machine.cpu.core_kinds.as_ref()?.len() < 2).then(Values::new)
            };
        Note "cores are of {kinds} kinds ({all}): costs are valid for the kind that they were measured on<, here {measured}>"
            => "measure on one CPU of each kind, with --cpu N, and compare the reports",
            |machine| {
                let kinds = machine.cpu.core_kinds.as_ref()?;
                let kind = |kind: &CoreKind| match &kind.list {
                    Some(list) => format!("{}: {list}", kind.name),
                    None => kind.name.clone(),
                };
                let all: Vec<String> = kinds.iter().map(kind).collect();
                Some(values! {
                    kinds: kinds.len(),
                    all: all.join("; "),
                    measured: machine.cpu.core_kind.as_deref(),
                })
            };
        Unknown "whether cores are of several kinds is not reported by this machine",
            on_linux;
    }
}

fn driver(machine: &Platform) -> Values {
    values! { driver: machine.cpu.frequency_driver.as_deref() }
}

/// The number of CPUs that may be used, if it is known.
fn allowed(machine: &Platform) -> Option<u32> {
    machine.cpu.allowed.filter(|count| *count > 0)
}
