//! Judgements of machines that do not exist, one thing wrong with each.

use estimators::findings::Facts;
use estimators::findings::machine::{self, PortableRead};
use estimators::model::{ClockSource, CoreKind, CpuQuota, IdleState, Load, Ntp, Platform, Waiting};
use estimators::model::{Finding, Severity};

/// A machine on which nothing is wrong: two cores of bare metal, made ready.
fn ready() -> Platform {
    let mut platform = Platform::default();
    platform.os.family = "linux".into();
    platform.cpu.architecture = "x86_64".into();
    platform.cpu.online = Some(4);
    platform.cpu.allowed = Some(4);
    platform.cpu.threads_per_core = Some(1);
    platform.cpu.smt = Some(false);
    platform.cpu.isolated = Some("3".into());
    platform.cpu.invariant_tsc = Some(true);
    platform.cpu.governor = Some("performance".into());
    platform.cpu.turbo = Some(false);
    platform.clocksource = ClockSource {
        current: Some("tsc".into()),
        available: ["tsc", "hpet", "acpi_pm"].map(str::to_owned).to_vec(),
        vdso: Some(true),
        parameters: Some(Vec::new()),
    };
    platform.cpu.core_kinds = Some(vec![CoreKind {
        name: "Cortex-A76".into(),
        ..CoreKind::default()
    }]);
    platform.tsc.constant = Some(true);
    platform.tsc.nonstop = Some(true);
    platform.kernel.tick_hz = Some(250);
    platform.ntp = Some(steered());
    platform.load = Some(Load { one_minute: 0.1 });
    platform.steal_share = Some(0.0);
    platform.limits.cpu = Some(CpuQuota::default());
    platform.library_clocks = Some(Vec::new());
    platform.waiting = Waiting {
        timer_slack_ns: Some(1),
        high_resolution: Some(true),
        idle_states: Some(vec![state("C1", 2)]),
    };
    platform
}

/// All findings about a machine.
fn judge(platform: &Platform) -> Vec<Finding> {
    machine::judge(&Facts {
        machine: Some(platform),
        read: platform.library_clocks.as_ref().map(|_| PortableRead {
            ns: 20.0,
            path: None,
            ratio: Some(1.2),
        }),
        ..Facts::default()
    })
}

fn state(name: &str, exit_latency_us: u64) -> IdleState {
    IdleState {
        name: name.into(),
        exit_latency_us,
        disabled: false,
    }
}

fn steered() -> Ntp {
    Ntp {
        synchronised: true,
        rate_ppm: -11.0,
        frequency_ppm: -11.0,
        tick_us: 10_000,
        ..Ntp::default()
    }
}

#[track_caller]
fn finding(platform: &Platform, code: &str) -> Finding {
    let findings = judge(platform);
    let mut of_code = findings.iter().filter(|finding| finding.code == code);
    let found = of_code
        .next()
        .unwrap_or_else(|| panic!("no `{code}`: {findings:?}"))
        .clone();
    assert_eq!(of_code.next(), None, "`{code}` is judged once");
    found
}

/// The findings of a test, a line each. A snapshot holds their text.
struct Findings {
    name: &'static str,
    lines: String,
}

impl Findings {
    fn for_snapshot(name: &'static str) -> Self {
        Self {
            name,
            lines: String::new(),
        }
    }

    /// What `change` makes of the machine that is ready: the finding `code`, and no other, changes
    /// to that severity.
    #[track_caller]
    fn judged(&mut self, code: &str, severity: Severity, change: impl FnOnce(&mut Platform)) {
        let mut platform = ready();
        change(&mut platform);
        let found = finding(&platform, code);
        assert_eq!(found.severity, severity, "{found:?}");
        let findings = judge(&platform);
        assert!(findings.is_sorted_by_key(|finding| finding.severity));
        for other in findings.iter().filter(|other| other.code != code) {
            assert_eq!(other.severity, Severity::Ok, "{other:?}");
        }
        let advice = found.advice().map(|advice| format!(" → {advice}"));
        assert!(advice.is_some() || severity != Problem, "{found:?}");
        let advice = advice.unwrap_or_default();
        self.lines += &format!("{severity:?} {code}: {}{advice}\n", found.message());
    }
}

impl Drop for Findings {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            insta::assert_snapshot!(self.name, self.lines);
        }
    }
}

use Severity::{Note, Ok as Fine, Problem, Unknown};

