//! The three figures of a timer: what is drawn, apart from how. [`svg`] draws it for papers and
//! pages, [`terminal`] with characters.

pub mod ranking;
pub mod svg;
pub mod terminal;
mod waits;

use crate::model::{Bulk, CostHistogram, IntervalHistogram, ResolutionKind, Staircase, TimerRow};
use crate::text::numbers::{share, time};
use crate::text::plain;

/// One figure, in the units of its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Short name, as in file names: `staircase`, `intervals` or `costs`.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What is to be seen on it, for those who look and for those who cannot.
    pub caption: String,
    /// The axis from left to right.
    pub across: Axis,
    /// The axis from the bottom to the top.
    pub up: Axis,
    /// The observations.
    pub data: Data,
    /// Multiples of the step; lines from left to right on a staircase, from top to bottom on a
    /// histogram.
    pub levels: Vec<f64>,
    /// The median.
    pub median: Option<f64>,
    /// What lies within one resolution of it.
    pub band: Option<(f64, f64)>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it counts, with its unit.
    pub label: String,
    /// Its lower end.
    pub from: f64,
    /// Its upper end, above the lower one.
    pub to: f64,
    /// What its numbers stand for.
    pub scale: Scale,
}

impl Axis {
    /// Whether it reaches there.
    fn holds(&self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }
}

/// What the numbers of an axis stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Themselves, in the unit that the label names.
    #[default]
    Linear,
    /// The logarithm to base 10 of nanoseconds.
    LogTime,
    /// The logarithm to base 10 of a share.
    LogShare,
}

/// Observations.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Places.
    Points(Vec<(f64, f64)>),
    /// Bars that stand side by side.
    Bars {
        /// Where the first begins.
        first: f64,
        /// From where one begins to where the next does.
        width: f64,
        /// The share of that which is left blank on either side, below a half.
        blank: f64,
        /// How high each is.
        counts: Vec<u64>,
    },
}

impl Plot {
    /// The figures that there are of a timer: staircase, intervals against the lattice, single
    /// costs.
    #[must_use]
    pub fn all_of(row: &TimerRow) -> Vec<Self> {
        let Some(figures) = row.figures.as_ref().and_then(Bulk::get) else {
            return Vec::new();
        };
        let staircase = figures
            .staircase
            .as_ref()
            .and_then(|figure| staircase(row, figure));
        let intervals = figures
            .intervals
            .as_ref()
            .and_then(|figure| intervals(row, figure));
        let singles = figures
            .singles
            .as_ref()
            .and_then(|figure| costs(row, figure));
        [staircase, intervals, singles]
            .into_iter()
            .flatten()
            .filter(Self::is_sound)
            .collect()
    }

    /// Whether it can be drawn: a report may come from anywhere.
    fn is_sound(&self) -> bool {
        let sound =
            |axis: &Axis| axis.from.is_finite() && axis.to.is_finite() && axis.from < axis.to;
        sound(&self.across) && sound(&self.up)
    }
}

