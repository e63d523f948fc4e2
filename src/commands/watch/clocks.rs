//! Takes the samples of `watch`: reads the clocks and the state of the machine.

use std::time::Duration;

use timers::os::counters::CounterSource;
use timers::os::scheduling::RunDelay;
use timers::os::{discipline, signals};
use timers::{ClockReader, Family, Unavailable, reader};

use super::super::{CommandResult, failed};
use crate::hosts::children::with_remedy;
use crate::platform::activity;
use crate::platform::{Root, Throttling, clock_source, vmclock};
use crate::watching::{ClockSample, MachineState};

/// Largest number of attempts at a sample. The attempt that took the shortest time is used, because
/// an interruption makes a sample imprecise.
/// *Judgement*: most samples are not interrupted.
const MAX_ATTEMPTS: u32 = 3;
/// Largest duration, in nanoseconds, of a sample that is not attempted again.
/// *Judgement*: several times the duration of six clock reads without a system call.
const MAX_SAMPLE_NS: i64 = 5_000;
/// Smallest delay of a sample, in nanoseconds, after which the watch waits for a pending SIGCONT,
/// which delays the next sample.
/// *Judgement*: half of the default period, and several time slices of a scheduler.
const MIN_LATE_NS: i64 = 50_000_000;
/// Smallest delay of a sample, in nanoseconds, after which the watch reads whether its process was
/// moved to another control group.
/// *Judgement*: half of the shortest pause that is reported by default.
const MIN_MOVED_NS: i64 = 10_000_000;
/// Longest sleep, after which the watch checks whether a signal has asked it to end.
/// *Judgement*: nobody notices a shorter delay after Ctrl-C.
const MAX_SLEEP_NS: i64 = 500_000_000;
/// Longest time, in nanoseconds, from a sample to the end of a reading of the RTC that is compared
/// with it.
/// *Judgement*: small compared with the step of the RTC.
const MAX_RTC_DELAY_NS: i64 = 50_000_000;
/// Time to wait for a pending SIGCONT.
/// *Judgement*: several time slices of a scheduler.
const CONTINUATION_WAIT: Duration = Duration::from_millis(20);

/// The observed clocks.
pub struct Clocks {
    root: Root,
    monotonic: ClockReader,
    boottime: Option<ClockReader>,
    raw: Option<ClockReader>,
    realtime: Option<ClockReader>,
    /// The CPU counter with its id, if there is one.
    pub counter: Option<(&'static str, ClockReader)>,
    cpu_time: Option<ClockReader>,
    run_queue: Option<RunDelay>,
    throttling: Throttling,
    /// The ids of the clocks that cannot be read.
    pub unreadable: Vec<String>,
}

impl Clocks {
    /// Opens the clocks.
    ///
    /// # Errors
    /// When CLOCK_MONOTONIC cannot be read.
    pub fn open(root: Root) -> CommandResult<Self> {
        let mut unreadable = Vec::new();
        let mut open = |id: &str| {
            let unknown = || Err(Unavailable::elsewhere("there is no such clock"));
            let opened = reader(id).unwrap_or_else(unknown);
            opened.inspect_err(|_| unreadable.push(id.to_owned()))
        };
        let monotonic = open("monotonic").map_err(|why| {
            failed(format!(
                "no event could be given a time: {}",
                with_remedy(&why)
            ))
        })?;
        let [boottime, raw, realtime] =
            ["boottime", "monotonic-raw", "realtime"].map(|id| open(id).ok());
        // The first counter in the catalogue that the processor has.
        let counters = timers::catalogue()
            .iter()
            .filter(|entry| entry.info.properties.family == Some(Family::CpuCounter));
        let counter = counters
            .map(|entry| entry.info.id)
            .find_map(|id| Some((id, reader(id)?.ok()?)));
        let cpu_time = reader("process-cputime").and_then(Result::ok);
        let mut throttling = Throttling::default();
        throttling.refresh(&root);
        Ok(Self {
            throttling,
            root,
            run_queue: RunDelay::of_this_thread(),
            monotonic,
            boottime,
            raw,
            realtime,
            counter,
            cpu_time,
            unreadable,
        })
    }

    /// The CPU time of this process in seconds; `None` if it cannot be read.
    pub fn cpu_time_s(&self) -> Option<f64> {
        Some(self.cpu_time.as_ref()?().ok()? as f64 / 1e9)
    }

