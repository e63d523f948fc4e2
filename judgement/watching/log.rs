//! Reads and writes the log of `watch`: one JSON document per line, so that a line stays readable
//! if the program is killed later. Several watches may be appended to one log. A record in a file
//! also begins with a newline, so that an unfinished line (full disk, power cut) spoils no later
//! record.

use serde::{Deserialize, Serialize};

use super::{ClockEvent, EventKind};

/// The name of the schema, which each line contains.
const SCHEMA: &str = "timermeter.watch.v1";

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "kebab-case")]
pub enum LogLine {
    /// The start of a watch.
    Begin(Begin),
    /// An event.
    Event(ClockEvent),
    /// The end of a watch, after its duration or after an interrupt. The line is missing if the
    /// program was killed.
    End(End),
}

/// The start of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begin {
    /// The date, as RFC 3339.
    pub date: String,
    /// The shortest pause that is reported, in seconds.
    pub shortest_pause_s: f64,
    /// The clock source.
    pub clock_source: Option<String>,
}

/// The end of a watch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// The date, as RFC 3339.
    pub date: String,
    /// The duration of the watch, in seconds.
    pub watched_s: f64,
    /// The number of events.
    pub events: usize,
}

/// A line of the log as it is stored.
#[derive(Serialize, Deserialize)]
pub struct LogDocument<L = LogLine> {
    schema: String,
    #[serde(flatten)]
    line: L,
}

/// Serialises a line with its schema.
///
/// # Errors
/// When serialisation fails, which these types rule out.
pub fn serialise(line: &LogLine) -> serde_json::Result<String> {
    serde_json::to_string(&LogDocument {
        schema: SCHEMA.to_owned(),
        line,
    })
}

/// The last watch of a log.
#[derive(Debug, Default)]
pub struct WatchLog {
    /// Its start; `None` if the log has no watch.
    pub begin: Option<Begin>,
    /// Its end; `None` if it is still running or was killed.
    pub end: Option<End>,
    /// Its events.
    pub events: Vec<ClockEvent>,
    /// The number of lines that are not in the format of this log.
    pub damaged: usize,
}

/// Parses a log. Lines that `read` refuses are skipped, and events of unknown kinds. Of a watch whose
/// start is damaged, nothing is known.
pub fn parse<E>(text: &str, read: impl Fn(&str) -> Result<LogDocument, E>) -> WatchLog {
    let mut log = WatchLog::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let document = read(line).ok().filter(|found| found.schema == SCHEMA);
        match document.map(|document| document.line) {
            Some(LogLine::Begin(begin)) => {
                log = WatchLog {
                    begin: Some(begin),
                    damaged: log.damaged,
                    ..WatchLog::default()
                }
            }
            Some(LogLine::Event(event)) if event.kind == EventKind::Other => {}
            Some(LogLine::Event(event)) => log.events.push(event),
            Some(LogLine::End(end)) => log.end = Some(end),
            None => {
                log.damaged += 1;
                log.begin.take_if(|_| line.contains("\"begin\""));
            }
        }
    }
    log
}
