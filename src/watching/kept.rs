//! What is kept of a watch: a JSON document a line, so that whatever ends the program, all that
//! happened before is there.

use serde::{Deserialize, Serialize};

use super::{Event, Stability};

/// The schema of each line.
pub const SCHEMA: &str = "timermeter.watch.v1";

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum Line {
    /// A watch begins.
    Begin(Begin),
    /// Something happened.
    Event(Event),
    /// A watch ended, by itself or by an interrupt; without this line it was killed.
    End(End),
}

/// A watch begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// When, as RFC 3339.
    pub date: String,
    /// How often the clocks are looked at, in seconds.
    pub period_s: f64,
    /// The shortest pause that is reported, in seconds.
    pub shortest_pause_s: f64,
    /// The CPU that looks, where it could be bound to one.
    pub cpu: Option<u32>,
    /// The clock source.
    pub clock_source: Option<String>,
    /// The id of the raw counter that is looked at.
    pub counter: Option<String>,
    /// Clocks that cannot be read here, by id.
    pub unread: Vec<String>,
}

/// A watch ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// When, as RFC 3339.
    pub date: String,
    /// How long it lasted, in seconds.
    pub watched_s: f64,
    /// Share of a CPU that it took.
    pub cpu_share: Option<f64>,
    /// Events.
    pub events: usize,
    /// The Allan deviation of MONOTONIC against RAW.
    pub monotonic_stability: Vec<Stability>,
    /// The Allan deviation of the counter of the CPU against RAW.
    pub counter_stability: Vec<Stability>,
}

#[derive(Serialize, Deserialize)]
struct Document<L> {
    schema: String,
    #[serde(flatten)]
    line: L,
}

/// A line as it is kept.
///
/// # Errors
/// Never, but that is for the serializer to say.
pub fn line(line: &Line) -> serde_json::Result<String> {
    serde_json::to_string(&Document {
        schema: SCHEMA.to_owned(),
        line,
    })
}

/// What was kept: of the last watch, and of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kept {
    /// Watches that were begun.
    pub watches: usize,
    /// The last of them.
    pub last: Option<Begin>,
    /// How it ended; `None` where it goes on or was killed.
    pub end: Option<End>,
    /// What happened in it.
    pub events: Vec<Event>,
    /// Lines that are not of this program.
    pub strange: usize,
}

/// Reads what was kept.
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
