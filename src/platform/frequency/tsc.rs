//! The rate of the time stamp counter.

use timers::During;

use crate::model::Hertz;

/// The parts of the span, each of which gives a rate; their median is not moved by an interruption at the end of one.
const PARTS: u32 = 5;

/// Hertz of the time stamp counter against a clock of the kernel (one of [`timers::RATE_SOURCES`]), watched for about
/// that many milliseconds of computing. A read at either end of a part can be some 50 ns off, so that 100 ms give the
/// rate to a few ppm; that of `monotonic` itself may be slewed by up to 500 ppm (adjtimex(2)).
///
/// `None` where the counter or the clock cannot be read.
#[must_use]
pub fn tsc_hz(reference: &str, milliseconds: u32) -> Option<Hertz> {
    let ns_per_tick = (timers::find(reference)?.ns_per_tick)()?;
    let mut counter = (timers::find("rdtsc-lfence")?.open)().ok()?;
    let mut rates = (0..PARTS)
        .map(|_| {
            let part = counter.advance(reference, During::Spin, (milliseconds / PARTS).max(1)).ok()?;
            rate(part.timer, part.reference as f64 * ns_per_tick)
        })
        .collect::<Option<Vec<f64>>>()?;
    rates.sort_by(f64::total_cmp);
    Some(Hertz(rates[rates.len() / 2]))
}

fn rate(ticks: i64, nanoseconds: f64) -> Option<f64> {
    (ticks > 0 && nanoseconds > 0.0).then(|| ticks as f64 / nanoseconds * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        assert_eq!(rate(2_600_000, 1e6), Some(2.6e9));
        assert_eq!(rate(-1, 1e6), None);
        assert_eq!(rate(0, 1e6), None);
        assert_eq!(rate(1, 0.0), None);
    }

    #[test]
    fn a_rate_or_nothing() {
        for reference in timers::RATE_SOURCES {
            assert!(tsc_hz(reference, 5).is_none_or(|hertz| hertz.0.is_finite() && hertz.0 > 0.0));
        }
        assert_eq!(tsc_hz("no such clock", 5), None);
        assert_eq!(tsc_hz("rdtsc", 5), None, "its unit is not declared");
    }
}
