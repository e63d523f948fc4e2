//! The timers of a simulated node: those of Linux on x86, with what they cost and how finely they move on the first kind of machine.

use super::{Moment, Node, REGRESSION};
use crate::model::{Properties, ReadsBy};

/// What a timer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TickSource {
    /// The TSC, by itself.
    Counter,
    /// The clock source of the kernel.
    Clock,
    /// What the kernel wrote down at its last tick.
    Tick,
    /// What the scheduler or the events of the processor tell.
    Account,
    /// As the last, where no hypervisor is.
    Metal,
}

/// By what it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// The counter's steps.
    Counter,
    /// So many nanoseconds.
    Of(f64),
    /// It stands still for longer than it was watched.
    Unknown,
}

/// A timer of a simulated node.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Its id.
    pub id: &'static str,
    pub(super) label: &'static str,
    pub(super) properties: Properties,
    pub(super) cost: f64,
    pub(super) spread: f64,
    pub(super) source: TickSource,
    pub(super) step: Step,
}

const MICROSECOND: Step = Step::Of(1e3);
const TICK: Step = Step::Of(4e6);

/// Id, cost in nanoseconds, spread, what is read, by what it moves: as in kept reports.
const TIMERS: [(&str, f64, f64, TickSource, Step); 33] = [
    ("rdtsc", 9.4, 0.995, TickSource::Counter, Step::Counter),
    ("rdtsc-lfence", 19.0, 0.999, TickSource::Counter, Step::Counter),
    ("rdtscp", 18.5, 0.998, TickSource::Counter, Step::Counter),
    ("quanta-raw", 9.4, 0.999, TickSource::Counter, Step::Counter),
    ("quanta", 9.7, 0.998, TickSource::Counter, Step::Counter),
    ("monotonic", 22.4, 0.996, TickSource::Clock, Step::Counter),
    ("monotonic-raw", 22.6, 0.935, TickSource::Clock, Step::Counter),
    ("boottime", 22.3, 0.931, TickSource::Clock, Step::Counter),
    ("tai", 22.7, 0.997, TickSource::Clock, Step::Counter),
    ("realtime", 22.7, 0.997, TickSource::Clock, Step::Counter),
    ("instant", 23.3, 0.999, TickSource::Clock, Step::Counter),
    ("system-time", 23.6, 0.998, TickSource::Clock, Step::Counter),
    ("gettimeofday", 22.7, 0.999, TickSource::Clock, MICROSECOND),
    ("time", 2.1, 0.999, TickSource::Tick, Step::Of(1e9)),
    ("monotonic-coarse", 4.6, 0.999, TickSource::Tick, TICK),
    ("realtime-coarse", 5.2, 0.999, TickSource::Tick, TICK),
    ("monotonic-syscall", 188.0, 0.57, TickSource::Clock, Step::Counter),
    ("monotonic-raw-syscall", 181.0, 0.71, TickSource::Clock, Step::Counter),
    ("realtime-syscall", 186.0, 0.60, TickSource::Clock, Step::Counter),
    ("boottime-syscall", 198.0, 0.58, TickSource::Clock, Step::Counter),
    ("monotonic-coarse-syscall", 156.0, 0.999, TickSource::Tick, TICK),
    ("realtime-coarse-syscall", 145.0, 0.999, TickSource::Tick, TICK),
    ("process-cputime", 584.0, 0.63, TickSource::Account, Step::Counter),
    ("process-cputime-syscall", 367.0, 0.98, TickSource::Account, Step::Counter),
    ("thread-cputime", 577.0, 0.26, TickSource::Account, Step::Counter),
    ("thread-cputime-syscall", 344.0, 0.95, TickSource::Account, Step::Counter),
    ("clock", 620.0, 0.998, TickSource::Account, MICROSECOND),
    ("times", 621.0, 0.999, TickSource::Account, Step::Of(1e7)),
    ("getrusage-self", 639.0, 0.999, TickSource::Account, MICROSECOND),
    ("getrusage-thread", 308.0, 0.99, TickSource::Account, Step::Unknown),
    ("perf-task-clock", 730.0, 0.20, TickSource::Account, Step::Counter),
    ("perf-cycles", 810.0, 0.35, TickSource::Metal, Step::Counter),
    ("rdpmc-cycles", 14.0, 0.97, TickSource::Metal, Step::Counter),
];

/// The timers that this build knows of them.
#[must_use]
pub fn simulated() -> Vec<Simulated> {
    let known = TIMERS.iter().filter_map(|&(id, cost, spread, source, step)| {
        let info = timers::find(id)?.info;
        Some(Simulated {
            id,
            label: info.label,
            properties: crate::native::properties(info.properties),
            cost,
            spread,
            source,
            step,
        })
    });
    known.collect()
}

/// What a read of the HPET takes, in nanoseconds, whatever the kernel: an access to a device.
const HPET_READ: f64 = 1_150.0;
/// The step of the HPET, which runs at 14.318 18 MHz.
const HPET_STEP: f64 = 1e9 / 14_318_180.0;
/// What a call takes that finds no vDSO to answer it.
const SYSTEM_CALL: f64 = 185.0;

impl Simulated {
    /// Whether what it costs hangs on the kernel.
    #[must_use]
    pub fn is_of_kernel(&self) -> bool {
        self.properties.reads_by != Some(ReadsBy::Instruction)
    }

    fn is_of_vdso(&self) -> bool {
        self.properties.reads_by == Some(ReadsBy::Vdso)
    }

    /// Whether the device answers it.
    fn is_slowed(&self, node: &Node, moment: Moment) -> bool {
        self.source == TickSource::Clock && node.has_fallen(moment)
    }

    /// Whether reads of it are answered in user mode.
    pub(super) fn stays_in_user_mode(&self, node: &Node, moment: Moment) -> bool {
        !self.is_of_kernel() || (self.is_of_vdso() && !self.is_slowed(node, moment))
    }

    /// What a call costs on such a node, in nanoseconds, apart from all scatter.
    #[must_use]
    pub fn true_cost(&self, node: &Node, moment: Moment) -> f64 {
        let slowed = self.is_slowed(node, moment);
        let own = if slowed && self.is_of_vdso() { SYSTEM_CALL } else { self.cost };
        let upgraded = self.is_of_kernel() && moment == Moment::After;
        let regression = if upgraded { REGRESSION } else { 1.0 };
        own * node.machine.slower * regression + if slowed { HPET_READ } else { 0.0 }
    }

    /// By what it moves on such a node, in nanoseconds.
    pub(super) fn true_step(&self, node: &Node, moment: Moment) -> Option<f64> {
        match self.step {
            Step::Counter if self.is_slowed(node, moment) => Some(HPET_STEP),
            Step::Counter => Some(node.machine.step),
            Step::Of(ns) => Some(ns),
            Step::Unknown => None,
        }
    }

    /// Why a node does not have it.
    pub(super) fn reason(&self, node: &Node, moment: Moment) -> Option<&'static str> {
        let lacks = node.lacks.is_some_and(|lack| lack.timer == self.id && lack.since.holds(moment));
        if lacks {
            return Some("Operation not permitted (os error 1)");
        }
        let hidden = self.source == TickSource::Metal && node.machine.hypervisor.is_some();
        hidden.then_some("the CPU or the hypervisor offers no hardware performance counters")
    }

    /// Whether it goes wrong with the TSC.
    pub(super) fn is_of_counter(&self) -> bool {
        self.source == TickSource::Counter
    }
}
