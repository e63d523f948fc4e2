//! `watch`: looks at the clocks for hours and tells what happens to them, as it happens.

mod clocks;
mod told;

use std::io::Write;
use std::thread;
use std::time::Duration;

use timers::os::signals;

use super::{CommandError, failed, tell};
use crate::cli::WatchArgs;
use crate::platform::{Root, quietest_cpu};
use crate::watching::kept::{Begin, End, Line};
use crate::watching::{Event, Judge};
use clocks::Clocks;
use told::Told;
pub(super) use told::place;

/// Seconds between two looks at the machine itself, which cost more than the clocks.
/// *Judgement*: a look at the RTC may take a millisecond.
const MACHINE_S: f64 = 2.0;

const SECOND: f64 = 1e9;

/// Runs the command. Ends by itself, or when a signal asks it to; either way with what it saw.
///
/// # Errors
/// When the clocks cannot be read, or what happens cannot be written.
pub fn run(args: &WatchArgs, output: &mut dyn Write) -> Result<bool, CommandError> {
    if args.period > args.duration {
        return Err(CommandError::Usage(
            "--period is longer than the watch: give a shorter one".into(),
        ));
    }
    if let Err(error) = signals::hear_continuations() {
        tell(&format_args!(
            "a stop of this process is not told from one of the machine: {error}"
        ));
    }
    // Counters of different CPUs may differ: one CPU looks.
    let cpu = quietest_cpu(&timers::allowed_cpus().unwrap_or_default());
    let cpu = cpu.filter(|&cpu| timers::pin_to(cpu).is_ok());
    let clocks = Clocks::open(Root::system())?;
    let mut told = Told::prepare(args, output)?;
    let begin = Begin {
        date: date(),
        period_s: args.period,
        shortest_pause_s: args.pause,
        cpu,
        clock_source: clocks.machine().source,
        counter: clocks.counter_id().map(str::to_owned),
        unread: clocks.unread().to_vec(),
    };
    told.begin(begin)?;
    let (judge, events) = watch(args, &clocks, &mut told)?;
    let [monotonic_stability, counter_stability] = judge.stability();
    let watched_s = judge.watched_s();
    let cpu_share = clocks
        .cpu_time_s()
        .map(|taken| taken / watched_s)
        .filter(|share| share.is_finite());
    let (date, events) = (date(), events.len());
    told.end(End {
        date,
        watched_s,
        cpu_share,
        events,
        monotonic_stability,
        counter_stability,
    })?;
    if signals::asked().is_some() {
        Err(CommandError::Interrupted)
    } else {
        Ok(true)
    }
}

fn watch(
    args: &WatchArgs,
    clocks: &Clocks,
    told: &mut Told<'_>,
) -> Result<(Judge, Vec<Event>), CommandError> {
    let mut judge = Judge::new((args.pause * SECOND) as i64);
    let mut events = Vec::new();
    let period = (args.period * SECOND) as i64;
    let machine_every = (MACHINE_S * SECOND) as i64;
    let began = clocks.monotonic();
    let (mut planned, mut machine_at) = (began, began);
    // The end is counted in looks too: a machine that sleeps is watched for as long as it is awake.
    let until = began.saturating_add((args.duration * SECOND) as i64);
    while planned <= until && signals::asked().is_none() {
        let wait = planned.saturating_sub(clocks.monotonic());
        thread::sleep(Duration::from_nanos(u64::try_from(wait).unwrap_or(0)));
        let mut look = clocks.look(planned);
        if look.monotonic >= machine_at || judge.is_late(&look) {
            look.machine = Some(clocks.machine());
            machine_at = look.monotonic.saturating_add(machine_every);
        }
        planned = look.monotonic.saturating_add(period);
        for event in judge.look(look) {
            told.event(&event)?;
            events.push(event);
        }
    }
    Ok((judge, events))
}

fn date() -> String {
    humantime::format_rfc3339_seconds(timers::date()).to_string()
}

impl Told<'_> {
    fn begin(&mut self, begin: Begin) -> Result<(), CommandError> {
        self.line(&Line::Begin(begin))
    }

    fn event(&mut self, event: &Event) -> Result<(), CommandError> {
        self.line(&Line::Event(event.clone()))
    }

    fn end(&mut self, end: End) -> Result<(), CommandError> {
        self.line(&Line::End(end))
    }
}

/// What cannot be written ends the watch: nothing would be told.
fn cannot(what: &str, why: &dyn std::fmt::Display) -> CommandError {
    failed(format!("{what}: {why}"))
}
