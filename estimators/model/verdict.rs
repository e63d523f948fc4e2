//! Verdicts on whether a clock can be trusted, with the evidence.

use super::Counted;

/// The outcome of a test of trust.
#[apply(names)]
#[derive(Default)]
pub enum Outcome {
    /// No defect was found.
    Pass = "pass",
    /// A defect was found; `evidence` describes it.
    Fail = "fail",
    /// The test does not apply to the quantity that the timer counts.
    NotApplicable = "not applicable",
    /// The test was not possible; `evidence` gives the reason.
    #[default]
    NotTested = "not tested",
}

/// All verdicts on a timer. A timer that fails one of the first three has Quality 0.
#[apply(wire)]
pub struct Verdicts {
    /// Does it ever step backwards within a thread, even if the thread moves between CPUs?
    pub monotonic: Monotonic,
    /// Does it ever step backwards from one thread to another?
    pub thread_safe: ThreadSafe,
    /// Does it keep its rate against the reference, without jumps and freezes?
    pub stable: Stable,
    /// What does it count, found by experiment?
    pub counts: Nature,
    /// Do its unit and its resolution match the declarations of its platform?
    pub declared: Declared,
    /// Does a read take the expected path?
    pub read_path: ReadPath,
}

/// The questions about a timer, in the order of reports.
#[apply(names)]
#[derive(PartialOrd, Ord)]
pub enum Question {
    /// Whether it never steps backwards within a thread.
    Monotonic = "monotonic",
    /// Whether it never steps backwards from one thread to another.
    ThreadSafe = "thread-safe",
    /// Whether it keeps its rate, without jumps and freezes.
    Stable = "stable",
    /// Whether it counts the claimed quantity.
    Counts = "counts",
    /// Whether it conforms to the declarations of its platform.
    Declared = "declared",
    /// Whether its reads use the expected path.
    ReadPath = "read path",
}

impl Question {
    /// Returns whether a timer that fails this question has Quality 0: not monotonic, not
    /// thread-safe, not stable (ICPE 2011, section 3).
    pub fn disqualifies(self) -> bool {
        matches!(self, Self::Monotonic | Self::ThreadSafe | Self::Stable)
    }
}

/// The answer to a question, with its evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictAnswer<'a> {
    /// The question.
    pub question: Question,
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub evidence: &'a str,
}

macro_rules! answers {
    ($($question:ident = $verdict:ident;)*) => {
        impl Verdicts {
            /// Returns the answer to a question.
            pub fn answer(&self, question: Question) -> VerdictAnswer<'_> {
                let (outcome, evidence) = match question {
                    $(Question::$question => (self.$verdict.outcome, &*self.$verdict.evidence),)*
                };
                VerdictAnswer { question, outcome, evidence }
            }
        }
    };
}

answers! {
    Monotonic = monotonic;
    ThreadSafe = thread_safe;
    Stable = stable;
    Counts = counts;
    Declared = declared;
    ReadPath = read_path;
}

impl Verdicts {
    /// All answers.
    pub fn answers(&self) -> impl Iterator<Item = VerdictAnswer<'_>> {
        Question::ALL
            .into_iter()
            .map(|question| self.answer(question))
    }

    /// Returns the failed answers that set the Quality to 0.
    pub fn disqualifying(&self) -> impl Iterator<Item = VerdictAnswer<'_>> {
        self.answers()
            .filter(|answer| answer.question.disqualifies() && answer.outcome == Outcome::Fail)
    }
}

/// Verdict on the order of readings within one thread.
#[apply(wire)]
pub struct Monotonic {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub evidence: String,
    /// Successive readings that were compared.
    pub readings: u64,
    /// Steps backwards.
    pub backward_steps: u64,
    /// The largest backward step, in nanoseconds.
    pub largest_ns: Option<f64>,
    /// How often the thread was moved to another CPU during the test.
    pub moves: u32,
}

/// Verdict on the order of readings between threads.
#[apply(wire)]
pub struct ThreadSafe {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub evidence: String,
    /// Handoffs between two threads.
    pub handoffs: u64,
    /// Handoffs in which the later reading was smaller.
    pub backward_steps: u64,
    /// The largest backward step, in nanoseconds.
    pub largest_ns: Option<f64>,
    /// Rounds of disjoint pairs of CPUs.
    pub rounds: u32,
    /// Pairs of CPUs that were tested.
    pub pairs: u32,
    /// All possible pairs of CPUs.
    pub pairs_possible: u32,
    /// The offset of the clock of each CPU from the clock of the first CPU.
    pub offsets: Vec<CpuOffset>,
}

