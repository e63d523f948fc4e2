//! What a timer is and what it counts by its documentation, as its backend or its agent declares
//! it.

use serde::{Deserialize, Serialize};

/// What a timer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
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
    /// None of these.
    #[serde(other)]
    Other,
}

impl Family {
    /// Its name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuCounter => "cpu-counter",
            Self::SystemClock => "system-clock",
            Self::CpuTime => "cpu-time",
            Self::PerfEvent => "perf-event",
            Self::DeviceClock => "device-clock",
            Self::Other => "other",
        }
    }
}

/// How a read gets at what it reads, where nothing is in its way. Which way it really takes, the
/// verdicts tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ReadsBy {
    /// An instruction of the CPU.
    Instruction,
    /// Code of the system that runs in user mode: Linux' `vdso(7)`, the shared pages of Windows and
    /// macOS.
    Vdso,
    /// A system call.
    SystemCall,
    /// None of these.
    #[serde(other)]
    Other,
}

impl ReadsBy {
    /// Its name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Vdso => "vdso",
            Self::SystemCall => "system-call",
            Self::Other => "other",
        }
    }
}

/// What is declared of a timer; what is not is null or left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Properties {
    /// What it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What it claims to count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counted>,
    /// Whether it can be set, so that it steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settable: Option<bool>,
    /// Whether its rate is trimmed, so that its seconds differ in length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slewed: Option<bool>,
    /// Whether it goes on while the machine sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_in_suspend: Option<bool>,
    /// Whether a read can overtake the work that stands before it, unless a fence does not let it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs_fence: Option<bool>,
    /// How a read gets at what it reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads_by: Option<ReadsBy>,
    /// The id of the timer that reads the same through the system call, or of cycles another event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syscall_variant: Option<String>,
}

impl Properties {
    /// Whether one keeper, the kernel or a device, makes the rate of this clock for all processes:
    /// otherwise each may find one for itself.
    #[must_use]
    pub fn is_kept_for_all(&self) -> bool {
        matches!(self.family, Some(Family::SystemClock | Family::DeviceClock))
    }
}

/// What a timer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Time that passes, whatever runs.
    Wall,
    /// Time that the process ran on any CPU.
    ProcessCpu,
    /// Time that the calling thread ran.
    ThreadCpu,
    /// Cycles of the core while the calling thread ran.
    ThreadCycles,
    /// None of these.
    SomethingElse,
}

impl Counted {
    /// Its name in the document.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::ProcessCpu => "process-cpu",
            Self::ThreadCpu => "thread-cpu",
            Self::ThreadCycles => "thread-cycles",
            Self::SomethingElse => "something-else",
        }
    }

    /// As a sentence goes on after "it counts".
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::ProcessCpu => "CPU time of the process",
            Self::ThreadCpu => "CPU time of the thread",
            Self::ThreadCycles => "core cycles of the thread",
            Self::SomethingElse => "something else",
        }
    }
}
