//! The rates of known counters.

use crate::model::Interval;
use crate::numbers::rate;

/// Rates of counters, clocks and timer interrupts in hertz: of Arm and emulators, %globaltimer of
/// NVIDIA, the HPET, the ACPI timer, seconds since 1970 as floating-point numbers, browsers, kernels.
const RATES: [f64; 22] = [
    1e9,
    1e8,
    62.5e6,
    54e6,
    5e7,
    31.25e6,
    25e6,
    24e6,
    19.2e6,
    14.318_18e6,
    1e7,
    3.579_545e6,
    4_194_304.0,
    1e6,
    32_768.0,
    1e4,
    1e3,
    300.0,
    250.0,
    100.0,
    64.0,
    60.0,
];

/// The largest rate at which Linux slews a clock, as a share. *Definition*: adjtimex(2).
const MAX_SLEW: f64 = 5e-4;

/// Returns whether two intervals may be of one step, which may be slewed.
pub fn has_step(step: Interval, clock: Interval) -> bool {
    let reach = MAX_SLEW * step.value;
    step.low - reach <= clock.high && clock.low <= step.high + reach
}

/// The rate of a known counter with this step, in nanoseconds. A clock that NTP slews is up to 500 ppm
/// off.
pub fn name_step(step: Interval) -> Option<String> {
    /// The widest interval of a step that is named, as a share. *Judgement*: known rates differ by 4 %.
    const MAX_WIDTH: f64 = 0.025;
    let is_near = |hertz: &f64| {
        has_step(step, Interval::exact(1e9 / hertz)) && step.half_width() < MAX_WIDTH * step.value
    };
    let mut near = RATES.into_iter().filter(is_near);
    let hertz = near.next().filter(|_| near.next().is_none())?;
    let off = step.value * hertz / 1e9 - 1.0;
    Some(match step.contains(1e9 / hertz) {
        true => rate(Some(hertz)),
        false => format!("{} {:+.0} ppm", rate(Some(hertz)), 1e6 * off),
    })
}
