//! The kinds of machines that a fleet is made of.

use rand::RngExt;
use rand::rngs::StdRng;

/// A kind of machine.
#[derive(Debug, PartialEq)]
pub struct Instance {
    /// As its nodes are called.
    pub name: &'static str,
    /// How many of a hundred nodes are of it.
    share: u32,
    pub(super) vendor: &'static str,
    pub(super) model: &'static str,
    /// Family, model number and stepping.
    pub(super) numbers: [u32; 3],
    pub(super) microcode: &'static str,
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
