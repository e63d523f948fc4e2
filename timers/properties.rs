//! What a timer method is, as its documentation has it: the words in which the author of one
//! declares it.

use crate::Counts;

/// What a timer method reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The counter of the CPU that runs all the time: the TSC of x86, CNTVCT of Arm.
    CpuCounter,
    /// A clock that the kernel makes of its clock source.
    SystemClock,
    /// What the scheduler charged to a thread or a process.
    CpuTime,
    /// An event of the performance monitoring unit, or one that the kernel counts beside them.
    PerfEvent,
    /// A clock on a device of its own: a network card, or the host of a virtual machine.
    DeviceClock,
}

/// How a read gets at what it reads, where nothing is in its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadsBy {
    /// An instruction of the CPU.
    Instruction,
    /// Code of the system that runs in user mode: Linux' `vdso(7)`, the shared pages of Windows and
    /// macOS.
    Vdso,
    /// A system call.
    SystemCall,
}

/// What is known of a timer method without measuring; `None` where its documentation leaves it
/// open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// What it reads.
    pub family: Option<Family>,
    /// What it claims to count; `None` for what reads nothing.
    pub counts: Option<Counts>,
    /// Whether it can be set, so that it steps.
    pub settable: Option<bool>,
    /// Whether its rate is trimmed (`adjtimex(2)`), so that its seconds differ in length.
    pub slewed: Option<bool>,
    /// Whether it goes on while the machine sleeps.
    pub runs_in_suspend: Option<bool>,
    /// Whether a read can overtake the work that stands before it, unless a fence does not let it.
    pub needs_fence: Option<bool>,
    /// How a read gets at what it reads.
    pub reads_by: Option<ReadsBy>,
    /// The id of the timer that reads the same through the system call, or of cycles another event.
    pub syscall_variant: Option<&'static str>,
}

impl Properties {
    /// Nothing known.
    pub const UNKNOWN: Self = Self {
        family: None,
        counts: None,
        settable: None,
        slewed: None,
        runs_in_suspend: None,
        needs_fence: None,
        reads_by: None,
        syscall_variant: None,
    };

    /// A counter of the CPU, read by its instruction. Whether it survives a sleep depends on the
    /// CPU and the firmware.
    pub const COUNTER: Self = Self {
        family: Some(Family::CpuCounter),
        counts: Some(Counts::Wall),
        settable: Some(false),
        slewed: Some(false),
        needs_fence: Some(true),
        reads_by: Some(ReadsBy::Instruction),
        ..Self::UNKNOWN
    };

    /// `CLOCK_MONOTONIC` through the vDSO: it cannot be set, NTP slews it, it stands still while
    /// the machine sleeps.
    pub const MONOTONIC: Self = Self {
        family: Some(Family::SystemClock),
        counts: Some(Counts::Wall),
        settable: Some(false),
        slewed: Some(true),
        runs_in_suspend: Some(false),
        needs_fence: Some(false),
        reads_by: Some(ReadsBy::Vdso),
        syscall_variant: None,
    };

    /// The time of the day through the vDSO.
    pub const CALENDAR: Self = Self {
        settable: Some(true),
        runs_in_suspend: Some(true),
        ..Self::MONOTONIC
    };

    /// CPU time of the process, which only the kernel knows.
    pub const PROCESS: Self = Self {
        family: Some(Family::CpuTime),
        counts: Some(Counts::ProcessCpu),
        slewed: Some(false),
        reads_by: Some(ReadsBy::SystemCall),
        ..Self::MONOTONIC
    };

    /// CPU time of the calling thread.
    pub const THREAD: Self = Self {
        counts: Some(Counts::ThreadCpu),
        ..Self::PROCESS
    };

    /// The same for readings that a plain load may give (what the timer interrupt left behind).
    #[must_use]
    pub const fn unfenced(self) -> Self {
        Self {
            needs_fence: Some(true),
            ..self
        }
    }

    /// The same through the system call.
    #[must_use]
    pub const fn by_syscall(self) -> Self {
        Self {
            reads_by: Some(ReadsBy::SystemCall),
            ..self
        }
    }

    /// The same with the timer that makes the system call.
    #[must_use]
    pub const fn with_variant(self, id: &'static str) -> Self {
        Self {
            syscall_variant: Some(id),
            ..self
        }
    }
}

/// What the clocks of one system are, each by a name, and all of them.
macro_rules! infos {
    ($($name:ident, $id:literal, $label:literal, $ns_per_tick:expr, $properties:expr;)*) => {
        $(pub(crate) const $name: Info =
            Info { id: $id, label: $label, ns_per_tick: $ns_per_tick, properties: $properties };)*
        pub(crate) const ALL: &[Info] = &[$($name),*];
    };
}
pub(crate) use infos;
