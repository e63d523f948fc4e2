//! The kinds of machines that a fleet is made of, and what they say of themselves.

use rand::RngExt;
use rand::rngs::StdRng;

use super::{Moment, Node};
use crate::model::{ClockSource, Cpu, Kernel, Load, Ntp, Os, Platform, Tickless, Tsc};

/// A kind of machine.
#[derive(Debug, PartialEq)]
pub struct Instance {
    /// As its nodes are called.
    pub name: &'static str,
    /// How many of a hundred nodes are of it.
    share: u32,
    vendor: &'static str,
    model: &'static str,
    /// Family, model number and stepping.
    numbers: [u32; 3],
    microcode: &'static str,
    /// CPUs.
    pub cpus: u32,
    /// The rate of its TSC, in hertz.
    pub tsc_hz: f64,
    /// By what that advances, in nanoseconds.
    pub step: f64,
    /// The rate of its cores, in hertz.
    pub core_hz: f64,
    /// What its instructions and calls cost, over those of the first.
    pub slower: f64,
    /// The hypervisor; nothing on bare metal.
    pub hypervisor: Option<&'static str>,
}

/// As machines of clouds and of one's own are: rates and steps of kept reports.
pub const INSTANCES: [Instance; 4] = [
    Instance {
        name: "epyc-vm",
        share: 45,
        vendor: "AuthenticAMD",
        model: "AMD EPYC 9R14",
        numbers: [25, 17, 1],
        microcode: "0xa101148",
        cpus: 16,
        tsc_hz: 2.596e9,
        step: 10.015,
        core_hz: 3.6e9,
        slower: 1.0,
        hypervisor: Some("KVM"),
    },
    Instance {
        name: "xeon-vm",
        share: 30,
        vendor: "GenuineIntel",
        model: "Intel(R) Xeon(R) Platinum 8488C",
        numbers: [6, 143, 8],
        microcode: "0x2b0005c0",
        cpus: 8,
        tsc_hz: 2.4e9,
        step: 0.8333,
        core_hz: 3.3e9,
        slower: 1.15,
        hypervisor: Some("KVM"),
    },
    Instance {
        name: "epyc-metal",
        share: 15,
        vendor: "AuthenticAMD",
        model: "AMD EPYC 7543 32-Core Processor",
        numbers: [25, 1, 1],
        microcode: "0xa0011d5",
        cpus: 64,
        tsc_hz: 2.794e9,
        step: 10.0,
        core_hz: 3.5e9,
        slower: 1.05,
        hypervisor: None,
    },
    Instance {
        name: "xeon-metal",
        share: 10,
        vendor: "GenuineIntel",
        model: "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz",
        numbers: [6, 85, 4],
        microcode: "0x2007006",
        cpus: 32,
        tsc_hz: 2.1e9,
        step: 0.9524,
        core_hz: 2.8e9,
        slower: 1.35,
        hypervisor: None,
    },
];

impl Instance {
    pub(super) fn drawn(random: &mut StdRng) -> &'static Self {
        let mut at = random.random_range(0..INSTANCES.iter().map(|kind| kind.share).sum::<u32>());
        let hit = |kind: &&Self| {
            let hit = at < kind.share;
            at = at.saturating_sub(kind.share);
            hit
        };
        INSTANCES.iter().find(hit).unwrap_or(&INSTANCES[0])
    }
}

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
        clocksource: ClockSource {
            current: text(current),
            available: first.into_iter().chain(sources.iter().copied()).map(str::to_owned).collect(),
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
    }
}
