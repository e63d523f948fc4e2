//! The processor: what it says of itself (CPUID) and what the kernel says of it.

use timers::os::MachineFacts;

use super::root::{count_of, field, written};
use super::{Root, cores, cpu_arm};
use crate::model::Cpu;

/// The first record of the file is enough, and the whole may be long: the kernel asks every CPU for
/// its frequency.
const FIRST_RECORD: u64 = 1 << 13;

/// The processor as the report shows it; `cpu` is the one whose core and governor are reported,
/// without it the first one allowed.
#[must_use]
pub fn identify(root: &Root, cpu: Option<u32>, told: &MachineFacts) -> Cpu {
    let cpuinfo = info(root);
    let allowed_list = allowed_list(root);
    let online_list = root
        .content("/sys/devices/system/cpu/online")
        .filter(|list| count_of(list).is_some());
    let first_allowed = allowed_list.as_deref().and_then(first_of);
    let cpu = cpu.or(first_allowed);
    let core = cores::core(root, cpu, &cpuinfo, told);
    let core_kinds = cores::kinds(root, online_list.as_deref(), told);
    Cpu {
        architecture: std::env::consts::ARCH.to_owned(),
        microcode: root
            .name("/sys/devices/system/cpu/cpu0/microcode/version")
            .or_else(|| field(&cpuinfo, "microcode").map(str::to_owned)),
        online: online_list.as_deref().and_then(count_of).or(told.online),
        online_list,
        allowed: allowed_list.as_deref().and_then(count_of),
        allowed_list,
        smt: core.smt,
        threads_per_core: core.threads,
        core_list: core.list,
        core_kind: core_kinds
            .as_deref()
            .zip(cpu)
            .and_then(|(kinds, cpu)| cores::kind_of(kinds, cpu))
            .map(|kind| kind.name.clone()),
        core_kinds,
        isolated: cores::isolated(root),
        nohz_full: cores::nohz_full(root),
        governor: cpu.and_then(|cpu| cores::frequency_file(root, cpu, "scaling_governor")),
        frequency_driver: cpu.and_then(|cpu| cores::frequency_file(root, cpu, "scaling_driver")),
        turbo: cores::turbo(root, cpu),
        power_plan: told.power_plan.clone(),
        ..declared(root, cpu, &cpuinfo)
    }
}

/// The first record of `/proc/cpuinfo`; nothing where it cannot be read.
pub(super) fn info(root: &Root) -> String {
    root.beginning("/proc/cpuinfo", FIRST_RECORD)
        .unwrap_or_default()
}

/// The brand string, as in `Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz`.
#[must_use]
pub fn brand() -> Option<String> {
    let root = Root::system();
    declared(&root, None, &info(&root)).model
}

/// The CPUs this process may run on, by the file or by sched_getaffinity(2).
fn allowed_list(root: &Root) -> Option<String> {
    let told = root.content("/proc/self/status");
    let told = told
        .as_deref()
        .and_then(|status| field(status, "Cpus_allowed_list"))
        .map(str::to_owned);
    told.filter(|list| count_of(list).is_some()).or_else(|| {
        timers::allowed_cpus()
            .ok()
            .filter(|cpus| !cpus.is_empty())
            .map(|cpus| written(&cpus))
    })
}

/// What the kernel says that the processor has, on x86.
fn flags(cpuinfo: &str) -> Option<impl Iterator<Item = &str>> {
    field(cpuinfo, "flags").map(str::split_whitespace)
}

fn first_of(list: &str) -> Option<u32> {
    super::root::parse_list(list)?
        .first()
        .map(|range| *range.start())
}

/// What the processor says of itself, or else the kernel.
fn declared(root: &Root, cpu: Option<u32>, cpuinfo: &str) -> Cpu {
    let asked = timers::arch::identity();
    let arm = cpu_arm::core(root, cpu, cpuinfo);
    // Emulators of one architecture may show the file of another, whose processor does the work.
    let number = |name| field(cpuinfo, name).and_then(|number| number.parse().ok());
    let shown_family: Option<u32> = number("cpu family");
    let shown = |name| shown_family.and_then(|_| number(name));
    let first_of = |names: [&str; 3]| {
        names
            .iter()
            .find_map(|name| field(cpuinfo, name))
            .map(str::to_owned)
    };
    Cpu {
        vendor: asked
            .vendor
            .or(arm.vendor)
            .or_else(|| first_of(["vendor_id", "mvendorid", "machine"])),
        model: asked
            .model
            .or(arm.model)
            .or_else(|| first_of(["model name", "cpu", "uarch"]))
            .or_else(|| cpu_arm::board(root))
            // Of RISC-V, whose instruction set says more than nothing.
            .or_else(|| field(cpuinfo, "isa").map(str::to_owned)),
        family: asked.family.or(shown_family),
        model_number: asked.model_number.or_else(|| shown("model")),
        stepping: asked.stepping.or_else(|| shown("stepping")),
        amx: asked.amx.or_else(|| {
            shown_family
                .and_then(|_| flags(cpuinfo))
                .map(|mut flags| flags.any(|flag| flag == "amx_tile"))
        }),
        invariant_tsc: asked.invariant_tsc,
        ..Cpu::default()
    }
}

#[cfg(test)]
mod tests {
    use super::flags;

    #[test]
    fn instructions_are_flags_of_the_kernel() {
        let has = |cpuinfo| flags(cpuinfo).map(|mut flags| flags.any(|flag| flag == "amx_tile"));
        assert_eq!(
            has("model\t\t: 167\nflags\t\t: fpu vme amx_tile amx_int8\n"),
            Some(true)
        );
        assert_eq!(has("model\t\t: 167\nflags\t\t: fpu vme\n"), Some(false));
        assert_eq!(has("model\t\t: 167\n"), None);
    }
}
