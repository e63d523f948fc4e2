//! How what happens is told: on standard output, in the file that is appended to, and as metrics.

use std::fs::{self, File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use super::{CommandError, cannot};
use crate::cli::WatchArgs;
use crate::report::openmetrics::Metrics;
use crate::report::{WholeFile, home};
use crate::table::Format;
use crate::text::numbers::short_time;
use crate::text::plain;
use crate::watching::kept::{self, End, Line};
use crate::watching::{Event, EventKind, Stability, sentence, tally};

/// The file that `check` reads, in the folder of the user.
const KEPT: &str = "watched.jsonl";

/// Where `check` looks for what was kept.
pub(crate) fn place() -> Option<PathBuf> {
    home().map(|home| home.join(KEPT))
}

/// Where it is told.
pub(super) struct Told<'a> {
    output: &'a mut dyn Write,
    format: Format,
    kept: Option<(PathBuf, File)>,
    metrics: Option<PathBuf>,
    events: Vec<Event>,
}

impl<'a> Told<'a> {
    /// Opens what is written to.
    ///
    /// # Errors
    /// When it cannot be.
    pub(super) fn prepare(
        args: &WatchArgs,
        output: &'a mut dyn Write,
    ) -> Result<Self, CommandError> {
        let kept = match &args.save {
            None => None,
            Some(None) => Some(place().ok_or_else(|| {
                cannot(
                    "nowhere to keep it",
                    &"set TIMERMETER_HOME or HOME, or name a file: --save=FILE",
                )
            })?),
            Some(Some(path)) => Some(path.clone()),
        };
        let open = |path: PathBuf| {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let file = folder
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| OpenOptions::new().create(true).append(true).open(&path));
            file.map(|file| (path.clone(), file))
                .map_err(|error| cannot(&format!("'{}'", path.display()), &error))
        };
        let kept = kept.map(open).transpose()?;
        let told = Self {
            output,
            format: args.format,
            kept,
            metrics: args.metrics.clone(),
            events: Vec::new(),
        };
        told.write_metrics(None)?;
        Ok(told)
    }

    /// Tells it everywhere, at once.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn line(&mut self, line: &Line) -> Result<(), CommandError> {
        let text = kept::line(line)
            .map_err(|error| cannot("this cannot be written as JSON", &error))?
            + "\n";
        if let Some((path, file)) = &mut self.kept {
            // One write a line: what other processes append stands before or behind it.
            file.write_all(text.as_bytes())
                .map_err(|error| cannot(&format!("'{}'", path.display()), &error))?;
        }
        match self.format {
            Format::Json => self.output.write_all(text.as_bytes())?,
            _ => self.in_words(line)?,
        }
        self.output.flush()?;
        match line {
            Line::Begin(_) => Ok(()),
            Line::Event(event) => {
                self.events.push(event.clone());
                self.write_metrics(None)
            }
            Line::End(end) => self.write_metrics(Some(end)),
        }
    }

    fn in_words(&mut self, line: &Line) -> std::io::Result<()> {
        match line {
            Line::Begin(begin) => {
                let source = begin.clock_source.as_deref().unwrap_or("unknown");
                let counter = begin.counter.as_deref().unwrap_or("none");
                let how = if std::io::stdout().is_terminal() {
                    "; Ctrl-C ends it with what was seen"
                } else {
                    ""
                };
                writeln!(
                    self.output,
                    "{}  begins: clock source {}, counter {counter}, pauses from {} on{how}",
                    begin.date,
                    plain(source),
                    short_time(begin.shortest_pause_s * 1e9)
                )
            }
            Line::Event(event) => {
                writeln!(self.output, "{}  {}", at(event), plain(&sentence(event)))
            }
            Line::End(end) => self.end_in_words(end),
        }
    }

    fn end_in_words(&mut self, end: &End) -> std::io::Result<()> {
        let seen = tally(&self.events).unwrap_or_else(|| "nothing happened".into());
        let watched = short_time(end.watched_s * 1e9);
        writeln!(
            self.output,
            "{}  ends: watched for {watched}: {seen}",
            end.date
        )?;
        for (whose, stability) in [
            (
                "CLOCK_MONOTONIC against CLOCK_MONOTONIC_RAW",
                &end.monotonic_stability,
            ),
            (
                "the counter against CLOCK_MONOTONIC_RAW",
                &end.counter_stability,
            ),
        ] {
            if !stability.is_empty() {
                writeln!(
                    self.output,
                    "Allan deviation of {whose}: {}",
                    windows(stability)
                )?;
            }
        }
        if let Some(share) = end.cpu_share {
            writeln!(
                self.output,
                "The watch took {:.3} % of a CPU.",
                share * 100.0
            )?;
        }
        Ok(())
    }

    fn write_metrics(&self, end: Option<&End>) -> Result<(), CommandError> {
        let Some(path) = &self.metrics else {
            return Ok(());
        };
        let mut metrics = Metrics::default();
        for kind in EventKind::ALL {
            let of_kind = || self.events.iter().filter(|event| event.kind == kind);
            let labels = format!("kind=\"{}\"", kind.word());
            let count = of_kind().count() as f64;
            metrics.gauge(
                "timermeter_watch_events",
                "Events of this watch.",
                &labels,
                Some(count),
            );
            let sizes = of_kind()
                .filter(|event| event.unit == "s")
                .filter_map(|event| Some(event.size?.abs()));
            let largest = sizes.max_by(f64::total_cmp);
            metrics.gauge(
                "timermeter_watch_largest_seconds",
                "The largest of them.",
                &labels,
                largest,
            );
            let last = of_kind().next_back().map(|event| event.at_s);
            metrics.gauge(
                "timermeter_watch_last_timestamp_seconds",
                "When the last was.",
                &labels,
                last,
            );
        }
        let watched = end.map(|end| end.watched_s);
        metrics.gauge(
            "timermeter_watch_duration_seconds",
            "How long was watched, once it is over.",
            "",
            watched,
        );
        let whole = |error: &dyn std::fmt::Display| cannot(&format!("'{}'", path.display()), error);
        let file = WholeFile::prepare(path).map_err(|error| whole(&error))?;
        file.commit(metrics.text().as_bytes())
            .map_err(|error| whole(&error))
    }
}

fn at(event: &Event) -> String {
    let since = Duration::try_from_secs_f64(event.at_s.max(0.0)).unwrap_or_default();
    let time = UNIX_EPOCH.checked_add(since);
    time.map_or_else(String::new, |time| {
        humantime::format_rfc3339_seconds(time).to_string()
    })
}

/// Four of them: the shortest, the longest, and two between.
fn windows(stability: &[Stability]) -> String {
    let last = stability.len() - 1;
    let mut chosen = [0, last / 3, 2 * last / 3, last].to_vec();
    chosen.dedup();
    let told: Vec<String> = chosen
        .iter()
        .filter_map(|&at| stability.get(at))
        .map(
            |Stability {
                 window_s,
                 deviation,
             }| format!("{deviation:.1e} at {}", short_time(window_s * 1e9)),
        )
        .collect();
    told.join(", ")
}