/// The unit that an axis up to `ns` is written in: its name, and how long it is.
fn unit(ns: f64) -> (&'static str, f64) {
    match ns.abs() {
        ns if ns < 2e3 => ("ns", 1.0),
        ns if ns < 2e6 => ("µs", 1e3),
        ns if ns < 2e9 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// The unit of intervals of a timer up to that many ticks: its name, and how many of it a tick is.
fn interval_unit(row: &TimerRow, ticks: f64) -> (&'static str, f64) {
    match row.ns_per_tick.filter(|ns| ns.is_finite() && *ns > 0.0) {
        Some(ns) => {
            let (name, length) = unit(ticks * ns);
            (name, ns / length)
        }
        None => ("ticks", 1.0),
    }
}

/// The step in ticks, where it is known.
fn step(row: &TimerRow) -> Option<f64> {
    let resolved = row
        .resolution
        .filter(|resolution| resolution.kind == ResolutionKind::Resolved)?;
    Some(resolved.ticks).filter(|ticks| ticks.is_finite() && *ticks > 0.0)
}

/// Multiples of the step between two ends, unless there are too many to be told apart.
fn levels(step: Option<f64>, from: f64, to: f64) -> Vec<f64> {
    const MOST: f64 = 40.0;
    let Some(step) = step.filter(|step| (to - from) / step <= MOST) else {
        return Vec::new();
    };
    let first = (from / step).ceil();
    let count = ((to / step).floor() - first + 1.0).clamp(0.0, MOST + 1.0) as usize;
    (0..count)
        .map(|level| (first + level as f64) * step)
        .collect()
}

fn step_sentence(row: &TimerRow, levels: &[f64]) -> String {
    let Some(step) = step(row) else {
        return "No step was found.".to_owned();
    };
    let length = match crate::model::value_of(row.resolution_ns) {
        Some(ns) => time(Some(ns)),
        None => format!("{step:.2} ticks"),
    };
    if levels.is_empty() {
        return format!("Steps of {length} are too short to be distinguished here.");
    }
    format!("Lines: multiples of the step, {length}.")
}

fn outside(below: u64, above: u64) -> String {
    match below.saturating_add(above) {
        0 => String::new(),
        1 => " 1 lies outside the figure.".to_owned(),
        count => format!(" {count} lie outside the figure."),
    }
}

fn staircase(row: &TimerRow, figure: &Staircase) -> Option<Plot> {
    let most = *figure.ticks.iter().max()? as f64;
    let least = *figure.ticks.iter().min()? as f64;
    // A read far more expensive than the step would leave the lower half empty.
    let least = if least > most / 2.0 {
        least - 0.1 * (most - least)
    } else {
        least.min(0.0)
    };
    let longest = *figure.work.iter().max()? as f64 * figure.ns_per_work;
    let (unit_up, a_tick) = interval_unit(row, most.abs().max(least.abs()));
    let (unit_across, nanoseconds) = unit(longest);
    let a_work = figure.ns_per_work / nanoseconds;
    let points = figure.work.iter().zip(&figure.ticks);
    let points = points
        .map(|(&work, &ticks)| (work as f64 * a_work, ticks as f64 * a_tick))
        .collect();
    let to = (most.max(least + 1.0) + 0.04 * (most - least)) * a_tick;
    let levels = levels(step(row).map(|step| step * a_tick), least * a_tick, to);
    Some(Plot {
        name: "staircase",
        title: "Intervals over work",
        caption: format!(
            "A sample of {} intervals between two reads, with more and more work between them. {}",
            figure.intervals,
            step_sentence(row, &levels)
        ),
        across: Axis {
            label: format!("work between the reads ({unit_across})"),
            from: 0.0,
            to: (longest / nanoseconds).max(1.0),
            scale: Scale::Linear,
        },
        up: Axis {
            label: format!("interval ({unit_up})"),
            from: least * a_tick,
            to,
            scale: Scale::Linear,
        },
        data: Data::Points(points),
        levels,
        median: None,
        band: None,
    })
}

fn intervals(row: &TimerRow, figure: &IntervalHistogram) -> Option<Plot> {
    let width = figure.width_ticks as f64;
    // A bin holds whole ticks, and reaches half a tick beyond them.
    let first = figure.first_ticks as f64 - 0.5;
    let last = first + width * figure.counts.len() as f64;
    let (unit, a_tick) = interval_unit(row, last.abs().max(first.abs()));
    let (from, to) = (first * a_tick, last * a_tick);
    let levels = levels(step(row).map(|step| step * a_tick), from, to);
    let highest = *figure.counts.iter().max()?;
    let counted: u64 = figure
        .counts
        .iter()
        .fold(0, |sum, &count| sum.saturating_add(count));
    Some(Plot {
        name: "intervals",
        title: "Intervals against the lattice",
        caption: format!(
            "{counted} intervals with random work between the reads. {}{}",
            step_sentence(row, &levels),
            outside(figure.below, figure.above)
        ),
        across: Axis {
            label: format!("interval ({unit})"),
            from,
            to,
            scale: Scale::Linear,
        },
        up: Axis {
            label: "intervals".to_owned(),
            from: 0.0,
            to: (highest as f64 * 1.05).max(1.0),
            scale: Scale::Linear,
        },
        data: Data::Bars {
            first: from,
            width: width * a_tick,
            blank: 0.0,
            counts: figure.counts.clone(),
        },
        levels,
        median: None,
        band: None,
    })
}

fn costs(row: &TimerRow, figure: &CostHistogram) -> Option<Plot> {
    let median = crate::model::value_of(row.cost_ns).filter(|ns| ns.is_finite());
    let resolution = row
        .resolution
        .filter(|resolution| resolution.kind == ResolutionKind::Resolved);
    let resolution = resolution
        .and(row.resolution_ns)
        .map(|resolution| resolution.value)
        .filter(|ns| ns.is_finite());
    let (mut from, mut to) = (
        figure.first_ns,
        figure.first_ns + figure.width_ns * figure.counts.len() as f64,
    );
    let wide = to - from;
    let margin = resolution
        .filter(|resolution| *resolution < wide)
        .map_or(0.0, |resolution| 1.1 * resolution);
    if let Some(median) = median {
        (from, to) = (from.min(median - margin), to.max(median + margin));
    }
    let (unit, length) = unit(to.abs().max(from.abs()));
    let band = median.zip(resolution).map(|(median, resolution)| {
        (
            (median - resolution).max(from) / length,
            (median + resolution).min(to) / length,
        )
    });
    let counted: u64 = figure
        .counts
        .iter()
        .fold(0, |sum, &count| sum.saturating_add(count));
    let seen = SeenPoints::of(row, figure);
    let within = match band {
        Some(_) => format!(
            " Shaded: within one resolution of the median, {}. The spread, {}, is the share of the calls that cost what is \
             shaded, not of the bars that stand there.",
            time(median),
            share(crate::model::value_of(row.spread))
        ),
        None => String::new(),
    };
    let outside = outside(figure.below, figure.above);
    let highest = *figure.counts.iter().max()?;
    Some(Plot {
        name: "costs",
        title: "Single invocations",
        caption: format!(
            "{counted} single invocations of all processes, {}{within}{outside}",
            seen.sentence()
        ),
        across: Axis {
            label: format!("cost ({unit})"),
            from: from / length,
            to: to / length,
            scale: Scale::Linear,
        },
        up: Axis {
            label: "invocations".to_owned(),
            from: 0.0,
            to: (highest as f64 * 1.05).max(1.0),
            scale: Scale::Linear,
        },
        data: Data::Bars {
            first: figure.first_ns / length,
            width: figure.width_ns / length,
            // What is seen stands at whole steps and nowhere between.
            blank: if seen.steps == Some(1.0) { 0.3 } else { 0.0 },
            counts: figure.counts.clone(),
        },
        levels: Vec::new(),
        median: median.map(|median| median / length),
        band,
    })
}

/// How single invocations were seen: by whom, in which steps, and how many of these a bar holds.
struct SeenPoints {
    own_readings: bool,
    reference: String,
    step_ns: Option<f64>,
    steps: Option<f64>,
}

impl SeenPoints {
    fn of(row: &TimerRow, figure: &CostHistogram) -> Self {
        let step_ns = if figure.own_readings {
            crate::model::value_of(row.resolution_ns)
        } else {
            row.observations
                .as_ref()
                .and_then(|seen| seen.reference_resolution_ns)
        };
        let step_ns = step_ns.filter(|ns| ns.is_finite() && *ns > 0.0);
        let steps = step_ns
            .map(|ns| (figure.width_ns / ns).round())
            .filter(|steps| *steps >= 1.0);
        let reference = row
            .cost
            .as_ref()
            .map_or_else(|| "the reference".into(), |cost| plain(&cost.reference));
        Self {
            own_readings: figure.own_readings,
            reference,
            step_ns,
            steps,
        }
    }

    /// What a bar shows of a call.
    fn sentence(&self) -> String {
        let (seen_by, whose) = if self.own_readings {
            (
                "as its own successive readings show them".to_owned(),
                "its own".to_owned(),
            )
        } else {
            (
                format!("as {} shows them, its own cost taken off", self.reference),
                format!("{}'s", self.reference),
            )
        };
        let Some(step) = self.step_ns else {
            return format!(
                "{seen_by}: in whole steps, so that a bar may stand beside what the call costs."
            );
        };
        let wide = match self.steps {
            Some(steps) if steps > 1.0 => format!(" A bar holds {steps:.0} such steps."),
            _ => String::new(),
        };
        format!(
            "{seen_by}: in whole steps of {whose} {}, so that a bar may stand up to a step beside what the call costs.{wide}",
            time(Some(step))
        )
    }
}