#[test]
fn prepared_machine_has_no_findings() {
    for finding in judge(&ready()) {
        assert_eq!(finding.severity, Fine, "{finding:?}");
        assert_eq!(finding.advice(), None, "{finding:?}");
    }
}

#[test]
fn unknown_facts_are_never_ok() {
    for finding in judge(&Platform::default()) {
        assert_eq!(finding.severity, Unknown, "{finding:?}");
    }
    let mut x86 = Platform::default();
    x86.cpu.architecture = "x86_64".into();
    let mut findings = judge(&x86);
    findings.retain(|finding| finding.severity != Unknown);
    // A processor of this kind shows its hypervisor, or there is none that wants to be seen.
    let sure: Vec<_> = findings.iter().map(|finding| &finding.code).collect();
    assert_eq!(sure, ["hypervisor"]);
}

#[test]
fn judges_each_clock_source() {
    let mut findings = Findings::for_snapshot("clock_sources");
    let current = |name: &'static str| {
        move |platform: &mut Platform| platform.clocksource.current = Some(name.into())
    };
    for name in ["hpet", "acpi_pm", "jiffies", "refined-jiffies"] {
        findings.judged("clock-source", Problem, current(name));
    }
    findings.judged("clock-source", Problem, current("hyperv_clocksource_msr"));
    findings.judged("clock-source", Fine, current("kvm-clock"));
    findings.judged("clock-source", Fine, current("hyperv_clocksource_tsc_page"));
    findings.judged("clock-source", Note, current("xen"));
    findings.judged("clock-source", Fine, current("tsc"));
    findings.judged("clock-source", Problem, |platform| {
        platform.clocksource.vdso = Some(false);
    });
    findings.judged("clock-source", Unknown, current("sundial"));
    findings.judged("clock-source", Unknown, |platform| {
        platform.clocksource.current = None
    });
    findings.judged("clock-source", Problem, |platform| {
        platform.clocksource.current = Some("hpet".into());
        platform.clocksource.parameters = Some(vec!["clocksource=hpet".into()]);
    });
}

#[test]
fn judges_counter_rejected_by_kernel() {
    let mut platform = ready();
    platform.clocksource.current = Some("hpet".into());
    platform.clocksource.available = vec!["hpet".into(), "acpi_pm".into()];
    let source = finding(&platform, "clock-source");
    assert_eq!(source.severity, Problem);
    let advice = source.advice().expect("a problem has advice");
    assert!(advice.contains("dmesg") && advice.contains("firmware"));
    let tsc = finding(&platform, "tsc");
    assert_eq!(tsc.severity, Problem);
    assert!(
        tsc.message().contains("not offered by the kernel"),
        "{tsc:?}"
    );
    platform.hypervisor = Some("KVM".into());
    let advice = finding(&platform, "clock-source").advice();
    assert!(advice.is_some_and(|it| it.contains("kvm-clock")));
    platform.cpu.architecture = "aarch64".into();
    platform.clocksource.available = vec!["arch_sys_counter".into()];
    assert_eq!(finding(&platform, "tsc").severity, Fine, "it is another");
}

#[test]
fn time_stamp_counters() {
    let mut findings = Findings::for_snapshot("time_stamp_counters");
    findings.judged("tsc", Problem, |platform| {
        (platform.tsc.nonstop, platform.cpu.invariant_tsc) = (Some(false), Some(false));
    });
    findings.judged("tsc", Problem, |platform| {
        (platform.tsc.constant, platform.cpu.invariant_tsc) = (Some(false), Some(false));
    });
    findings.judged("tsc", Problem, |platform| {
        platform.clocksource.parameters = Some(vec!["tsc=unstable".into()]);
    });
    // Without flags the word of CPUID counts.
    findings.judged("tsc", Problem, |platform| {
        (platform.tsc.constant, platform.cpu.invariant_tsc) = (None, Some(false));
    });
    findings.judged("tsc", Fine, |platform| platform.tsc.constant = None);
    findings.judged("tsc", Unknown, |platform| {
        (platform.tsc.constant, platform.cpu.invariant_tsc) = (None, None);
    });
}

#[test]
fn kernel_flags_overrule_cpuid() {
    let mut platform = ready();
    platform.cpu.invariant_tsc = Some(false);
    assert_eq!(finding(&platform, "tsc").severity, Note);
    platform.cpu.invariant_tsc = Some(true);
    assert_eq!(finding(&platform, "tsc").severity, Fine);
}

