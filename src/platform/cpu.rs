//! The processor: what it says of itself (CPUID) and what the kernel says of it.

use std::ops::RangeInclusive;

use super::{beginning, content};
use crate::report::Cpu;

const ONLINE: &str = "/sys/devices/system/cpu/online";
const STATUS: &str = "/proc/self/status";

/// The processor as the report shows it; `cpu` is the one whose governor is reported.
#[must_use]
pub fn identify(cpu: Option<u32>) -> Cpu {
    // The first record is enough, and the whole file may be long: the kernel asks every CPU for its frequency.
    let cpuinfo = beginning("/proc/cpuinfo", 1 << 13).unwrap_or_default();
    let allowed = allowed_ranges();
    let first_allowed = allowed.as_deref().and_then(|ranges| ranges.first()).map(|range| *range.start());
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        microcode: content("/sys/devices/system/cpu/cpu0/microcode/version")
            .or_else(|| field(&cpuinfo, "microcode").map(str::to_owned)),
        online: content(ONLINE).and_then(|list| parse_list(&list)).as_deref().and_then(count),
        allowed: allowed
            .as_deref()
            .and_then(count)
            .or_else(|| timers::allowed_cpus().ok().and_then(|cpus| u32::try_from(cpus.len()).ok())),
        governor: cpu.or(first_allowed).and_then(governor),
        ..declared(&cpuinfo)
    }
}

/// The brand string, as in `Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz`.
#[must_use]
pub fn brand() -> Option<String> {
    declared(&beginning("/proc/cpuinfo", 1 << 13).unwrap_or_default()).model
}

/// The first value of that name in `/proc/cpuinfo`, `/proc/self/status` and their like: `name : value` a line.
#[must_use]
pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
        .filter(|value| !value.is_empty())
}

/// A list of CPUs as the kernel writes it: `0-3,5,7-8`. `None` when it is something else.
#[must_use]
pub fn parse_list(list: &str) -> Option<Vec<RangeInclusive<u32>>> {
    list.trim()
        .split(',')
        .map(|part| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(first..=last)
        })
        .collect()
}

/// How many CPUs a list has.
#[must_use]
pub fn count(list: &[RangeInclusive<u32>]) -> Option<u32> {
    let cpus = list.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum::<u64>();
    u32::try_from(cpus).ok()
}

/// The CPUs this process may run on. The file tells more than sched_getaffinity(2) does through a set of fixed size:
/// there may be more than 1024 CPUs.
fn allowed_ranges() -> Option<Vec<RangeInclusive<u32>>> {
    parse_list(field(&content(STATUS)?, "Cpus_allowed_list")?)
}

fn governor(cpu: u32) -> Option<String> {
    content(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"))
}

#[cfg(target_arch = "x86_64")]
fn declared(_cpuinfo: &str) -> Cpu {
    let cpuid = raw_cpuid::CpuId::new();
    let signature = cpuid.get_feature_info().map(|info| {
        let family = [info.base_family_id(), info.extended_family_id()].map(u32::from);
        let model = [info.base_model_id(), info.extended_model_id()].map(u32::from);
        (effective_family_and_model(family, model), u32::from(info.stepping_id()))
    });
    let readable = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    Cpu {
        vendor: cpuid.get_vendor_info().and_then(|vendor| readable(vendor.as_str())),
        model: cpuid.get_processor_brand_string().and_then(|brand| readable(brand.as_str())),
        family: signature.map(|((family, _), _)| family),
        model_number: signature.map(|((_, model), _)| model),
        stepping: signature.map(|(_, stepping)| stepping),
        invariant_tsc: cpuid.get_advanced_power_mgmt_info().map(|power| power.has_invariant_tsc()),
        ..Cpu::default()
    }
}

/// The family and the model that base and extended fields of CPUID leaf 1 make together, by the rule that holds for
/// all vendors (Linux, arch/x86/lib/cpu.c): the extended family counts from family 15, the extended model from 6.
#[cfg(target_arch = "x86_64")]
fn effective_family_and_model(
    [family, extended_family]: [u32; 2],
    [model, extended]: [u32; 2],
) -> (u32, u32) {
    let family = if family == 0xf { family + extended_family } else { family };
    let model = if family >= 6 { model | extended << 4 } else { model };
    (family, model)
}

#[cfg(target_arch = "aarch64")]
fn declared(cpuinfo: &str) -> Cpu {
    super::cpu_arm::declared(cpuinfo)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn declared(cpuinfo: &str) -> Cpu {
    let first_of = |names: [&str; 3]| names.iter().find_map(|name| field(cpuinfo, name)).map(str::to_owned);
    Cpu {
        vendor: first_of(["vendor_id", "mvendorid", "machine"]),
        model: first_of(["model name", "cpu", "uarch"]),
        ..Cpu::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse_list("0-3,5,7-8\n"), Some(vec![0..=3, 5..=5, 7..=8]));
        assert_eq!(parse_list("0"), Some(vec![0..=0]));
        for odd in ["", ",", "3-1", "a", "0-", "-1", "0-3,", "4294967296"] {
            assert_eq!(parse_list(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn counts_of_cpus() {
        let counted = |list| count(&parse_list(list).expect("a list"));
        assert_eq!(counted("0-3,5,7-8"), Some(7));
        assert_eq!(counted("0-8191"), Some(8192));
        assert_eq!(counted("0-4294967295"), None);
    }

    #[test]
    fn fields_of_cpuinfo() {
        let cpuinfo = "processor\t: 0\nmodel name\t: AMD EPYC: 9\nmicrocode\t: 0xa101148\npower management:\n\n\
                       processor\t: 1\nmicrocode\t: 0xffff\n";
        assert_eq!(field(cpuinfo, "microcode"), Some("0xa101148"));
        assert_eq!(field(cpuinfo, "model name"), Some("AMD EPYC: 9"));
        assert_eq!(field(cpuinfo, "power management"), None);
        assert_eq!(field(cpuinfo, "model"), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn signatures() {
        // 0x000a0f11 is AMD family 25 model 1, 0x000306c3 Intel family 6 model 60, 0x00000543 a Pentium.
        assert_eq!(effective_family_and_model([0xf, 0xa], [0x1, 0x0]), (25, 1));
        assert_eq!(effective_family_and_model([0x6, 0x0], [0xc, 0x3]), (6, 60));
        assert_eq!(effective_family_and_model([0x5, 0x0], [0x4, 0x0]), (5, 4));
        assert_eq!(effective_family_and_model([0xf, 0xff], [0xf, 0xf]), (270, 255));
    }

    proptest! {
        #[test]
        fn parsers_never_panic(text in any::<String>(), list in "[-0-9, \n]{0,40}") {
            let _ = field(&text, "microcode");
            let _ = parse_list(&text);
            let _ = parse_list(&list).as_deref().map(count);
        }
    }
}
