//! The machine in a report: its processor, kernel, clock source and limits. A value that the
//! machine does not report is `null`, never `false` or 0.

use super::LibraryClock;

/// Identity of the machine. Values that the machine does not report are null.
#[apply(wire, Default)]
pub struct Platform {
    /// The processor.
    pub cpu: Cpu,
    /// The operating system.
    pub os: Os,
    /// The kernel.
    pub kernel: Kernel,
    /// The name that the hypervisor reports (CPUID leaf 0x40000000), or the emulator that executes
    /// the program (`qemu-user`); null on bare metal.
    pub hypervisor: Option<String>,
    /// Vendor and product of the machine (DMI); in some clouds the instance type, as in `Amazon EC2
    /// m7i.large`. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The clock source of the kernel.
    pub clocksource: ClockSource,
    /// The time stamp counter, on x86.
    #[serde(default)]
    pub tsc: Tsc,
    /// How the kernel's clocks are steered; null if adjtimex(2) is not available.
    pub ntp: Option<Ntp>,
    /// The load of the machine.
    pub load: Option<Load>,
    /// The number of CPUs that other programs kept busy during the run, on average; absent if
    /// unknown.
    #[optional]
    pub cpus_of_others: Option<f64>,
    /// Share of the uptime in which CPUs were ready to run but the hypervisor ran other guests, in
    /// [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub steal_share: Option<f64>,
    /// Limits of the container.
    #[serde(default)]
    pub limits: Limits,
    /// Properties of the machine that make waits late.
    #[serde(default)]
    pub waiting: Waiting,
    /// `kernel.perf_event_paranoid`: above 2, unprivileged programs cannot count cycles.
    pub perf_event_paranoid: Option<i32>,
    /// The libraries that the dynamic linker loads before the C library (LD_PRELOAD,
    /// `/etc/ld.so.preload`); absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preloaded: Vec<String>,
    /// The clocks that the C library reads, each compared with its system call during the run;
    /// absent if they were not compared.
    #[optional]
    pub library_clocks: Option<Vec<LibraryClock>>,
}

/// Prefixes of the names of emulators, which translate the instructions of a processor or the calls
/// of a system, so that results describe the emulator.
const EMULATORS: [&str; 7] = [
    "qemu-user",
    "QEMU (TCG)",
    "Wine",
    "Rosetta",
    "rosetta",
    "box64",
    "FEX",
];

impl Platform {
    /// What may replace functions of the C library, or slow them; `None` if no library is preloaded.
    pub fn preloads(&self) -> Option<String> {
        let preloaded = &self.preloaded;
        (!preloaded.is_empty()).then(|| format!("LD_PRELOAD={}", preloaded.join(":")))
    }

    /// The emulator that executes the program, if any.
    pub fn emulator(&self) -> Option<&str> {
        self.hypervisor
            .as_deref()
            .filter(|name| EMULATORS.iter().any(|known| name.starts_with(known)))
    }
}

