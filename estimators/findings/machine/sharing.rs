//! The rules about what else uses the CPUs of a machine: other programs, a quota, other guests.

use super::{is_x86, on_linux};
use crate::findings::{ns, number, values};
use crate::model::{CpuQuota, Platform, Unit, Values};

/// The largest harmless share of the time in which CPUs had work but the hypervisor ran other
/// guests. A larger share affects the 99th percentile.
const MAX_STEAL_SHARE: f64 = 0.01;
/// The largest harmless load of a machine with one CPU: the number of threads that want to run.
const MAX_LOAD_ONE_CPU: f64 = 0.5;

rules! {
    pub static RULES: Platform;
    "load" {
        Problem "{load} threads wanted to run, as the mean of the last minute, on {cpus} CPUs: too few are left for the measurement"
            => "end what runs (`top` shows it), and wait a minute",
            |machine| {
                let (load, cpus) = load(machine)?;
                // One CPU must remain free for the measurement.
                let most = f64::from(cpus - 1).max(MAX_LOAD_ONE_CPU);
                (load > most).then(|| values! { load: number(load, Unit::Ratio), cpus })
            };
        Ok "{load} threads wanted to run, as the mean of the last minute, on {cpus} CPUs",
            |machine| {
                let (load, cpus) = load(machine)?;
                Some(values! { load: number(load, Unit::Ratio), cpus })
            };
        Unknown "the load is not reported by this machine";
    }
    "cpu-quota" {
        Problem "a control group limits CPU time to {cpus} CPUs: when that is used up, every thread is stopped until its period ends<: for {least:short} of each {period:short} with {few} busy><, for {most:short} with {all}><; up to {burst:short} of CPU time left over from earlier periods comes first><; it has been stopped in {periods} periods so far>"
            => "start the container without a CPU limit; give it CPUs of its own instead (--cpuset-cpus)",
            |machine| {
                let quota = machine.limits.cpu?;
                let cpus = quota.cpus?;
                // Threads cannot use more CPU time than there are CPUs.
                let allowed = machine.cpu.allowed;
                let is_limit = allowed.is_none_or(|allowed| cpus < f64::from(allowed));
                let periods = quota.throttled_periods.filter(|periods| *periods > 0);
                is_limit.then(|| {
                    let mut values = values! {
                        cpus: number(cpus, Unit::Ratio),
                        periods,
                        burst: quota.burst_ns.map(|burst| ns(burst as f64)),
                    };
                    values.extend(pauses(quota, allowed).unwrap_or_default());
                    values
                })
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
        Note "this is a guest of {name}< (clocks of the hypervisor: {clocks})>: the host may take the CPU away at any time, and the machine reports what the host lets it report"
            => "measure on bare metal if the results must be valid there",
            |machine| {
                let clocks = machine.hypervisor_clocks.as_deref().unwrap_or_default();
                let clocks = Some(clocks.join(", ")).filter(|clocks| !clocks.is_empty());
                Some(values! { name: machine.hypervisor.as_deref()?, clocks })
            };
        Ok "no hypervisor was detected",
            |machine| is_x86(machine).then(Values::new);
        Unknown "whether this is a virtual machine is not reported by this machine";
    }
}

/// How long a quota stops all threads in each period: with as few busy CPUs as use it up, and with
/// all that may be used.
fn pauses(quota: CpuQuota, allowed: Option<u32>) -> Option<Values> {
    let (cpus, period) = (quota.cpus?, quota.period_ns? as f64);
    let few = (cpus as u32).saturating_add(1);
    let all = allowed.filter(|all| *all > few);
    let pause = |busy: u32| ns(period * (1.0 - cpus / f64::from(busy)));
    Some(values! {
        period: ns(period),
        least: pause(few),
        few: if few == 1 { "one CPU".to_owned() } else { format!("{few} CPUs") },
        most: all.map(pause),
        all,
    })
}

/// The number of threads that want to run, and the number of CPUs.
fn load(machine: &Platform) -> Option<(f64, u32)> {
    let cpus = machine.cpu.online.or(machine.cpu.allowed);
    Some((machine.load?.one_minute, cpus.filter(|cpus| *cpus > 0)?))
}
