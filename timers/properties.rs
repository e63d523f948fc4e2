//! The declared properties of a timer: what it counts and how it is read, according to its
//! documentation or its agent.

/// Defines an enum whose variants have names in documents: `Variant = "name"`.
#[doc(hidden)]
#[macro_export]
macro_rules! names {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:literal,)*
    }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        $(#[$meta])*
        pub enum $name {
            $($(#[$about])* #[cfg_attr(feature = "serde", serde(rename = $word))] $variant,)*
        }

        impl $name {
            /// All variants.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// Returns the name in documents.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }
    };
}

names! {
    /// The kind of counter or clock that a timer reads.
    pub enum Family {
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

names! {
    /// The documented way in which a timer is read. On a given machine it can differ; the verdicts
    /// of a report state the way that was found.
    pub enum ReadsBy {
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

/// Defines the properties by their names and types.
macro_rules! properties {
    ($($(#[$about:meta])* $name:ident: $type:ty,)*) => {
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
            $($(#[$about])*
            #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
            pub $name: Option<$type>,)*
        }

        impl Properties {
            /// All properties undeclared.
            pub const UNKNOWN: Self = Self { $($name: None,)* };

            /// The same properties with an owned id, as in documents.
            pub fn into_owned(self) -> Properties<String> {
                Properties { $($name: self.$name.map(Into::into),)* }
            }
        }
    };
}

properties! {
    /// The kind of counter or clock.
    family: Family,
    /// The quantity that is counted.
    counts: Counted,
    /// Whether the clock can be set, which makes it step.
    settable: bool,
    /// Whether the rate is trimmed (by NTP, for example), so that its seconds differ in length.
    slewed: bool,
    /// Whether the timer keeps running while the machine is suspended.
    runs_in_suspend: bool,
    /// Whether a fence is necessary to keep the CPU from reading the timer before earlier
    /// instructions have completed.
    needs_fence: bool,
    /// The way in which the timer is read.
    reads_by: ReadsBy,
    /// The id of the timer that reads the same clock by the system call; for a cycle counter, that
    /// of another event read by the same system call.
    syscall_variant: Id,
}

names! {
    /// The quantity that a timer counts.
    pub enum Counted {
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
}
