//! Watches one measuring process and repeats its disturbed windows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use timers::Answer;
use timers::os::Counters;

use super::{
    CampaignWatch, Disturbance, MAX_ATTEMPTS, MAX_FREQUENCY_CHANGE, MAX_REPEATED_SHARE,
    MAX_REQUEST_DIVISOR, Snapshot, counted_disturbance, is_within, now,
};
use crate::agents::connection::SharedConnection;
use estimators::model::Hertz;
use estimators::statistics::mean;
use estimators::trace::{Observations, Place};
use probe::prober::{CoreState, Watcher};

/// Watches one process of a campaign. Uses the snapshots that the process takes itself if it
/// supports that, otherwise takes them from outside.
pub struct ProcessWatch {
    watch: Rc<RefCell<CampaignWatch>>,
    process: u32,
    /// The connection to the process, if the process takes snapshots itself around its windows.
    self_watching: Option<SharedConnection>,
    /// Number of dropped windows by cause.
    dropped: BTreeMap<String, u32>,
    /// Whether a window was kept although its disturbance makes it unusable.
    is_unusable: bool,
    /// Whether a window with a bearable disturbance is repeated.
    repeats_bearable: bool,
    /// The least width of the core in the last window, if known.
    last_width: Option<f64>,
    /// The least width of the core in the windows that were kept for the current run, if known.
    width: Option<f64>,
    /// Whether nothing is watched, because the processor of a device measures, not a CPU.
    pub is_on_device: bool,
    /// The snapshot after the last window, which also serves as the snapshot before the next one.
    last: Option<Snapshot>,
}

impl ProcessWatch {
    /// Starts to watch a process. `repeats_bearable` says whether windows with a bearable disturbance
    /// are repeated; otherwise they are kept and marked, as in a brief process, one of many.
    pub fn new(
        watch: &Rc<RefCell<CampaignWatch>>,
        connection: &SharedConnection,
        repeats_bearable: bool,
    ) -> Self {
        let reports = connection.borrow_mut().request_thread_states();
        let process = connection.borrow().process();
        Self {
            self_watching: reports.then(|| Rc::clone(connection)),
            repeats_bearable,
            ..Self::from_outside(watch, process)
        }
    }

    /// Starts to watch a process that takes no snapshots itself.
    pub(super) fn from_outside(watch: &Rc<RefCell<CampaignWatch>>, process: u32) -> Self {
        Self {
            watch: Rc::clone(watch),
            process,
            self_watching: None,
            dropped: BTreeMap::new(),
            is_unusable: false,
            repeats_bearable: true,
            last_width: None,
            width: None,
            is_on_device: false,
            last: None,
        }
    }

    /// Moves a process that can be moved, because it watches itself, to a CPU with a free core.
    fn find_free_core(&self) {
        let mut watch = self.watch.borrow_mut();
        let previous = watch.cpu();
        if self.self_watching.is_some() {
            watch.search();
        }
        if let Some(cpu) = watch.cpu().filter(|cpu| previous != Some(*cpu)) {
            timers::move_process(self.process, &[cpu]);
        }
    }

    /// Returns whether to repeat a window of this length in nanoseconds, after so many attempts, and counts
    /// its time.
    fn repeats(&self, disturbance: Disturbance, attempts: u32, length: u64) -> bool {
        let mut watch = self.watch.borrow_mut();
        let is_bearable = disturbance.is_bearable();
        let may_repeat = attempts < MAX_ATTEMPTS
            && match is_bearable {
                true => self.repeats_bearable && watch.has_time(),
                false => is_within(MAX_REPEATED_SHARE, watch.repeated, watch.begun),
            };
        if may_repeat {
            *match is_bearable {
                true => &mut watch.spent,
                false => &mut watch.repeated,
            } += length;
        }
        may_repeat
    }

    /// Asks for `repeat` values in one or more windows and repeats disturbed windows. A window that
    /// was interrupted is repeated with fewer values, because short windows are less likely to be
    /// interrupted.
    ///
    /// # Errors
    /// The errors of the question.
    pub fn gather<T, E>(
        &mut self,
        repeat: u32,
        mut question: impl FnMut(u32) -> Result<Vec<T>, E>,
    ) -> Result<(Vec<T>, CoreState), E> {
        let mut all = Vec::new();
        let (mut frequencies, mut unstable) = (Vec::new(), false);
        let (mut portion, mut attempts) = (repeat, 0);
        while (all.len() as u32) < repeat {
            let count = portion.min(repeat - all.len() as u32);
            let start = now();
            let (answer, core, disturbance) = self.observe_window(|| question(count))?;
            let length = now() - start;
            attempts += 1;
            if let Some(disturbance) = disturbance {
                let is_repeated = self.repeats(disturbance, attempts, length);
                // A runtime with several threads, for example with a garbage collector, switches
                // between its own threads.
                let thread_count = self
                    .last
                    .as_ref()
                    .and_then(|snapshot| Some(snapshot.counters.as_ref()?.cpus.len()));
                let may_be_internal =
                    disturbance == Disturbance::ContextSwitch && thread_count > Some(1);
                let is_usable = disturbance.is_bearable() || may_be_internal;
                if is_repeated || !is_usable {
                    self.count_dropped(disturbance);
                }
                if is_repeated {
                    if !disturbance.is_bearable() {
                        portion = (portion / 3).max(repeat / MAX_REQUEST_DIVISOR).max(1);
                    }
                    continue;
                }
                unstable = true;
                self.is_unusable |= !is_usable;
            } else {
                // The disturbance may be over, so the next window is longer again.
                portion = portion.saturating_mul(2).min(repeat);
            }
            attempts = 0;
            frequencies.extend(core.core_hz.map(|hertz| hertz.0));
            self.keep_width();
            all.extend(answer);
        }
        let core_hz = mean(&frequencies).and_then(Hertz::new);
        Ok((all, CoreState { core_hz, unstable }))
    }

