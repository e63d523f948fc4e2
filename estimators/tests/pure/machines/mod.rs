//! Judgements of machines that do not exist, one thing wrong with each.

use estimators::findings::Facts;
use estimators::findings::machine::{self, PortableRead};
use estimators::model::Severity::{self, Note, Ok as Fine, Problem, Unknown};
use estimators::model::{CpuQuota, Finding, Load, Ntp, Platform};

/// A machine on which nothing is wrong: two cores of bare metal, made ready.
const READY: &str = r#"{
    "cpu": {"architecture": "x86_64", "online": 4, "allowed": 4, "threads_per_core": 1, "smt": false,
        "core_kinds": [{"name": "Cortex-A76", "cpus": 4}], "isolated": "3", "invariant_tsc": true,
        "governor": "performance", "turbo": false},
    "os": {"family": "linux"}, "kernel": {"tick_hz": 250},
    "clocksource": {"current": "tsc", "available": ["tsc", "hpet", "acpi_pm"], "vdso": true, "parameters": []},
    "tsc": {"constant": true, "nonstop": true},
    "ntp": {"synchronised": true, "slewing": false, "rate_ppm": -11, "frequency_ppm": -11, "offset_ns": 0,
        "tick_us": 10000, "estimated_error_us": 0},
    "load": {"one_minute": 0.1}, "steal_share": 0, "limits": {"cpu": {}}, "library_clocks": [],
    "waiting": {"timer_slack_ns": 1, "high_resolution": true,
        "idle_states": [{"name": "C1", "exit_latency_us": 2, "disabled": false}]}
}"#;

