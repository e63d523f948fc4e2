//! The side that watches: whether a window of measurement was disturbed.
//!
//! The side that measures does the bare minimum (Caliper); so the runner looks at the process from outside, before a
//! question and after its answer. A window that was disturbed is dropped and taken again, within limits.

mod core;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use timers::os::Counters;
use timers::os::counters::Counts;
use timers::{Answer, CoreFrequency};

use crate::analysis::statistics::mean;
use crate::trace::Run;

use self::core::Core;

/// What disturbs a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disturbance {
    /// The process had to give way to another one.
    ContextSwitch,
    /// A thread moved to another CPU.
    Migration,
    /// A page had to be fetched from a disk.
    MajorFault,
    /// The core changed its frequency.
    FrequencyChange,
    /// The core ran another thread beside this one, of this machine or of another guest.
    SharedCore,
    /// A hypervisor took the CPU away.
    StolenTime,
}

impl Disturbance {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ContextSwitch => "context-switch",
            Self::Migration => "migration",
            Self::MajorFault => "major-fault",
            Self::FrequencyChange => "frequency-change",
            Self::SharedCore => "shared-core",
            Self::StolenTime => "stolen-time",
        }
    }

    /// Whether what was measured in such a window can be kept when there is none better: the timer was measured, though
    /// not by a core of its own or of one frequency.
    #[must_use]
    pub fn is_bearable(self) -> bool {
        matches!(self, Self::FrequencyChange | Self::SharedCore)
    }
}

/// Frequencies before and after a window that differ by more than this share are a change.
pub const STEADY: f64 = 0.015;
/// How often a window is taken at most.
const MOST_TRIES: u32 = 5;
/// Windows that a process may have dropped.
const MOST_DROPPED: u32 = 40;
/// The shortest window is this part of the whole.
const SHORTEST_PORTION: u32 = 30;
/// How many more windows of a campaign may be dropped for something bearable, for each one that is asked for: what bounds
/// the time that a busy neighbour may cost.
const CREDIT: f64 = 0.7;
/// How long one waits for a shared core, at a time.
const PAUSE: Duration = Duration::from_micros(500);
/// How often, before a window.
const MOST_PAUSES: u32 = 12;

/// What a campaign watches with.
pub struct Watch {
    counts: Counts,
    cpu: Option<u32>,
    core: Option<Core>,
    /// Context switches that the runner itself causes, as where it shares the only CPU.
    own_switches: u64,
    patience: Duration,
    credit: f64,
    frequencies: Vec<f64>,
}

impl Watch {
    /// Watches what is measured on `cpu`. `apart` says that the runner keeps off it; `patience` is how long all waits for a
    /// shared core may take together.
    #[must_use]
    pub fn new(cpu: Option<u32>, apart: bool, patience: Duration) -> Rc<RefCell<Self>> {
        Rc::new(RefCell::new(Self {
            counts: Counts::of_system(),
            cpu,
            core: cpu.and_then(Core::of),
            own_switches: u64::from(!apart),
            patience,
            credit: 0.0,
            frequencies: Vec::new(),
        }))
    }

    /// All frequencies of the core that were seen.
    #[must_use]
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// Whether another window may be dropped for something bearable.
    fn spend(&mut self) -> bool {
        let may = self.credit >= 1.0;
        self.credit -= f64::from(u8::from(may));
        may
    }

    fn look(&mut self) -> Option<CoreFrequency> {
        let core_frequency = self.core.as_mut()?.look();
        self.frequencies.extend(core_frequency.map(|core_frequency| core_frequency.hertz));
        core_frequency
    }

    /// A look at a core that nobody shares, if patience brings that about.
    fn calm(&mut self) -> Option<CoreFrequency> {
        let mut core_frequency = self.look()?;
        for _ in 0..MOST_PAUSES {
            if !self.core.as_ref().is_some_and(|core| core.is_shared(core_frequency)) || self.patience < PAUSE
            {
                break;
            }
            self.patience -= PAUSE;
            thread::sleep(PAUSE);
            core_frequency = self.look()?;
        }
        Some(core_frequency)
    }
}

/// What was seen of the core during a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Its frequency in hertz, where that is known.
    pub core_hz: Option<f64>,
    /// Whether the window was disturbed, and no better one could be had.
    pub unstable: bool,
}

