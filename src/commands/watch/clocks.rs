//! Samples the clocks and the state of the machine for `watch`.

use std::thread;
use std::time::Duration;

use timers::os::{discipline, signals};
use timers::{Family, Reader, reader};

use super::super::{CommandError, failed};
use crate::platform::activity::{self, RunQueueDelay};
use crate::platform::{Root, clock_source};
use crate::watching::{Look, Machine};

/// Largest number of samples taken in a row; the shortest one is used, because interruptions make a
/// sample imprecise.
/// *Judgement*.
const MAX_SAMPLES: u32 = 3;
/// Largest duration of a sample, in nanoseconds, that is not repeated.
/// *Judgement*: ten times the duration of four reads without a system call.
const MAX_SAMPLE_NS: i64 = 5_000;
/// Delay of a sample, in nanoseconds, from which the watch waits for a pending SIGCONT before it
/// continues. *Judgement*: half a period, and some time slices of a scheduler.
const MIN_LATE_NS: i64 = 50_000_000;
const SIGNAL_DELAY: Duration = Duration::from_millis(20);

/// The observed clocks.
pub(super) struct Clocks {
    root: Root,
    monotonic: Reader,
    boottime: Option<Reader>,
    raw: Option<Reader>,
    realtime: Option<Reader>,
    counter: Option<(&'static str, Reader)>,
    cpu_time: Option<Reader>,
    run_queue: RunQueueDelay,
    unread: Vec<String>,
}

impl Clocks {
    /// Opens the clocks.
    ///
    /// # Errors
    /// When CLOCK_MONOTONIC cannot be read.
    pub(super) fn open(root: Root) -> Result<Self, CommandError> {
        let mut unread = Vec::new();
        let mut open = |id: &str| match reader(id) {
            Some(Ok(read)) => Some(read),
            _ => {
                unread.push(id.to_owned());
                None
            }
        };
        let monotonic = open("monotonic").ok_or_else(|| {
            failed("CLOCK_MONOTONIC cannot be read here, by which all events are dated")
        })?;
        let [boottime, raw, realtime] = ["boottime", "monotonic-raw", "realtime"].map(&mut open);
        // The first counter that the processor has.
        let counters = timers::catalogue()
            .iter()
            .filter(|entry| entry.info.properties.family == Some(Family::CpuCounter));
        let counter = counters
            .map(|entry| entry.info.id)
            .find_map(|id| Some((id, reader(id)?.ok()?)));
        let cpu_time = reader("process-cputime").and_then(Result::ok);
        let run_queue = RunQueueDelay::of_this_thread(&root);
        Ok(Self {
            root,
            run_queue,
            monotonic,
            boottime,
            raw,
            realtime,
            counter,
            cpu_time,
            unread,
        })
    }

    /// Ids of the clocks that cannot be read.
    pub(super) fn unread(&self) -> &[String] {
        &self.unread
    }

    /// Id of the counter of the CPU.
    pub(super) fn counter_id(&self) -> Option<&'static str> {
        self.counter.as_ref().map(|(id, _)| *id)
    }

    /// CPU time of this process in seconds.
    pub(super) fn cpu_time_s(&self) -> Option<f64> {
        self.cpu_time.as_ref().map(|read| read() as f64 / 1e9)
    }

    pub(super) fn monotonic(&self) -> i64 {
        (self.monotonic)() as i64
    }

    /// Samples all clocks, one right after the other. `planned` is the planned time in nanoseconds.
    pub(super) fn look(&self, planned: i64) -> Look {
        let mut best = self.once(planned);
        for _ in 1..MAX_SAMPLES {
            if best.took <= MAX_SAMPLE_NS {
                break;
            }
            let again = self.once(planned);
            if again.took < best.took {
                best = again;
            }
        }
        // After a stop, SIGCONT may be delivered to another thread, which a busy machine runs later
        // than this one.
        if best.monotonic - planned > MIN_LATE_NS {
            thread::sleep(SIGNAL_DELAY);
        }
        best.continued = signals::continued();
        best.waited = self.run_queue.ns();
        let trim = discipline::trim().ok();
        best.trim_ppm = trim.map(|trim| trim.frequency_ppm() + trim.tick_ppm());
        best.tai_offset_s = trim.map(|trim| trim.tai_offset_s);
        best
    }

    fn once(&self, planned: i64) -> Look {
        let began = self.monotonic();
        let raw = self.raw.as_ref().map(|read| read() as i64);
        let counter = self.counter.as_ref().map(|(_, read)| read());
        let monotonic = self.monotonic();
        let boottime = self.boottime.as_ref().map(|read| read() as i64);
        let realtime = self.realtime.as_ref().map(|read| read() as i64);
        let took = self.monotonic() - began;
        Look {
            planned,
            monotonic,
            boottime,
            raw,
            realtime,
            counter,
            took,
            ..Look::default()
        }
    }

    /// Samples the state of the machine.
    pub(super) fn machine(&self) -> Machine {
        let counted = activity::activity(&self.root);
        let source = clock_source(&self.root);
        Machine {
            source: source.current,
            sources: source.available,
            interrupts: counted.interrupts,
            stolen_ns: counted.stolen_ns,
            rtc_s: activity::rtc_s(&self.root),
        }
    }
}
