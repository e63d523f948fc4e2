//! The discipline of the kernel's clocks: the rate correction by NTP, and the tick that updates the
//! coarse clocks.
//!
//! What ticks: nothing; this module only reads declarations of the kernel about its timekeeping.
//! Who may read them: any process, unless a seccomp filter forbids the call.
//! Sources: [adjtimex(2)], [clock_getres(2)].
//!
//! [adjtimex(2)]: https://man7.org/linux/man-pages/man2/adjtimex.2.html
//! [clock_getres(2)]: https://man7.org/linux/man-pages/man2/clock_getres.2.html

use std::io;
use std::mem::MaybeUninit;

use crate::Timer;
use crate::os::posix::{MonotonicCoarse, widen};
use crate::os::{Discipline, Trim};

/// The current state of the kernel's clock discipline. Reading it changes nothing.
///
/// # Errors
/// When adjtimex fails: a seccomp filter may forbid even reading.
pub fn discipline() -> io::Result<Discipline> {
    let state = adjtimex(0)?;
    // Without STA_NANO, offsets are in microseconds.
    let unit: i64 = if state.status & libc::STA_NANO != 0 {
        1
    } else {
        1000
    };
    Ok(Discipline {
        synchronised: state.status & libc::STA_UNSYNC == 0,
        offset_ns: widen(state.offset).saturating_mul(unit),
        time_constant: widen(state.constant),
        adjtime_us: adjtimex(libc::ADJ_OFFSET_SS_READ)
            .ok()
            .map(|rest| widen(rest.offset)),
        trim: trim_of(&state),
        estimated_error_us: widen(state.esterror),
    })
}

/// The current rate correction of the kernel's clocks, read by one call.
///
/// # Errors
/// When adjtimex fails, as for [`discipline`].
pub fn trim() -> io::Result<Trim> {
    adjtimex(0).map(|state| trim_of(&state))
}

fn trim_of(state: &libc::timex) -> Trim {
    Trim {
        scaled_ppm: widen(state.freq),
        tick_us: widen(state.tick),
        tai_offset_s: widen(state.tai),
    }
}

/// The time between two kernel ticks in nanoseconds: the declared resolution of the coarse clocks.
///
/// # Errors
/// When the system has no coarse clock.
pub fn declared_tick_ns() -> io::Result<i64> {
    let tick = MonotonicCoarse::declared_resolution().map(|ns| ns as i64);
    tick.ok_or_else(io::Error::last_os_error)
}

/// Calls adjtimex(2). `modes` must be 0 or ADJ_OFFSET_SS_READ, which only read and need no
/// privilege.
fn adjtimex(modes: libc::c_uint) -> io::Result<libc::timex> {
    // SAFETY: a timex consists of integers; all-zero bytes are a valid value.
    let mut state: libc::timex = unsafe { MaybeUninit::zeroed().assume_init() };
    state.modes = modes;
    // SAFETY: the pointer is valid for one timex.
    match unsafe { libc::adjtimex(&raw mut state) } {
        -1 => Err(io::Error::last_os_error()),
        // Other results report leap seconds and lost synchronisation, as the status does.
        _ => Ok(state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_discipline_or_fails() {
        match discipline() {
            // The kernel's own bounds: 500 ppm, and 10 % of a tick (adjtimex(2)).
            Ok(found) => {
                assert!(found.trim.scaled_ppm.abs() <= 500 << 16, "{found:?}");
                assert!((9_000..=11_000).contains(&found.trim.tick_us), "{found:?}");
            }
            Err(error) => eprintln!("adjtimex: {error}"),
        }
        assert!(declared_tick_ns().is_ok_and(|ns| ns > 0));
    }
}
