//! `watch`: observes the clocks for hours and reports events when they occur.

mod clocks;
mod journal;

use std::io::Write;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::thread;

use timers::Unavailable;
use timers::os::signals;

use super::{CommandError, CommandResult, date, failed, usage};
use crate::cli::WatchArgs;
use crate::findings::apply_rules;
use crate::findings::machine::{WATCH_LOG, WatchLogCase};
use crate::hosts::children::with_remedy;
use crate::limits::explain_shortage;
use crate::messages::print_message;
use crate::platform::{Root, quietest_cpu};
use crate::text::plain;
use crate::watching::log::{Begin, End, LogLine};
use crate::watching::{ClockEvent, Judge};
use clocks::Clocks;
use journal::Journal;
pub(super) use journal::{read_log, saved_log_path};

/// Seconds between two samples of the state of the machine, which cost more than samples of the
/// clocks.
/// *Judgement*: a reading of the RTC may take a millisecond.
const MACHINE_PERIOD_S: f64 = 2.0;

const NS_PER_SECOND: f64 = 1e9;

/// Runs the command until the duration ends or a signal arrives. Prints a summary at the end.
///
/// # Errors
/// When --period is longer than the watch, CLOCK_MONOTONIC cannot be read, a clock fails later, no
/// thread can be started, an event cannot be written, or a signal ended the watch.
pub fn run(args: &WatchArgs, output: &mut dyn Write) -> CommandResult<bool> {
    if args.period > args.duration {
        return Err(usage(
            "--period is longer than the watch: give a shorter period",
        ));
    }
    if let Err(error) = signals::record_continuations() {
        print_message(&format_args!(
            "a pause after a signal stopped this process may have an unknown cause, because SIGCONT cannot be handled: {error}"
        ));
    }
    let mut journal = Journal::open(args, output)?;
    if let Some(path) = &args.from {
        return print_saved(path, journal).map(|()| true);
    }
    let (lines, received) = mpsc::channel();
    let args = args.clone();
    // The thread that takes the samples writes nothing, because it would miss samples while it
    // waits for a slow disk, for the reader of a pipe or for a terminal stopped with Ctrl-S.
    let sampler = thread::Builder::new()
        .name("samples".into())
        .spawn(move || watch(&args, &lines))
        .map_err(|error| {
            let reason = explain_shortage(&error).unwrap_or_else(|| error.to_string());
            failed(format!(
                "cannot start the thread that samples the clocks: {reason}"
            ))
        })?;
    for line in received {
        journal.write(line)?;
    }
    journal.finish()?;
    sampler
        .join()
        .unwrap_or_else(|panic| resume_unwind(panic))?;
    if signals::end_request().is_some() {
        Err(CommandError::Interrupted)
    } else {
        Ok(true)
    }
}

/// Prints the last watch in a file, and names damaged lines.
fn print_saved(path: &Path, mut journal: Journal<'_>) -> CommandResult {
    let name = plain(&path.display().to_string());
    let log =
        read_log(path).map_err(|error| write_error(&format!("cannot read '{name}'"), &error))?;
    let case = WatchLogCase {
        damaged_lines: &log.damaged_lines,
        path: &name,
        ..WatchLogCase::default()
    };
    for damage in apply_rules(WATCH_LOG, &case) {
        print_message(&damage.message());
    }
    let begin = log.begin.ok_or_else(|| {
        failed(format!(
            "'{name}' holds no watch; `timermeter watch --save=FILE` writes one"
        ))
    })?;
    journal.write(LogLine::Begin(begin))?;
    if log.end.is_none() {
        print_message(&format_args!(
            "'{name}': the last watch has no end: still running or killed"
        ));
    }
    log.events
        .into_iter()
        .map(LogLine::Event)
        .chain(log.end.map(LogLine::End))
        .try_for_each(|line| journal.write(line))
}

/// Takes samples until the watch ends, and sends what is to be written. Ends early if nothing
/// receives the lines any more, because they could not be written.
fn watch(args: &WatchArgs, lines: &Sender<LogLine>) -> CommandResult {
    let send = |line| lines.send(line).map_err(|_| CommandError::Closed);
    // Counters of different CPUs may differ, so all samples are taken on one CPU.
    let cpu = quietest_cpu(&timers::allowed_cpus().unwrap_or_default());
    let cpu = cpu.filter(|&cpu| timers::pin_to(cpu).is_ok());
    let mut clocks = Clocks::open(Root::system())?;
    let now = clocks.monotonic().map_err(clock_failed)?;
    let clock_source = clocks.machine(now).source;
    send(LogLine::Begin(Begin {
        date: date(),
        period_s: args.period,
        shortest_pause_s: args.pause,
        cpu,
        clock_source,
        counter: clocks.counter.as_ref().map(|(id, _)| (*id).to_owned()),
        unread: clocks.unreadable.clone(),
    }))?;
    let mut judge = Judge::new((args.pause * NS_PER_SECOND) as i64);
    let mut events = 0;
    let mut report = |found: Vec<ClockEvent>| {
        events += found.len();
        let mut found = found.into_iter().map(LogLine::Event);
        found.try_for_each(send)
    };
    let period_ns = (args.period * NS_PER_SECOND) as i64;
    let machine_period_ns = (MACHINE_PERIOD_S * NS_PER_SECOND) as i64;
    let began = clocks.monotonic().map_err(clock_failed)?;
    let (mut planned, mut next_machine_ns) = (began, began);
    // CLOCK_MONOTONIC stands still during a suspend, so suspends prolong the watch.
    let end_ns = began.saturating_add((args.duration * NS_PER_SECOND) as i64);
    let mut ended = Ok(());
    while planned <= end_ns && signals::end_request().is_none() {
        let mut sample = match clocks.sample(planned) {
            Ok(sample) => sample,
            // The other clocks cannot be judged without it.
            Err(why) => {
                ended = Err(clock_failed(why));
                break;
            }
        };
        if sample.monotonic >= next_machine_ns || judge.is_late(&sample) {
            sample.machine = Some(clocks.machine(sample.monotonic));
            next_machine_ns = sample.monotonic.saturating_add(machine_period_ns);
        }
        planned = sample.monotonic.saturating_add(period_ns);
        report(judge.add(sample))?;
    }
    report(judge.finish())?;
    let [monotonic_stability, counter_stability] = judge.stability();
    let watched_s = judge.watched_s();
    let cpu_share = clocks
        .cpu_time_s()
        .map(|taken| taken / watched_s)
        .filter(|share| share.is_finite());
    send(LogLine::End(End {
        date: date(),
        watched_s,
        cpu_share,
        events,
        ppm_by_rtc: judge.ppm_by_rtc(),
        monotonic_stability,
        counter_stability,
    }))?;
    ended
}

/// The error for a clock that failed after the watch had begun.
fn clock_failed(why: Unavailable) -> CommandError {
    failed(format!(
        "the watch ended, because a clock failed: {}",
        with_remedy(&why)
    ))
}

/// The error for a file of events that cannot be opened or written: what failed, and the reason. It
/// ends the watch, because later events could not be reported either.
fn write_error(what: &str, why: &dyn std::fmt::Display) -> CommandError {
    failed(format!("{what}: {why}"))
}
