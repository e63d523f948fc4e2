//! The processor: what it says of itself (CPUID) and what the kernel says of it.

use super::fields::field;
use super::list::{count_of, written};
use super::{Root, cores};
use crate::model::Cpu;

/// The first record of the file is enough, and the whole may be long: the kernel asks every CPU for its frequency.
const FIRST_RECORD: u64 = 1 << 13;

/// The processor as the report shows it; `cpu` is the one whose core and governor are reported, without it the first
/// one allowed.
#[must_use]
pub fn identify(root: &Root, cpu: Option<u32>) -> Cpu {
    let cpuinfo = info(root);
    let allowed_list = allowed_list(root);
    let online_list = root.content("/sys/devices/system/cpu/online").filter(|list| count_of(list).is_some());
    let first_allowed = allowed_list.as_deref().and_then(first_of);
    let cpu = cpu.or(first_allowed);
    let core = cores::core(root, cpu, &cpuinfo);
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        microcode: root
            .name("/sys/devices/system/cpu/cpu0/microcode/version")
            .or_else(|| field(&cpuinfo, "microcode").map(str::to_owned)),
        online: online_list.as_deref().and_then(count_of),
        online_list,
        allowed: allowed_list.as_deref().and_then(count_of),
        allowed_list,
        smt: core.smt,
        threads_per_core: core.threads,
        core_list: core.list,
        isolated: cores::isolated(root),
        nohz_full: cores::nohz_full(root),
        governor: cpu.and_then(|cpu| cores::frequency_file(root, cpu, "scaling_governor")),
        frequency_driver: cpu.and_then(|cpu| cores::frequency_file(root, cpu, "scaling_driver")),
        turbo: cores::turbo(root, cpu),
        ..declared(root, &cpuinfo)
    }
}

/// The first record of `/proc/cpuinfo`; nothing where it cannot be read.
pub(super) fn info(root: &Root) -> String {
    root.beginning("/proc/cpuinfo", FIRST_RECORD).unwrap_or_default()
}

/// The brand string, as in `Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz`.
#[must_use]
pub fn brand() -> Option<String> {
    let root = Root::system();
    declared(&root, &info(&root)).model
}

/// The CPUs this process may run on, by the file or by sched_getaffinity(2).
fn allowed_list(root: &Root) -> Option<String> {
    let told = root.content("/proc/self/status");
    let told = told.as_deref().and_then(|status| field(status, "Cpus_allowed_list")).map(str::to_owned);
    told.filter(|list| count_of(list).is_some())
        .or_else(|| timers::allowed_cpus().ok().filter(|cpus| !cpus.is_empty()).map(|cpus| written(&cpus)))
}

fn first_of(list: &str) -> Option<u32> {
    super::list::parse_list(list)?.first().map(|range| *range.start())
}

#[cfg(target_arch = "x86_64")]
fn declared(_root: &Root, _cpuinfo: &str) -> Cpu {
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
fn declared(root: &Root, cpuinfo: &str) -> Cpu {
    super::cpu_arm::declared(root, cpuinfo)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn declared(_root: &Root, cpuinfo: &str) -> Cpu {
    let first_of = |names: [&str; 3]| names.iter().find_map(|name| field(cpuinfo, name)).map(str::to_owned);
    Cpu {
        vendor: first_of(["vendor_id", "mvendorid", "machine"]),
        model: first_of(["model name", "cpu", "uarch"]),
        ..Cpu::default()
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::effective_family_and_model;

    #[test]
    fn signatures() {
        // 0x000a0f11 is AMD family 25 model 1, 0x000306c3 Intel family 6 model 60, 0x00000543 a Pentium.
        assert_eq!(effective_family_and_model([0xf, 0xa], [0x1, 0x0]), (25, 1));
        assert_eq!(effective_family_and_model([0x6, 0x0], [0xc, 0x3]), (6, 60));
        assert_eq!(effective_family_and_model([0x5, 0x0], [0x4, 0x0]), (5, 4));
        assert_eq!(effective_family_and_model([0xf, 0xff], [0xf, 0xf]), (270, 255));
    }
}
