//! Compares a clock as the C library reads it with its system call.

use crate::model::Interval;

/// A reading by the C library between two by the system call, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Bracket {
    /// When it began and ended, in nanoseconds of a clock that nobody sets.
    pub at: [i64; 2],
    /// The readings: the second one by the C library.
    pub readings: [i64; 3],
}

/// Estimates by how much a clock is faster than its system call, in parts per million, and by how
/// much it is ahead at the first brackets, in nanoseconds. `None` without brackets at both ends.
pub fn compare(ends: [&[Bracket]; 2], unit_ns: u64) -> Option<[Interval; 2]> {
    let own = ends.into_iter().flatten().map(|it| it.readings[1]);
    let step = common_step(own).max(unit_ns);
    let [first, last] = ends.map(|all| {
        let allowed = all.iter().filter_map(|bracket| Allowed::by(bracket, step));
        allowed.min_by_key(|it| it.took)
    });
    let (first, last) = (first?, last?);
    let elapsed = last.at - first.at;
    let rate = (middle(last.bounds) - middle(first.bounds)) / elapsed;
    let [before, after] =
        [(first, ends[0]), (last, ends[1])].map(|(best, all)| best.widened(all, step, rate));
    let ppm = |change: f64| 1e6 * change / elapsed;
    let by = Interval {
        value: ppm(after.value - before.value),
        low: ppm(after.low - before.high),
        high: ppm(after.high - before.low),
    };
    Some([by, before])
}

/// The offsets that a bracket allows.
#[derive(Clone, Copy)]
struct Allowed {
    at: f64,
    took: i64,
    bounds: [f64; 2],
}

fn middle([low, high]: [f64; 2]) -> f64 {
    f64::midpoint(low, high)
}

impl Allowed {
    /// A clock with this step is behind by less than it, the system call by less than 1 ns. `None` for a bracket that ends before
    /// it begins: the clock was set within it.
    fn by(bracket: &Bracket, step: u64) -> Option<Self> {
        let ([begin, end], [before, own, after]) = (bracket.at, bracket.readings);
        let bounds = [own.saturating_sub(after), own.saturating_sub(before)].map(|it| it as f64);
        (before <= after).then_some(Self {
            at: f64::midpoint(begin as f64, end as f64),
            took: end - begin,
            bounds: [bounds[0] - 1.0, bounds[1] + step as f64],
        })
    }

    /// Widened to the offsets of other brackets that contradict it at this rate, because the clock
    /// moves unevenly, and by what the clock gains while the bracket lasts.
    fn widened(self, all: &[Bracket], step: u64, rate: f64) -> Interval {
        let allowed = |bracket: Self| {
            let gained = (rate * bracket.took as f64).abs();
            let [low, high] = bracket.bounds.map(|it| it - rate * (bracket.at - self.at));
            [low - gained, high + gained]
        };
        let others = all.iter().filter_map(|other| Self::by(other, step));
        let [low, high] = others
            .map(allowed)
            .fold(allowed(self), |[low, high], other| {
                [low.min(other[1]), high.max(other[0])]
            });
        Interval::with_ends(middle([low, high]), Some((low, high)))
    }
}

/// The greatest common divisor of all readings: a clock that is rounded down is behind by up to one
/// step. 0 if the clock did not move.
fn common_step(mut readings: impl Iterator<Item = i64> + Clone) -> u64 {
    let divisor = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let all = readings.clone();
    if readings
        .next()
        .is_none_or(|first| readings.all(|it| it == first))
    {
        return 0;
    }
    all.map(i64::unsigned_abs).fold(0, divisor)
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
