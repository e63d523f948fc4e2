//! The machine, as the report holds it. What the machine did not tell is `null`, which is not the
//! same as "no".

/// Who this machine is. Anything the machine did not tell is null.
#[apply(wire)]
#[derive(Default)]
pub struct Platform {
    /// The processor.
    pub cpu: Cpu,
    /// The operating system.
    pub os: Os,
    /// The kernel.
    pub kernel: Kernel,
    /// The hypervisor as it names itself (CPUID leaf 0x40000000), or the emulator that carried out
    /// the program (`qemu-user`); null on bare metal.
    pub hypervisor: Option<String>,
    /// The clocks that the hypervisor offers, as the kernel calls them: `kvm-clock`,
    /// `hyperv_clocksource_tsc_page`, `xen`. Empty where it offers none or there is no hypervisor.
    pub hypervisor_clocks: Option<Vec<String>>,
    /// What its maker calls the machine, vendor and product (DMI), which of some clouds is the type
    /// of the instance: `Amazon EC2 m7i.large`; absent where it is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The clock source of the kernel.
    pub clocksource: ClockSource,
    /// The time stamp counter, on x86.
    #[serde(default)]
    pub tsc: Tsc,
    /// How the kernel's clocks are steered; null where adjtimex(2) is not answered.
    pub ntp: Option<Ntp>,
    /// How busy the machine is.
    pub load: Option<Load>,
    /// Share of the time since the start of the machine in which CPUs had something to run that a
    /// hypervisor gave to others, in [0, 1].
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub steal_share: Option<f64>,
    /// What a container allows.
    #[serde(default)]
    pub limits: Limits,
    /// What makes waits late.
    #[serde(default)]
    pub waiting: Waiting,
    /// `kernel.perf_event_paranoid`: above 2, unprivileged programs cannot count cycles.
    pub perf_event_paranoid: Option<i32>,
}

/// How the names of those hypervisors begin that do a processor's or a system's work by other
/// means, so that figures are theirs.
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
    /// The emulator that carried out the program, if one did.
    pub fn emulator(&self) -> Option<&str> {
        self.hypervisor
            .as_deref()
            .filter(|name| EMULATORS.iter().any(|known| name.starts_with(known)))
    }
}

/// The processor.
#[apply(wire)]
#[derive(Default)]
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
    /// Whether it multiplies matrices (Intel AMX): such a core is a Sapphire Rapids or later,
    /// whatever its numbers; absent where untold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amx: Option<bool>,
    /// Microcode revision, as in `0xa101148`.
    pub microcode: Option<String>,
    /// CPUs that are online.
    pub online: Option<u32>,
    /// Which CPUs are online, as the kernel writes lists: `0-3,8`.
    pub online_list: Option<String>,
    /// CPUs this process may run on.
    pub allowed: Option<u32>,
    /// Which CPUs this process may run on, as the kernel writes lists.
    pub allowed_list: Option<String>,
    /// Whether cores run more than one thread at once.
    pub smt: Option<bool>,
    /// CPUs in the core of the CPU that measures.
    pub threads_per_core: Option<u32>,
    /// Which CPUs share the core of the CPU that measures, itself included, as the kernel writes
    /// lists.
    pub core_list: Option<String>,
    /// The kinds of cores among the CPUs that are online, the most capable first: one where all are
    /// alike, null where that is not told.
    pub core_kinds: Option<Vec<CoreKind>>,
    /// The kind of the core that measures, by its name among `core_kinds`.
    pub core_kind: Option<String>,
    /// CPUs that the scheduler leaves alone (`isolcpus=`), as the kernel writes lists; empty where
    /// there are none.
    pub isolated: Option<String>,
    /// CPUs without a timer interrupt while one thread runs (`nohz_full=`), as the kernel writes
    /// lists; empty where there are none.
    pub nohz_full: Option<String>,
    /// Whether the TSC runs at a constant rate in all power states (CPUID 0x80000007 EDX bit 8).
    pub invariant_tsc: Option<bool>,
    /// The cpufreq governor of the CPU that measured.
    pub governor: Option<String>,
    /// The cpufreq driver of the CPU that measured.
    pub frequency_driver: Option<String>,
    /// Whether the CPU may run above its nominal frequency.
    pub turbo: Option<bool>,
    /// The plan by which Windows trades power for speed, as in `High performance`.
    pub power_plan: Option<String>,
}

