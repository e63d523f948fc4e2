//! What follows from a whole report: which clocks can be trusted, which is wrong and who proves it,
//! what disturbed the measurement, and which clock to use. `judgement::assess` makes it, once;
//! everything that prints reads it.

use super::{Counted, Finding, Question};

/// Whether a clock can be trusted.
#[apply(names)]
pub enum Answer {
    /// Nothing speaks against it.
    Yes = "yes",
    /// Something that matters was not tested, or may be wrong.
    Open = "?",
    /// It is wrong.
    No = "no",
}

/// A warning about a clock that can be trusted.
#[apply(names)]
pub enum Caution {
    /// It jumps when the time of day is set.
    Settable = "settable",
    /// It stands still while the program sleeps or waits.
    CpuTime = "CPU time",
    /// No cycles pass while the thread sleeps.
    CpuCycles = "CPU cycles",
    /// The processor may read it earlier or later than written.
    Unordered = "fenced",
}

impl Caution {
    /// The warning about a clock that counts this, apart from whether it can be set.
    pub fn of(counts: Counted) -> Option<Self> {
        match counts {
            Counted::ProcessCpu | Counted::ThreadCpu => Some(Self::CpuTime),
            Counted::ThreadCycles => Some(Self::CpuCycles),
            Counted::Wall | Counted::SomethingElse => None,
        }
    }

    /// What it means for a duration.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Settable => "it jumps when the time of day is set",
            Self::CpuTime => "it stands still while the program sleeps or waits",
            Self::CpuCycles => "no cycles pass while the thread sleeps",
            Self::Unordered => {
                "the processor may read it earlier or later than written: put a fence before each read"
            }
        }
    }
}

/// A kind of defect.
#[apply(names)]
pub enum DefectKind {
    /// It runs too fast or too slowly.
    Rate = "rate",
    /// It jumps forward, or stands still.
    Jumps = "jumps",
    /// It steps backwards within a thread.
    StepsBack = "steps back",
    /// Its readings on two CPUs, or in two threads, contradict each other.
    CpusDiffer = "CPUs differ",
    /// It is ahead or behind.
    Offset = "offset",
    /// It does not count what it declares.
    Counts = "counts",
}

impl DefectKind {
    /// The question that a clock with this defect fails.
    pub fn question(self) -> Question {
        match self {
            Self::Rate | Self::Jumps | Self::Offset => Question::Stable,
            Self::StepsBack => Question::Monotonic,
            Self::CpusDiffer => Question::ThreadSafe,
            Self::Counts => Question::Counts,
        }
    }
}

/// What is wrong with a clock.
#[apply(wire, Copy)]
pub struct Defect {
    /// The kind.
    pub kind: DefectKind,
    /// The size of the largest: of a rate in ppm, positive if the clock is fast, otherwise in
    /// nanoseconds, negative if it is behind. Null if unknown.
    pub size: Option<f64>,
}

/// Whether a clock can be trusted, and why not.
#[apply(wire)]
pub struct Trust {
    /// The answer.
    pub answer: Answer,
    /// The question that was not tested although it matters; null if the answer is not `?`.
    pub open: Option<Question>,
    /// The defect, if the answer is `no`.
    pub defect: Option<Defect>,
    /// The part that is wrong, or may be, if another clock shows it; null if the clock itself does.
    pub part: Option<String>,
    /// A warning, whatever the answer.
    pub caution: Option<Caution>,
}

/// A part that is wrong, and who proves it.
#[apply(wire)]
pub struct Wrong {
    /// The part in words; several if nothing shows which of them is wrong.
    pub parts: Vec<String>,
    /// What is wrong.
    pub defect: Defect,
    /// Ids of the clocks that showed it, the best first.
    pub clocks: Vec<String>,
    /// Clocks that agree with each other and lack the part, in words.
    pub witnesses: Vec<String>,
    /// The cause; null if unknown.
    pub cause: Option<String>,
}

/// Whether programs can rely on the portable clock of a machine, CLOCK_MONOTONIC: it is not known to be
/// wrong, its clock source can be read in user mode, and is, in less than 100 ns.
#[apply(names)]
#[derive(Default, PartialOrd, Ord)]
pub enum Fit {
    /// They cannot.
    No = "no",
    /// The report does not show it.
    #[default]
    Unknown = "unknown",
    /// They can.
    Yes = "yes",
}

/// What follows from a report.
#[apply(wire, Default)]
#[serde(default)]
pub struct Assessment {
    /// Whether the portable clock is fit.
    pub fit: Fit,
    /// Why it is not, or why that is unknown; empty if it is.
    pub fit_reason: String,
    /// What is wrong with the clocks of the machine: first what comparisons with system calls show.
    pub wrong: Vec<Wrong>,
    /// Whether the machine was quiet; null if it does not report its load.
    pub quiet: Option<bool>,
    /// What disturbed the machine while it was measured, the worst first; empty if nothing did as far
    /// as known.
    pub busy: Vec<Finding>,
    /// The id of the native clock to time operations with; null if none can be recommended.
    pub to_time: Option<String>,
    /// The id of the native clock with the cheapest read, if it is not `to_time`.
    pub cheapest: Option<String>,
    /// The ids of the clocks to time operations with in other runtimes, one for each runtime.
    pub hosted: Vec<String>,
}

impl Assessment {
    /// The id of the clock to time operations with: a native one, or else that of a runtime.
    pub fn recommended(&self) -> Option<&str> {
        let id = self.to_time.as_ref().or(self.hosted.first())?;
        Some(id)
    }
}
