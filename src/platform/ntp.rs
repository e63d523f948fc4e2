//! How the kernel's clocks are steered, from what adjtimex(2) tells.
//!
//! The sum of all trims is what Linux adds to the length of a second (kernel/time/ntp.c, `second_overflow` and
//! `ntp_update_frequency`): that of the frequency, that of the tick, the part of the offset that this second slews in,
//! and up to 500 µs of an adjtime(3).

use timers::os::Discipline;

use crate::model::Ntp;

/// Microseconds between ticks of USER_HZ, which is 100 wherever this program runs.
const TICK_US: i64 = 10_000;
/// SHIFT_PLL of the kernel: a second slews in 1/2^(2 + time constant) of the offset.
const SHIFT_PLL: i64 = 2;
/// The most that a second takes of an adjtime(3), in microseconds (MAX_TICKADJ).
const ADJTIME_US: i64 = 500;

/// How the clocks are steered; `None` when the kernel does not tell.
#[must_use]
pub fn ntp() -> Option<Ntp> {
    timers::os::discipline::discipline().ok().map(|discipline| steered(&discipline))
}

fn steered(discipline: &Discipline) -> Ntp {
    let adjtime_us = discipline.adjtime_us.unwrap_or(0);
    let frequency_ppm = discipline.scaled_ppm as f64 / 65_536.0;
    let tick_ppm = discipline.tick_us.saturating_sub(TICK_US) as f64 / TICK_US as f64 * 1e6;
    // Nanoseconds a second are parts per billion. The kernel keeps the constant between 0 and 10.
    let halvings = (SHIFT_PLL + discipline.time_constant.clamp(0, 10)) as i32;
    let offset_ppm = discipline.offset_ns as f64 / 2_f64.powi(halvings) / 1e3;
    let adjtime_ppm = adjtime_us.clamp(-ADJTIME_US, ADJTIME_US) as f64;
    Ntp {
        synchronised: discipline.synchronised,
        slewing: discipline.offset_ns != 0 || adjtime_us != 0 || discipline.tick_us != TICK_US,
        rate_ppm: frequency_ppm + tick_ppm + offset_ppm + adjtime_ppm,
        frequency_ppm,
        offset_ns: discipline.offset_ns.saturating_add(adjtime_us.saturating_mul(1000)),
        tick_us: discipline.tick_us,
        estimated_error_us: discipline.estimated_error_us,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FREE: Discipline = Discipline {
        synchronised: false,
        offset_ns: 0,
        time_constant: 2,
        adjtime_us: Some(0),
        scaled_ppm: 0,
        tick_us: TICK_US,
        estimated_error_us: 16_000_000,
        maximum_error_us: 16_000_000,
        tai_offset_s: 0,
    };

    #[test]
    fn a_clock_that_nobody_steers() {
        let ntp = steered(&FREE);
        assert!(!ntp.slewing && !ntp.synchronised);
        assert_eq!((ntp.rate_ppm, ntp.frequency_ppm, ntp.offset_ns), (0.0, 0.0, 0));
    }

    #[test]
    fn each_trim_in_parts_per_million() {
        let rate = |discipline| steered(&discipline).rate_ppm;
        assert_eq!(rate(Discipline { scaled_ppm: 32 << 16, ..FREE }), 32.0);
        assert_eq!(rate(Discipline { scaled_ppm: -1 << 15, ..FREE }), -0.5);
        assert_eq!(rate(Discipline { tick_us: 10_001, ..FREE }), 100.0);
        assert_eq!(rate(Discipline { tick_us: 9_000, ..FREE }), -100_000.0);
        // A millisecond with the constant 2: a sixteenth of it in the first second.
        assert_eq!(rate(Discipline { offset_ns: 1_000_000, ..FREE }), 62.5);
        assert_eq!(rate(Discipline { adjtime_us: Some(-20_000), ..FREE }), -500.0);
        assert_eq!(rate(Discipline { adjtime_us: Some(20), ..FREE }), 20.0);
        assert_eq!(rate(Discipline { adjtime_us: None, ..FREE }), 0.0);
    }

    #[test]
    fn a_steady_trim_of_the_frequency_is_no_slewing() {
        let slewing = |discipline| steered(&discipline).slewing;
        assert!(!slewing(Discipline { scaled_ppm: 32 << 16, synchronised: true, ..FREE }));
        assert!(slewing(Discipline { offset_ns: -1, ..FREE }));
        assert!(slewing(Discipline { adjtime_us: Some(1), ..FREE }));
        assert!(slewing(Discipline { tick_us: 10_001, ..FREE }));
    }

    proptest! {
        #[test]
        fn any_figures_give_figures(figures in any::<[i64; 6]>(), told in any::<bool>()) {
            let [offset_ns, time_constant, adjtime, scaled_ppm, tick_us, estimated_error_us] = figures;
            let ntp = steered(&Discipline {
                synchronised: told,
                offset_ns,
                time_constant,
                adjtime_us: told.then_some(adjtime),
                scaled_ppm,
                tick_us,
                estimated_error_us,
                ..FREE
            });
            prop_assert!(ntp.rate_ppm.is_finite() && ntp.frequency_ppm.is_finite());
        }
    }
}