/// The processor.
#[apply(wire, Default)]
pub struct Cpu {
    /// Instruction set architecture, as in `x86_64`.
    pub architecture: String,
    /// Vendor string.
    pub vendor: Option<String>,
    /// Brand string.
    pub model: Option<String>,
    /// Family, on x86.
    pub family: Option<u32>,
    /// Model number, on x86.
    pub model_number: Option<u32>,
    /// Stepping, on x86.
    pub stepping: Option<u32>,
    /// Whether the processor has matrix extensions (Intel AMX): such a core is a Sapphire Rapids or
    /// later, whatever its model number; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amx: Option<bool>,
    /// Microcode revision, as in `0xa101148`.
    pub microcode: Option<String>,
    /// CPUs that are online.
    pub online: Option<u32>,
    /// CPUs this process may run on.
    pub allowed: Option<u32>,
    /// The CPUs this process may run on, as a kernel list.
    pub allowed_list: Option<String>,
    /// Whether cores run more than one hardware thread.
    pub smt: Option<bool>,
    /// CPUs in the core of the CPU that measures.
    pub threads_per_core: Option<u32>,
    /// The CPUs that share the core of the measuring CPU, including itself, as a kernel list.
    pub core_list: Option<String>,
    /// The kinds of cores among the online CPUs, the most capable first; a single kind if all cores
    /// are equal, null if unknown.
    pub core_kinds: Option<Vec<CoreKind>>,
    /// The name in `core_kinds` of the core that measures.
    pub core_kind: Option<String>,
    /// CPUs that the scheduler does not use (`isolcpus=`), as a kernel list; empty if there are
    /// none.
    pub isolated: Option<String>,
    /// CPUs without a timer interrupt while one thread runs (`nohz_full=`), as a kernel list; empty
    /// if there are none.
    pub nohz_full: Option<String>,
    /// Whether the TSC runs at a constant rate in all power states (CPUID 0x80000007 EDX bit 8).
    pub invariant_tsc: Option<bool>,
    /// The cpufreq governor of the CPU that measured.
    pub governor: Option<String>,
    /// The cpufreq driver of the CPU that measured.
    pub frequency_driver: Option<String>,
    /// Whether the CPU may run above its nominal frequency.
    pub turbo: Option<bool>,
}

/// A group of equal cores, for example performance or efficiency cores.
#[apply(wire, Default)]
pub struct CoreKind {
    /// The name: the part (`Cortex-A76`), or Intel's term (`P-core`, `E-core`).
    pub name: String,
    /// The number of CPUs of this kind.
    pub cpus: u32,
    /// The CPUs of this kind, as a kernel list; null if the system does not report them.
    pub list: Option<String>,
    /// The capacity of such a CPU in the scale of Linux: 1024 for the most capable CPU of the
    /// machine.
    pub capacity: Option<u32>,
}

/// The operating system.
#[apply(wire, Default)]
pub struct Os {
    /// `linux`.
    pub family: String,
    /// The name that the distribution reports.
    pub name: Option<String>,
}

/// The kernel.
#[apply(wire, Default)]
pub struct Kernel {
    /// As `uname -r`.
    pub release: Option<String>,
    /// As `uname -v`.
    pub version: Option<String>,
    /// Timer interrupts per second on a busy CPU (CONFIG_HZ).
    pub tick_hz: Option<u32>,
}

/// The clock source of the kernel (`/sys/devices/system/clocksource`).
#[apply(wire, Default)]
pub struct ClockSource {
    /// The current clock source.
    pub current: Option<String>,
    /// All available clock sources.
    pub available: Vec<String>,
    /// Whether the kernel maps code into programs that reads clocks in user mode (vdso(7)); without
    /// it, each read is a system call.
    pub vdso: Option<bool>,
    /// Boot parameters about clocks, as in `clocksource=hpet`.
    pub parameters: Option<Vec<String>>,
}

/// The time stamp counter, from CPUID and the flags in `/proc/cpuinfo`. All null on other
/// architectures.
#[apply(wire, Default)]
pub struct Tsc {
    /// Whether its rate does not depend on the core frequency.
    pub constant: Option<bool>,
    /// Whether it continues in deep idle states.
    pub nonstop: Option<bool>,
}

/// Whether the counter of the processor has a constant rate in all states of the machine, on all
/// CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvariantCounter {
    /// Whether the rate is constant; `None` if unknown.
    pub value: Option<bool>,
    /// Whether CPUID contradicts the kernel's flags.
    pub conflict: bool,
}

impl Platform {
    /// Decides whether the counter is invariant. On x86 the kernel's flags have priority over
    /// CPUID, because the kernel corrects the flags of known models. On other architectures the
    /// counter is invariant by design.
    pub fn invariant_counter(&self) -> InvariantCounter {
        let architecture = self.cpu.architecture.as_str();
        if !(architecture.is_empty() || architecture.starts_with("x86")) {
            return InvariantCounter {
                value: Some(true),
                conflict: false,
            };
        }
        let cpuid = self.cpu.invariant_tsc;
        let kernel = match (self.tsc.constant, self.tsc.nonstop) {
            (Some(constant), Some(nonstop)) => Some(constant && nonstop),
            (Some(false), _) | (_, Some(false)) => Some(false),
            _ => None,
        };
        InvariantCounter {
            value: kernel.or(cpuid),
            conflict: kernel
                .zip(cpuid)
                .is_some_and(|(kernel, cpuid)| kernel != cpuid),
        }
    }
}

