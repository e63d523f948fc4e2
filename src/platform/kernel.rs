//! Reports the kernel: its name, its clock source, the rate of its timer interrupt, and the trims
//! by which it corrects the rate of its clocks.
//!
//! The trims are read with adjtimex(2). The sum of all trims is the amount that Linux adds to the
//! length of a second (kernel/time/ntp.c, `second_overflow` and `ntp_update_frequency`): the trim
//! of the frequency, the trim of the tick, the part of the offset that is slewed in this second,
//! and up to 500 µs of an adjtime(3).

use timers::clock_sources::BOOT_PARAMETERS;
use timers::os::{Discipline, KernelName, Trim};

use super::Root;
use estimators::model::{ClockSource, Kernel, Ntp};

const CLOCKSOURCE_FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
/// Plausible timer interrupt rates, in hertz: CONFIG_HZ is between 24 and 1200 (Linux,
/// arch/*/Kconfig).
const TICK_RATES: std::ops::RangeInclusive<u32> = 20..=2_000;

/// Identifies the kernel. Its tick, the period of the timer interrupt, is the declared resolution of
/// its coarse clocks.
pub fn kernel() -> Kernel {
    let KernelName { release, version } = timers::os::machine::kernel();
    Kernel {
        tick_hz: timers::os::discipline::declared_tick_ns()
            .ok()
            .and_then(tick_rate_from_ns),
        release,
        version,
    }
}

/// Identifies the clock source of the kernel.
pub fn clocksource(root: &Root) -> ClockSource {
    let read = |name| root.read_name(&format!("{CLOCKSOURCE_FOLDER}/{name}"));
    let available = read("available_clocksource").unwrap_or_default();
    ClockSource {
        current: read("current_clocksource"),
        available: available.split_whitespace().map(str::to_owned).collect(),
        vdso: timers::os::machine::has_vdso(),
        parameters: root
            .read_text("/proc/cmdline")
            .map(|line| clock_parameters(&line)),
    }
}

/// The rate in hertz of a tick of this length; `None` if the length is implausible, as in some
/// emulators.
fn tick_rate_from_ns(nanoseconds: i64) -> Option<u32> {
    let hertz = (nanoseconds > 0).then(|| (1e9 / nanoseconds as f64).round() as u32)?;
    TICK_RATES.contains(&hertz).then_some(hertz)
}

/// The parameters on the kernel's command line that concern clocks.
fn clock_parameters(command_line: &str) -> Vec<String> {
    let known = |word: &&str| {
        BOOT_PARAMETERS.contains(&word.split_once('=').map_or(*word, |(name, _)| name))
    };
    command_line
        .split_whitespace()
        .filter(known)
        .map(str::to_owned)
        .collect()
}

/// SHIFT_PLL of the kernel: each second slews 1/2^(2 + time constant) of the offset.
const SHIFT_PLL: i64 = 2;
/// Maximum slew of an adjtime(3) per second, in microseconds (MAX_TICKADJ).
const ADJTIME_US: i64 = 500;

/// The trims of the clocks; `None` if the kernel does not report them.
pub fn ntp() -> Option<Ntp> {
    timers::os::discipline::discipline()
        .ok()
        .as_ref()
        .map(sum_trims)
}

/// Sums the trims of the clocks, in ppm of their rate.
fn sum_trims(discipline: &Discipline) -> Ntp {
    let adjtime_us = discipline.adjtime_us.unwrap_or(0);
    let (trim, frequency_ppm) = (discipline.trim, discipline.trim.frequency_ppm());
    // Nanoseconds per second are parts per billion. The kernel keeps the time constant between 0
    // and 10.
    let halvings = (SHIFT_PLL + discipline.time_constant.clamp(0, 10)) as i32;
    let offset_ppm = discipline.offset_ns as f64 / 2_f64.powi(halvings) / 1e3;
    let adjtime_ppm = adjtime_us.clamp(-ADJTIME_US, ADJTIME_US) as f64;
    Ntp {
        synchronised: discipline.synchronised,
        slewing: discipline.offset_ns != 0
            || adjtime_us != 0
            || trim.tick_us != Trim::UNTRIMMED_TICK_US,
        rate_ppm: frequency_ppm + trim.tick_ppm() + offset_ppm + adjtime_ppm,
        frequency_ppm,
        offset_ns: discipline
            .offset_ns
            .saturating_add(adjtime_us.saturating_mul(1000)),
        tick_us: trim.tick_us,
        estimated_error_us: discipline.estimated_error_us,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn converts_declared_ticks_to_rates() {
        for (nanoseconds, hertz) in [
            (3_333_333, Some(300)),
            (999_848, Some(1000)),
            (1, None),
            (0, None),
            (-4_000_000, None),
            (i64::MAX, None),
        ] {
            assert_eq!(tick_rate_from_ns(nanoseconds), hertz, "{nanoseconds}");
        }
    }

    #[test]
    fn parameters_about_clocks() {
        let found =
            clock_parameters("quiet clocksource=hpet tsc=unstable notscx notsc root=/dev/tsc");
        assert_eq!(found, ["clocksource=hpet", "tsc=unstable", "notsc"]);
    }

    const UNSTEERED: Discipline = Discipline {
        synchronised: false,
        offset_ns: 0,
        time_constant: 2,
        adjtime_us: Some(0),
        trim: Trim {
            scaled_ppm: 0,
            tick_us: Trim::UNTRIMMED_TICK_US,
            tai_offset_s: 0,
        },
        estimated_error_us: 16_000_000,
    };

    #[test]
    fn trims_in_parts_per_million() {
        let trimmed = |scaled_ppm, tick_us| {
            let trim = Trim {
                scaled_ppm,
                tick_us,
                tai_offset_s: 0,
            };
            Discipline { trim, ..UNSTEERED }
        };
        let offset = Discipline {
            offset_ns: 1_000_000,
            ..UNSTEERED
        };
        let adjtime = Discipline {
            adjtime_us: Some(-20_000),
            ..UNSTEERED
        };
        for (discipline, ppm, slewing) in [
            (UNSTEERED, 0.0, false),
            (trimmed(-1 << 15, 10_000), -0.5, false),
            (trimmed(32 << 16, 10_001), 132.0, true),
            // Milliseconds with the time constant 2: the first second slews 1/16 of the offset.
            (offset, 62.5, true),
            (adjtime, -500.0, true),
        ] {
            let ntp = sum_trims(&discipline);
            assert_eq!(
                (ntp.rate_ppm, ntp.slewing),
                (ppm, slewing),
                "{discipline:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn any_values_give_finite_rates(values in any::<[i64; 6]>(), reported in any::<bool>()) {
            let [offset_ns, time_constant, adjtime, scaled_ppm, tick_us, estimated_error_us] = values;
            let ntp = sum_trims(&Discipline {
                synchronised: reported,
                offset_ns,
                time_constant,
                adjtime_us: reported.then_some(adjtime),
                trim: Trim { scaled_ppm, tick_us, tai_offset_s: 0 },
                estimated_error_us,
            });
            prop_assert!(ntp.rate_ppm.is_finite() && ntp.frequency_ppm.is_finite());
        }
    }
}