#[test]
fn judges_steered_clocks() {
    let mut findings = Findings::for_snapshot("steered_clocks");
    let ntp = |ntp: Ntp| move |platform: &mut Platform| platform.ntp = Some(ntp);
    let slewing = Ntp {
        slewing: true,
        rate_ppm: 40.0,
        offset_ns: 12_345,
        ..steered()
    };
    findings.judged("ntp", Note, ntp(slewing.clone()));
    findings.judged(
        "ntp",
        Fine,
        ntp(Ntp {
            rate_ppm: 500.0,
            ..steered()
        }),
    );
    // The kernel corrects an offset: the clocks that are not corrected are right.
    findings.judged(
        "ntp",
        Problem,
        ntp(Ntp {
            rate_ppm: 789.0,
            ..slewing
        }),
    );
    let trimmed = |ppm: i64| Ntp {
        rate_ppm: ppm as f64 - 11.0,
        tick_us: 10_000 + ppm / 100,
        estimated_error_us: 900,
        ..steered()
    };
    // A time service vouches for the corrected clocks, and then none does.
    findings.judged("ntp", Problem, ntp(trimmed(41_700)));
    findings.judged(
        "ntp",
        Problem,
        ntp(Ntp {
            synchronised: false,
            ..trimmed(-100_000)
        }),
    );
    findings.judged(
        "ntp",
        Problem,
        ntp(Ntp {
            rate_ppm: f64::NAN,
            ..steered()
        }),
    );
    findings.judged(
        "ntp",
        Note,
        ntp(Ntp {
            synchronised: false,
            ..steered()
        }),
    );
    findings.judged("ntp", Unknown, |platform| platform.ntp = None);
}

#[test]
fn what_moves_the_frequency() {
    let mut findings = Findings::for_snapshot("what_moves_the_frequency");
    for governor in ["powersave", "ondemand", "schedutil", "conservative"] {
        findings.judged("governor", Problem, |platform| {
            platform.cpu.governor = Some(governor.into());
        });
    }
    findings.judged("governor", Fine, |platform| {
        platform.cpu.governor = Some("userspace".into())
    });
    findings.judged("governor", Unknown, |platform| platform.cpu.governor = None);
    findings.judged("turbo", Problem, |platform| platform.cpu.turbo = Some(true));
    findings.judged("turbo", Unknown, |platform| platform.cpu.turbo = None);
}

#[test]
fn judges_system_load() {
    let mut findings = Findings::for_snapshot("loads");
    let load = |busy: f64, online: Option<u32>| {
        move |platform: &mut Platform| {
            platform.load = Some(Load { one_minute: busy });
            platform.cpu.online = online;
        }
    };
    findings.judged("load", Fine, load(3.0, Some(4)));
    findings.judged("load", Problem, load(3.01, Some(4)));
    // Then those that may be used count.
    findings.judged("load", Problem, load(3.01, None));
    let mut one = ready();
    load(0.6, Some(1))(&mut one);
    assert_eq!(finding(&one, "load").severity, Problem);
    load(0.5, Some(1))(&mut one);
    assert_eq!(finding(&one, "load").severity, Fine);
    (one.cpu.online, one.cpu.allowed) = (None, None);
    assert_eq!(finding(&one, "load").severity, Unknown);
}

#[test]
fn what_containers_and_hypervisors_take() {
    let mut findings = Findings::for_snapshot("what_containers_and_hypervisors_take");
    let quota = |cpus: f64| {
        move |platform: &mut Platform| {
            platform.limits.cpu = Some(CpuQuota {
                cpus: Some(cpus),
                period_ns: Some(100_000_000),
            });
        }
    };
    findings.judged("cpu-quota", Problem, quota(1.5));
    findings.judged("cpu-quota", Fine, quota(4.0));
    findings.judged("cpu-quota", Unknown, |platform| platform.limits.cpu = None);
    findings.judged("steal", Problem, |platform| {
        platform.steal_share = Some(0.011)
    });
    findings.judged("steal", Fine, |platform| platform.steal_share = Some(0.01));
    findings.judged("steal", Unknown, |platform| platform.steal_share = None);
    findings.judged("hypervisor", Note, |platform| {
        platform.hypervisor = Some("KVM".into());
    });
}