    /// The time of CLOCK_MONOTONIC in nanoseconds.
    ///
    /// # Errors
    /// When the clock cannot be read any more.
    pub fn monotonic(&self) -> Result<i64, Unavailable> {
        Ok((self.monotonic)()? as i64)
    }

    /// Sleeps until `planned`, in nanoseconds of CLOCK_MONOTONIC, or until a signal asks the watch
    /// to end, and takes a sample of all clocks.
    ///
    /// # Errors
    /// When one of the clocks cannot be read any more.
    pub fn sample(&mut self, planned: i64) -> Result<ClockSample, Unavailable> {
        let mut sleeps_before = None;
        while let wait @ 1.. = planned.saturating_sub(self.monotonic()?)
            && signals::end_request().is_none()
        {
            sleeps_before = CounterSource::sleeps_of_this_thread();
            timers::pause(Duration::from_nanos(wait.min(MAX_SLEEP_NS).unsigned_abs()));
        }
        let mut best = self.single_sample(planned)?;
        for _ in 1..MAX_ATTEMPTS {
            if best.duration_ns <= MAX_SAMPLE_NS {
                break;
            }
            let again = self.single_sample(planned)?;
            if again.duration_ns < best.duration_ns {
                best = again;
            }
        }
        // Read at once: a quota may stop this thread during what follows, which delays the next sample.
        best.throttled_ns = Some(self.throttling.count());
        best.run_queue_ns = self.run_queue.as_ref().and_then(RunDelay::ns);
        // One voluntary context switch: the thread slept once and was not stopped. Unknown if a group
        // outside this container may have stopped it.
        best.slept_through = CounterSource::sleeps_of_this_thread()
            .zip(sleeps_before)
            .map(|(now, before)| now.wrapping_sub(before) == 1)
            .filter(|_| !self.throttling.may_be_hidden);
        if best.monotonic - planned > MIN_MOVED_NS && self.throttling.refresh(&self.root) {
            // The process was moved to other control groups, which may have stopped it.
            best.slept_through = None;
        }
        // If the process was stopped, SIGCONT may be delivered to another thread, which a busy
        // machine may run later than this one.
        if best.monotonic - planned > MIN_LATE_NS {
            timers::pause(CONTINUATION_WAIT);
        }
        best.continued = signals::was_continued();
        let trim = discipline::trim().ok();
        best.trim_ppm = trim.map(|trim| trim.frequency_ppm() + trim.tick_ppm());
        best.tai_offset_s = trim.map(|trim| trim.tai_offset_s);
        Ok(best)
    }

    /// Reads all clocks once, one immediately after the other.
    fn single_sample(&self, planned: i64) -> Result<ClockSample, Unavailable> {
        let read = |clock: &Option<ClockReader>| clock.as_ref().map(|read| read()).transpose();
        let began = self.monotonic()?;
        let raw = read(&self.raw)?;
        let counter = self.counter.as_ref().map(|(_, read)| read()).transpose()?;
        let monotonic = self.monotonic()?;
        let [boottime, realtime] = [read(&self.boottime)?, read(&self.realtime)?];
        let duration_ns = self.monotonic()? - began;
        let signed = |ns: Option<u64>| ns.map(|ns| ns as i64);
        Ok(ClockSample {
            planned,
            monotonic,
            boottime: signed(boottime),
            raw: signed(raw),
            realtime: signed(realtime),
            counter,
            duration_ns,
            ..ClockSample::default()
        })
    }

    /// Reads the state of the machine after a sample that was taken at this time of CLOCK_MONOTONIC.
    pub fn machine(&mut self, sampled: i64) -> MachineState {
        let rtc_s = activity::rtc_s(&self.root);
        let is_late = (self.monotonic()).map_or(true, |now| now - sampled > MAX_RTC_DELAY_NS);
        self.throttling.refresh(&self.root);
        let activity = activity::machine_counts(&self.root);
        let source = clock_source(&self.root);
        MachineState {
            source: source.current,
            sources: source.available,
            interrupts: activity.interrupts,
            stolen_ns: activity.stolen_ns,
            rtc_s: rtc_s.filter(|_| !is_late),
            synchronised: discipline::discipline()
                .ok()
                .map(|state| state.synchronised),
            vmclock: vmclock(&self.root),
        }
    }
}
