//! Judgements of machines that do not exist, one thing wrong with each.

mod any_machine;
mod files;

use timermeter::model::{
    ClockSource, CommonTime, ComparedClock, CoreKind, CpuQuota, IdleState, Load, MemoryLimit, Ntp, Platform,
    Tickless, Waiting,
};
use timermeter::suitability::{Finding, Severity, fit, judge};

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
    platform.cpu.nohz_full = Some("3".into());
    platform.cpu.invariant_tsc = Some(true);
    platform.cpu.governor = Some("performance".into());
    platform.cpu.turbo = Some(false);
    platform.clocksource = ClockSource {
        current: Some("tsc".into()),
        available: ["tsc", "hpet", "acpi_pm"].map(str::to_owned).to_vec(),
        vdso: Some(true),
        parameters: Some(Vec::new()),
    };
    platform.cpu.core_kinds = Some(vec![CoreKind { name: "Cortex-A76".into(), ..CoreKind::default() }]);
    platform.tsc.constant = Some(true);
    platform.tsc.nonstop = Some(true);
    platform.kernel.tick_hz = Some(250);
    platform.kernel.tickless = Some(Tickless::WhenAlone);
    platform.ntp = Some(steered());
    platform.common_time = Some(vec![bounded(Some(-12_000.0), 600_000.0)]);
    platform.load = Some(Load { one_minute: 0.1, five_minutes: 0.1, fifteen_minutes: 0.1 });
    platform.steal_share = Some(0.0);
    platform.limits.cpu = Some(CpuQuota::default());
    platform.limits.memory = Some(MemoryLimit::default());
    platform.hypervisor_clocks = Some(Vec::new());
    platform.perf_event_paranoid = Some(2);
    platform.waiting = Waiting {
        timer_slack_ns: Some(1),
        high_resolution: Some(true),
        idle_driver: None,
        idle_states: Some(vec![state("C1", 2)]),
    };
    platform
}

fn bounded(offset_ns: Option<f64>, bound_ns: f64) -> CommonTime {
    CommonTime {
        source: "chrony".into(),
        clock: ComparedClock::System,
        offset_ns,
        bound_ns: Some(bound_ns),
        ..CommonTime::default()
    }
}

fn state(name: &str, exit_latency_us: u64) -> IdleState {
    IdleState { name: name.into(), exit_latency_us, disabled: false }
}

fn steered() -> Ntp {
    Ntp { synchronised: true, rate_ppm: -11.0, frequency_ppm: -11.0, tick_us: 10_000, ..Ntp::default() }
}

#[track_caller]
fn finding(platform: &Platform, code: &str) -> Finding {
    let findings = judge(platform);
    let mut of_code = findings.iter().filter(|finding| finding.code == code);
    let found = of_code.next().unwrap_or_else(|| panic!("no `{code}`: {findings:?}")).clone();
    assert_eq!(of_code.next(), None, "`{code}` is judged once");
    found
}

/// What `change` makes of the machine that is ready: the finding `code`, and no other, changes to that severity, and
/// tells all of `words`.
#[track_caller]
fn judged(code: &str, severity: Severity, words: &[&str], change: impl FnOnce(&mut Platform)) {
    let mut platform = ready();
    change(&mut platform);
    let found = finding(&platform, code);
    assert_eq!(found.severity, severity, "{found:?}");
    let text = format!("{} → {}", found.message, found.advice.as_deref().unwrap_or_default());
    for word in words {
        assert!(text.contains(word), "no `{word}`: {text}");
    }
    for other in judge(&platform).iter().filter(|other| other.code != code) {
        assert_eq!(other.severity, Severity::Ok, "{other:?}");
    }
    assert_eq!(fit(&judge(&platform)), severity != Problem);
}

use Severity::{Note, Ok as Fine, Problem, Unknown};

#[test]
fn nothing_is_wrong_with_a_machine_that_was_made_ready() {
    let findings = judge(&ready());
    assert!(findings.iter().all(|finding| finding.severity == Fine), "{findings:?}");
    assert!(findings.iter().all(|finding| finding.advice.is_none()), "{findings:?}");
    assert!(fit(&findings));
}

