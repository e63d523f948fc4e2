//! Recognises series: events of one kind at regular times. One event says little about its cause; a
//! series shows a mechanism with a period, and a rate.

use serde::{Deserialize, Serialize};

use super::ClockEvent;
use crate::model::Interval;

/// Largest probability with which events that are not regular follow each other as regularly as those
/// of a series.
/// *Chance*: for times from one event to the next that are independent, and spread over at least as
/// much as their mean; those of random events are.
const MAX_CHANCE: f64 = 1e-6;

/// Largest number of events whose times are tested together.
/// *Judgement*: more would allow more irregularity; fewer would exclude periods of a few samples.
const WINDOW: usize = 12;

/// Largest time from one event of a series to the next, in periods.
/// *Computed*: the middle between the times of the next event and of the one after it.
const MAX_GAP: f64 = 1.5;

/// A series of events at regular times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventSeries {
    /// The number of events so far.
    pub events: usize,
    /// Seconds from the beginning of the watch to the first event.
    pub since_s: f64,
    /// The mean time from one event to the next, in seconds.
    pub period_s: Interval,
    /// The mean size, in the unit of the event; 0 for events without a size.
    pub mean_size: f64,
    /// Whether this is the first event at which the series was certain.
    pub is_new: bool,
}

impl EventSeries {
    /// The series with another event, whose time is known to within `resolution_s` seconds.
    fn with(self, event: &ClockEvent, resolution_s: f64) -> Self {
        let gaps = self.events as f64;
        let size = event.size.map_or(0.0, |size| size.value);
        Self {
            events: self.events + 1,
            period_s: Interval::around((event.since_s - self.since_s) / gaps, resolution_s / gaps),
            mean_size: self.mean_size + (size - self.mean_size) / (gaps + 1.0),
            is_new: false,
            ..self
        }
    }
}

/// Recognises the series among successive events.
#[derive(Clone, Debug, Default)]
pub struct SeriesFinder {
    /// The last events of each kind and cause, at most [`WINDOW`].
    classes: Vec<Vec<ClockEvent>>,
}

impl SeriesFinder {
    /// Adds the next event, whose time is known to within `resolution_s` seconds, and marks it with
    /// its series.
    pub fn mark(&mut self, event: &mut ClockEvent, resolution_s: f64) {
        let key = |event: &ClockEvent| (event.kind, event.cause);
        let is_own = |class: &Vec<ClockEvent>| class.iter().all(|other| key(other) == key(event));
        let at = self.classes.iter().position(is_own);
        let at = at.unwrap_or_else(|| {
            self.classes.push(Vec::new());
            self.classes.len() - 1
        });
        let recent = &mut self.classes[at];
        let series = recent.last().and_then(|last| {
            let passed_s = event.since_s - last.since_s;
            last.series
                .filter(|series| passed_s <= MAX_GAP * series.period_s.value)
        });
        recent.push(event.clone());
        recent.drain(..recent.len().saturating_sub(WINDOW));
        let mut runs = (0..recent.len()).map(|start| &recent[start..]);
        let run = runs.find(|run| is_regular(run, resolution_s));
        event.series = run.map(|run| {
            let begin = EventSeries {
                events: 0,
                since_s: run[0].since_s,
                period_s: Interval::exact(0.0),
                mean_size: 0.0,
                is_new: true,
            };
            let extend = |series: EventSeries, event| series.with(event, resolution_s);
            let new = || EventSeries {
                is_new: true,
                ..run.iter().fold(begin, extend)
            };
            series.map_or_else(new, |series| series.with(event, resolution_s))
        });
        if series.is_some() && run.is_none() {
            // A single event between those of the series.
            recent.pop();
        } else if let Some(last) = recent.last_mut() {
            last.series = event.series;
        }
    }
}

/// Whether events, whose times are known to within `resolution_s` seconds, follow each other so
/// regularly that chance does not explain it.
fn is_regular(run: &[ClockEvent], resolution_s: f64) -> bool {
    let gaps = || run.windows(2).map(|pair| pair[1].since_s - pair[0].since_s);
    let period_s = gaps().sum::<f64>() / gaps().count() as f64;
    let deviations = gaps().map(|gap| (gap - period_s).abs());
    // Clocks count nanoseconds.
    let largest = deviations.fold(resolution_s.max(1e-9) / 2.0, f64::max);
    // The mean determines one of the times.
    period_s > 0.0 && (2.0 * largest / period_s).powi(run.len() as i32 - 2) <= MAX_CHANCE
}
