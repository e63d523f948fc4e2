//! Compares a clock as the C library reads it with its system call.

use crate::model::Estimate;

/// A reading by the C library between two by the system call, in nanoseconds, which are in order.
#[derive(Clone, Copy, Debug)]
pub struct Bracket {
    /// When it began and ended, in nanoseconds of a clock that nobody sets.
    pub at: [i64; 2],
    /// The readings: the second one by the C library.
    pub readings: [i64; 3],
}

impl Bracket {
    fn moment(&self) -> f64 {
        f64::midpoint(self.at[0] as f64, self.at[1] as f64)
    }

    /// The offsets that it allows at a moment of a clock with this rate and step: the clock is behind
    /// by less than a step, the system call by less than 1 ns, and the clock gains while the bracket
    /// lasts.
    fn allowed(&self, moment: f64, rate: f64, step: u64) -> [f64; 2] {
        let [before, own, after] = self.readings;
        let gained = (rate * (self.at[1] - self.at[0]) as f64).abs();
        let since = rate * (self.moment() - moment);
        let low = own.saturating_sub(after) as f64 - 1.0;
        let high = own.saturating_sub(before) as f64 + step as f64;
        [low - since - gained, high - since + gained]
    }
}

/// Estimates by how much a clock is faster than its system call, in parts per million, and by how
/// much it is ahead at the first brackets, in nanoseconds. `None` without brackets at both ends. The
/// shortest of each end counts; it is widened to the others that contradict it, because the clock
/// moves unevenly.
pub fn compare(ends: [&[Bracket]; 2], unit_ns: u64) -> Option<[Estimate; 2]> {
    /// Longest step. *Judgement*: no clock in use has one of a minute.
    const MAX_STEP_NS: u64 = 60_000_000_000;
    let own = ends.into_iter().flatten().map(|it| it.readings[1]);
    let step = own.map(i64::unsigned_abs).fold(0, divisor);
    // A clock that stands still has no step.
    let step = if step > MAX_STEP_NS { 0 } else { step }.max(unit_ns);
    let [first, last] = ends.map(|all| all.iter().min_by_key(|it| it.at[1] - it.at[0]));
    let (first, last) = (first?, last?);
    let elapsed = last.moment() - first.moment();
    let [begin, end] = [first, last].map(|it| middle(it.allowed(it.moment(), 0.0, step)));
    let rate = (end - begin) / elapsed;
    let [before, after] = [(first, ends[0]), (last, ends[1])].map(|(best, all)| {
        let allowed = |it: &Bracket| it.allowed(best.moment(), rate, step);
        let [low, high] = (all.iter().map(allowed)).fold(allowed(best), |[low, high], other| {
            [low.min(other[1]), high.max(other[0])]
        });
        Estimate::with_ends(middle([low, high]), Some((low, high)))
    });
    let ppm = |change: f64| 1e6 * change / elapsed;
    let by = Estimate {
        value: ppm(after.value - before.value),
        low: ppm(after.low - before.high),
        high: ppm(after.high - before.low),
    };
    Some([by, before])
}

fn middle([low, high]: [f64; 2]) -> f64 {
    f64::midpoint(low, high)
}

/// The greatest common divisor: that of all readings is the step of a clock that is rounded down,
/// which is behind by up to one step.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brackets from `at` on of a clock that is ahead by 3 ms, faster by so many ppm, and rounded
    /// down to a step. One of three is interrupted.
    fn brackets(
        at: i64,
        [ppm, step]: [i64; 2],
        random: &mut impl FnMut(i64) -> i64,
    ) -> Vec<Bracket> {
        let bracket = |index: i64| {
            let at = at + index * 150_000;
            let mut delay = |most| {
                random(most)
                    + if random(12) == 0 {
                        random(5_000_000)
                    } else {
                        0
                    }
            };
            let before = at + delay(300);
            let own = before + delay(300);
            let after = own + delay(300);
            let end = after + delay(300);
            let ahead = own + 3_000_000 + (own as f64 * ppm as f64 * 1e-6) as i64;
            Bracket {
                at: [at, end],
                readings: [before, ahead - ahead % step, after],
            }
        };
        (0..5).map(bracket).collect()
    }

    #[test]
    fn intervals_include_the_truth() {
        let mut state = 1_u64;
        let mut random = |most: i64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as i64 % most
        };
        for ppm in [0, 20, -500, 10_000, -50_000] {
            for step in [1, 1_000, 100_000] {
                let (mut missed, mut wide) = (0, 0);
                for _ in 0..200 {
                    let begin = 1_000_000_000 + random(1_000_000_000);
                    let first = brackets(begin, [ppm, step], &mut random);
                    let last = brackets(begin + 1_000_000_000, [ppm, step], &mut random);
                    let unit = step.min(1_000) as u64;
                    let [rate, _] = compare([&first, &last], unit).expect("a rate");
                    missed += i32::from(!rate.contains(ppm as f64));
                    wide += i32::from(rate.half_width() > 3.0 + 1.1e-3 * step as f64);
                }
                assert!(missed <= 10 && wide <= 10, "{ppm} {step}: {missed} {wide}");
            }
        }
    }
}
