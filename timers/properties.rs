//! The declared properties of a timer: what it counts and how it is read, according to its
//! documentation or its agent.

/// Defines an enum whose variants have a name each in JSON documents.
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
            /// The name in JSON documents.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)*
                }
            }
        }
    };
}

kinds! {
    /// The kind of counter or clock that a timer reads.
    Family {
        /// The CPU's counter that never stops: the TSC of x86, CNTVCT of Arm.
        CpuCounter = "cpu-counter",
        /// A clock that the kernel computes from its clock source.
        SystemClock = "system-clock",
        /// The CPU time that the scheduler charged to a thread or a process.
        CpuTime = "cpu-time",
        /// An event counted by the performance monitoring unit, or by the kernel's perf events.
        PerfEvent = "perf-event",
        /// None of the above.
        #[cfg_attr(feature = "serde", serde(other))]
        Other = "other",
    }
}

kinds! {
    /// The documented way in which a timer is read. On a given machine it can differ; the verdicts
    /// of a report state the way that was found.
    ReadsBy {
        /// An instruction of the CPU.
        Instruction = "instruction",
        /// Code of the operating system that runs in user mode: Linux' `vdso(7)`, the shared pages
        /// of Windows and macOS.
        Vdso = "vdso",
        /// A system call.
        SystemCall = "system-call",
        /// None of the above.
        #[cfg_attr(feature = "serde", serde(other))]
        Other = "other",
    }
}

/// The declared properties of a timer. A property that is not declared is null or left out.
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
    /// The kind of counter or clock.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub family: Option<Family>,
    /// The quantity that is counted.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub counts: Option<Counted>,
    /// Whether the clock can be set, which makes it step.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub settable: Option<bool>,
    /// Whether the rate is trimmed (by NTP, for example), so that its seconds differ in length.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub slewed: Option<bool>,
    /// Whether the timer keeps running while the machine is suspended.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub runs_in_suspend: Option<bool>,
    /// Whether a fence is necessary to keep the CPU from reading the timer before earlier
    /// instructions have completed.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub needs_fence: Option<bool>,
    /// The way in which the timer is read.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub reads_by: Option<ReadsBy>,
    /// The id of the timer that reads the same clock by the system call; for a cycle counter, that
    /// of another event read by the same system call.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub syscall_variant: Option<Id>,
}

impl<Id> Properties<Id> {
    /// Whether the kernel determines the rate of the clock, for all processes alike.
    /// For other timers each process may find another rate.
    pub fn has_shared_rate(&self) -> bool {
        self.family == Some(Family::SystemClock)
    }
}

kinds! {
    /// The quantity that a timer counts.
    Counted {
        /// Elapsed time, whichever threads run.
        Wall = "wall",
        /// The time that the threads of the process ran, summed over all CPUs.
        ProcessCpu = "process-cpu",
        /// The time that the calling thread ran.
        ThreadCpu = "thread-cpu",
        /// The cycles of the core while the calling thread ran.
        ThreadCycles = "thread-cycles",
        /// None of the above.
        SomethingElse = "something-else",
    }
}

impl Counted {
    /// Whether the quantity is counted per thread, or may be, so that the readings of two threads
    /// cannot be compared.
    pub fn is_per_thread(self) -> bool {
        matches!(
            self,
            Self::ThreadCpu | Self::ThreadCycles | Self::SomethingElse
        )
    }

    /// The quantity in words that complete the sentence "it counts …".
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
    /// All properties undeclared.
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

    /// A counter of the CPU, read by an instruction. `runs_in_suspend` is undeclared, because it
    /// depends on the CPU and the firmware.
    pub const COUNTER: Self = Self {
        family: Some(Family::CpuCounter),
        counts: Some(Counted::Wall),
        settable: Some(false),
        slewed: Some(false),
        needs_fence: Some(true),
        reads_by: Some(ReadsBy::Instruction),
        ..Self::UNKNOWN
    };

    /// `CLOCK_MONOTONIC` through the vDSO: it cannot be set, NTP slews it, and it stops while the
    /// machine is suspended.
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

    /// The date and time (`CLOCK_REALTIME`) through the vDSO.
    pub const CALENDAR: Self = Self {
        settable: Some(true),
        runs_in_suspend: Some(true),
        ..Self::MONOTONIC
    };

    /// The CPU time of the process, read by a system call.
    pub const PROCESS: Self = Self {
        family: Some(Family::CpuTime),
        counts: Some(Counted::ProcessCpu),
        slewed: Some(false),
        reads_by: Some(ReadsBy::SystemCall),
        ..Self::MONOTONIC
    };

    /// The CPU time of the calling thread.
    pub const THREAD: Self = Self {
        counts: Some(Counted::ThreadCpu),
        ..Self::PROCESS
    };

    /// The same properties for a clock read by plain loads (of a value that the timer interrupt
    /// stores), which need a fence.
    #[must_use]
    pub const fn unfenced(self) -> Self {
        Self {
            needs_fence: Some(true),
            ..self
        }
    }

    /// The same properties for a clock read by a system call.
    #[must_use]
    pub const fn by_syscall(self) -> Self {
        Self {
            reads_by: Some(ReadsBy::SystemCall),
            ..self
        }
    }

    /// The same properties with the id of the timer that reads the clock by the system call.
    #[must_use]
    pub const fn with_variant(self, id: &'static str) -> Self {
        Self {
            syscall_variant: Some(id),
            ..self
        }
    }

    /// The same properties with an owned id, as in documents.
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
