//! Tests the verdicts on the counters of simulated machines.

use super::*;
use crate::model::{CounterFacts, CounterPromise, KernelLog, Platform};
use crate::rate::Rate;
use crate::rate::counter::{CpuOffset, CpuRate, TestedEffect};

fn sound_findings() -> CounterFindings {
    let nothing = TestedEffect {
        value: 0.1,
        uncertainty: 1.0,
        detectable: 2.0,
    };
    let tested = Some(nothing);
    CounterFindings {
        rate: Some(Rate {
            ns_per_tick: 0.4,
            uncertainty: 3e-8,
            unexplained_deviation_ns: 0.0,
        }),
        observed_ns: 3e9,
        backward: (0, 1_000_000, 0.0),
        offsets: [0, 1]
            .map(|cpu| CpuOffset {
                cpu,
                ns: 1.0,
                uncertainty_ns: 30.0,
                is_significant: false,
                exceeds_handoff: false,
            })
            .to_vec(),
        cpu_rates: vec![CpuRate {
            cpu: 1,
            tested: nothing,
        }],
        sudden_gain: tested,
        sudden_loss: tested,
        sleep_rate_loss: tested,
        lasting_change: tested,
        declared: tested,
        ..CounterFindings::default()
    }
}

fn machine(hypervisor: Option<&str>) -> Platform {
    let mut platform = Platform {
        hypervisor: hypervisor.map(str::to_owned),
        ..Platform::default()
    };
    platform.cpu.architecture = "x86_64".into();
    platform.cpu.invariant_tsc = Some(true);
    (platform.tsc.constant, platform.tsc.nonstop) = (Some(true), Some(true));
    platform.clocksource.current = Some("tsc".into());
    platform.clocksource.available = vec!["tsc".into(), "hpet".into()];
    platform
}

fn facts() -> CounterFacts {
    let log = KernelLog::Read {
        from_the_start: true,
        distrust: Vec::new(),
        rate_hz: None,
    };
    CounterFacts {
        log,
        uptime_s: Some(1_000.0),
        age_s: Some(1_010.0),
        ..CounterFacts::default()
    }
}

fn judged(platform: &Platform, facts: &CounterFacts, found: &CounterFindings) -> Counter {
    judge(&Case {
        ids: ["rdtsc", "rdtsc-lfence"],
        evidence: CounterCase {
            platform,
            facts,
            found,
        },
        rows: &[],
        recipes: &[],
    })
}

fn verdict(platform: &Platform, facts: &CounterFacts) -> Option<CounterVerdict> {
    judged(platform, facts, &sound_findings()).verdict
}

#[test]
fn bare_metal_is_safe() {
    let counter = judged(&machine(None), &facts(), &sound_findings());
    assert_eq!(
        counter.verdict,
        Some(CounterVerdict::Safe),
        "{:?}",
        counter.findings
    );
    assert_eq!(counter.summary.len(), 5);
    assert!(
        counter.summary[0].starts_with("safe: "),
        "{:?}",
        counter.summary
    );
    assert!(counter.snippets.is_some());
}

#[test]
fn promise_or_age_decides_migration() {
    let promise = |keeps_rate| CounterFacts {
        promise: Some(CounterPromise {
            keeps_rate,
            by: "it says so".into(),
        }),
        ..facts()
    };
    assert_eq!(
        verdict(&machine(Some("Hyper-V")), &promise(true)),
        Some(CounterVerdict::Safe)
    );
    assert_eq!(
        verdict(&machine(Some("Xen")), &promise(false)),
        Some(CounterVerdict::UntilMoved)
    );
    // On KVM an invariant counter is safe, unless it is older than the machine.
    assert_eq!(
        verdict(&machine(Some("KVM")), &facts()),
        Some(CounterVerdict::Safe)
    );
    let older = CounterFacts {
        age_s: Some(9e6),
        ..facts()
    };
    assert_eq!(
        verdict(&machine(Some("KVM")), &older),
        Some(CounterVerdict::UntilMoved)
    );
    let unknown = CounterFacts {
        age_s: None,
        ..facts()
    };
    assert_eq!(
        verdict(&machine(Some("KVM")), &unknown),
        Some(CounterVerdict::UntilMoved)
    );
    assert_eq!(
        verdict(&machine(Some("a hypervisor")), &facts()),
        Some(CounterVerdict::UntilMoved)
    );
    assert_eq!(verdict(&machine(None), &older), Some(CounterVerdict::Safe));
}

#[test]
fn arm_counter_is_invariant() {
    let mut arm = machine(None);
    arm.cpu.architecture = "aarch64".into();
    (arm.tsc, arm.cpu.invariant_tsc) = (crate::model::Tsc::default(), None);
    arm.clocksource.current = Some("arch_sys_counter".into());
    assert_eq!(verdict(&arm, &facts()), Some(CounterVerdict::Safe));
    arm.hypervisor = Some("KVM".into());
    assert_eq!(verdict(&arm, &facts()), Some(CounterVerdict::UntilMoved));
    let standard_rate = CounterFindings {
        rate: Some(Rate {
            ns_per_tick: 1.0,
            uncertainty: 1e-8,
            unexplained_deviation_ns: 0.0,
        }),
        ..sound_findings()
    };
    assert_eq!(
        judged(&arm, &facts(), &standard_rate).verdict,
        Some(CounterVerdict::Safe)
    );
}

#[test]
fn distrust_of_kernel_makes_unsafe() {
    let mut follows = machine(None);
    follows.tsc.constant = Some(false);
    let mut stops = machine(None);
    stops.tsc.nonstop = Some(false);
    let mut not_offered = machine(None);
    not_offered.clocksource.current = Some("hpet".into());
    not_offered.clocksource.available = vec!["hpet".into(), "acpi_pm".into()];
    for platform in [follows, stops, not_offered] {
        let counter = judged(&platform, &facts(), &sound_findings());
        assert_eq!(
            counter.verdict,
            Some(CounterVerdict::Unsafe),
            "{:?}",
            counter.findings
        );
        assert!(
            counter.summary[0].starts_with("unsafe: "),
            "{:?}",
            counter.summary
        );
        assert_eq!(counter.snippets, None);
    }
    let distrust = vec!["Marking clocksource 'tsc' as unstable".to_owned()];
    let log = KernelLog::Read {
        from_the_start: true,
        distrust,
        rate_hz: None,
    };
    assert_eq!(
        verdict(&machine(None), &CounterFacts { log, ..facts() }),
        Some(CounterVerdict::Unsafe)
    );
    let log = KernelLog::Unreadable("Operation not permitted".into());
    assert_eq!(
        verdict(&machine(None), &CounterFacts { log, ..facts() }),
        Some(CounterVerdict::Safe)
    );
}

#[test]
fn uncompared_cpus_are_unknown() {
    let uncompared = CounterFindings {
        offsets: Vec::new(),
        across_cpus: None,
        ..sound_findings()
    };
    let mut platform = machine(None);
    platform.clocksource.current = Some("kvm-clock".into());
    platform.clocksource.available.push("kvm-clock".into());
    let counter = judged(&platform, &facts(), &uncompared);
    assert_eq!(counter.verdict, None, "{:?}", counter.findings);
    assert!(
        counter.summary[0].starts_with("not known: "),
        "{:?}",
        counter.summary
    );
    // The kernel vouches for the counter if its own clock is based on the counter.
    assert_eq!(
        judged(&machine(None), &facts(), &uncompared).verdict,
        Some(CounterVerdict::Safe)
    );
}