/// Cores that are alike, as big or little ones, for performance or for efficiency.
#[apply(wire)]
#[derive(Default)]
pub struct CoreKind {
    /// What they are called: the part (`Cortex-A76`), Intel's words (`P-core`, `E-core`), the
    /// system's (`Performance`), or the capacity.
    pub name: String,
    /// How many CPUs are of this kind.
    pub cpus: u32,
    /// Which CPUs, as the kernel writes lists; null where the system does not tell.
    pub list: Option<String>,
    /// What such a CPU can do, as Linux scales it: 1024 is the most capable one of the machine.
    pub capacity: Option<u32>,
}

/// The operating system.
#[apply(wire)]
#[derive(Default)]
pub struct Os {
    /// `linux`.
    pub family: String,
    /// The distribution's own name for itself.
    pub name: Option<String>,
}

/// When the kernel does without its timer interrupt.
#[apply(wire)]
#[derive(Copy, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Tickless {
    /// Never (CONFIG_HZ_PERIODIC).
    Never,
    /// On idle CPUs (CONFIG_NO_HZ_IDLE).
    WhenIdle,
    /// On idle CPUs, and on those of `nohz_full=` while one thread runs there (CONFIG_NO_HZ_FULL).
    WhenAlone,
}

/// The kernel.
#[apply(wire)]
#[derive(Default)]
pub struct Kernel {
    /// As `uname -s`.
    pub name: Option<String>,
    /// As `uname -r`.
    pub release: Option<String>,
    /// As `uname -v`.
    pub version: Option<String>,
    /// Timer interrupts a second on a busy CPU (CONFIG_HZ).
    pub tick_hz: Option<u32>,
    /// Where the tick rate was found.
    pub tick_source: Option<String>,
    /// When the kernel does without its timer interrupt.
    pub tickless: Option<Tickless>,
}

/// The clock source of the kernel (`/sys/devices/system/clocksource`).
#[apply(wire)]
#[derive(Default)]
pub struct ClockSource {
    /// The one in use.
    pub current: Option<String>,
    /// All that could be used.
    pub available: Vec<String>,
    /// Whether the kernel maps code into programs that reads clocks without it (vdso(7)): without
    /// it each reading is a system call.
    pub vdso: Option<bool>,
    /// What the kernel was started with about clocks, as in `clocksource=hpet`, or
    /// `USEPLATFORMCLOCK` on Windows.
    pub parameters: Option<Vec<String>>,
}

/// The time stamp counter: what CPUID and the flags in `/proc/cpuinfo` say of it. All null on other
/// architectures.
#[apply(wire)]
#[derive(Default)]
pub struct Tsc {
    /// Its rate does not follow the frequency of the core.
    pub constant: Option<bool>,
    /// It runs on in deep idle states.
    pub nonstop: Option<bool>,
    /// Writes to it can be told and undone (IA32_TSC_ADJUST).
    pub adjust: Option<bool>,
    /// The processor can scale it for virtual machines.
    pub scaling: Option<bool>,
    /// The kernel was told its frequency and did not have to measure it.
    pub known_frequency: Option<bool>,
    /// A hypervisor vouches for it, so the kernel does not watch it.
    pub reliable: Option<bool>,
}

/// Whether the counter of the processor keeps one rate in all states of the machine, on all CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InvariantCounter {
    /// Whether it does; `None` where nothing says so.
    pub value: Option<bool>,
    /// Whether CPUID says the opposite of the kernel's flags.
    pub conflict: bool,
}

