//! Measures the rate of one clock relative to another (its reference), and detects the times at
//! which the rate changed.
//!
//! As long as the rate is constant, the readings of both clocks lie on a line, within their errors.
//! The first reading off the line shows that the rate changed; from it on there is a new line. So
//! no line contains readings from before and after a change, and the time of the change is the time
//! at which the lines cross.

use crate::model::Interval;
use crate::rate::line::{LineFit, Reading};

/// Shortest time, in nanoseconds of the reference, after which a changed rate is the new usual
/// rate. A slew that ends before is one event, with its duration.
/// *Judgement*: if the offset is known to 2 µs at both ends, the rate is known to 0.2 ppm. Most
/// corrections by adjtime are shorter: 10 ms take 20 s.
const LASTING_NS: f64 = 20e9;

/// Shortest time, in nanoseconds of the reference, for which another rate is an event.
/// *Judgement*: half of the shortest slew by adjtime, which the kernel applies for whole seconds.
const MIN_SLEW_NS: f64 = 0.5e9;

/// Smallest number of readings that show that they lie on a line.
/// *Definition*: two readings always do.
const MIN_READINGS: u32 = 3;

/// Largest number of lines that are stored until the rate is usual again.
/// *Judgement*: a clock whose rate changes more often has no usual rate.
const MAX_LINES: usize = 16;

/// Smallest change of rate that is an event, in ppm, in addition to the uncertainty of both rates.
/// *Judgement*: a time service that is synchronised changes the rate by less from one minute to the
/// next.
const MIN_RATE_CHANGE_PPM: f64 = 5.0;

/// A change of rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateChange {
    /// The size of the change, in ppm.
    pub ppm: f64,
    /// The largest error of `ppm`, in ppm.
    pub error_ppm: f64,
    /// How long the rate was changed, in seconds; `None` if it still is, or if its beginning was
    /// not observed.
    pub duration_s: Option<Interval>,
    /// Whether the correction that the kernel reports changed by the same amount, within the error
    /// and half of the change; `None` if the kernel reports none.
    pub is_requested: Option<bool>,
}

impl RateChange {
    /// Whether the rates differ by more than their errors and what is usual.
    fn is_significant(&self) -> bool {
        self.ppm.abs() > MIN_RATE_CHANGE_PPM + self.error_ppm
    }

    /// Whether the rates are known to differ by no more than what is usual.
    fn is_excluded(&self) -> bool {
        self.ppm.abs() + self.error_ppm <= MIN_RATE_CHANGE_PPM
    }
}

/// The rate of one clock relative to a reference.
#[derive(Clone, Debug, Default)]
pub struct Rates {
    /// The last line of the usual rate before `others`.
    usual: Option<Stretch>,
    /// The lines since the end of `usual`, whose rates did not last.
    others: Vec<Stretch>,
    /// The line of the last readings.
    current: Option<Stretch>,
    /// Whether the rate of `current` is the usual one.
    is_settled: bool,
}

/// Successive readings that lie on a line, so that the rate may have been constant. The time is that
/// of the reference in nanoseconds.
#[derive(Clone, Debug)]
struct Stretch {
    line: LineFit,
    /// The correction of the rate that the kernel reported with the first reading, in ppm; the last
    /// may be from after a change.
    trim_ppm: Option<f64>,
    /// The time at which the rate began, with its largest error, in nanoseconds.
    began: Option<[f64; 2]>,
}

impl Stretch {
    /// Whether the readings are enough for an event.
    fn is_known(&self) -> bool {
        self.line.readings >= MIN_READINGS && self.line.span() >= MIN_SLEW_NS
    }

    /// The rate in units of the clock per nanosecond of the reference, and its largest error.
    fn rate(&self) -> [f64; 2] {
        self.line.rate(LASTING_NS / 2.0)
    }

    /// Returns the change of rate from this line to another.
    fn change_to(&self, other: &Self) -> RateChange {
        let ([then, error_then], [now, error_now]) = (self.rate(), other.rate());
        let ppm = (now - then) / then * 1e6;
        let error_ppm = (error_now + error_then) / then.abs() * 1e6;
        let trims = other.trim_ppm.zip(self.trim_ppm);
        let agrees =
            |(now, then): (f64, f64)| (now - then - ppm).abs() <= error_ppm + ppm.abs() / 2.0;
        RateChange {
            ppm,
            error_ppm,
            duration_s: None,
            is_requested: trims.map(agrees),
        }
    }

    /// Returns the time at which this line and the next one cross, with its largest error. `None`
    /// if their rates may be equal.
    fn crossing(&self, next: &Self) -> Option<[f64; 2]> {
        let near = next.line.start();
        let (own, others) = (self.rate(), next.rate());
        let [here, error] = self.line.clock_at(near, own);
        let [there, next_error] = next.line.clock_at(near, others);
        let ([rate, rate_error], [next_rate, next_rate_error]) = (own, others);
        let (difference, difference_error) = (next_rate - rate, next_rate_error + rate_error);
        let least_difference = difference.abs() - difference_error;
        let passed_ns = (here - there) / difference;
        let error_ns = (error + next_error + passed_ns.abs() * difference_error) / least_difference;
        (least_difference > 0.0).then_some([near + passed_ns, error_ns])
    }

    /// The rate in ppm that the kernel's correction does not explain, with its largest error, if
    /// the clock and the reference are equally fast without it.
    fn unexplained_ppm(&self) -> Option<[f64; 2]> {
        let [rate, error] = self.rate();
        Some([(rate - 1.0) * 1e6 - self.trim_ppm?, error * 1e6])
    }
}