impl ThreadSafe {
    /// Returns whether the clocks of all tested CPUs agree within the uncertainty of their offsets;
    /// `None` if that was not tested, or if the timer counts for one thread.
    pub fn same_on_all_cpus(&self) -> Option<bool> {
        match self.outcome {
            Outcome::Fail => Some(false),
            Outcome::Pass => Some(self.differing().is_none()),
            Outcome::NotApplicable | Outcome::NotTested => None,
        }
    }

    /// Returns the largest offset that its uncertainty does not explain; `None` without one.
    pub fn differing(&self) -> Option<&CpuOffset> {
        self.offsets
            .iter()
            .filter(|offset| offset.ns.abs() > offset.uncertainty_ns)
            .max_by(|a, b| a.ns.abs().total_cmp(&b.ns.abs()))
    }

    /// Returns the offset from the first CPU that is largest in absolute value; `None` without
    /// offsets.
    pub fn largest_offset(&self) -> Option<&CpuOffset> {
        self.offsets
            .iter()
            .max_by(|a, b| a.ns.abs().total_cmp(&b.ns.abs()))
    }
}

/// The offset of the clock of a CPU from the clock of the first CPU.
#[apply(wire, Copy)]
pub struct CpuOffset {
    /// The CPU.
    pub cpu: u32,
    /// Offset in nanoseconds; negative if the clock is behind.
    pub ns: f64,
    /// Uncertainty of the offset, in nanoseconds.
    pub uncertainty_ns: f64,
}

/// Verdict on the rate of the timer relative to the reference.
#[apply(wire, Default)]
pub struct Stable {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub evidence: String,
    /// Its rate relative to the reference minus 1, in ppm: over the longest window, or the median
    /// over its processes if they differ.
    pub offset_ppm: Option<f64>,
    /// Uncertainty of the offset, in ppm: from the reads, from differences between parts of the
    /// window, and from differences between processes.
    pub offset_uncertainty_ppm: Option<f64>,
    /// Additional fresh processes whose rate was measured; absent if the rate cannot depend on the
    /// process.
    #[optional]
    pub rate_processes: Option<u32>,
    /// The longest window, in seconds.
    pub longest_window_s: Option<f64>,
    /// Windows in which it gained more time than its resolution and the cost of reads explain.
    pub jumps: u32,
    /// Windows in which it lost more time than its resolution and the cost of reads explain.
    pub freezes: u32,
    /// The largest jump, or the largest freeze if there is no jump, in nanoseconds.
    pub largest_ns: Option<f64>,
    /// The smallest jump, in nanoseconds, that would have been detected at any time in the longest
    /// window; absent if unknown.
    #[optional]
    pub smallest_jump_ns: Option<f64>,
    /// Whether it is known to share the oscillator of its reference, so that their agreement does
    /// not test the oscillator.
    pub shares_oscillator: Option<bool>,
}

/// Verdict on the quantity that a timer counts, for example wall time or CPU time.
#[apply(wire)]
pub struct Nature {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub evidence: String,
    /// The quantity that it was found to count.
    pub found: Option<Counted>,
    /// The quantity that it claims to count.
    pub claimed: Option<Counted>,
    /// Its advance relative to the reference while the thread computed.
    pub spinning: Option<f64>,
    /// Its advance relative to the reference while the thread slept.
    pub sleeping: Option<f64>,
    /// Its advance relative to the reference while the thread slept and another thread of the
    /// process computed.
    pub next_to_busy_thread: Option<f64>,
}

/// Verdict on whether the unit and the resolution match the declarations of the platform.
#[apply(wire)]
pub struct Declared {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub evidence: String,
    /// The declared resolution, or the unit if none is declared, in nanoseconds.
    pub resolution_ns: Option<f64>,
    /// The measured resolution divided by the declared one.
    pub times_coarser: Option<f64>,
}

/// The component that answers a read.
#[apply(names)]
pub enum Path {
    /// User mode: an instruction, the vDSO, or a library.
    UserMode = "user-mode",
    /// The kernel.
    SystemCall = "system-call",
    /// The hypervisor, which traps each instruction that reads the counter.
    Trapped = "trapped",
}

/// Verdict on the path of a read.
#[apply(wire)]
pub struct ReadPath {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub evidence: String,
    /// The component that answers a read.
    pub path: Option<Path>,
    /// The duration of an empty system call, in nanoseconds.
    pub system_call_ns: Option<f64>,
    /// The duration of an instruction that traps to the hypervisor, in nanoseconds.
    pub trap_ns: Option<f64>,
}
