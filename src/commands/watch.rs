//! `watch`: observes the clocks for hours and reports events when they occur.

mod clocks;

use std::fs::File;
use std::io::Write;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;

use timers::os::signals;

use super::check::COMPARED;
use super::{CommandError, CommandResult, Outputs, date, failed, files, prepare_outputs};
use crate::agents::children::with_remedy;
use crate::cli::WatchArgs;
use crate::messages::{in_locale, print_message};
use crate::platform::{Root, clock_source};
use crate::runs::watch_machine;
use clocks::Clocks;
use judgement::watching::log::{self, Begin, End, LogLine};
use judgement::watching::{Judge, describe};
use reporting::format::Format;
use reporting::input::{self, MAX_REPORT_BYTES};
use reporting::report::{append, parse_line};
use reporting::text::numbers::short_time;
use reporting::text::{date_time, plain};

/// Nanoseconds between two readings of the clock source and the steal time, which take longer than
/// those of the clocks. *Judgement*.
const MACHINE_PERIOD_NS: i64 = 2_000_000_000;

/// Runs the command until the duration ends or a signal arrives. Prints a summary at the end.
///
/// # Errors
/// When CLOCK_MONOTONIC cannot be read, a clock fails later, no
/// thread can be started, an event cannot be written, or a signal ended the watch.
pub fn run(args: &WatchArgs, output: &mut dyn Write) -> CommandResult<bool> {
    let mut journal = Journal::open(args, output)?;
    if let Some(path) = &args.from {
        return print_saved(path, journal).map(|()| true);
    }
    let machine = watch_machine(None, COMPARED).map(files::report);
    for wrong in machine.iter().flat_map(|it| it.assessment.wrong_in_words()) {
        print_message(&format_args!(
            "{wrong} What follows are the kernel's clocks."
        ));
    }
    let (lines, received) = mpsc::channel();
    let args = args.clone();
    // The thread that takes the samples writes nothing, because it would miss samples while it
    // waits for a slow disk, for the reader of a pipe or for a terminal stopped with Ctrl-S.
    let sampler = thread::Builder::new()
        .spawn(move || watch(&args, &lines))
        .map_err(failed)?;
    for line in received {
        journal.write(line)?;
    }
    journal.finish()?;
    sampler
        .join()
        .unwrap_or_else(|panic| resume_unwind(panic))?;
    signals::end_request().map_or(Ok(true), |_| Err(CommandError::Interrupted))
}

/// Prints the last watch in a file.
fn print_saved(path: &Path, mut journal: Journal<'_>) -> CommandResult {
    let name = plain(&path.display().to_string());
    let bytes = input::read(path, MAX_REPORT_BYTES)
        .map_err(|error| failed(format!("cannot read '{name}': {error}")))?;
    let log = log::parse(&String::from_utf8_lossy(&bytes), parse_line);
    if let damaged @ 1.. = log.damaged {
        print_message(&format_args!("'{name}': skipped {damaged} damaged lines"));
    }
    let missing = || failed(format!("'{name}' has no watch"));
    journal.write(LogLine::Begin(log.begin.ok_or_else(missing)?))?;
    let events = log.events.into_iter().map(LogLine::Event);
    let mut lines = events.chain(log.end.map(LogLine::End));
    lines.try_for_each(|line| journal.write(line))?;
    journal.finish()
}

