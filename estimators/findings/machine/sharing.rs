//! The rules about what else uses the CPUs of a machine: other programs, a quota, other guests.

use super::{is_x86, on_linux};
use crate::findings::{ns, number, values};
use crate::model::{Platform, Unit, Values};

/// The largest harmless share of the time in which CPUs had work but the hypervisor ran other
/// guests. A larger share affects the 99th percentile.
const MAX_STEAL_SHARE: f64 = 0.01;
/// The largest harmless load of a machine with one CPU: the number of threads that want to run.
const MAX_LOAD_ONE_CPU: f64 = 0.5;

rules! {
    pub static RULES: Platform;
    "load" {
        Problem "load {load} on {cpus} CPUs, so other programs take the CPU time that the measurement needs"
            => "end what runs (`top` shows it), and wait a minute",
            |machine| {
                let (load, cpus) = load(machine)?;
                // One CPU must remain free for the measurement.
                let most = f64::from(cpus - 1).max(MAX_LOAD_ONE_CPU);
                (load > most).then(|| values! { load: number(load, Unit::Ratio), cpus })
            };
        Ok "load {load} on {cpus} CPUs",
            |machine| {
                let (load, cpus) = load(machine)?;
                Some(values! { load: number(load, Unit::Ratio), cpus })
            };
        Unknown "the load is not reported by this machine";
    }
    "cpu-quota" {
        Problem "a control group limits CPU time to {cpus} CPUs<, in each period of {period:short}>: when that is used up, every thread is stopped until the period ends"
            => "start the container without a CPU limit; give it CPUs of its own instead (--cpuset-cpus)",
            |machine| {
                let quota = machine.limits.cpu?;
                let cpus = quota.cpus?;
                let period = quota.period_ns.map(|period| ns(period as f64));
                // Threads cannot use more CPU time than there are CPUs.
                let is_limit = machine.cpu.allowed.is_none_or(|allowed| cpus < f64::from(allowed));
                is_limit.then(|| values! { cpus: number(cpus, Unit::Ratio), period })
            };
        Ok "no control group limits CPU time below the CPUs that may be used",
            |machine| machine.limits.cpu.map(|_| Values::new());
        Unknown "whether a container limits CPU time is not reported by this machine",
            on_linux;
    }
    "steal" {
        Problem "the hypervisor ran other guests in {share} of the time in which CPUs had work: clocks went on meanwhile"
            => "use a machine with CPUs of its own, or measure at another time",
            |machine| {
                let share = machine.steal_share?;
                (share > MAX_STEAL_SHARE).then(|| values! { share: number(share, Unit::Share) })
            };
        Ok "the hypervisor ran other guests in {share} of the time in which CPUs had work",
            |machine| Some(values! { share: number(machine.steal_share?, Unit::Share) });
        Unknown "whether a hypervisor gives CPU time to other guests is not reported by this machine";
    }
    "hypervisor" {
        Problem "{name} emulates the processor: the cost of a read is that of the emulator, and clocks are those of the host"
            => "run a build for the processor of the host, or measure on a machine that has the emulated processor",
            |machine| {
                machine.emulator()?;
                Some(values! { name: machine.hypervisor.as_deref()? })
            };
        Note "this is a guest of {name}: the host may take the CPU away at any time, and the machine reports what the host lets it report"
            => "measure on bare metal if the results must be valid there",
            |machine| Some(values! { name: machine.hypervisor.as_deref()? });
        Ok "no hypervisor was detected",
            |machine| is_x86(machine).then(Values::new);
        Unknown "whether this is a virtual machine is not reported by this machine";
    }
}

/// The number of threads that want to run, and the number of CPUs.
fn load(machine: &Platform) -> Option<(f64, u32)> {
    let cpus = machine.cpu.online.or(machine.cpu.allowed);
    Some((machine.load?.one_minute, cpus.filter(|cpus| *cpus > 0)?))
}
