//! Reads and writes the log of `watch`: one JSON document per line, so that a line stays readable
//! if the program is killed later. Several watches may be appended to one log. A record in a file
//! also begins with a newline, so that an unfinished line (full disk, power cut) spoils no later
//! record.

use serde::{Deserialize, Serialize};

use super::series::SeriesFinder;
use super::{ClockEvent, EventKind};
use crate::model::{AllanPoint, Interval};

/// The name of the schema, which each line contains.
pub const SCHEMA: &str = "timermeter.watch.v1";

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
    /// By how many ppm the kernel's clocks were faster than the RTC; `None` if this is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ppm_by_rtc: Option<Interval>,
    /// The Allan deviation of MONOTONIC relative to RAW.
    pub monotonic_stability: Vec<AllanPoint>,
    /// The Allan deviation of the CPU counter relative to RAW.
    pub counter_stability: Vec<AllanPoint>,
}

/// A line of the log as it is stored.
#[derive(Serialize, Deserialize)]
pub struct LogDocument<L = LogLine> {
    schema: String,
    #[serde(flatten)]
    line: L,
}

impl LogDocument {
    /// Whether a watch may have written the line: a pause, and other times for which something stood
    /// still, are not negative.
    fn is_possible(&self) -> bool {
        let lengths = [EventKind::Pause, EventKind::Suspend, EventKind::Frozen];
        !matches!(&self.line, LogLine::Event(event) if lengths.contains(&event.kind)
            && event.size.is_some_and(|size| size.low < 0.0))
    }
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

/// The contents of a log: its last watch, and the number of all its watches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WatchLog {
    /// The number of watches that were started.
    pub watches: usize,
    /// The start of the last watch; `None` if the log has no watch.
    pub begin: Option<Begin>,
    /// The end of the last watch; `None` if it is still running or was killed.
    pub end: Option<End>,
    /// The events of the last watch.
    pub events: Vec<ClockEvent>,
    /// The numbers, from 1, of the lines that are not in the format of this log.
    pub damaged_lines: Vec<usize>,
}

/// Parses a log, and marks the series among its events. Damaged lines are skipped: those that `read`
/// refuses, and those that no watch writes. Of a watch whose start is damaged, nothing is known.
pub fn parse<E>(text: &str, read: impl Fn(&str) -> Result<LogDocument, E>) -> WatchLog {
    let mut log = WatchLog::default();
    let mut series = SeriesFinder::default();
    let lines = (1..).zip(text.lines());
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let document = read(line)
            .ok()
            .filter(|document| document.schema == SCHEMA && document.is_possible());
        match document.map(|document| document.line) {
            Some(LogLine::Begin(begin)) => {
                (log.begin, log.end) = (Some(begin), None);
                log.watches += 1;
                series = SeriesFinder::default();
                log.events.clear();
            }
            Some(LogLine::Event(mut event)) => {
                let resolution_s = log.begin.as_ref().map_or(0.0, |begin| begin.period_s);
                series.mark(&mut event, resolution_s);
                log.events.push(event);
            }
            Some(LogLine::End(end)) => log.end = Some(end),
            None => {
                log.damaged_lines.push(number);
                log.begin.take_if(|_| line.contains("\"begin\""));
            }
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_serialised_lines() {
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
            ppm_by_rtc: None,
            monotonic_stability: Vec::new(),
            counter_stability: Vec::new(),
        };
        let lines = [
            LogLine::Begin(begin.clone()),
            LogLine::Begin(begin.clone()),
            LogLine::End(end.clone()),
        ];
        let lines: Vec<String> = lines
            .iter()
            .map(|line| serialise(line).expect("lines can be serialised"))
            .collect();
        let text = lines.join("\n\n") + "\nrubbish\n{\"schema\":\"other\"}\n";
        let log = parse(&text, |line| serde_json::from_str(line));
        assert_eq!((log.watches, log.damaged_lines), (2, vec![6, 7]));
        assert_eq!((log.begin, log.end), (Some(begin), Some(end)));
    }
    fn events(text: &str) -> (Option<Begin>, usize, Vec<usize>) {
        let log = parse(text, |line| serde_json::from_str(line));
        (log.begin, log.events.len(), log.damaged_lines)
    }

    /// Only the time of day may be set back.
    #[test]
    fn skips_negative_lengths() {
        let event = |kind: &str| {
            format!(
                r#"{{"schema":"timermeter.watch.v1","line":"event","kind":"{kind}","cause":"unknown","at_s":1,"since_s":1,"size":{{"value":1,"low":-1,"high":2}},"unit":"s","note":""}}"#
            )
        };
        for kind in ["pause", "suspend", "frozen"] {
            assert_eq!(events(&event(kind)), (None, 0, vec![1]), "{kind}");
            let valid = event(kind).replace("-1", "0");
            assert_eq!(events(&valid), (None, 1, vec![]), "{kind}");
        }
        assert_eq!(events(&event("step")), (None, 1, vec![]));
    }

    /// The events after a damaged start belong to no earlier watch.
    #[test]
    fn damaged_start_ends_earlier_watch() {
        let begin = |period: &str| {
            format!(
                r#"{{"schema":"timermeter.watch.v1","line":"begin","date":"","period_s":{period},"shortest_pause_s":1,"unread":[]}}"#
            )
        };
        let earlier = begin("1");
        let (found, _, damaged) = events(&format!("{earlier}\n{}", begin("{}")));
        assert_eq!((found, damaged), (None, vec![2]));
        let (found, _, damaged) = events(&format!("{earlier}\nrubbish"));
        assert!(found.is_some() && damaged == [2], "{damaged:?}");
    }
}