/// Takes samples until the watch ends, and sends what is to be written. Ends early if nothing
/// receives the lines any more, because they could not be written.
fn watch(args: &WatchArgs, lines: &Sender<LogLine>) -> CommandResult {
    let send = |line| lines.send(line).map_err(|_| CommandError::Closed);
    let clock_failed = |why| failed(format!("a clock failed: {}", with_remedy(&why)));
    let clocks = Clocks::open(Root::system())?;
    let [period, pause, duration] =
        [args.period, args.pause, args.duration].map(|s| (s * 1e9) as i64);
    let mut judge = Judge::new(pause);
    let began = clocks.monotonic().map_err(clock_failed)?;
    // A sample precedes the first line, so that nothing that happens after the line is missed.
    let mut first = clocks.sample(began).map_err(clock_failed)?;
    clocks.complete(&mut first);
    judge.add(first);
    send(LogLine::Begin(Begin {
        date: date(),
        shortest_pause_s: args.pause,
        clock_source: clock_source(&Root::system()).current,
    }))?;
    let mut planned = began.saturating_add(period);
    let (mut next_machine, mut events) = (began + MACHINE_PERIOD_NS, 0);
    // CLOCK_MONOTONIC stands still during a suspend, so suspends prolong the watch.
    let end = began.saturating_add(duration);
    let mut ended = Ok(());
    while planned <= end && signals::end_request().is_none() {
        let mut sample = match clocks.sample(planned) {
            Ok(sample) => sample,
            // The other clocks cannot be judged without it.
            Err(why) => {
                ended = Err(clock_failed(why));
                break;
            }
        };
        if sample.monotonic >= next_machine || judge.is_late(&sample) {
            clocks.complete(&mut sample);
            next_machine = sample.monotonic.saturating_add(MACHINE_PERIOD_NS);
        }
        planned = sample.monotonic.saturating_add(period);
        for event in judge.add(sample) {
            events += 1;
            send(LogLine::Event(event))?;
        }
    }
    if let Some(event) = judge.finish() {
        events += 1;
        send(LogLine::Event(event))?;
    }
    send(LogLine::End(End {
        date: date(),
        watched_s: (planned - began) as f64 / 1e9,
        events,
    }))?;
    ended
}

/// The outputs of a watch.
struct Journal<'a> {
    stdout: &'a mut dyn Write,
    outputs: Outputs,
    log: Option<File>,
}

impl<'a> Journal<'a> {
    fn open(args: &WatchArgs, stdout: &'a mut dyn Write) -> CommandResult<Self> {
        let log = args.save.as_deref().map(append).transpose();
        Ok(Self {
            stdout,
            outputs: prepare_outputs(&args.output)?,
            log: log.map_err(failed)?,
        })
    }

    /// Writes one line to all outputs.
    fn write(&mut self, line: LogLine) -> CommandResult {
        let json = log::serialise(&line).map_err(failed)? + "\n";
        if let Some(file) = &mut self.log {
            // Each line is a single write, so that lines appended by other processes are not mixed
            // with it. It begins with a newline, because the last line of the file may be unfinished.
            file.write_all(format!("\n{json}").as_bytes())
                .map_err(|error| failed(format!("cannot write the log: {error}")))?;
        }
        let text = in_words(&line);
        for (file, format) in &mut self.outputs.files {
            let text = match format {
                Format::Json => &json,
                _ => &text,
            };
            file.write_all(text.as_bytes())
                .map_err(|error| failed(file.explain(error)))?;
        }
        let text = match self.outputs.format {
            Format::Json => json,
            _ => in_locale(text),
        };
        self.stdout.write_all(text.as_bytes())?;
        Ok(self.stdout.flush()?)
    }

    /// Makes the output files visible after the last line.
    fn finish(self) -> CommandResult {
        let mut files = self.outputs.files.into_iter();
        files
            .try_for_each(|(file, _)| file.finish())
            .map_err(failed)
    }
}

/// Describes a line for people.
fn in_words(line: &LogLine) -> String {
    match line {
        LogLine::Begin(begin) => {
            let source = begin.clock_source.as_deref().unwrap_or("unknown");
            format!("{}  begins: clock source {source}\n", begin.date)
        }
        LogLine::Event(event) => format!("{}  {}\n", date_time(event.at_s as i64), describe(event)),
        LogLine::End(end) => {
            let watched = short_time(1e9 * end.watched_s);
            format!(
                "{}  ends: watched for {watched}: {} events\n",
                end.date, end.events
            )
        }
    }
}
