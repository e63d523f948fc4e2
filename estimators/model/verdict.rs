//! Whether a clock can be trusted, question by question, with the evidence.

use super::Counted;

/// How a question about trust was answered.
#[apply(names)]
pub enum Outcome {
    /// Nothing was found against the timer.
    Pass = "pass",
    /// It was found wanting, with evidence.
    Fail = "fail",
    /// The question makes no sense for what it counts.
    NotApplicable = "not applicable",
    /// It could not be answered here; the finding says why.
    NotTested = "not tested",
}

/// All verdicts on a timer. One that fails the first, second or third has Quality 0.
#[apply(wire)]
pub struct Verdicts {
    /// Does it ever step backwards within a thread, also while that is moved over the CPUs?
    pub monotonic: Monotonic,
    /// Does it ever step backwards from one thread to another?
    pub thread_safe: ThreadSafe,
    /// Does it keep its rate against the reference, without jumps and freezes?
    pub stable: Stable,
    /// What does it count, found by experiment?
    pub counts: Nature,
    /// Does it do what its platform declares of it?
    pub declared: Declared,
    /// On which way is a read answered?
    pub read_path: ReadPath,
    /// Does it say the same as the same clock read in another way? Absent where there is no other,
    /// or it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
}

/// What is asked of a timer, in the order of reports.
#[apply(names)]
#[derive(PartialOrd, Ord)]
pub enum Question {
    /// Whether it steps backwards within a thread.
    Monotonic = "monotonic",
    /// Whether it steps backwards from one thread to another.
    ThreadSafe = "thread-safe",
    /// Whether it keeps its rate, without jumps and freezes.
    Stable = "stable",
    /// Whether it counts what it claims to.
    Counts = "counts",
    /// Whether it does what its platform declares.
    Declared = "declared",
    /// Whether its reads go the way that they should.
    ReadPath = "read path",
    /// Whether it says the same as the same clock read in another way.
    Paths = "paths",
}

impl Question {
    /// Whether a timer that fails it has Quality 0: not monotonic, not thread-safe, not stable
    /// (ICPE 2011, section 3).
    pub fn disqualifies(self) -> bool {
        matches!(self, Self::Monotonic | Self::ThreadSafe | Self::Stable)
    }
}

/// How a question was answered, and why so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer<'a> {
    /// The question.
    pub question: Question,
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: &'a str,
}

impl Verdicts {
    /// The answer to a question.
    pub fn answer(&self, question: Question) -> Answer<'_> {
        let (outcome, finding) = match question {
            Question::Monotonic => (self.monotonic.outcome, &self.monotonic.finding),
            Question::ThreadSafe => (self.thread_safe.outcome, &self.thread_safe.finding),
            Question::Stable => (self.stable.outcome, &self.stable.finding),
            Question::Counts => (self.counts.outcome, &self.counts.finding),
            Question::Declared => (self.declared.outcome, &self.declared.finding),
            Question::ReadPath => (self.read_path.outcome, &self.read_path.finding),
            Question::Paths => match &self.paths {
                Some(paths) => (paths.outcome, &paths.finding),
                None => {
                    return Answer {
                        question,
                        outcome: Outcome::NotApplicable,
                        finding: ONE_WAY,
                    };
                }
            },
        };
        Answer {
            question,
            outcome,
            finding,
        }
    }

    /// The answer to a question, where that was asked.
    pub fn asked(&self, question: Question) -> Option<Answer<'_>> {
        let asked = question != Question::Paths || self.paths.is_some();
        asked.then(|| self.answer(question))
    }

    /// All answers.
    pub fn answers(&self) -> impl Iterator<Item = Answer<'_>> {
        Question::ALL
            .into_iter()
            .filter_map(|question| self.asked(question))
    }

    /// The failures that take the Quality away.
    pub fn disqualifying(&self) -> impl Iterator<Item = Answer<'_>> {
        self.answers()
            .filter(|answer| answer.question.disqualifies() && answer.outcome == Outcome::Fail)
    }

    /// In a word: `no` where it fails a question that disqualifies, `yes` where these passed or do
    /// not apply, `?` otherwise.
    pub fn in_short(&self) -> &'static str {
        let has = |outcome: Outcome| {
            self.answers()
                .any(|answer| answer.question.disqualifies() && answer.outcome == outcome)
        };
        match () {
            () if has(Outcome::Fail) => "no",
            () if has(Outcome::NotTested) => "?",
            () => "yes",
        }
    }
}

/// What stands where a clock is to be had in one way.
const ONE_WAY: &str = "it was not read next to another way to the same clock";

/// Order between several ways to one clock.
#[apply(wire)]
pub struct Paths {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: String,
    /// What was read beside what.
    #[serde(rename = "beside")]
    pub compared: Vec<ComparedPath>,
}

/// Readings between two of the same clock in another way.
#[apply(wire)]
pub struct ComparedPath {
    /// The id of the other way.
    pub within: String,
    /// Whether another CPU was busy meanwhile.
    pub busy: bool,
    /// How many.
    pub readings: u32,
    /// The most that one was ahead of the one after it, in nanoseconds; 0 where none was.
    pub ahead_ns: f64,
    /// The most that one was behind the one before it, beyond what its unit and its tick explain,
    /// in nanoseconds; 0 where none was.
    pub behind_ns: f64,
    /// Smallest difference, in nanoseconds and in either direction, that would have shown.
    pub sees_ns: f64,
}

