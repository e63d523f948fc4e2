//! Watches one measuring process and repeats its disturbed windows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use timers::Answer;
use timers::os::Counters;

use super::{
    CampaignWatch, Disturbance, MAX_ATTEMPTS, MAX_DROPPED_WINDOWS, MAX_FREQUENCY_CHANGE,
    MAX_REQUEST_DIVISOR, Snapshot, counted_disturbance, now,
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
    /// The steal time of the CPU when the process came to it, in ticks of 10 ms.
    steal_ticks_at_start: Option<u64>,
    /// The time that was stolen on earlier CPUs, in ticks of 10 ms.
    stolen_ticks: u64,
    /// Number of dropped windows by cause.
    dropped: BTreeMap<String, u32>,
    /// Whether a window was kept although its disturbance makes it unusable.
    is_unusable: bool,
    /// Whether a window with a bearable disturbance is repeated.
    repeats_bearable: bool,
    /// Whether the process waits for a free core. Otherwise it uses one that is free now.
    waits: bool,
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
    /// are repeated; otherwise they are kept and marked, as in a brief process, one of many. `waits`
    /// says whether it waits for a free core.
    pub fn new(
        watch: &Rc<RefCell<CampaignWatch>>,
        connection: &SharedConnection,
        repeats_bearable: bool,
        waits: bool,
    ) -> Self {
        let reports = connection.borrow_mut().request_thread_states();
        let process = connection.borrow().process();
        Self {
            self_watching: reports.then(|| Rc::clone(connection)),
            repeats_bearable,
            waits,
            ..Self::from_outside(watch, process)
        }
    }

    /// Starts to watch a process that takes no snapshots itself.
    pub(super) fn from_outside(watch: &Rc<RefCell<CampaignWatch>>, process: u32) -> Self {
        Self {
            watch: Rc::clone(watch),
            process,
            self_watching: None,
            steal_ticks_at_start: watch.borrow().steal_ticks(),
            stolen_ticks: 0,
            dropped: BTreeMap::new(),
            is_unusable: false,
            repeats_bearable: true,
            waits: true,
            last_width: None,
            width: None,
            is_on_device: false,
            last: None,
        }
    }

    /// Returns whether a window with a bearable disturbance may be repeated now: whether there is
    /// time for it and the process is on a free core, after a search.
    pub fn may_repeat(&mut self) -> bool {
        self.watch.borrow().has_time() && self.find_free_core()
    }

    /// Moves the process to a CPU with a free core, if it is allowed to move, and returns whether it
    /// is on one.
    pub fn find_free_core(&mut self) -> bool {
        let mut watch = self.watch.borrow_mut();
        let previous = watch.cpu();
        let is_free = watch.search(self.self_watching.is_none(), self.waits);
        if let Some(cpu) = watch.cpu()
            && let Some(previous) = previous.filter(|previous| *previous != cpu)
        {
            let ticks = watch.counts.steal_ticks(previous);
            self.stolen_ticks += difference(self.steal_ticks_at_start, ticks);
            self.steal_ticks_at_start = watch.steal_ticks();
            timers::move_process(self.process, &[cpu]);
        }
        is_free
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
                let dropped: u32 = self.dropped.values().sum();
                let is_repeated = attempts < MAX_ATTEMPTS
                    && dropped < MAX_DROPPED_WINDOWS
                    && (!disturbance.is_bearable() || (self.repeats_bearable && self.may_repeat()));
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
                    let next_portion = if disturbance.is_bearable() {
                        self.watch.borrow_mut().spent += length;
                        portion
                    } else {
                        portion / 3
                    };
                    portion = next_portion.max(repeat / MAX_REQUEST_DIVISOR).max(1);
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
        let before = self.snapshot_before();
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

    /// Ends watching. Returns the number of dropped windows by cause, and whether the results of
    /// the process can be used.
    pub fn end(mut self) -> (BTreeMap<String, u32>, bool) {
        /// Steal time that is tolerated, in ticks of 10 ms: more in a process of some 50 ms means
        /// that it lost the CPU. *Definition*.
        const MAX_STEAL_TICKS: u64 = 1;
        let now = self.watch.borrow().steal_ticks();
        let stolen = self.stolen_ticks + difference(self.steal_ticks_at_start, now);
        if stolen > MAX_STEAL_TICKS && !self.is_on_device {
            self.count_dropped(Disturbance::StolenTime);
            self.is_unusable = true;
        }
        (std::mem::take(&mut self.dropped), !self.is_unusable)
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

    /// Takes a snapshot before a window, after the search for a free core. Returns an empty
    /// snapshot if the process takes its own, closer to the measurement.
    fn snapshot_before(&mut self) -> Snapshot {
        let last = self.last.take();
        let is_free = self.find_free_core();
        match last {
            _ if self.self_watching.is_some() => Snapshot::default(),
            Some(last) if is_free || last.core_frequency.is_none() => last,
            _ => self.snapshot(),
        }
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

    fn ask_whole(
        &mut self,
        question: &mut dyn FnMut() -> Answer<Observations>,
    ) -> Answer<Option<(Observations, CoreState)>> {
        for _ in 0..MAX_ATTEMPTS {
            let (run, core, disturbance) = self.observe_window(&mut *question)?;
            match disturbance.filter(|cause| !cause.is_bearable()) {
                Some(disturbance) => self.count_dropped(disturbance),
                None => {
                    self.keep_width();
                    return Ok(Some((run, core)));
                }
            }
        }
        Ok(None)
    }

    fn place(&mut self) -> Option<Place> {
        let place = self.watch.borrow().place(self.width.take());
        let cpu = place.cpu.filter(|_| !self.is_on_device);
        Some(Place { cpu, ..place })
    }
}

/// Returns the difference of two counts; 0 if one is unknown.
fn difference(before: Option<u64>, after: Option<u64>) -> u64 {
    after
        .zip(before)
        .map_or(0, |(after, before)| after.saturating_sub(before))
}
