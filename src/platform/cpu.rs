//! Identifies the processor, by CPUID and by the kernel's files.

use super::root::{cpu_count, field, format_cpus, parse_cpus};
use super::{Root, cores, cpu_arm};
use estimators::model::Cpu;

/// Bytes read of `/proc/cpuinfo`: the first record is enough, and reading the whole file may take
/// long, because the kernel queries the frequency of every CPU.
const MAX_FIRST_RECORD_BYTES: u64 = 1 << 13;

/// Identifies the processor for the report; `cpu` selects the CPU whose core and governor are
/// reported, by default the first allowed CPU.
pub fn identify(root: &Root, cpu: Option<u32>) -> Cpu {
    let cpuinfo = read_cpuinfo(root);
    let allowed_list = allowed_list(root);
    let online_list = root.read_text("/sys/devices/system/cpu/online");
    let allowed = allowed_list.as_deref().and_then(parse_cpus);
    let cpu = cpu.or_else(|| allowed.as_ref()?.first().copied());
    let declared = declared_identity(root, cpu, &cpuinfo);
    let online = online_list.as_deref().and_then(parse_cpus);
    let core_kinds = cores::kinds(root, online.as_deref().unwrap_or_default());
    let frequency_file = |name| cores::read_frequency_file(root, cpu?, name);
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        microcode: root
            .read_name("/sys/devices/system/cpu/cpu0/microcode/version")
            .or_else(|| field(&cpuinfo, "microcode").map(str::to_owned)),
        online: online.map(|cpus| cpus.len() as u32),
        allowed: allowed.map(|cpus| cpus.len() as u32),
        allowed_list,
        core_kind: core_kinds
            .as_deref()
            .zip(cpu)
            .and_then(|(kinds, cpu)| cores::kind_of_cpu(kinds, cpu))
            .map(|kind| kind.name.clone()),
        core_kinds,
        isolated: cores::read_cpu_list(root, "isolated"),
        nohz_full: cores::read_cpu_list(root, "nohz_full"),
        governor: frequency_file("scaling_governor"),
        frequency_driver: frequency_file("scaling_driver"),
        turbo: cores::turbo(root, cpu),
        ..cores::core(root, cpu, declared)
    }
}

/// The first record of `/proc/cpuinfo`; empty if the file cannot be read.
pub(super) fn read_cpuinfo(root: &Root) -> String {
    root.read_start("/proc/cpuinfo", MAX_FIRST_RECORD_BYTES)
        .unwrap_or_default()
}

/// The brand string, such as `Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz`.
pub fn brand() -> Option<String> {
    let root = Root::system();
    declared_identity(&root, None, &read_cpuinfo(&root)).model
}

/// The CPUs on which this process may run, from `/proc/self/status` or sched_getaffinity(2).
fn allowed_list(root: &Root) -> Option<String> {
    let status = root.read_text("/proc/self/status");
    let listed = status
        .as_deref()
        .and_then(|status| field(status, "Cpus_allowed_list"))
        .map(str::to_owned);
    listed.filter(|list| cpu_count(list).is_some()).or_else(|| {
        timers::allowed_cpus()
            .ok()
            .filter(|cpus| !cpus.is_empty())
            .map(|cpus| format_cpus(&cpus))
    })
}

/// The identification of the processor by CPUID, else by the kernel.
fn declared_identity(root: &Root, cpu: Option<u32>, cpuinfo: &str) -> Cpu {
    let cpuid = timers::arch::identity();
    let arm = cpu_arm::core(root, cpu, cpuinfo);
    let first_field = |names: [&str; 3]| {
        names
            .iter()
            .find_map(|name| field(cpuinfo, name))
            .map(str::to_owned)
    };
    Cpu {
        vendor: cpuid
            .vendor
            .or(arm.vendor)
            .or_else(|| first_field(["vendor_id", "mvendorid", "machine"])),
        model: cpuid
            .model
            .or(arm.model)
            .or_else(|| first_field(["model name", "cpu", "uarch"]))
            .or_else(|| cpu_arm::board(root))
            // RISC-V: the instruction set, because the model is unknown.
            .or_else(|| field(cpuinfo, "isa").map(str::to_owned)),
        family: cpuid.family,
        model_number: cpuid.model_number,
        stepping: cpuid.stepping,
        amx: cpuid.amx,
        invariant_tsc: cpuid.invariant_tsc,
        ..Cpu::default()
    }
}
