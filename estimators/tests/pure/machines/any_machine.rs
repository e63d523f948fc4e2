//! Any machine at all, made of what may be there or not.

use super::judge;
use estimators::model::Severity::Problem;
use estimators::model::{CoreKind, CpuQuota, Load, Ntp, Platform};
use proptest::prelude::*;

prop_compose! {
    fn any_platform()(
        words in prop::collection::vec(prop::option::of(".{0,12}"), 6),
        numbers in prop::collection::vec(prop::option::of(any::<u32>()), 4),
        flags in prop::collection::vec(any::<Option<bool>>(), 5),
        figures in prop::collection::vec(prop::option::of(any::<f64>()), 4),
        source in prop::sample::select(vec!["tsc", "hpet", "kvm-clock", "xen", "jiffies", "odd"]),
        listed in prop::collection::vec("tsc|hpet|notsc|clocksource=x|.{0,5}", 0..4),
    ) -> Platform {
        let mut platform = Platform::default();
        platform.cpu.architecture = if flags[0] == Some(true) { "x86_64" } else { "aarch64" }.into();
        platform.cpu.governor = words[0].clone();
        platform.cpu.isolated = words[1].clone();
        platform.cpu.core_list = words[3].clone();
        let kind = |name: &String| CoreKind { name: name.clone(), ..CoreKind::default() };
        platform.cpu.core_kinds = words[3].as_ref().map(|name| vec![kind(name); 2]);
        platform.cpu.core_kind = words[4].clone();
        platform.hypervisor = words[4].clone();
        platform.clocksource.current = words[5].as_ref().map(|_| source.to_owned());
        platform.clocksource.available = listed.clone();
        platform.clocksource.parameters = Some(listed);
        (platform.cpu.online, platform.cpu.allowed) = (numbers[0], numbers[1]);
        platform.cpu.threads_per_core = numbers[2];
        platform.kernel.tick_hz = numbers[3];
        (platform.cpu.smt, platform.cpu.turbo) = (flags[1], flags[2]);
        (platform.tsc.constant, platform.tsc.nonstop) = (flags[3], flags[4]);
        platform.load = figures[0].map(|one_minute| Load { one_minute });
        platform.steal_share = figures[1];
        platform.limits.cpu = Some(CpuQuota { cpus: figures[2], period_ns: figures[2].map(|cpus| cpus as u64) });
        platform.ntp = figures[3].map(|rate_ppm| Ntp { rate_ppm, ..Ntp::default() });
        platform
    }
}

proptest! {
    #[test]
    fn any_machine_is_judged(platform in any_platform()) {
        let findings = judge(&platform);
        prop_assert!(findings.is_sorted_by_key(|finding| finding.severity));
        for finding in &findings {
            prop_assert!(!finding.message().is_empty());
            prop_assert!(finding.severity != Problem || finding.advice().is_some(), "{:?}", finding);
            prop_assert!(findings.iter().filter(|other| other.code == finding.code).count() == 1);
        }
    }
}
