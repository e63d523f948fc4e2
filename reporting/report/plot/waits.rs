//! The figures of a timer that waits: lateness as a histogram and as a survival curve, over length,
//! and observed over asked.

use super::{Axis, Data, Plot, Scale, levels, unit};
use crate::model::{
    Granularity, Interval, Lateness, LatenessHistogram, USUAL_WAIT_NS, WaitFigures, WaitRow,
};

use crate::text::numbers::{time, trimmed};

/// The last bin that is drawn: it ends at 10^18 ns, beyond which no report tells of any time.
const LAST_BIN: u32 = 18 * BINS as u32;
const BINS: f64 = LatenessHistogram::BINS;

impl Plot {
    /// The figures that there are of a timer that waits.
    #[must_use]
    pub fn all_of_waits(row: &WaitRow) -> Vec<Self> {
        let Some(figures) = &row.figures else {
            return Vec::new();
        };
        let usual = Lateness::nearest(figures.by_length(), USUAL_WAIT_NS);
        let all = [
            usual.and_then(histogram),
            usual.and_then(survival),
            over_length(figures),
            asked(figures),
        ];
        all.into_iter().flatten().filter(Self::is_sound).collect()
    }
}

fn length(late: &Lateness) -> String {
    trimmed(&time(Some(late.request_ns as f64)))
}

fn median(late: &Lateness) -> Option<f64> {
    late.p50_ns
        .map(|known| known.value.log10())
        .filter(|at| at.is_finite())
}

/// Whole decades around some logarithms.
fn decades(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let (least, most) = values.filter(|value| value.is_finite()).fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), value| (least.min(value), most.max(value)),
    );
    (least <= most).then(|| [least.floor(), most.ceil().max(least.floor() + 1.0)])
}

/// Where bin `k` begins, as a logarithm of nanoseconds.
fn begins(bin: u32) -> f64 {
    LatenessHistogram::end(bin) - 1.0 / BINS
}

fn histogram(late: &Lateness) -> Option<Plot> {
    let bins = late.histogram.get()?.bins;
    let (first, last) = (
        *bins.keys().next()?,
        *bins.range(..=LAST_BIN).next_back()?.0,
    );
    let [from, to] = decades([begins(first), begins(last) + 1.0 / BINS].into_iter())?;
    let first_bin = (from * BINS) as i64 + 1;
    let count = ((to - from) * BINS).round() as usize;
    let counts: Vec<u64> = (0..count as i64)
        .map(|at| {
            u32::try_from(first_bin + at)
                .ok()
                .and_then(|bin| bins.get(&bin))
                .copied()
                .unwrap_or(0)
        })
        .collect();
    // Waits that were not late stand in a bin of their own, below all decades.
    let none_late = bins.get(&0).copied().unwrap_or(0);
    let on_time = match none_late {
        0 => String::new(),
        waits => format!(" {waits} were not late by 1 ns."),
    };
    let highest = counts.iter().max().copied()?;
    Some(Plot {
        name: "lateness",
        title: "How late waits were",
        caption: format!(
            "{} waits of {}: observed less asked.{on_time}",
            late.waits,
            length(late)
        ),
        across: Axis {
            label: "lateness (logarithmic)".into(),
            from,
            to,
            scale: Scale::LogTime,
        },
        up: Axis {
            label: "waits".into(),
            from: 0.0,
            to: (highest as f64 * 1.05).max(1.0),
            scale: Scale::Linear,
        },
        data: Data::Bars {
            first: from,
            width: 1.0 / BINS,
            blank: 0.0,
            counts,
        },
        levels: Vec::new(),
        median: median(late).filter(|at| (from..=to).contains(at)),
        band: None,
    })
}

