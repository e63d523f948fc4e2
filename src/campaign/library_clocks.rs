//! Compares clocks as the C library reads them with their system calls.

use std::time::Duration;

use timers::Unavailable;

use crate::model::LibraryClocks;

/// Clocks that the C library reads, and their system calls, which no preloaded library distorts.
const BY_LIBRARY: [[&str; 2]; 4] = [
    ["monotonic", "monotonic-syscall"],
    ["realtime", "realtime-syscall"],
    ["monotonic-raw", "monotonic-raw-syscall"],
    ["boottime", "boottime-syscall"],
];

/// Compares clocks as the C library reads them with their system calls.
pub fn compare_with_syscalls() -> LibraryClocks {
    /// Time in which a clock with a false rate goes astray, from the start of the process on.
    /// *Judgement*: one that is 0.1 % fast is then 100 µs ahead.
    const PAUSE: Duration = Duration::from_millis(100);
    timers::pause(PAUSE);
    let mut found = LibraryClocks::default();
    for [id, call] in BY_LIBRARY {
        match [call, id, call].map(read) {
            [Ok(before), Ok(own), Ok(after)] => {
                let outside = own.saturating_sub(after).max(before.saturating_sub(own));
                found.worst = found.worst.max(Some((outside, id.into())));
            }
            [Err(why), ..] | [_, Err(why), _] if why.elsewhere => {}
            [_, Err(why), _] => found.failures.push(why.reason),
            _ => found.by_library_only.push(id.into()),
        }
    }
    let counter = FENCED_COUNTERS.iter().find_map(|id| read_cost_ns(id));
    found.costs_ns =
        (read_cost_ns("monotonic").zip(counter)).map(|(read, counter)| [read, counter]);
    found
}

/// The counters of processors, each read with a fence.
const FENCED_COUNTERS: [&str; 3] = ["rdtsc-lfence", "cntvct-isb", "rdtime-fence"];

/// Returns the mean cost of a read in the shortest of some series.
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

/// Reads a clock once.
fn read(id: &str) -> Result<i64, Unavailable> {
    let unknown = || Unavailable::elsewhere("it is not in the catalogue");
    let mut clock = (timers::find(id).ok_or_else(unknown)?.open)()?;
    let readings = clock.readings(1);
    readings.map_or_else(
        |why| Err(Unavailable::because(why.to_string())),
        |all| Ok(all[0]),
    )
}
