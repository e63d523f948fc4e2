//! Describes the events of `watch` in words.

use super::{Cause, ClockEvent, EventKind};
use crate::numbers::short_time;

/// Describes an event.
pub fn describe(event: &ClockEvent) -> String {
    let seconds = |s: f64| short_time(s * 1e9);
    // Who wrote the log may not know the ends.
    let ends = event.size.and_then(|size| size.ends());
    let size = event.size.map_or(event.note.clone(), |size| {
        let value = match event.kind {
            EventKind::Slew => format!("{:+.2} ppm", size.value),
            _ if size.value < 0.0 => format!("-{}", seconds(-size.value)),
            _ => seconds(size.value),
        };
        match (event.kind, ends) {
            (_, None) => value,
            (EventKind::Pause, Some((low, high))) => {
                format!("{} to {}", seconds(low), seconds(high))
            }
            (EventKind::Slew, Some((low, high))) => format!("{value} ({low:+.2} to {high:+.2})"),
            _ => format!("{value} ±{}", seconds(size.half_width())),
        }
    });
    let cause = match event.cause {
        Cause::Quota => "CPU quota",
        Cause::Host => "steal time",
        Cause::Scheduler => "other threads",
        Cause::Suspend => "BOOTTIME continued",
        Cause::ClockSet => "the time was set",
        Cause::LeapSecond => "leap second",
        Cause::Discipline => "adjtimex set the rate",
        Cause::Kernel => "adjtime corrects an offset",
        Cause::KernelGaveUp => "the former was rejected",
        Cause::Chosen => "it was chosen",
        Cause::Unknown => "unknown cause",
    };
    let kind = match event.kind {
        EventKind::Pause => "pause",
        EventKind::Suspend => "suspend",
        EventKind::Step => "step",
        EventKind::Slew => "slew",
        EventKind::Source | EventKind::Other => "clock source",
    };
    format!("{kind} {size}: {cause}")
}