#[test]
fn what_is_not_shown_is_never_ok() {
    let findings = judge(&Platform::default());
    assert!(findings.iter().all(|finding| finding.severity == Unknown), "{findings:?}");
    let mut x86 = Platform::default();
    x86.cpu.architecture = "x86_64".into();
    let sure: Vec<Finding> = judge(&x86).into_iter().filter(|finding| finding.severity != Unknown).collect();
    // A processor of this kind shows its hypervisor, or there is none that wants to be seen.
    assert_eq!(sure.iter().map(|finding| finding.code.as_str()).collect::<Vec<_>>(), ["hypervisor"]);
    assert!(fit(&findings), "what is not known is not a problem either");
}

#[test]
fn clock_sources() {
    let current =
        |name: &'static str| move |platform: &mut Platform| platform.clocksource.current = Some(name.into());
    for name in ["hpet", "acpi_pm", "jiffies", "refined-jiffies"] {
        let words = ["vDSO is not used", "somebody chose this", "echo tsc > /sys/"];
        judged("clock-source", Problem, &words, current(name));
    }
    judged("clock-source", Problem, &["trap", "vDSO is not used"], current("hyperv_clocksource_msr"));
    judged("clock-source", Note, &["page of the hypervisor"], current("kvm-clock"));
    judged("clock-source", Note, &["page of the hypervisor"], current("hyperv_clocksource_tsc_page"));
    judged("clock-source", Note, &["monotonic-syscall", "echo tsc"], current("xen"));
    judged("clock-source", Fine, &["tsc"], current("tsc"));
    judged("clock-source", Problem, &["there is no vDSO", "system call", "vdso=0"], |platform| {
        platform.clocksource.vdso = Some(false);
    });
    judged("clock-source", Unknown, &["sundial", "monotonic-syscall"], current("sundial"));
    judged("clock-source", Unknown, &["not shown"], |platform| platform.clocksource.current = None);
    judged("clock-source", Problem, &["clocksource=hpet", "command line"], |platform| {
        platform.clocksource.current = Some("hpet".into());
        platform.clocksource.parameters = Some(vec!["clocksource=hpet".into()]);
    });
}

#[test]
fn a_counter_that_the_kernel_gave_up() {
    let mut platform = ready();
    platform.clocksource.current = Some("hpet".into());
    platform.clocksource.available = vec!["hpet".into(), "acpi_pm".into()];
    let source = finding(&platform, "clock-source");
    assert_eq!(source.severity, Problem);
    assert!(source.message.contains("found it unstable"), "{source:?}");
    assert!(source.advice.is_some_and(|advice| advice.contains("dmesg") && advice.contains("firmware")));
    let tsc = finding(&platform, "tsc");
    assert_eq!(tsc.severity, Problem);
    assert!(tsc.message.contains("does not offer it"), "{tsc:?}");
    platform.hypervisor = Some("KVM".into());
    let advice = finding(&platform, "clock-source").advice.expect("something can be done");
    assert!(advice.contains("kvm-clock"), "{advice}");
    platform.cpu.architecture = "aarch64".into();
    assert!(judge(&platform).iter().all(|finding| finding.code != "tsc"), "Arm has no such counter");
}

#[test]
fn time_stamp_counters() {
    judged("tsc", Problem, &["idle"], |platform| platform.tsc.nonstop = Some(false));
    judged("tsc", Problem, &["not invariant"], |platform| platform.tsc.constant = Some(false));
    judged("tsc", Problem, &["command line", "tsc=unstable"], |platform| {
        platform.clocksource.parameters = Some(vec!["tsc=unstable".into()]);
    });
    // Without flags the word of CPUID counts.
    judged("tsc", Problem, &["not invariant"], |platform| {
        (platform.tsc.constant, platform.cpu.invariant_tsc) = (None, Some(false));
    });
    judged("tsc", Fine, &["constant"], |platform| platform.tsc.constant = None);
    judged("tsc", Unknown, &["not shown"], |platform| {
        (platform.tsc.constant, platform.cpu.invariant_tsc) = (None, None);
    });
}