impl Platform {
    /// The one rule: the kernel's flags first, as it knows models of processors, CPUID second. The
    /// counters of other architectures are invariant by design.
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

/// How NTP or something like it steers the kernel's clocks (adjtimex(2)).
#[apply(wire)]
#[derive(Default)]
pub struct Ntp {
    /// Whether the clock is kept synchronised.
    pub synchronised: bool,
    /// Whether an offset is being slewed in, or the rate is trimmed by the length of the tick.
    pub slewing: bool,
    /// What the rate of CLOCK_MONOTONIC and CLOCK_REALTIME differs by from that of the hardware as
    /// the kernel first calibrated it, all trims together, in parts per million.
    pub rate_ppm: f64,
    /// The trim of the frequency alone, in parts per million: at most 500.
    pub frequency_ppm: f64,
    /// What of an offset is still to be slewed in, in nanoseconds.
    pub offset_ns: i64,
    /// Microseconds between ticks of USER_HZ; 10000 when the rate is not trimmed by it.
    pub tick_us: i64,
    /// Estimated error of CLOCK_REALTIME, in microseconds, by the time service; meaningless where
    /// there is none.
    pub estimated_error_us: i64,
}

/// How many threads ran or waited to run, as means over time (`/proc/loadavg`).
#[apply(wire)]
#[derive(Copy, Default)]
pub struct Load {
    /// Over the last minute.
    pub one_minute: f64,
    /// Over the last five minutes.
    pub five_minutes: f64,
    /// Over the last fifteen minutes.
    pub fifteen_minutes: f64,
}

/// What makes threads wake late from waits.
#[apply(wire)]
#[derive(Default)]
pub struct Waiting {
    /// By how much the kernel may put off waking a thread, in nanoseconds, to wake several at once
    /// (PR_SET_TIMERSLACK).
    pub timer_slack_ns: Option<u64>,
    /// Whether the kernel's timers have a high resolution; otherwise they go by the tick.
    pub high_resolution: Option<bool>,
    /// The driver of the idle states.
    pub idle_driver: Option<String>,
    /// The idle states (C-states) of the CPU that measured, from the lightest; null where they are
    /// not shown.
    pub idle_states: Option<Vec<IdleState>>,
}

/// A state that an idle CPU may enter.
#[apply(wire)]
#[derive(Default)]
pub struct IdleState {
    /// As the driver calls it, as in `C1`.
    pub name: String,
    /// Microseconds that it takes to leave, as the driver says.
    pub exit_latency_us: u64,
    /// Whether it is switched off.
    pub disabled: bool,
}

/// What a container or a control group allows this process.
#[apply(wire)]
#[derive(Default)]
pub struct Limits {
    /// The kind of container, as in `docker`, by the marks that it leaves; null where there are
    /// none. The image of a container that was started in another way still has them.
    pub container: Option<String>,
    /// The version of control groups that limits CPU time: 1 or 2.
    pub cgroup: Option<u32>,
    /// CPU time; null where it is not shown whether there is a limit.
    pub cpu: Option<CpuQuota>,
    /// The CPUs of the control group, as the kernel writes lists.
    pub cpuset: Option<String>,
    /// Memory; null where it is not shown whether there is a limit.
    pub memory: Option<MemoryLimit>,
    /// By how much a time namespace shifts clocks (time_namespaces(7)); absent where it does not,
    /// or that is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_namespace: Option<TimeNamespace>,
}

/// What a time namespace adds to clocks: what they say is not what other processes of the machine
/// read.
#[apply(wire)]
#[derive(Copy, Default)]
pub struct TimeNamespace {
    /// To `CLOCK_MONOTONIC` and related clocks, in nanoseconds.
    pub monotonic_ns: i64,
    /// To `CLOCK_BOOTTIME`, in nanoseconds.
    pub boottime_ns: i64,
}

/// CPU time that a control group allows.
#[apply(wire)]
#[derive(Copy, Default)]
pub struct CpuQuota {
    /// CPUs' worth of time in every period; null where there is no limit.
    pub cpus: Option<f64>,
    /// Periods in which the group used up its time and was stopped.
    pub throttled_periods: Option<u64>,
}

/// Memory that a control group allows.
#[apply(wire)]
#[derive(Copy, Default)]
pub struct MemoryLimit {
    /// Bytes; null where there is no limit.
    pub bytes: Option<u64>,
}
