//! Events in words.

use std::fmt::Write as _;

use super::{Cause, Event, EventKind};
use crate::text::numbers::short_time;

/// An event in a line, without its time.
#[must_use]
pub fn sentence(event: &Event) -> String {
    let size = size(event);
    let whose = whose(event.cause);
    match event.kind {
        EventKind::Pause => format!("pause of {size}: {whose}"),
        EventKind::Suspend => {
            format!("the machine slept for {size} (BOOTTIME went on, MONOTONIC did not)")
        }
        EventKind::Frozen => format!(
            "all clocks stood still for {size} but the RTC: the machine was halted by its host, or somebody set the RTC"
        ),
        EventKind::Step => format!("the time of day was set by {size}: {whose}"),
        EventKind::Slew => {
            format!("the clocks of the kernel run {size} otherwise than before: {whose}")
        }
        EventKind::Source => format!("clock source {}: {whose}", event.note),
        EventKind::CounterJump => format!("the counter of the CPU jumped by {size}: {whose}"),
        EventKind::CounterRate => {
            format!("the counter of the CPU runs {size} otherwise than before: {whose}")
        }
    }
}

fn seconds(seconds: f64) -> String {
    short_time(seconds * 1e9)
}

fn size(event: &Event) -> String {
    let (Some(size), Some(low), Some(high)) = (event.size, event.low, event.high) else {
        return "an unknown size".into();
    };
    if event.unit == "ppm" {
        return format!("{size:+.2} ppm ({low:+.2} to {high:+.2})");
    }
    match event.kind {
        EventKind::Pause => format!("{} to {}", seconds(low), seconds(high)),
        _ => {
            let sign = if size < 0.0 && event.kind != EventKind::Suspend {
                "-"
            } else {
                ""
            };
            let sign = if event.kind == EventKind::Step && size > 0.0 {
                "+"
            } else {
                sign
            };
            format!(
                "{sign}{} ±{}",
                seconds(size.abs()),
                seconds((high - low) / 2.0)
            )
        }
    }
}

/// Whose doing it was, in words.
fn whose(cause: Cause) -> &'static str {
    match cause {
        Cause::Process => {
            "this process was stopped (a signal, a debugger, its control group); the machine went on"
        }
        Cause::Scheduler => "this machine gave the CPU to other threads",
        Cause::Host => "the host gave the CPU to others (stolen time)",
        Cause::Machine => "the whole machine stood still: its host, its firmware or its kernel",
        Cause::Suspend => "the machine slept",
        Cause::ClockSet => "a program or a person set it",
        Cause::LeapSecond => "a leap second",
        Cause::Discipline => "the kernel was told so (adjtimex), as a time service does",
        Cause::Kernel => "the kernel slews in an offset (adjtime)",
        Cause::KernelGaveUp => "the kernel gave the former one up and offers it no more",
        Cause::Chosen => "somebody chose it; the former one is still offered",
        Cause::Counter => "its host or the firmware set it",
        Cause::Migration => {
            "the machine was moved to another host or set back: it paused meanwhile"
        }
    }
}

/// How many events of each kind, in a line; `None` where there are none.
#[must_use]
pub fn tally(events: &[Event]) -> Option<String> {
    let mut text = String::new();
    for kind in EventKind::ALL {
        let of_kind = || events.iter().filter(|event| event.kind == kind);
        let count = of_kind().count();
        if count == 0 {
            continue;
        }
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{separator}{count} {}", kind.word());
        let largest = of_kind()
            .filter_map(|event| event.size)
            .max_by(|a, b| a.abs().total_cmp(&b.abs()));
        if let Some(largest) = largest.filter(|_| of_kind().all(|event| event.unit == "s")) {
            let _ = write!(text, " (largest {})", seconds(largest.abs()));
        }
    }
    (!text.is_empty()).then_some(text)
}
