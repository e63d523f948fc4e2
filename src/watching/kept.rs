//! Reads and writes the log of a watch: one JSON document per line, so that earlier events are kept
//! however the program ends.

use serde::{Deserialize, Serialize};

use super::{Event, Stability};

/// The schema of each line.
pub const SCHEMA: &str = "timermeter.watch.v1";

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// The start of a watch.
    Begin(Begin),
    /// An event.
    Event(Event),
    /// The end of a watch, by itself or by an interrupt. The line is missing if the watch was
    /// killed.
    End(End),
}

/// The start of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// The date, as RFC 3339.
    pub date: String,
    /// The time between two samples of the clocks, in seconds.
    pub period_s: f64,
    /// The shortest pause that is reported, in seconds.
    pub shortest_pause_s: f64,
    /// The CPU that takes the samples, if the thread is pinned to one.
    pub cpu: Option<u32>,
    /// The clock source.
    pub clock_source: Option<String>,
    /// The id of the raw counter that is sampled.
    pub counter: Option<String>,
    /// The ids of clocks that cannot be read on this machine.
    pub unread: Vec<String>,
}

/// The end of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The date, as RFC 3339.
    pub date: String,
    /// The duration of the watch, in seconds.
    pub watched_s: f64,
    /// CPU time of the watch as a share of one CPU.
    pub cpu_share: Option<f64>,
    /// The number of events.
    pub events: usize,
    /// The Allan deviation of MONOTONIC relative to RAW.
    pub monotonic_stability: Vec<Stability>,
    /// The Allan deviation of the CPU counter relative to RAW.
    pub counter_stability: Vec<Stability>,
}

#[derive(Serialize, Deserialize)]
struct Document<L> {
    schema: String,
    #[serde(flatten)]
    line: L,
}

/// Serialises a line with its schema.
///
/// # Errors
/// When serialisation fails, which these types rule out.
pub fn line(line: &Line) -> serde_json::Result<String> {
    serde_json::to_string(&Document {
        schema: SCHEMA.to_owned(),
        line,
    })
}

/// The contents of a log: the last watch, and the number of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// The number of watches that were started.
    pub watches: usize,
    /// The start of the last watch.
    pub last: Option<Begin>,
    /// The end of the last watch; `None` if it is running or was killed.
    pub end: Option<End>,
    /// The events of the last watch.
    pub events: Vec<Event>,
    /// Lines that this program did not write.
    pub strange: usize,
}

/// Reads a log.
#[must_use]
pub fn read(text: &str) -> Kept {
    let mut kept = Kept::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let document = serde_json::from_str::<Document<Line>>(line)
            .ok()
            .filter(|document| document.schema == SCHEMA);
        match document.map(|document| document.line) {
            Some(Line::Begin(begin)) => {
                (kept.last, kept.end) = (Some(begin), None);
                kept.watches += 1;
                kept.events.clear();
            }
            Some(Line::Event(event)) => kept.events.push(event),
            Some(Line::End(end)) => kept.end = Some(end),
            None => kept.strange += 1,
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read() {
        let begin = Begin {
            date: "2026-11-24T00:00:00Z".into(),
            period_s: 0.1,
            shortest_pause_s: 0.02,
            cpu: Some(1),
            clock_source: Some("tsc".into()),
            counter: None,
            unread: vec!["boottime".into()],
        };
        let end = End {
            date: "2026-11-24T01:00:00Z".into(),
            watched_s: 3600.0,
            cpu_share: None,
            events: 0,
            monotonic_stability: Vec::new(),
            counter_stability: Vec::new(),
        };
        let lines = [
            Line::Begin(begin.clone()),
            Line::Begin(begin.clone()),
            Line::End(end.clone()),
        ];
        let lines: Vec<String> = lines
            .iter()
            .map(|of| line(of).expect("it can be written"))
            .collect();
        let text = lines.join("\n") + "\nrubbish\n{\"schema\":\"other\"}\n";
        let kept = read(&text);
        assert_eq!((kept.watches, kept.strange), (2, 2));
        assert_eq!((kept.last, kept.end), (Some(begin), Some(end)));
    }
}
