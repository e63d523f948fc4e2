//! Takes the samples of `watch`: reads the clocks and what kept this thread from running.

use std::path::PathBuf;
use std::time::Duration;

use timers::os::scheduling::RunDelay;
use timers::os::{discipline, signals};
use timers::{ClockReader, Deadline, Unavailable, reader};

use super::super::{CommandResult, failed};
use crate::platform::{Root, clock_source, quota_files, stolen_ns, throttled_ns};
use judgement::watching::ClockSample;

/// The number of readings of all clocks, of which the shortest one is used.
/// *Judgement*: most are not interrupted.
const ATTEMPTS: u32 = 3;
/// Longest sleep, after which the watch checks whether a signal has asked it to end.
/// *Judgement*: nobody notices a shorter delay after Ctrl-C.
const MAX_SLEEP_NS: i64 = 500_000_000;
/// How long a clock that does not move is waited for. *Judgement*: longer than the longest step.
const GRACE: Duration = Duration::from_secs(2);

/// The observed clocks.
pub struct Clocks {
    root: Root,
    monotonic: ClockReader,
    /// BOOTTIME, RAW and REALTIME.
    others: [Option<ClockReader>; 3],
    run_delay: Option<RunDelay>,
    quotas: Vec<PathBuf>,
}

impl Clocks {
    /// Opens the clocks.
    ///
    /// # Errors
    /// When CLOCK_MONOTONIC cannot be read.
    pub fn open(root: Root) -> CommandResult<Self> {
        // Those of the kernel, because a preloaded library may distort those of the C library.
        let open = |id: &str| {
            let ids = [format!("{id}-syscall"), id.to_owned()];
            ids.iter().find_map(|id| reader(id)?.ok())
        };
        let monotonic = open("monotonic");
        Ok(Self {
            monotonic: monotonic.ok_or_else(|| failed("CLOCK_MONOTONIC cannot be read"))?,
            others: ["boottime", "monotonic-raw", "realtime"].map(open),
            run_delay: RunDelay::of_this_thread(),
            quotas: quota_files(&root),
            root,
        })
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
    /// When one of the clocks cannot be read any more, or CLOCK_MONOTONIC stands still.
    pub fn sample(&self, planned: i64) -> Result<ClockSample, Unavailable> {
        /// A multiple of the time after which the clock is not only slow. *Judgement*.
        const MAX_WAITS: i64 = 3;
        let wait_ns = |now: i64| planned.saturating_sub(now).max(0);
        let longest = wait_ns(self.monotonic()?).saturating_mul(MAX_WAITS);
        let limit = Deadline::after(Duration::from_nanos(longest.unsigned_abs()) + GRACE);
        while let wait @ 1.. = wait_ns(self.monotonic()?)
            && signals::end_request().is_none()
        {
            timers::pause(Duration::from_nanos(wait.min(MAX_SLEEP_NS).unsigned_abs()));
            if limit.remaining().is_none() {
                return Err(Unavailable::because("CLOCK_MONOTONIC stands still"));
            }
        }
        let samples: Result<Vec<_>, _> =
            (0..ATTEMPTS).map(|_| self.single_sample(planned)).collect();
        let best = samples?.into_iter().min_by_key(|it| it.duration_ns);
        let mut best = best.unwrap_or_default();
        let waited = self.run_delay.as_ref().and_then(RunDelay::ns);
        best.lost_ns = [Some(throttled_ns(&self.quotas)), None, waited];
        let trim = discipline::trim().ok();
        best.trim_ppm = trim.map(|trim| trim.frequency_ppm() + trim.tick_ppm());
        best.tai_offset_s = trim.map(|trim| trim.tai_offset_s);
        Ok(best)
    }

    /// Reads all clocks once, one immediately after the other.
    fn single_sample(&self, planned: i64) -> Result<ClockSample, Unavailable> {
        let read = |at: usize| {
            let clock = self.others[at].as_ref().map(|read| read());
            clock.transpose().map(|ns| ns.map(|ns| ns as i64))
        };
        let began = self.monotonic()?;
        let raw = read(1)?;
        let monotonic = self.monotonic()?;
        let [boottime, realtime] = [read(0)?, read(2)?];
        Ok(ClockSample {
            planned,
            monotonic,
            boottime,
            raw,
            realtime,
            duration_ns: self.monotonic()? - began,
            ..ClockSample::default()
        })
    }

    /// Adds what takes longer to read to a sample: the clock source and the steal time.
    pub fn complete(&self, sample: &mut ClockSample) {
        sample.lost_ns[1] = stolen_ns(&self.root);
        sample.source = Some(clock_source(&self.root));
    }
}