/// What is known of a process and of its core at one moment.
#[derive(Clone, Debug, Default)]
struct Look {
    counters: Option<Counters>,
    core_frequency: Option<CoreFrequency>,
}

/// What windows that were watched gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    /// The answers that count.
    pub values: Vec<i64>,
    /// What was seen of the core meanwhile.
    pub seen: Seen,
    /// Answers that were dropped.
    pub dropped: Vec<Vec<i64>>,
}

/// Who sees whether a window of measurement was disturbed, and asks again.
pub trait Watcher {
    /// Asks for `repeat` values, in windows that nothing disturbed as far as that can be had.
    ///
    /// # Errors
    /// As the question.
    fn gather(&mut self, repeat: u32, question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>) -> Answer<Gathered>;

    /// Asks several questions, all in one window that nothing disturbed as far as that can be had.
    ///
    /// # Errors
    /// As the questions.
    fn around(&mut self, questions: &mut dyn FnMut() -> Answer<Run>) -> Answer<(Run, Seen)>;

    /// Ends watching: windows that were dropped, by reason, and whether enough of the others were not disturbed.
    fn end(self: Box<Self>) -> (BTreeMap<String, u32>, bool);
}

impl Watcher for ProcessWatch {
    fn gather(&mut self, repeat: u32, question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>) -> Answer<Gathered> {
        let mut answers = Vec::new();
        let (values, seen) = Self::gather(self, repeat, |repeat| {
            let answer = question(repeat)?;
            answers.push(answer.clone());
            Ok(answer)
        })?;
        // Those that count are in the values, one after the other.
        let mut rest = values.as_slice();
        answers.retain(|answer| match rest.strip_prefix(answer.as_slice()) {
            Some(others) => {
                rest = others;
                false
            }
            None => true,
        });
        Ok(Gathered { values, seen, dropped: answers })
    }

    fn around(&mut self, questions: &mut dyn FnMut() -> Answer<Run>) -> Answer<(Run, Seen)> {
        let (mut runs, seen) = Self::gather(self, 1, |_| questions().map(|run| vec![run]))?;
        Ok((runs.pop().unwrap_or_default(), seen))
    }

    fn end(self: Box<Self>) -> (BTreeMap<String, u32>, bool) {
        Self::end(*self)
    }
}

/// Watches one process of a campaign.
pub struct ProcessWatch {
    watch: Rc<RefCell<Watch>>,
    process: u32,
    stolen_before: Option<u64>,
    dropped: BTreeMap<Disturbance, u32>,
    discarded: bool,
    /// Whether a window is taken again for something bearable.
    patient: bool,
    /// The look after the last window, which is also that before the next one.
    last: Option<Look>,
}

impl ProcessWatch {
    /// Begins to watch a process.
    #[must_use]
    pub fn of(watch: &Rc<RefCell<Watch>>, process: u32) -> Self {
        let stolen_before = {
            let watch = watch.borrow();
            watch.cpu.and_then(|cpu| watch.counts.stolen(cpu))
        };
        Self {
            watch: Rc::clone(watch),
            process,
            stolen_before,
            dropped: BTreeMap::new(),
            discarded: false,
            patient: true,
            last: None,
        }
    }

    /// The same, of a process that is one of many: what is bearable is kept and marked.
    #[must_use]
    pub fn of_one_of_many(watch: &Rc<RefCell<Watch>>, process: u32) -> Self {
        Self { patient: false, ..Self::of(watch, process) }
    }