/// How a time daemon steers the kernel's clocks (adjtimex(2)).
#[apply(wire, Default)]
pub struct Ntp {
    /// Whether the clock is kept synchronised.
    pub synchronised: bool,
    /// Whether an offset is being slewed, or the rate is trimmed by the length of the tick.
    pub slewing: bool,
    /// The relative difference of the rate of CLOCK_MONOTONIC and CLOCK_REALTIME from the rate of
    /// the hardware as first calibrated by the kernel, including all trims, in parts per million.
    pub rate_ppm: f64,
    /// The trim of the frequency alone, in parts per million: at most 500.
    pub frequency_ppm: f64,
    /// The offset that remains to be slewed, in nanoseconds.
    pub offset_ns: i64,
    /// Microseconds between ticks of USER_HZ; 10000 if the rate is not trimmed by the length of the
    /// tick.
    pub tick_us: i64,
    /// Estimated error of CLOCK_REALTIME, in microseconds, as set by the time daemon; meaningless
    /// without one.
    pub estimated_error_us: i64,
}

impl Ntp {
    /// The correction by the length of the tick, in parts per million; 0 if it is not reported.
    pub fn tick_ppm(&self) -> f64 {
        let tick_us = Some(self.tick_us).filter(|tick| *tick > 0);
        tick_us.map_or(0.0, |tick| 100.0 * (tick as f64 - 10_000.0))
    }
}

/// Mean number of threads that ran or were ready to run (`/proc/loadavg`).
#[apply(wire, Copy, Default)]
pub struct Load {
    /// Mean over the last minute.
    pub one_minute: f64,
}

/// Properties of the machine that make waits late.
#[apply(wire, Default)]
pub struct Waiting {
    /// The time by which the kernel may delay a wake-up to combine it with others, in nanoseconds
    /// (PR_SET_TIMERSLACK).
    pub timer_slack_ns: Option<u64>,
    /// Whether the kernel has high-resolution timers; otherwise its timers expire at ticks.
    pub high_resolution: Option<bool>,
    /// The idle states (C-states) of the measuring CPU, the lightest first; null if unknown.
    pub idle_states: Option<Vec<IdleState>>,
}

/// A state that an idle CPU may enter.
#[apply(wire, Default)]
pub struct IdleState {
    /// The name that the driver reports, as in `C1`.
    pub name: String,
    /// Exit latency that the driver reports, in microseconds.
    pub exit_latency_us: u64,
    /// Whether the state is disabled.
    pub disabled: bool,
}

/// Limits that a container or a control group sets for this process.
#[apply(wire, Default)]
pub struct Limits {
    /// CPU time limit; null if unknown.
    pub cpu: Option<CpuQuota>,
    /// Clock offsets of a time namespace (time_namespaces(7)); absent if there are none, or if
    /// unknown.
    #[optional]
    pub time_namespace: Option<TimeNamespace>,
}

/// Offsets that a time namespace adds to clocks; other processes of the machine read other values.
#[apply(wire, Copy, Default)]
pub struct TimeNamespace {
    /// Offset of `CLOCK_MONOTONIC` and related clocks, in nanoseconds.
    pub monotonic_ns: i64,
    /// Offset of `CLOCK_BOOTTIME`, in nanoseconds.
    pub boottime_ns: i64,
}

/// CPU time limit of a control group. The order of limits, tightest first, is that of their fields.
#[apply(wire, Copy, Default, PartialOrd)]
pub struct CpuQuota {
    /// CPU time per period, in CPUs; null if there is no limit.
    pub cpus: Option<f64>,
    /// The period in nanoseconds; absent without a limit and in reports of earlier versions.
    #[optional]
    pub period_ns: Option<u64>,
}
