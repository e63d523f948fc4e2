//! Writes the lines of a watch to standard output, and appends them to a file.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::super::{Outputs, prepare_outputs};
use super::{CommandError, failed, write_error};
use crate::cli::WatchArgs;
use crate::input;
use crate::messages::in_locale;
use crate::model::{AllanPoint, Interval};
use crate::report::{append, home, parse_line};
use crate::table::Format;
use crate::text::date_time;
use crate::text::numbers::{short_time, significant};
use crate::watching::log::{self, LogLine, WatchLog};
use crate::watching::{
    ClockEvent, EventKind, describe, describe_all_series, describe_pauses, describe_series, tally,
};

/// The log in the user's data folder, from which `check` reads the last watch. `None` if there is
/// no such folder.
pub(crate) fn saved_log_path() -> Option<PathBuf> {
    home().map(|home| home.join("watched.jsonl"))
}

/// Largest size of a log of `watch` that is read, in bytes. The log of years fits, unless events
/// occur each second.
const MAX_WATCH_BYTES: u64 = 64 << 20;

/// Reads a log.
///
/// # Errors
/// When the file cannot be read, is not a regular file, or is too large.
pub(crate) fn read_log(path: &Path) -> io::Result<WatchLog> {
    let mut bytes = Vec::new();
    input::read(path, MAX_WATCH_BYTES, &mut bytes)?;
    Ok(log::parse(&String::from_utf8_lossy(&bytes), parse_line))
}

/// The outputs of a watch.
pub struct Journal<'a> {
    stdout: &'a mut dyn Write,
    outputs: Outputs,
    /// Whether the watch is going on, instead of being read from a file.
    is_live: bool,
    file: Option<(PathBuf, File)>,
    events: Vec<ClockEvent>,
    /// Pauses of one cause that are not printed yet.
    pauses: Vec<ClockEvent>,
}

/// Longest time, in seconds, between two pauses of one cause that are printed in one line.
/// *Judgement*: later ones are printed at once.
const MAX_REPEAT_S: f64 = 60.0;

