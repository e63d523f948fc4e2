//! What becomes of the counter when a virtual machine is moved to another host.

use super::Case;
use crate::suitability::Finding;
use crate::text::numbers::time;

/// Whether it stays as it is, and why.
pub(super) struct Moved {
    pub stays: bool,
    pub finding: Finding,
}

/// A counter that is older than the system by less than this starts with the machine, in seconds: firmware and loader take time.
/// *Judgement*.
const BEFORE_THE_SYSTEM_S: f64 = 600.0;
/// Of Arm from version 8.6 on, as of all hosts: a counter of that rate has it everywhere.
/// *Definition*: Arm Architecture Reference Manual, D12.1.
const OF_ALL_HOSTS_HZ: f64 = 1e9;

pub(super) fn judge(case: &Case) -> Moved {
    const CODE: &str = "moved";
    let stays = |message: String| Moved { stays: true, finding: Finding::ok(CODE, message) };
    let until = |message: String| Moved { stays: false, finding: Finding::note(CODE, message) };
    let Some(hypervisor) = case.platform.hypervisor.as_deref() else {
        return stays("this is no virtual machine: nobody moves it".into());
    };
    if let Some(promise) = &case.facts.promise {
        let said = promise.by.clone();
        return if promise.keeps_rate {
            stays(said)
        } else {
            until(format!("{said}: after a move it counts otherwise"))
        };
    }
    let how = offset(case);
    match how {
        Some((false, said)) => until(format!(
            "{hypervisor} does not offset the counter ({said}): on another host it shows another value"
        )),
        _ if is_arm_of_all_hosts(case) => stays(format!(
            "{hypervisor}: the counter has the rate that all hosts of this kind have (1 GHz), and an offset by the architecture"
        )),
        Some((true, said)) if hypervisor.contains("KVM") && case.platform.cpu.invariant_tsc == Some(true) => {
            stays(format!(
                "{hypervisor} offsets the counter ({said}) and calls it invariant, which it promises only where it scales it or does not move \
             the machine"
            ))
        }
        Some((true, said)) => until(format!(
            "{hypervisor} offsets the counter ({said}), but does not say that it keeps its rate on another host"
        )),
        None => until(format!("{hypervisor} does not say what becomes of the counter on another host")),
    }
}

/// Whether the counter began with this machine, and how we know; `None` where that is not known.
fn offset(case: &Case) -> Option<(bool, String)> {
    let (age, uptime) = (case.facts.age_s?, case.facts.uptime_s?);
    let said = |s: f64| time(Some(s * 1e9));
    let shown = format!("it shows {}, the system has run for {}", said(age), said(uptime));
    Some((age <= uptime + BEFORE_THE_SYSTEM_S, shown))
}

fn is_arm_of_all_hosts(case: &Case) -> bool {
    let hz = case.found.rate.map(|rate| 1e9 / rate.ns_per_tick);
    case.platform.cpu.architecture == "aarch64"
        && hz.is_some_and(|hz| (hz / OF_ALL_HOSTS_HZ - 1.0).abs() < 1e-3)
}