#[test]
fn steered_clocks() {
    let ntp = |ntp: Ntp| move |platform: &mut Platform| platform.ntp = Some(ntp);
    let slewing = Ntp { slewing: true, rate_ppm: 40.0, offset_ns: 12_345, ..steered() };
    judged("ntp", Note, &["slewed", "+40.0 ppm", "12345 ns"], ntp(slewing.clone()));
    judged("ntp", Fine, &["+500.0 ppm"], ntp(Ntp { rate_ppm: 500.0, ..steered() }));
    judged("ntp", Problem, &["+501 ppm", "monotonic-raw"], ntp(Ntp { rate_ppm: 501.0, ..steered() }));
    judged("ntp", Problem, &["-100000 ppm"], ntp(Ntp { rate_ppm: -100_000.0, ..slewing }));
    judged("ntp", Problem, &[], ntp(Ntp { rate_ppm: f64::NAN, ..steered() }));
    judged("ntp", Note, &["not disciplined", "rtcsync"], ntp(Ntp { synchronised: false, ..steered() }));
    let alone =
        Platform { ntp: Some(Ntp { synchronised: false, ..steered() }), common_time: None, ..ready() };
    assert!(finding(&alone, "ntp").advice.is_some_and(|advice| advice.contains("NTP client")));
    judged("ntp", Unknown, &["adjtimex"], |platform| platform.ntp = None);
}

#[test]
fn how_far_the_clock_is_from_that_of_others() {
    let told = |all: Vec<CommonTime>| move |platform: &mut Platform| platform.common_time = Some(all.clone());
    let near = vec![bounded(Some(-12_000.0), 999_999.0)];
    judged("common-time", Fine, &["1 ms off at most", "12 µs behind", "chrony"], told(near));
    judged(
        "common-time",
        Note,
        &["first on two machines", "near"],
        told(vec![bounded(Some(5.0), 1_000_001.0)]),
    );
    judged("common-time", Note, &["16 s off at most, by chrony"], told(vec![bounded(None, 16e9)]));
    // A bound of another clock is none of the system's, and who comes first counts.
    let card = CommonTime { clock: ComparedClock::Device, ..bounded(Some(1.0), 2.0) };
    let silent = CommonTime { reason: Some("it sleeps".into()), ..CommonTime::default() };
    judged("common-time", Note, &["nobody vouches", "it sleeps"], told(vec![silent.clone(), card.clone()]));
    judged(
        "common-time",
        Fine,
        &["200 ns off"],
        told(vec![silent, card, bounded(Some(0.0), 200.0), bounded(None, 9e9)]),
    );
    judged("common-time", Note, &["nobody vouches"], told(Vec::new()));
    judged("common-time", Unknown, &["nobody was asked"], |platform| platform.common_time = None);
}

#[test]
fn what_moves_the_frequency() {
    for governor in ["powersave", "ondemand", "schedutil", "conservative"] {
        judged("governor", Problem, &[governor, "performance"], |platform| {
            platform.cpu.governor = Some(governor.into());
        });
    }
    judged("governor", Note, &["userspace"], |platform| platform.cpu.governor = Some("userspace".into()));
    judged("governor", Unknown, &["firmware"], |platform| platform.cpu.governor = None);
    judged("power-plan", Problem, &["Balanced", "powercfg"], |platform| {
        platform.cpu.power_plan = Some("Balanced".into());
    });
    judged("power-plan", Severity::Ok, &["High performance"], |platform| {
        platform.cpu.power_plan = Some("High performance".into());
    });
    judged("turbo", Problem, &["no_turbo", "boost"], |platform| platform.cpu.turbo = Some(true));
    judged("turbo", Unknown, &["not shown"], |platform| platform.cpu.turbo = None);
}

#[test]
fn cores_and_cpus() {
    judged("smt", Note, &["2 CPUs", "(3,35)", "smt/control"], |platform| {
        (platform.cpu.smt, platform.cpu.threads_per_core) = (Some(true), Some(2));
        platform.cpu.core_list = Some("3,35".into());
    });
    judged("smt", Unknown, &["not shown"], |platform| {
        (platform.cpu.smt, platform.cpu.threads_per_core) = (None, None);
    });
    judged("isolated", Note, &["isolcpus"], |platform| platform.cpu.isolated = Some(String::new()));
    judged("isolated", Unknown, &["not shown"], |platform| platform.cpu.isolated = None);
    judged("cpus-allowed", Problem, &["only one", "--cpuset-cpus"], |platform| {
        platform.cpu.allowed = Some(1)
    });
    judged("cpus-allowed", Note, &["2 of 4"], |platform| platform.cpu.allowed = Some(2));
    judged("cpus-allowed", Unknown, &[], |platform| platform.cpu.allowed = None);
    judged("core-kinds", Note, &["P-core: 0-1; E-core: 2-3", "here E-core", "--cpu N"], |platform| {
        let kind = |name: &str, list: &str| CoreKind {
            name: name.into(),
            list: Some(list.into()),
            ..CoreKind::default()
        };
        platform.cpu.core_kinds = Some(vec![kind("P-core", "0-1"), kind("E-core", "2-3")]);
        platform.cpu.core_kind = Some("E-core".into());
    });
    judged("core-kinds", Unknown, &["not shown"], |platform| platform.cpu.core_kinds = None);
    judged("tick", Note, &["250 times", "nohz_full"], |platform| {
        platform.cpu.nohz_full = Some(String::new())
    });
    judged("tick", Unknown, &["not shown"], |platform| platform.cpu.nohz_full = None);
    judged("tick", Note, &["250 times"], |platform| {
        (platform.cpu.nohz_full, platform.kernel.tickless) = (None, Some(Tickless::WhenIdle));
    });
}

