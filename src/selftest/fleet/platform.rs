//! What nodes say of themselves.

use super::{Moment, Node};
use crate::model::{ClockSource, Cpu, Kernel, Load, Ntp, Os, Platform, Tickless, Tsc};

/// The kernels before and after the upgrade.
pub const KERNELS: [&str; 2] = ["6.1.0-28-amd64", "6.12.9-1-amd64"];

/// What a node says of itself.
pub(super) fn platform(node: &Node, moment: Moment) -> Platform {
    let machine = node.machine;
    let text = |text: &str| Some(text.to_owned());
    let virtual_machine = machine.hypervisor.is_some();
    let current = if node.has_fallen(moment) { "hpet" } else { "tsc" };
    let sources: &[&str] =
        if virtual_machine { &["kvm-clock", "hpet", "acpi_pm"] } else { &["hpet", "acpi_pm"] };
    // A watchdog that found the TSC wanting takes it from the list.
    let first = (!node.has_fallen(moment)).then_some("tsc");
    Platform {
        cpu: cpu(node),
        os: Os { family: "linux".into(), name: text("Debian GNU/Linux 12 (bookworm)") },
        kernel: Kernel {
            name: text("Linux"),
            release: text(KERNELS[usize::from(moment == Moment::After)]),
            version: text("#1 SMP PREEMPT_DYNAMIC Debian"),
            tick_hz: Some(250),
            tick_source: text("CONFIG_HZ in /boot/config"),
            tickless: Some(Tickless::WhenIdle),
        },
        hypervisor: machine.hypervisor.map(str::to_owned),
        hypervisor_clocks: Some(if virtual_machine { vec!["kvm-clock".into()] } else { Vec::new() }),
        product: None,
        clocksource: ClockSource {
            current: text(current),
            available: first.into_iter().chain(sources.iter().copied()).map(str::to_owned).collect(),
            vdso: Some(true),
            parameters: Some(Vec::new()),
        },
        tsc: Tsc {
            constant: Some(true),
            nonstop: Some(true),
            adjust: Some(true),
            scaling: Some(false),
            known_frequency: Some(virtual_machine),
            reliable: Some(false),
        },
        ntp: Some(Ntp { synchronised: true, tick_us: 10_000, estimated_error_us: 120, ..Ntp::default() }),
        load: Some(if node.restless {
            Load { one_minute: 6.0, five_minutes: 5.5, fifteen_minutes: 5.0 }
        } else {
            Load { one_minute: 0.1, five_minutes: 0.1, fifteen_minutes: 0.1 }
        }),
        steal_share: virtual_machine.then_some(if node.restless { 0.05 } else { 0.001 }),
        perf_event_paranoid: Some(2),
        ..Platform::default()
    }
}

fn cpu(node: &Node) -> Cpu {
    let machine = node.machine;
    let all = format!("0-{}", machine.cpus - 1);
    let [family, model, stepping] = machine.numbers;
    Cpu {
        architecture: "x86_64".into(),
        vendor: Some(machine.vendor.into()),
        model: Some(machine.model.into()),
        family: Some(family),
        model_number: Some(model),
        stepping: Some(stepping),
        microcode: Some(machine.microcode.into()),
        online: Some(machine.cpus),
        online_list: Some(all.clone()),
        allowed: Some(machine.cpus),
        allowed_list: Some(all),
        smt: Some(false),
        threads_per_core: Some(1),
        core_list: Some("1".into()),
        isolated: Some(String::new()),
        nohz_full: None,
        invariant_tsc: Some(true),
        governor: machine.hypervisor.is_none().then(|| "performance".into()),
        frequency_driver: None,
        turbo: None,
        ..Cpu::default()
    }
}
