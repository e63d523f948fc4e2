//! Compares the readings of the C library's clocks with those of the system calls.

use std::time::Duration;

use timers::os::library::{CALLS_DIRECTLY, CLOCKS, read_by_call};

use estimators::findings::machine::PortableRead;
use estimators::model::{LibraryClock, Platform};
use estimators::rate::library::{Bracket, compare};

/// Readings of a clock, and its unit in nanoseconds; none if the system call fails. Or the reason
/// why the C library fails.
type Brackets = Result<(Vec<Bracket>, u64), String>;

/// A comparison of the C library's clocks with the system calls that has begun: the index of each
/// clock, with the first readings.
pub struct LibraryWatch(Vec<(usize, Brackets)>);

impl LibraryWatch {
    /// Begins the comparison.
    pub fn begin() -> Self {
        let readings = |index| Some((index, brackets(index)?));
        Self((0..CLOCKS.len()).filter_map(readings).collect())
    }

    /// Ends the comparison and adds it to the facts about this machine, unless a preloaded library
    /// may have replaced the system calls too.
    pub fn end(self, platform: &mut Platform) {
        let compared = |(index, first): (usize, Brackets)| {
            let both = first.and_then(|first| Ok((first, brackets(index).transpose()?)));
            let failure = both.as_ref().err().cloned();
            let figures = both
                .ok()
                .and_then(|((first, unit), last)| compare([&first, &last?.0], unit));
            LibraryClock {
                id: CLOCKS[index].0.into(),
                // A clock of whole seconds has none in a short run.
                rate_ppm: figures
                    .map(|[rate, _]| rate)
                    .filter(|it| it.half_width() < 1e6),
                offset_ns: figures.map(|[_, offset]| offset),
                failure,
            }
        };
        if !self.0.is_empty() && (CALLS_DIRECTLY || platform.preloaded.is_empty()) {
            platform.library_clocks = Some(self.0.into_iter().map(compared).collect());
        }
    }
}

/// Reads a clock some times. `None` if neither the C library nor the system call can read it.
fn brackets(index: usize) -> Option<Brackets> {
    /// Brackets, and the time between them.
    /// *Judgement*: so many are not all interrupted.
    const BRACKETS: usize = 5;
    const PAUSE: Duration = Duration::from_micros(100);
    let (id, [low, high, when]) = CLOCKS[index];
    let entry = timers::find(id)?;
    let unit = (entry.ns_per_tick)()?;
    let mut clock = (entry.open)().map_err(|why| why.reason);
    let mut all = Vec::new();
    for _ in 0..BRACKETS {
        timers::pause(PAUSE);
        let early = [when, low].map(read_by_call);
        let own = match &mut clock {
            Ok(clock) => clock.readings(1).map_err(|why| why.to_string()),
            Err(why) => Err(why.clone()),
        };
        match (early, own, [high, when].map(read_by_call)) {
            // The clock was set within a bracket that ends before it begins.
            ([Some(begin), Some(before)], Ok(own), [Some(after), Some(end)]) if before <= after => {
                let own = own[0].saturating_mul(unit as i64);
                all.push(Bracket {
                    at: [begin, end],
                    readings: [before, own, after],
                });
            }
            (_, Ok(_), _) => {}
            ([_, None], Err(_), _) => return None,
            (_, Err(why), _) => return Some(Err(why)),
        }
    }
    Some(Ok((all, unit as u64)))
}

/// How the portable clock is read, by the mean costs of its read and of the counter with a fence, each in
/// the shortest of some series.
pub fn portable_read() -> Option<PortableRead> {
    let ns = read_cost_ns(PortableRead::ID)?;
    let [_, fenced] = timers::COUNTERS;
    let ratio = read_cost_ns(fenced).map(|counter| ns / counter);
    let path = None;
    Some(PortableRead { ns, path, ratio })
}

fn read_cost_ns(id: &str) -> Option<f64> {
    /// Reads of a series, and series.
    /// *Judgement*: a series takes some tens of microseconds, so that some are not interrupted.
    const READS: u32 = 1_000;
    const SERIES: u32 = 30;
    let mut clock = (timers::find(id)?.open)().ok()?;
    let series = (0..SERIES).filter_map(|_| {
        let begin = timers::kernel_time()?;
        clock.readings(READS).ok()?;
        timers::kernel_time()?.checked_sub(begin)
    });
    Some(series.min()? as f64 / f64::from(READS))
}
