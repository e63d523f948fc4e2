//! Identifies this machine, and measures the frequency of its cores.
//!
//! The facts come from the processor, the kernel and the kernel's files; the pure parsers of a file
//! are in the module that reads the file. A fact that the machine does not report is `None`: none
//! is required for a measurement.

pub mod activity;
mod cgroup;
mod cores;
mod counter;
pub mod cpu;
mod cpu_arm;
mod distribution;
pub mod frequency;
mod hypervisor;
mod kernel;
mod library;
mod others;
pub mod quietest;
mod root;
#[cfg(test)]
mod tests;
mod throttling;
mod waiting;

use estimators::model::{ClockSource, Platform};
use reporting::text::cleaned;

pub use activity::stolen_ns;
pub use cores::capable_cpus;
pub use kernel::ntp;
pub use library::{LibraryWatch, portable_read};
pub use others::CpuUse;
pub use quietest::quietest_cpu;
pub use root::{Root, cpu_count};
pub use throttling::{quota_files, throttled_ns};

/// Identifies this machine. `cpu` is the measuring CPU, whose core and governor are reported; by
/// default the first CPU on which this process may run.
pub fn identify(cpu: Option<u32>) -> Platform {
    identify_at(&Root::system(), cpu)
}

/// Identifies the clock source of the kernel.
pub fn clock_source(root: &Root) -> ClockSource {
    cleaned(kernel::clocksource(root))
}

/// Identifies the machine whose files are at `root`. The processor and the kernel are queried too,
/// and they are always those of this machine.
pub fn identify_at(root: &Root, cpu: Option<u32>) -> Platform {
    let found = Platform {
        cpu: cpu::identify(root, cpu),
        os: distribution::os(root),
        kernel: kernel::kernel(),
        hypervisor: hypervisor::hypervisor(root),
        product: hypervisor::product(root),
        clocksource: kernel::clocksource(root),
        tsc: counter::identify_tsc(&cpu::read_cpuinfo(root)),
        ntp: ntp(),
        load: activity::load(root),
        cpus_of_others: None,
        steal_share: activity::steal_share(root),
        limits: cgroup::limits(root),
        waiting: waiting::waiting(root, cpu),
        perf_event_paranoid: root
            .read_text("/proc/sys/kernel/perf_event_paranoid")
            .and_then(|level| level.parse().ok()),
        preloaded: timers::os::library::preloaded().to_vec(),
        library_clocks: None,
    };
    // Firmware and kernel command lines may contain arbitrary bytes.
    cleaned(found)
}