#[test]
fn loads() {
    let load = |busy: f64, online: Option<u32>| {
        move |platform: &mut Platform| {
            platform.load = Some(Load { one_minute: busy, ..Load::default() });
            platform.cpu.online = online;
        }
    };
    judged("load", Fine, &["3.00"], load(3.0, Some(4)));
    judged("load", Problem, &["3.01", "4 CPUs", "top"], load(3.01, Some(4)));
    // Then those that may be used count.
    judged("load", Problem, &["3.01"], load(3.01, None));
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
    let quota = |cpus: f64| {
        move |platform: &mut Platform| {
            platform.limits.cpu = Some(CpuQuota { cpus: Some(cpus), throttled_periods: Some(7) });
        }
    };
    judged("cpu-quota", Problem, &["1.50 CPUs", "7 periods", "--cpus"], quota(1.5));
    judged("cpu-quota", Fine, &["4.00"], quota(4.0));
    judged("cpu-quota", Unknown, &[], |platform| platform.limits.cpu = None);
    judged("steal", Problem, &["1.1 %"], |platform| platform.steal_share = Some(0.011));
    judged("steal", Fine, &["1.00 %"], |platform| platform.steal_share = Some(0.01));
    judged("steal", Unknown, &[], |platform| platform.steal_share = None);
    judged("hypervisor", Note, &["KVM", "kvm-clock"], |platform| {
        platform.hypervisor = Some("KVM".into());
        platform.hypervisor_clocks = Some(vec!["kvm-clock".into()]);
    });
    judged("perf-event-paranoid", Note, &["is 3"], |platform| platform.perf_event_paranoid = Some(3));
    judged("perf-event-paranoid", Fine, &["is -1"], |platform| platform.perf_event_paranoid = Some(-1));
    judged("perf-event-paranoid", Unknown, &[], |platform| platform.perf_event_paranoid = None);
}

#[test]
fn waiting() {
    let slack = |ns| move |platform: &mut Platform| platform.waiting.timer_slack_ns = ns;
    judged("timer-slack", Note, &["50 µs", "PR_SET_TIMERSLACK"], slack(Some(50_000)));
    judged("timer-slack", Unknown, &[], slack(None));
    judged("high-resolution-timers", Problem, &["4 ms", "highres=off"], |platform| {
        platform.waiting.high_resolution = Some(false);
    });
    judged("high-resolution-timers", Unknown, &[], |platform| platform.waiting.high_resolution = None);
    let states = |states| move |platform: &mut Platform| platform.waiting.idle_states = states;
    judged(
        "idle-states",
        Note,
        &["C6", "133 µs", "cpu_dma_latency"],
        states(Some(vec![state("C1", 2), state("C6", 133)])),
    );
    let off = IdleState { disabled: true, ..state("C6", 133) };
    judged("idle-states", Fine, &[], states(Some(vec![state("C1", 2), off])));
    judged("idle-states", Unknown, &[], states(None));
}

#[test]
fn the_worst_comes_first_and_problems_can_be_helped() {
    let mut platform = ready();
    platform.cpu.turbo = Some(true);
    platform.cpu.isolated = Some(String::new());
    platform.load = None;
    let findings = judge(&platform);
    let severities: Vec<Severity> = findings.iter().map(|finding| finding.severity).collect();
    assert_eq!(severities[..3], [Problem, Note, Unknown]);
    assert!(severities.is_sorted());
}