    /// Asks for `repeat` values and watches meanwhile; asks again while the window was disturbed, and for fewer at a time where
    /// something else ran in between, as short windows slip through where long ones do not.
    ///
    /// # Errors
    /// As the question.
    pub fn gather<T, E>(
        &mut self,
        repeat: u32,
        mut question: impl FnMut(u32) -> Result<Vec<T>, E>,
    ) -> Result<(Vec<T>, Seen), E> {
        let mut all: Vec<T> = Vec::new();
        let (mut frequencies, mut unstable) = (Vec::new(), false);
        let (mut portion, mut tries) = (repeat, 0);
        self.watch.borrow_mut().credit += if self.patient { CREDIT } else { 0.0 };
        while (all.len() as u32) < repeat {
            let before = self.before();
            let answer = question(portion.min(repeat - all.len() as u32))?;
            let after = self.look();
            let core_hz = hertz(&before, &after);
            let disturbance = self.compare(&before, &after);
            self.last = Some(after);
            tries += 1;
            if let Some(disturbance) = disturbance {
                let dropped: u32 = self.dropped.values().sum();
                let again = tries < MOST_TRIES
                    && dropped < MOST_DROPPED
                    && (!disturbance.is_bearable() || (self.patient && self.watch.borrow_mut().spend()));
                // A runtime with threads of its own, as one that collects garbage, gives way to itself.
                let threads = self.last.as_ref().and_then(|look| Some(look.counters.as_ref()?.cpus.len()));
                let own = disturbance == Disturbance::ContextSwitch && threads > Some(1);
                let kept = disturbance.is_bearable() || own;
                if again || !kept {
                    *self.dropped.entry(disturbance).or_default() += 1;
                }
                if again {
                    let shorter = if disturbance.is_bearable() { portion } else { portion / 3 };
                    portion = shorter.max(repeat / SHORTEST_PORTION).max(1);
                    continue;
                }
                unstable = true;
                self.discarded |= !kept;
            }
            tries = 0;
            frequencies.extend(core_hz);
            all.extend(answer);
        }
        Ok((all, Seen { core_hz: mean(&frequencies), unstable }))
    }

    /// Ends watching: windows that were dropped, by reason, and whether enough of the others were not disturbed.
    #[must_use]
    pub fn end(mut self) -> (BTreeMap<String, u32>, bool) {
        /// Stolen time is counted in 10 ms; this much in a process of some 50 ms means that it lost the CPU.
        const MOST_STOLEN: u64 = 1;
        let watch = self.watch.borrow();
        let now = watch.cpu.and_then(|cpu| watch.counts.stolen(cpu));
        let taken = now.zip(self.stolen_before).map_or(0, |(now, before)| now.saturating_sub(before));
        if taken > MOST_STOLEN {
            *self.dropped.entry(Disturbance::StolenTime).or_default() += 1;
            self.discarded = true;
        }
        let by_name =
            self.dropped.iter().map(|(disturbance, &count)| (disturbance.name().to_owned(), count)).collect();
        (by_name, !self.discarded)
    }

    /// A look at a process that is about to measure, on a core that nobody shares if patience brings that about.
    fn before(&mut self) -> Look {
        if let Some(last) = self.last.take() {
            let watch = self.watch.borrow();
            let shared =
                |core_frequency| watch.core.as_ref().is_some_and(|core| core.is_shared(core_frequency));
            if !last.core_frequency.is_some_and(shared) {
                return last;
            }
        }
        let mut watch = self.watch.borrow_mut();
        let core_frequency = watch.calm();
        Look { counters: watch.counts.of_process(self.process), core_frequency }
    }

    fn look(&self) -> Look {
        let mut watch = self.watch.borrow_mut();
        // First the process, so that what the looks themselves cause does not count.
        let counters = watch.counts.of_process(self.process);
        Look { counters, core_frequency: watch.look() }
    }

    fn compare(&self, before: &Look, after: &Look) -> Option<Disturbance> {
        let watch = self.watch.borrow();
        if let (Some(before), Some(after)) = (&before.counters, &after.counters)
            && let Some(disturbance) = counted(before, after, watch.own_switches)
        {
            return Some(disturbance);
        }
        let (before, after) = (before.core_frequency?, after.core_frequency?);
        let core = watch.core.as_ref()?;
        if core.is_shared(before) || core.is_shared(after) {
            return Some(Disturbance::SharedCore);
        }
        ((after.hertz / before.hertz - 1.0).abs() > STEADY).then_some(Disturbance::FrequencyChange)
    }
}

/// What the counters say of a window: what grew by more than `own_switches`, or moved, disturbed it.
#[must_use]
pub fn counted(before: &Counters, after: &Counters, own_switches: u64) -> Option<Disturbance> {
    if after.switches > before.switches + own_switches {
        Some(Disturbance::ContextSwitch)
    } else if before.cpus.len() == after.cpus.len() && before.cpus != after.cpus {
        Some(Disturbance::Migration)
    } else if after.major_faults > before.major_faults {
        Some(Disturbance::MajorFault)
    } else {
        None
    }
}

fn hertz(before: &Look, after: &Look) -> Option<f64> {
    Some(f64::midpoint(before.core_frequency?.hertz, after.core_frequency?.hertz))
}

#[cfg(test)]
mod tests;