    /// Asks the question in a window, between two snapshots. Returns the answer, the state of the
    /// core, and the disturbance if there was one.
    fn observe_window<T, E>(
        &mut self,
        question: impl FnOnce() -> Result<T, E>,
    ) -> Result<(T, CoreState, Option<Disturbance>), E> {
        if self.is_on_device {
            return Ok((question()?, CoreState::default(), None));
        }
        self.find_free_core();
        let before = match self.last.take() {
            // The process takes its own, closer to the measurement.
            _ if self.self_watching.is_some() => Snapshot::default(),
            last => last.unwrap_or_else(|| self.snapshot()),
        };
        let answer = question()?;
        let (before, after) = self.snapshots_around(before);
        let disturbance = self.disturbance(&before, &after);
        let cores = before.core_frequency.zip(after.core_frequency);
        self.last_width = cores.map(|(before, after)| before.width.min(after.width));
        let core = CoreState {
            core_hz: cores
                .and_then(|(before, after)| Hertz::new(f64::midpoint(before.hertz, after.hertz))),
            unstable: disturbance.is_some(),
        };
        if disturbance == Some(Disturbance::ContextSwitch)
            && self.self_watching.is_some()
            && let Some(cores) = &mut self.watch.borrow_mut().cores
        {
            cores.record_interruption();
        }
        self.last = Some(after);
        Ok((answer, core, disturbance))
    }

    /// Asks for all measurements of a process in one window, and again if it was disturbed so that
    /// they cannot be used. `None` if it always was.
    ///
    /// # Errors
    /// The errors of the question.
    pub fn ask_whole(
        &mut self,
        question: &mut dyn FnMut() -> Answer<Observations>,
    ) -> Answer<Option<(Observations, CoreState)>> {
        for attempt in 1.. {
            let start = now();
            let (answer, core, disturbance) = self.observe_window(&mut *question)?;
            let Some(disturbance) = disturbance.filter(|cause| !cause.is_bearable()) else {
                self.keep_width();
                return Ok(Some((answer, core)));
            };
            self.count_dropped(disturbance);
            if !self.repeats(disturbance, attempt, now() - start) {
                break;
            }
        }
        Ok(None)
    }

    /// Returns where the windows since the last call were measured.
    pub fn place(&mut self) -> Place {
        let place = self.watch.borrow().place(self.width.take());
        let cpu = place.cpu.filter(|_| !self.is_on_device);
        Place { cpu, ..place }
    }

    /// Ends watching. Returns the number of dropped windows by cause, and whether the results of
    /// the process can be used.
    pub fn end(self) -> (BTreeMap<String, u32>, bool) {
        (self.dropped, !self.is_unusable)
    }

    /// Adds the width of the core in the last window, which is kept.
    fn keep_width(&mut self) {
        let widths = [self.width, self.last_width];
        self.width = widths.into_iter().flatten().reduce(f64::min);
    }

    /// Counts a dropped window.
    fn count_dropped(&mut self, disturbance: Disturbance) {
        let name = disturbance.name().to_owned();
        *self.dropped.entry(name).or_default() += 1;
    }

    /// Returns the snapshots before and after a window that has just ended. `before` is the one
    /// that was taken from outside.
    fn snapshots_around(&self, before: Snapshot) -> (Snapshot, Snapshot) {
        let Some(connection) = &self.self_watching else {
            return (before, self.snapshot());
        };
        let Some(around) = connection.borrow_mut().take_thread_states() else {
            return Default::default();
        };
        let mut watch = self.watch.borrow_mut();
        let [before, after] = around.map(|reported| Snapshot {
            counters: Some(Counters {
                switches: reported.switches,
                major_faults: reported.major_faults,
                cpus: vec![reported.cpu],
            }),
            core_frequency: watch.add_sample(reported.core),
        });
        (before, after)
    }

    /// Takes a snapshot of the process from outside.
    fn snapshot(&self) -> Snapshot {
        let mut watch = self.watch.borrow_mut();
        // Reads the counters of the process first, so that the effects of sampling do not count as
        // disturbances.
        let counters = watch.counts.of_process(self.process);
        Snapshot {
            counters,
            core_frequency: watch.sample_core(),
        }
    }

    /// Returns the disturbance that two snapshots show, if any.
    fn disturbance(&self, before: &Snapshot, after: &Snapshot) -> Option<Disturbance> {
        let watch = self.watch.borrow();
        // Snapshots that the process takes itself are so close to the loops that the runner causes
        // no context switches between them.
        let runner_switches = if self.self_watching.is_some() {
            0
        } else {
            watch.runner_switches
        };
        if let (Some(before), Some(after)) = (&before.counters, &after.counters)
            && let Some(disturbance) = counted_disturbance(before, after, runner_switches)
        {
            return Some(disturbance);
        }
        let (before, after) = (before.core_frequency?, after.core_frequency?);
        if watch.is_shared(before) || watch.is_shared(after) {
            return Some(Disturbance::SharedCore);
        }
        ((after.hertz / before.hertz - 1.0).abs() > MAX_FREQUENCY_CHANGE)
            .then_some(Disturbance::FrequencyChange)
    }
}

impl Watcher for ProcessWatch {
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<(Vec<i64>, CoreState)> {
        Self::gather(self, repeat, question)
    }
}
