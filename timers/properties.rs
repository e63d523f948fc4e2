//! Declares what a timer is and what it counts, by its documentation or by its agent.

/// A word of documents for each of several kinds.
macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $kind:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$about])* #[cfg_attr(feature = "serde", serde(rename = $word))] $kind,)*
        }

        impl $name {
            /// Its name in documents.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)*
                }
            }
        }
    };
}

kinds! {
    /// What a timer reads.
    Family {
        /// The counter of the CPU that runs all the time: the TSC of x86, CNTVCT of Arm.
        CpuCounter = "cpu-counter",
        /// A clock that the kernel makes of its clock source.
        SystemClock = "system-clock",
        /// What the scheduler charged to a thread or a process.
        CpuTime = "cpu-time",
        /// An event of the performance monitoring unit, or one that the kernel counts beside them.
        PerfEvent = "perf-event",
        /// A clock on a device of its own: a network card, or the host of a virtual machine.
        DeviceClock = "device-clock",
        /// None of these.
        #[cfg_attr(feature = "serde", serde(other))]
        Other = "other",
    }
}

kinds! {
    /// How a read gets at what it reads, where nothing is in its way. Which way it really takes, the
    /// verdicts tell.
    ReadsBy {
        /// An instruction of the CPU.
        Instruction = "instruction",
        /// Code of the system that runs in user mode: Linux' `vdso(7)`, the shared pages of Windows and
        /// macOS.
        Vdso = "vdso",
        /// A system call.
        SystemCall = "system-call",
        /// None of these.
        #[cfg_attr(feature = "serde", serde(other))]
        Other = "other",
    }
}

/// What is declared of a timer; what is not is null or left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(
        rename = "Properties",
        bound = "Id: Default + serde::Serialize + schemars::JsonSchema"
    )
)]
pub struct Properties<Id = &'static str> {
    /// What it reads.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub family: Option<Family>,
    /// What it claims to count.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub counts: Option<Counted>,
    /// Whether it can be set, so that it steps.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub settable: Option<bool>,
    /// Whether its rate is trimmed, so that its seconds differ in length.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub slewed: Option<bool>,
    /// Whether it goes on while the machine sleeps.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub runs_in_suspend: Option<bool>,
    /// Whether a read can overtake the work that stands before it, unless a fence does not let it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub needs_fence: Option<bool>,
    /// How a read gets at what it reads.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub reads_by: Option<ReadsBy>,
    /// The id of the timer that reads the same through the system call, or of cycles another event.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub syscall_variant: Option<Id>,
}

impl<Id> Properties<Id> {
    /// Whether one keeper, the kernel or a device, makes the rate of this clock for all processes:
    /// otherwise each may find one for itself.
    #[must_use]
    pub fn is_kept_for_all(&self) -> bool {
        matches!(self.family, Some(Family::SystemClock | Family::DeviceClock))
    }
}

kinds! {
    /// What a timer counts.
    Counted {
        /// Time that passes, whatever runs.
        Wall = "wall",
        /// Time that the process ran on any CPU.
        ProcessCpu = "process-cpu",
        /// Time that the calling thread ran.
        ThreadCpu = "thread-cpu",
        /// Cycles of the core while the calling thread ran.
        ThreadCycles = "thread-cycles",
        /// None of these.
        SomethingElse = "something-else",
    }
}

impl Counted {
    /// Whether it counts for one thread only, so that readings taken by two threads cannot be
    /// compared.
    #[must_use]
    pub fn one_thread(self) -> bool {
        matches!(
            self,
            Self::ThreadCpu | Self::ThreadCycles | Self::SomethingElse
        )
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
        counts: Some(Counted::Wall),
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
        counts: Some(Counted::Wall),
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
        counts: Some(Counted::ProcessCpu),
        slewed: Some(false),
        reads_by: Some(ReadsBy::SystemCall),
        ..Self::MONOTONIC
    };

    /// CPU time of the calling thread.
    pub const THREAD: Self = Self {
        counts: Some(Counted::ThreadCpu),
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

    /// The same with ids of its own, as documents hold them.
    #[must_use]
    pub fn into_owned(self) -> Properties<String> {
        Properties {
            family: self.family,
            counts: self.counts,
            settable: self.settable,
            slewed: self.slewed,
            runs_in_suspend: self.runs_in_suspend,
            needs_fence: self.needs_fence,
            reads_by: self.reads_by,
            syscall_variant: self.syscall_variant.map(Into::into),
        }
    }
}