/// The time between two times in nanoseconds, each with its largest error, in seconds.
fn duration_s(began: Option<[f64; 2]>, ended: Option<[f64; 2]>) -> Option<Interval> {
    let ([began, error_began], [ended, error_ended]) = began.zip(ended)?;
    let [duration, error] = [
        (ended - began).max(0.0) / 1e9,
        (error_ended + error_began) / 1e9,
    ];
    let ends = ((duration - error).max(0.0), duration + error);
    Some(Interval::with_ends(duration, Some(ends)))
}

impl Rates {
    /// Returns the usual rate in units of the clock per nanosecond of the reference, and its
    /// uncertainty; `None` as long as no rate is the usual one.
    pub fn rate(&self) -> Option<[f64; 2]> {
        let current = self.current.as_ref().filter(|_| self.is_settled);
        current.or(self.usual.as_ref()).map(Stretch::rate)
    }

    /// Returns [`Self::rate`]; as long as no rate is the usual one, that of the line of the last
    /// readings, with its larger uncertainty.
    pub fn provisional_rate(&self) -> Option<[f64; 2]> {
        let current = self.current.as_ref().filter(|line| line.is_known());
        self.rate().or(current.map(Stretch::rate))
    }

    /// Adds a reading of the clock in its unit and of the reference in nanoseconds, both since the
    /// watch began, and returns the changes that it shows. `error_ns` is the largest error of the
    /// offset between them in nanoseconds, `trim_ppm` the correction of the rate that the kernel
    /// reports.
    pub fn add(
        &mut self,
        clock: f64,
        reference_ns: f64,
        error_ns: f64,
        trim_ppm: Option<f64>,
    ) -> Vec<RateChange> {
        let reading = Reading {
            time: reference_ns,
            clock,
            error: error_ns,
        };
        let next = || Stretch {
            line: LineFit::new(reading),
            trim_ppm,
            began: None,
        };
        let current = self.current.get_or_insert_with(next);
        if current.line.extend(reading) {
            return self.changes(false);
        }
        let ended = std::mem::replace(current, next());
        if std::mem::take(&mut self.is_settled) {
            self.usual = Some(ended);
        } else if ended.is_known() {
            if self.others.len() == MAX_LINES {
                // The first one shows when the changes began.
                self.others.remove(1);
            }
            self.others.push(ended);
        }
        Vec::new()
    }

    /// Returns the changes that the last readings show. `is_end` says that the watch ends, so that
    /// no later reading shows whether the rate lasts.
    pub fn changes(&mut self, is_end: bool) -> Vec<RateChange> {
        let Some(line) = self
            .current
            .as_mut()
            .filter(|line| line.is_known() && !self.is_settled)
        else {
            return Vec::new();
        };
        let is_lasting = line.line.span() >= LASTING_NS;
        // A rate that is the correction that the kernel reports is the usual one before it lasted.
        let is_requested = |line: &Stretch, share: f64| {
            let limit_ppm = |error_ppm| MIN_RATE_CHANGE_PPM + share * error_ppm;
            line.unexplained_ppm()
                .is_some_and(|[ppm, error_ppm]| ppm.abs() <= limit_ppm(error_ppm))
        };
        let first = self.others.first().filter(|first| {
            is_requested(first, 1.0) || is_lasting && !first.change_to(line).is_significant()
        });
        let before = self.usual.as_ref().or(first);
        let change = before.map(|before| before.change_to(line));
        let is_usual = is_lasting
            || change.map_or(is_requested(line, -1.0), |change| {
                is_end || change.is_excluded()
            });
        if !is_usual {
            return Vec::new();
        }
        let mut changes: Vec<RateChange> = slew(before, &self.others, line).into_iter().collect();
        if let (Some(before), Some(change)) = (before, change) {
            line.began = before.began;
            if change.is_significant() {
                line.began = before.crossing(line);
                changes.push(lasting_change(change, before, line));
            }
        }
        (self.usual, self.is_settled) = (None, true);
        self.others.clear();
        changes
    }
}

/// Returns the slew that the lines of other rates between two lines show. Its size is that of the
/// line that differs most from `before`, if that is known, else from `after`.
fn slew(before: Option<&Stretch>, others: &[Stretch], after: &Stretch) -> Option<RateChange> {
    let change_to = |line: &Stretch| before.unwrap_or(after).change_to(line);
    let least_ppm = |change: &RateChange| change.ppm.abs() - change.error_ppm;
    let changes = others.iter().map(change_to);
    let peak = changes.max_by(|a, b| least_ppm(a).total_cmp(&least_ppm(b)))?;
    // A rate between those before and after is part of one change.
    let is_part = |line: &&Stretch| {
        [change_to(line), after.change_to(line)]
            .iter()
            .all(|change| change.is_significant() && (change.ppm > 0.0) == (peak.ppm > 0.0))
    };
    let mut parts = others.iter().filter(is_part);
    let first = parts.next()?;
    let last = parts.next_back().unwrap_or(first);
    Some(RateChange {
        duration_s: duration_s(
            before.and_then(|line| line.crossing(first)),
            last.crossing(after),
        ),
        ..peak
    })
}

/// Returns the event for a change to a rate that lasts: if it is the end of a slew that the
/// kernel's correction does not explain, the slew with its duration, else the change.
fn lasting_change(change: RateChange, before: &Stretch, after: &Stretch) -> RateChange {
    let unexplained = before.unexplained_ppm().zip(after.unexplained_ppm());
    let is_end = change.is_requested == Some(false)
        && unexplained.is_some_and(|([before, _], [after, _])| before.abs() > after.abs());
    if !is_end {
        return change;
    }
    RateChange {
        ppm: -change.ppm,
        duration_s: duration_s(before.began, after.began),
        ..change
    }
}