/// Order within one thread.
#[apply(wire)]
pub struct Monotonic {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: String,
    /// Successive readings that were compared.
    pub readings: u64,
    /// Steps backwards.
    pub backward_steps: u64,
    /// The largest of them, in nanoseconds.
    pub largest_ns: Option<f64>,
    /// How often the thread was moved to another CPU meanwhile.
    pub moves: u32,
}

/// Order between threads.
#[apply(wire)]
pub struct ThreadSafe {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: String,
    /// Handoffs between two threads.
    pub handoffs: u64,
    /// Those in which the later reading was the smaller one.
    pub backward_steps: u64,
    /// The largest of them, in nanoseconds.
    pub largest_ns: Option<f64>,
    /// Rounds of disjoint pairs of CPUs.
    pub rounds: u32,
    /// Pairs of CPUs that met.
    pub pairs: u32,
    /// Pairs of CPUs that there are.
    pub pairs_possible: u32,
    /// How far the clock of each CPU is ahead of that of the first one.
    pub offsets: Vec<CpuOffset>,
}

impl ThreadSafe {
    /// The CPU whose clock is furthest from that of the first one, ahead or behind.
    pub fn furthest(&self) -> Option<&CpuOffset> {
        self.offsets
            .iter()
            .max_by(|a, b| a.ns.abs().total_cmp(&b.ns.abs()))
    }
}

/// How far the clock of a CPU is ahead of that of the first one.
#[apply(wire)]
#[derive(Copy)]
pub struct CpuOffset {
    /// The CPU.
    pub cpu: u32,
    /// In nanoseconds; negative when it is behind.
    pub ns: f64,
    /// The true offset lies within this many nanoseconds of that.
    pub uncertainty_ns: f64,
}

/// Rate against the reference.
#[apply(wire)]
pub struct Stable {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: String,
    /// How much faster than the reference it ran, in ppm: over the longest window, or what is usual
    /// among its processes where they differ.
    pub offset_ppm: Option<f64>,
    /// The true figure lies within this of that: what the reads leave uncertain, what parts of the
    /// window differ by, what processes do.
    pub offset_uncertainty_ppm: Option<f64>,
    /// Fresh processes that were asked for the rate besides; absent where a process cannot have a
    /// rate of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_processes: Option<u32>,
    /// The longest window, in seconds.
    pub longest_window_s: Option<f64>,
    /// Allan deviation by length of the window.
    pub allan: Vec<AllanPoint>,
    /// Windows in which it gained more than its resolution and the reading explain.
    pub jumps: u32,
    /// Windows in which it lost more than that.
    pub freezes: u32,
    /// The largest of the jumps, or of the freezes where there is no jump, in nanoseconds.
    pub largest_ns: Option<f64>,
    /// Jumps of more than this, in nanoseconds, would have been seen wherever they fell in the
    /// longest window; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smallest_jump_ns: Option<f64>,
    /// Whether it is known to run on the oscillator of its reference, so that their agreement says
    /// nothing of that.
    pub shares_oscillator: Option<bool>,
}

/// The Allan deviation at one length of the window.
#[apply(wire)]
#[derive(Copy)]
pub struct AllanPoint {
    /// The length of the window, in seconds.
    pub window_s: f64,
    /// The deviation, a pure number.
    pub deviation: f64,
}

/// What a timer counts.
#[apply(wire)]
pub struct Nature {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: String,
    /// What it was found to count.
    pub found: Option<Counted>,
    /// What it claims to count.
    pub claimed: Option<Counted>,
    /// Its advance over that of the reference while the thread computed.
    pub spinning: Option<f64>,
    /// While it slept.
    pub sleeping: Option<f64>,
    /// While it slept beside a busy thread of the same process.
    #[serde(rename = "beside_busy_thread")]
    pub next_to_busy_thread: Option<f64>,
}

/// What is declared against what was found.
#[apply(wire)]
pub struct Declared {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: String,
    /// The declared resolution, or unit where none is declared, in nanoseconds.
    pub resolution_ns: Option<f64>,
    /// The resolution found, over the declared one.
    pub times_coarser: Option<f64>,
}

/// Who answers a read.
#[apply(names)]
pub enum Path {
    /// An instruction, the vDSO, a library: nothing that leaves user mode.
    UserMode = "user-mode",
    /// The kernel.
    SystemCall = "system-call",
    /// The hypervisor, for each instruction that reads the counter.
    Trapped = "trapped",
}

/// On which way a read is answered.
#[apply(wire)]
pub struct ReadPath {
    /// The outcome.
    pub outcome: Outcome,
    /// The evidence in a sentence.
    pub finding: String,
    /// Who answers.
    pub path: Option<Path>,
    /// What an empty system call takes here, in nanoseconds.
    pub system_call_ns: Option<f64>,
    /// What an instruction takes that traps to the hypervisor, in nanoseconds.
    pub trap_ns: Option<f64>,
}
