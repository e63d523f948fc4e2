//! Tests the verdicts on the counters of simulated machines.

use super::*;
use crate::model::{
    ClockStatus, CounterFacts, CounterPromise, CpuOffset, ExpectedDisruption, KernelLog, Platform,
    VmClock,
};
use crate::rate::Rate;
use crate::rate::counter::{CpuRate, CrossCpuBackward, TestedEffect};

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
        order_cpus: 2,
        offsets: [0, 1]
            .map(|cpu| CpuOffset {
                cpu,
                ns: 1.0,
                uncertainty_ns: 30.0,
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

fn judged(platform: &Platform, facts: &CounterFacts, found: &CounterFindings) -> CounterJudgement {
    judge(&CounterInput {
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

fn verdict(platform: &Platform, facts: &CounterFacts) -> CounterVerdict {
    judged(platform, facts, &sound_findings()).verdict
}

#[test]
fn bare_metal_is_safe() {
    let counter = judged(&machine(None), &facts(), &sound_findings());
    assert_eq!(
        counter.verdict,
        CounterVerdict::Safe,
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

/// The code and the reason of the finding about migrations.
fn moved(platform: &Platform, facts: &CounterFacts) -> (CounterVerdict, String) {
    let counter = judged(platform, facts, &sound_findings());
    let finding = finding(&counter, "moved").expect("it is always judged");
    let reason = finding.values.get("reason").map_or(String::new(), |value| {
        serde_json::to_string(value).expect("a value")
    });
    (counter.verdict, format!("{reason}: {}", finding.message()))
}

#[test]
fn guests_are_safe_until_moved() {
    let promise = |keeps_rate| CounterFacts {
        promise: Some(CounterPromise {
            keeps_rate,
            by: "it says so".into(),
        }),
        ..facts()
    };
    let aged = |age_s| CounterFacts { age_s, ..facts() };
    let kvm = "KVM";
    for (hypervisor, facts, part) in [
        ("Hyper-V", promise(true), "even between identical hosts"),
        ("Xen", promise(false), "it says so: after a migration"),
        // Also an invariant counter with an offset: its snapshots may be restored anywhere.
        (kvm, facts(), "nothing fixes its rate"),
        (kvm, aged(Some(9e6)), "does not offset"),
        (kvm, aged(None), "does not declare"),
        ("a hypervisor", facts(), "nothing fixes its rate"),
    ] {
        let mut scaling = machine(Some(hypervisor));
        scaling.tsc.scaling = Some(true);
        let (verdict, moved) = moved(&scaling, &facts);
        assert_eq!(verdict, CounterVerdict::UntilMoved, "{hypervisor}: {moved}");
        assert!(moved.contains(part), "{hypervisor}: {moved}");
    }
    assert_eq!(
        verdict(&machine(None), &aged(Some(9e6))),
        CounterVerdict::Safe
    );
}

#[test]
fn vmclock_decides_in_guests() {
    let known = VmClock {
        hz: Some(2.5e9),
        max_error_ppm: Some(2.0),
        status: ClockStatus::Synchronized,
        disrupted: Some(false),
        ..VmClock::default()
    };
    let judged = |hypervisor, page| {
        let mut platform = machine(hypervisor);
        platform.vmclock = Some(page);
        moved(&platform, &facts())
    };
    let soon = Some(ExpectedDisruption::WithinHour);
    let (unreliable, disrupted) = (ClockStatus::Unreliable, Some(true));
    for (page, expected, part) in [
        (known, CounterVerdict::Safe, "2.500 GHz"),
        (
            VmClock {
                max_error_ppm: None,
                ..known
            },
            CounterVerdict::UntilMoved,
            "publishes no rate",
        ),
        (
            VmClock {
                status: unreliable,
                ..known
            },
            CounterVerdict::UntilMoved,
            "publishes no rate",
        ),
        (
            VmClock {
                expected: soon,
                ..known
            },
            CounterVerdict::UntilMoved,
            "within about an hour",
        ),
        (
            VmClock { disrupted, ..known },
            CounterVerdict::NotProven,
            "was moved",
        ),
    ] {
        for hypervisor in [Some("KVM"), None] {
            let (verdict, moved) = judged(hypervisor, page);
            assert_eq!(verdict, expected, "{moved}");
            assert!(moved.contains(part), "{moved}");
        }
    }
}

#[test]
fn arm_counter_is_invariant() {
    let mut arm = machine(None);
    arm.cpu.architecture = "aarch64".into();
    (arm.tsc, arm.cpu.invariant_tsc) = (crate::model::Tsc::default(), None);
    arm.clocksource.current = Some("arch_sys_counter".into());
    assert_eq!(verdict(&arm, &facts()), CounterVerdict::Safe);
    arm.hypervisor = Some("KVM".into());
    assert_eq!(verdict(&arm, &facts()), CounterVerdict::UntilMoved);
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
        CounterVerdict::Safe
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
            CounterVerdict::Unsafe,
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
        CounterVerdict::Unsafe
    );
    let log = KernelLog::Unreadable("Operation not permitted".into());
    assert_eq!(
        verdict(&machine(None), &CounterFacts { log, ..facts() }),
        CounterVerdict::Safe
    );
}

/// A wrong declaration is a problem of the programs that believe it, as the order of unfenced readings
/// and the cost are problems of those that read it so. The counter itself is sound.
#[test]
fn caveats_grow_with_size() {
    let wrong = |value, uncertainty| CounterFindings {
        declared: Some(TestedEffect {
            value,
            uncertainty,
            detectable: 2.0,
        }),
        ..sound_findings()
    };
    let unfenced = |largest_ns| CounterFindings {
        unfenced: Some(CrossCpuBackward {
            backward: 3,
            handoffs: 1_000,
            changed: 1_000,
            largest_ns,
            usual_ns: 90.0,
        }),
        ..sound_findings()
    };
    let costs = |counter, clock| CounterFindings {
        costs: Some([counter, clock]),
        ..sound_findings()
    };
    use Severity::{Note, Ok, Problem};
    for (code, found, severity, line) in [
        (
            "declared",
            wrong(-350_000.0, 1.0),
            Problem,
            "safe for programs that measure its rate: ",
        ),
        (
            "declared",
            wrong(8.75e8, 1.0),
            Problem,
            "safe for programs that measure its rate: ",
        ),
        ("declared", wrong(1_000.5, 1.0), Note, "safe: "),
        ("declared", wrong(90.0, 1.0), Note, "safe: "),
        ("declared", wrong(0.1, 1.0), Ok, "safe: "),
        (
            "unfenced",
            unfenced(5_000.0),
            Problem,
            "safe with a fence: ",
        ),
        ("unfenced", unfenced(40.0), Note, "safe: "),
        (
            "cost",
            costs(1_500.0, 30.0),
            Problem,
            "safe but expensive: ",
        ),
        ("cost", costs(60.0, 30.0), Note, "safe: "),
        ("cost", costs(7.0, 30.0), Ok, "safe: "),
    ] {
        let counter = judged(&machine(None), &facts(), &found);
        let judged = finding(&counter, code).expect("it is always judged");
        assert_eq!(
            (judged.severity, counter.verdict),
            (severity, CounterVerdict::Safe),
            "{judged:?}"
        );
        assert!(
            counter.summary[0].starts_with(line),
            "{:?}",
            counter.summary
        );
        assert!(counter.snippets.is_some());
    }
    // What is wrong with the counter itself is named, and not the declaration.
    let mut stops = machine(None);
    stops.tsc.nonstop = Some(false);
    let counter = judged(&stops, &facts(), &wrong(-350_000.0, 1.0));
    assert_eq!(counter.verdict, CounterVerdict::Unsafe);
    let line = &counter.summary[0];
    assert!(line.starts_with("unsafe: it stops in deep idle"), "{line}");
    let moves = judged(&machine(Some("KVM")), &facts(), &wrong(-350_000.0, 1.0));
    let line = &moves.summary[0];
    assert!(
        line.starts_with("safe for programs that measure its rate until this machine is moved"),
        "{line}"
    );
    let arm = Platform {
        cpu: crate::model::Cpu {
            architecture: "aarch64".into(),
            ..machine(None).cpu
        },
        ..machine(None)
    };
    for (platform, programs) in [(machine(None), "PostgreSQL 19"), (arm, "Redis and Valkey")] {
        let counter = judged(&platform, &facts(), &wrong(-350_000.0, 1.0));
        let message = finding(&counter, "declared")
            .expect("it is always judged")
            .message();
        assert!(message.contains(programs), "{message}");
    }
}

#[test]
fn one_cpu_proves_nothing() {
    let uncompared = CounterFindings {
        offsets: Vec::new(),
        across_cpus: None,
        order_cpus: 1,
        ..sound_findings()
    };
    // Also where the kernel's clock is based on the counter.
    for source in ["kvm-clock", "tsc"] {
        let mut platform = machine(None);
        platform.clocksource.current = Some(source.into());
        platform.clocksource.available.push(source.into());
        let counter = judged(&platform, &facts(), &uncompared);
        assert_eq!(counter.verdict, CounterVerdict::NotProven);
        let line = &counter.summary[0];
        assert!(
            line.starts_with("not proven: the counters of several CPUs"),
            "{line}"
        );
        assert_eq!(counter.snippets, None);
        let order = finding(&counter, "order")
            .expect("it is always judged")
            .message();
        assert!(
            order.contains("on one CPU") && !order.contains("from CPU to CPU"),
            "{order}"
        );
    }
    let order = judged(&machine(None), &facts(), &sound_findings());
    let order = finding(&order, "order")
        .expect("it is always judged")
        .message();
    assert!(order.contains("from CPU to CPU"), "{order}");
}
