//! The table of clock sources: the hardware counters from which a kernel computes its clocks. Names
//! are those of Linux.
//!
//! Sources: Linux, `drivers/clocksource/` and `arch/*/kernel/`, which register each clock source
//! with its rating and its vDSO mode; `Documentation/virt/kvm/x86/msr.rst` (kvm-clock),
//! `Documentation/virt/ hyperv/clocks.rst`, `Documentation/arch/arm/` (generic timer).

/// The code that reads a clock source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The vDSO, by an instruction.
    Instruction,
    /// The vDSO, by an instruction and a page that the hypervisor shares.
    SharedPage,
    /// The vDSO if the hypervisor declares that its counter is stable, else the kernel.
    Conditional,
    /// The kernel only; the text names what the kernel reads: a register, or the timer interrupt.
    Kernel(&'static str),
}

/// A clock source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSource {
    /// The name in Linux.
    pub name: &'static str,
    /// The code that reads the clock source.
    pub reader: Reader,
    /// Whether the time is computed from the processor's counter.
    pub reads_counter: bool,
    /// The class of cost: 0 for an instruction; higher classes take longer or have longer steps.
    pub cost_class: u8,
}

const TSC: &str = "tsc";
const HPET: &str = "hpet";
const ACPI_PM: &str = "acpi_pm";

/// The time stamp counter of x86.
pub const TIME_STAMP_COUNTER: &str = TSC;
/// The clock of KVM.
pub const KVM: &str = "kvm-clock";
/// The clock of Xen.
pub const XEN: &str = "xen";
/// The clock of Hyper-V based on a shared page with scale and offset of the time stamp counter.
pub const HYPER_V_PAGE: &str = "hyperv_clocksource_tsc_page";
/// The clock of Hyper-V based on a register; each read traps to the hypervisor.
pub const HYPER_V_REGISTER: &str = "hyperv_clocksource_msr";

/// A counter of the processor that the vDSO reads by an instruction.
const fn counter(name: &'static str) -> KnownSource {
    KnownSource {
        name,
        reader: Reader::Instruction,
        reads_counter: true,
        cost_class: 0,
    }
}

/// A clock that a hypervisor offers, based on the counter of the processor.
const fn paravirtual(name: &'static str, reader: Reader) -> KnownSource {
    KnownSource {
        reader,
        cost_class: 1,
        ..counter(name)
    }
}

/// A clock that only the kernel reads.
const fn device(name: &'static str, cost_class: u8, register: &'static str) -> KnownSource {
    KnownSource {
        name,
        reader: Reader::Kernel(register),
        reads_counter: false,
        cost_class,
    }
}

const SLOW_REGISTER: &str = "a register outside of the processor, far slower than an instruction";
const TIMER_INTERRUPT: &str =
    "nothing but the timer interrupt, so that all clocks move in steps of milliseconds";

/// All known clock sources.
pub const CLOCK_SOURCES: [KnownSource; 18] = [
    counter(TSC),
    counter("tsc-early"),
    counter("arch_sys_counter"),
    counter("timebase"),
    counter("tod"),
    counter("riscv_clocksource"),
    counter("Constant"),
    paravirtual(KVM, Reader::SharedPage),
    paravirtual(HYPER_V_PAGE, Reader::SharedPage),
    device(
        HYPER_V_REGISTER,
        2,
        "the hypervisor itself, to which every read traps",
    ),
    paravirtual(XEN, Reader::Conditional),
    device(
        HPET,
        2,
        "a register of the chipset, far slower than an instruction",
    ),
    device("arch_mem_counter", 2, SLOW_REGISTER),
    device("arm_global_timer", 2, SLOW_REGISTER),
    device(
        ACPI_PM,
        3,
        "an I/O port of the chipset, far slower than an instruction",
    ),
    device(
        "pit",
        4,
        "the timer chip of the first PCs, behind slow I/O ports",
    ),
    device("refined-jiffies", 5, TIMER_INTERRUPT),
    device("jiffies", 5, TIMER_INTERRUPT),
];

/// The clock source with the given name; `None` if unknown.
pub fn find(name: &str) -> Option<&'static KnownSource> {
    CLOCK_SOURCES.iter().find(|source| source.name == name)
}

/// Whether the time of the named clock source is computed from the processor's counter.
pub fn reads_counter(name: &str) -> bool {
    find(name).is_some_and(|source| source.reads_counter)
}

/// The boot parameters of Linux that influence the choice of the clock source.
pub const BOOT_PARAMETERS: [&str; 9] = [
    "clocksource",
    TSC,
    "notsc",
    HPET,
    "nohpet",
    "no-kvmclock",
    "no-kvmclock-vsyscall",
    "nohz",
    "highres",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for source in &CLOCK_SOURCES {
            assert_eq!(find(source.name), Some(source));
        }
    }
}
