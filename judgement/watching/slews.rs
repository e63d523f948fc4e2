//! Detects changes of the rate of MONOTONIC relative to RAW. As long as the rate is constant, their
//! offsets lie on a line, within their errors; the first reading off it begins a new line.

use super::Cause;
use estimators::model::Estimate;

/// The span of a line, in nanoseconds, that is long enough for its rate, whose error does not shrink
/// beyond it: a time service adjusts rates slightly.
/// *Judgement*: if the offset is known to 2 µs at both ends, the rate is known to 0.4 ppm.
const LONG_NS: f64 = 10e9;

/// The shortest span, in nanoseconds, and the smallest number of readings of a line that may be an event.
/// *Judgement*: half of the shortest slew by adjtime, which the kernel applies for whole seconds.
const LEAST: (f64, u32) = (0.5e9, 3);

/// Smallest change of rate that is an event, in ppm, in addition to the uncertainty of both rates.
/// *Judgement*: a synchronised time service changes the rate by less from one minute to the next.
const MIN_CHANGE_PPM: f64 = 5.0;

/// The largest error of a rate, in ppm, at which a change is reported before its line ends or is long.
/// *Judgement*: less than half of the smallest change.
const MAX_ERROR_PPM: f64 = 2.0;

/// The largest error of a reading that is used, in nanoseconds. *Judgement*: most samples are not
/// interrupted.
const MAX_READING_ERROR_NS: f64 = 20e3;

/// The lines that pass through successive readings within their errors.
#[derive(Debug)]
struct Line {
    /// Time, offset and error of the first reading, in nanoseconds.
    first: [f64; 3],
    span_ns: f64,
    readings: u32,
    /// The lowest and the highest rate, in ppm.
    ppm: [f64; 2],
    /// The correction that the kernel reported with the first reading.
    trim_ppm: Option<f64>,
    is_judged: bool,
}

/// The rate of MONOTONIC relative to RAW.
#[derive(Debug, Default)]
pub struct Slews {
    /// The last known rate in ppm, and the correction that the kernel reported.
    known: Option<(Estimate, Option<f64>)>,
    line: Option<Line>,
}

impl Slews {
    /// Adds a reading: the offset of MONOTONIC from RAW, with its error, at a time in nanoseconds.
    /// Returns the change of rate in ppm that it shows, with its cause.
    pub fn add(&mut self, reading: [f64; 3], trim_ppm: Option<f64>) -> Option<(Cause, Estimate)> {
        if reading[2] > MAX_READING_ERROR_NS {
            return None;
        }
        if let Some(line) = &mut self.line {
            let [span_ns, risen] = [0, 1].map(|at| reading[at] - line.first[at]);
            let slope = Estimate::around(risen, reading[2] + line.first[2]).scaled(1e6 / span_ns);
            let ppm = [line.ppm[0].max(slope.low), line.ppm[1].min(slope.high)];
            if ppm[0] <= ppm[1] {
                line.readings += 1;
                (line.span_ns, line.ppm) = (span_ns, ppm);
                return self.judge(false);
            }
        }
        let change = self.judge(true);
        self.line = Some(Line {
            first: reading,
            span_ns: 0.0,
            readings: 1,
            ppm: [f64::NEG_INFINITY, f64::INFINITY],
            trim_ppm,
            is_judged: false,
        });
        change
    }

    /// Returns the change of rate to that of the last readings; `is_over` says that no later reading
    /// is on their line.
    pub fn judge(&mut self, is_over: bool) -> Option<(Cause, Estimate)> {
        let is_known = |line: &&mut Line| line.span_ns >= LEAST.0 && line.readings >= LEAST.1;
        let line = self.line.as_mut().filter(is_known)?;
        let [low, high] = line.ppm;
        let least = 2e6 * line.first[2] / line.span_ns.min(LONG_NS);
        let now = Estimate::around(f64::midpoint(low, high), least.max((high - low) / 2.0));
        let is_long = line.span_ns >= LONG_NS;
        let (before, trim_before) = self.known.unwrap_or((now, line.trim_ppm));
        let change = now.value - before.value;
        let error = now.half_width() + before.half_width();
        let is_change = change.abs() > MIN_CHANGE_PPM + error;
        let is_decided = is_long
            || is_over && (is_change || self.known.is_none())
            || is_change && now.half_width() <= MAX_ERROR_PPM;
        if !is_decided || std::mem::replace(&mut line.is_judged, true) {
            return None;
        }
        self.known = Some((now, line.trim_ppm));
        let cause = match line.trim_ppm.zip(trim_before) {
            None => Cause::Unknown,
            // The kernel's correction explains at least half of the change.
            Some((now, then)) if (now - then - change).abs() <= error + change.abs() / 2.0 => {
                Cause::Discipline
            }
            Some(_) => Cause::Kernel,
        };
        is_change.then(|| (cause, Estimate::around(change, error)))
    }
}