impl<'a> Journal<'a> {
    /// Opens the outputs.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(args: &WatchArgs, stdout: &'a mut dyn Write) -> Result<Self, CommandError> {
        let path = match &args.save {
            Some(None) => Some(saved_log_path().ok_or_else(|| {
                write_error(
                    "--save: there is no folder for the log",
                    &"set TIMERMETER_HOME or HOME, or name a file: --save=FILE",
                )
            })?),
            save => save.clone().flatten(),
        };
        let open = |path: PathBuf| append(&path).map(|file| (path, file));
        Ok(Self {
            stdout,
            outputs: prepare_outputs(&args.output)?,
            is_live: args.from.is_none(),
            file: path.map(open).transpose().map_err(failed)?,
            events: Vec::new(),
            pauses: Vec::new(),
        })
    }

    /// Writes one line to all outputs.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn write(&mut self, line: LogLine) -> Result<(), CommandError> {
        let text = log::serialise(&line)
            .map_err(|error| write_error("an event cannot be written as JSON", &error))?
            + "\n";
        if let Some((path, file)) = &mut self.file {
            // Each line is a single write, so that lines appended by other processes are not mixed
            // with it. It begins with a newline, because the last line of the file may be unfinished.
            file.write_all(format!("\n{text}").as_bytes())
                .map_err(|error| {
                    write_error(&format!("cannot write '{}'", path.display()), &error)
                })?;
        }
        let described = self.describe_in_turn(&line);
        for (file, format) in &mut self.outputs.files {
            let text = if *format == Format::Json {
                &text
            } else {
                &described
            };
            let written = file.write_all(text.as_bytes());
            written.map_err(|error| failed(file.explain(error)))?;
        }
        let text = match self.outputs.format {
            Format::Json => text,
            _ => in_locale(described),
        };
        self.stdout.write_all(text.as_bytes())?;
        self.stdout.flush()?;
        if let LogLine::Event(event) = line {
            self.events.push(event);
        }
        Ok(())
    }

    /// Makes the output files visible after the last line.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn finish(self) -> Result<(), CommandError> {
        let mut files = self.outputs.files.into_iter();
        files
            .try_for_each(|(file, _)| file.finish())
            .map_err(failed)
    }

    /// Describes a line for people. Pauses that repeat the last one are described together, before
    /// the next other line; the first one at once if the watch is going on.
    fn describe_in_turn(&mut self, line: &LogLine) -> String {
        let is_pause =
            |event: &ClockEvent| event.kind == EventKind::Pause && event.series.is_none();
        let repeats = |event: &ClockEvent, last: &ClockEvent| {
            is_pause(last)
                && last.cause == event.cause
                && event.since_s - last.since_s <= MAX_REPEAT_S
        };
        let pause = match line {
            LogLine::Event(event) if is_pause(event) => Some(event),
            _ => None,
        };
        let is_repeated =
            pause.is_some_and(|event| self.events.last().is_some_and(|last| repeats(event, last)));
        let mut text = String::new();
        if !is_repeated {
            let pauses = std::mem::take(&mut self.pauses);
            if let Some(last) = pauses.last() {
                text = event_line(last, &describe_pauses(&pauses));
            }
        }
        match pause.filter(|_| is_repeated || !self.is_live) {
            Some(pause) => self.pauses.push(pause.clone()),
            None => text += &self.describe_line(line),
        }
        text
    }

    /// Describes a line in text for people.
    fn describe_line(&self, line: &LogLine) -> String {
        match line {
            LogLine::Begin(begin) => {
                let [source, counter] = [&begin.clock_source, &begin.counter]
                    .map(|name| name.as_deref().unwrap_or("unknown"));
                let hint = if self.is_live && io::stdout().is_terminal() {
                    "; Ctrl-C ends the watch with a summary"
                } else {
                    ""
                };
                format!(
                    "{}  begins: clock source {source}, counter {counter}, pauses from {} on{hint}\n",
                    begin.date,
                    short_time(begin.shortest_pause_s * 1e9)
                )
            }
            LogLine::Event(event) => {
                let sentence = match event.series {
                    None => describe(event),
                    Some(series) if series.is_new => describe_series(event).unwrap_or_default(),
                    Some(_) => return String::new(),
                };
                event_line(event, &sentence)
            }
            LogLine::End(end) => {
                let events = tally(&self.events).unwrap_or_else(|| "no events".into());
                let watched = short_time(end.watched_s * 1e9);
                let mut text = format!("{}  ends: watched for {watched}: {events}\n", end.date);
                for series in describe_all_series(&self.events) {
                    text += &format!("Series: {series}.\n");
                }
                text += &describe_rtc(end.ppm_by_rtc);
                for (clock, stability) in [
                    ("CLOCK_MONOTONIC", &end.monotonic_stability),
                    ("the CPU counter", &end.counter_stability),
                ] {
                    if !stability.is_empty() {
                        let windows = windows(stability);
                        text += &format!(
                            "Allan deviation of {clock} relative to CLOCK_MONOTONIC_RAW: {windows}\n"
                        );
                    }
                }
                if let Some(share) = end.cpu_share {
                    text += &format!("The watch took {:.3} % of a CPU.\n", share * 100.0);
                }
                text
            }
        }
    }
}

/// A line of an event, which begins with its time.
fn event_line(event: &ClockEvent, sentence: &str) -> String {
    format!("{}  {sentence}\n", date_time(event.at_s as i64))
}

/// A line that says what the RTC shows about the rate of the kernel's clocks.
fn describe_rtc(ppm: Option<Interval>) -> String {
    let Some((ppm, (low, high))) = ppm.and_then(|ppm| Some((ppm.value, ppm.ends()?))) else {
        return "Not known, as no RTC shows it: whether all clocks ran too fast or too slow, or stood still (a restored snapshot).\n"
            .into();
    };
    if low <= 0.0 && high >= 0.0 {
        let largest = significant(high.max(-low), 2);
        format!("The RTC agrees with the kernel's clocks within {largest} ppm.\n")
    } else {
        let [ppm, low, high] = [ppm, low, high].map(|ppm| significant(ppm, 3));
        format!(
            "The rate of the kernel's clocks differs from that of the RTC by {ppm} ppm ({low} to {high}).\n"
        )
    }
}

/// The Allan deviations for up to four window lengths, from the shortest to the longest.
fn windows(stability: &[AllanPoint]) -> String {
    let last = stability.len() - 1;
    let mut chosen = vec![0, last / 3, 2 * last / 3, last];
    chosen.dedup();
    let windows = chosen.iter().filter_map(|&at| stability.get(at));
    let windows =
        windows.map(|at| format!("{:.1e} at {}", at.deviation, short_time(at.window_s * 1e9)));
    windows.collect::<Vec<_>>().join(", ")
}