fn ready() -> Platform {
    serde_json::from_str(READY).unwrap()
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

#[track_caller]
fn finding(platform: &Platform, code: &str) -> Finding {
    let found = judge(platform).into_iter().find(|it| it.code == code);
    found.unwrap_or_else(|| panic!("no `{code}`"))
}

#[test]
fn unknown_facts_are_never_ok() {
    for finding in judge(&Platform::default()) {
        assert_eq!(finding.severity, Unknown, "{finding:?}");
    }
    let mut x86 = Platform::default();
    x86.cpu.architecture = "x86_64".into();
    // A processor of this kind shows its hypervisor, or there is none that wants to be seen.
    let mut findings = judge(&x86);
    findings.retain(|finding| finding.severity != Unknown);
    assert!(
        findings.len() == 1 && findings[0].code == "hypervisor",
        "{findings:?}"
    );
}

fn source(platform: &mut Platform, name: &str) {
    platform.clocksource.current = Some(name.into());
}

fn ntp(platform: &mut Platform) -> &mut Ntp {
    platform.ntp.as_mut().unwrap()
}

/// The kernel corrects the rate by this, in ppm.
fn trim(platform: &mut Platform, ppm: i64, synchronised: bool) {
    *ntp(platform) = Ntp {
        synchronised,
        rate_ppm: ppm as f64 - 11.0,
        tick_us: 10_000 + ppm / 100,
        estimated_error_us: 900,
        ..ntp(platform).clone()
    };
}

fn slew(platform: &mut Platform, rate_ppm: f64) {
    let ntp = ntp(platform);
    (ntp.slewing, ntp.rate_ppm, ntp.offset_ns) = (true, rate_ppm, 12_345);
}

fn load(platform: &mut Platform, busy: f64, online: Option<u32>) {
    platform.load = Some(Load { one_minute: busy });
    platform.cpu.online = online;
}

fn quota(platform: &mut Platform, cpus: f64) {
    platform.limits.cpu = Some(CpuQuota {
        cpus: Some(cpus),
        period_ns: Some(100_000_000),
    });
}

/// Whether the counter keeps its rate: by the kernel, and by CPUID.
fn constant(platform: &mut Platform, kernel: Option<bool>, cpuid: Option<bool>) {
    (platform.tsc.constant, platform.cpu.invariant_tsc) = (kernel, cpuid);
}

type Change = fn(&mut Platform);

/// The finding that the change of a machine that is ready causes.
const CASES: [(&str, Severity, Change); 39] = [
    ("clock-source", Problem, |it| source(it, "hpet")),
    ("clock-source", Fine, |it| source(it, "kvm-clock")),
    ("clock-source", Note, |it| source(it, "xen")),
    ("clock-source", Problem, |it| {
        it.clocksource.vdso = Some(false)
    }),
    ("clock-source", Unknown, |it| source(it, "sundial")),
    ("clock-source", Unknown, |it| it.clocksource.current = None),
    ("clock-source", Problem, |it| {
        source(it, "hpet");
        it.clocksource.parameters = Some(vec!["clocksource=hpet".into()]);
    }),
    ("tsc", Problem, |it| {
        (it.tsc.nonstop, it.cpu.invariant_tsc) = (Some(false), Some(false))
    }),
    ("tsc", Problem, |it| constant(it, Some(false), Some(false))),
    ("tsc", Problem, |it| {
        it.clocksource.parameters = Some(vec!["tsc=unstable".into()])
    }),
    // Without flags the word of CPUID counts, otherwise those of the kernel.
    ("tsc", Problem, |it| constant(it, None, Some(false))),
    ("tsc", Fine, |it| constant(it, None, Some(true))),
    ("tsc", Unknown, |it| constant(it, None, None)),
    ("tsc", Note, |it| constant(it, Some(true), Some(false))),
    ("ntp", Note, |it| slew(it, 40.0)),
    ("ntp", Fine, |it| ntp(it).rate_ppm = 500.0),
    // The kernel corrects an offset: the clocks that are not corrected are right.
    ("ntp", Problem, |it| slew(it, 789.0)),
    // A time service vouches for the corrected clocks, and then none does.
    ("ntp", Problem, |it| trim(it, 41_700, true)),
    ("ntp", Problem, |it| trim(it, -100_000, false)),
    ("ntp", Problem, |it| ntp(it).rate_ppm = f64::NAN),
    ("ntp", Note, |it| ntp(it).synchronised = false),
    ("ntp", Unknown, |it| it.ntp = None),
    ("governor", Problem, |it| {
        it.cpu.governor = Some("powersave".into())
    }),
    ("governor", Fine, |it| {
        it.cpu.governor = Some("userspace".into())
    }),
    ("governor", Unknown, |it| it.cpu.governor = None),
    ("turbo", Problem, |it| it.cpu.turbo = Some(true)),
    ("turbo", Unknown, |it| it.cpu.turbo = None),
    ("load", Fine, |it| load(it, 3.0, Some(4))),
    ("load", Problem, |it| load(it, 3.01, Some(4))),
    // Then those that may be used count.
    ("load", Problem, |it| load(it, 3.01, None)),
    ("cpu-quota", Problem, |it| quota(it, 1.5)),
    ("cpu-quota", Fine, |it| quota(it, 4.0)),
    ("cpu-quota", Unknown, |it| it.limits.cpu = None),
    ("steal", Problem, |it| it.steal_share = Some(0.011)),
    ("steal", Fine, |it| it.steal_share = Some(0.01)),
    ("steal", Unknown, |it| it.steal_share = None),
    ("hypervisor", Note, |it| it.hypervisor = Some("KVM".into())),
    ("load", Problem, |it| load(it, 0.6, Some(1))),
    ("load", Fine, |it| load(it, 0.5, Some(1))),
];

/// The finding `code`, and no other, changes to that severity, and only what is fine has no advice. A snapshot holds the text.
#[test]
fn one_fact_changes_one_finding() {
    let mut lines = String::new();
    for (code, severity, change) in CASES {
        let mut platform = ready();
        change(&mut platform);
        let findings = judge(&platform);
        assert!(findings.is_sorted_by_key(|finding| finding.severity));
        for found in findings {
            let is_it = found.code == code;
            let expected = if is_it { severity } else { Fine };
            assert_eq!(found.severity, expected, "{code}: {found:?}");
            let advice = found.advice().map(|advice| format!(" → {advice}"));
            assert!(is_it || advice.is_none(), "{found:?}");
            if is_it {
                let advice = advice.unwrap_or_default();
                lines += &format!("{severity:?} {code}: {}{advice}\n", found.message());
            }
        }
    }
    insta::assert_snapshot!("findings", lines);
}

#[test]
fn judges_counter_rejected_by_kernel() {
    let mut platform = ready();
    platform.clocksource.current = Some("hpet".into());
    platform.clocksource.available = vec!["hpet".into(), "acpi_pm".into()];
    let advice = |platform: &Platform| finding(platform, "clock-source").advice().unwrap();
    let bare = advice(&platform);
    assert!(
        bare.contains("dmesg") && bare.contains("firmware"),
        "{bare}"
    );
    let tsc = finding(&platform, "tsc");
    assert_eq!(tsc.severity, Problem);
    assert!(
        tsc.message().contains("not offered by the kernel"),
        "{tsc:?}"
    );
    platform.hypervisor = Some("KVM".into());
    assert!(advice(&platform).contains("kvm-clock"));
    platform.cpu.architecture = "aarch64".into();
    platform.clocksource.available = vec!["arch_sys_counter".into()];
    assert_eq!(finding(&platform, "tsc").severity, Fine, "it is another");
}