fn survival(late: &Lateness) -> Option<Plot> {
    let bins = late.histogram.get()?.bins;
    let all: u64 = bins
        .values()
        .fold(0, |sum, count| sum.saturating_add(*count));
    let mut left = all;
    let mut points = Vec::new();
    for (&bin, &count) in bins.range(..=LAST_BIN) {
        left = left.saturating_sub(count);
        if left > 0 {
            // What is in the bin is over where it ends.
            points.push((begins(bin) + 1.0 / BINS, (left as f64 / all as f64).log10()));
        }
    }
    let [from, to] = decades(points.iter().map(|point| point.0))?;
    let [least, _] = decades(points.iter().map(|point| point.1))?;
    Some(Plot {
        name: "survival",
        title: "How many waits were later",
        caption: format!(
            "The share of {} waits of {} that was later than that, both axes logarithmic: where the curve ends, no wait was.",
            late.waits,
            length(late)
        ),
        across: Axis {
            label: "lateness (logarithmic)".into(),
            from,
            to,
            scale: Scale::LogTime,
        },
        up: Axis {
            label: "later".into(),
            from: least,
            to: 0.0,
            scale: Scale::LogShare,
        },
        data: Data::Points(points),
        levels: Vec::new(),
        median: median(late).filter(|at| (from..=to).contains(at)),
        band: None,
    })
}

fn over_length(figures: &WaitFigures) -> Option<Plot> {
    let at = |late: &Lateness, known: Option<Interval>| {
        Some(((late.request_ns as f64).log10(), known?.value.log10()))
    };
    if figures.by_length().count() < 2 {
        return None;
    }
    let medians = figures.by_length().filter_map(|late| at(late, late.p50_ns));
    let tails = figures
        .by_length()
        .filter_map(|late| at(late, late.p99_ns.or(late.p90_ns)));
    let points: Vec<(f64, f64)> = medians
        .chain(tails)
        .filter(|point| point.1.is_finite())
        .collect();
    let [from, to] = decades(points.iter().map(|point| point.0))?;
    let [least, most] = decades(points.iter().map(|point| point.1))?;
    Some(Plot {
        name: "lengths",
        title: "Lateness over length",
        caption:
            "Median, and 99th percentile (90th where waits were few), of each length; both axes logarithmic."
                .into(),
        across: Axis { label: "asked for (logarithmic)".into(), from, to, scale: Scale::LogTime },
        up: Axis { label: "lateness".into(), from: least, to: most, scale: Scale::LogTime },
        data: Data::Points(points),
        levels: Vec::new(),
        median: None,
        band: None,
    })
}

fn asked(figures: &WaitFigures) -> Option<Plot> {
    let staircase = figures.staircase.get()?;
    let most = |of: fn(&[f64; 2]) -> f64| staircase.iter().map(of).fold(0.0_f64, f64::max);
    let (longest, highest) = (most(|point| point[0]), most(|point| point[1]));
    if longest <= 0.0 || !highest.is_finite() {
        return None;
    }
    let step = figures
        .granularities()
        .find_map(Granularity::step)
        .map(|step| step.value);
    let ((unit_across, a), (unit_up, b)) = (unit(longest), unit(highest));
    let to = highest * 1.04 / b;
    let told = step.map_or_else(
        || "No step was found.".to_owned(),
        |step| format!("Lines: multiples of {}.", trimmed(&time(Some(step)))),
    );
    Some(Plot {
        name: "staircase",
        title: "Observed over asked",
        caption: format!(
            "A sample of {} waits of random lengths. {told}",
            staircase.len()
        ),
        across: Axis {
            label: format!("asked for ({unit_across})"),
            from: 0.0,
            to: longest / a,
            scale: Scale::Linear,
        },
        up: Axis {
            label: format!("waited ({unit_up})"),
            from: 0.0,
            to,
            scale: Scale::Linear,
        },
        data: Data::Points(
            staircase
                .iter()
                .map(|[asked, took]| (asked / a, took / b))
                .collect(),
        ),
        levels: levels(
            step.filter(|step| *step > 0.0).map(|step| step / b),
            0.0,
            to,
        ),
        median: None,
        band: None,
    })
}
