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
        Cause::Host => "the host took the CPU (steal time)",
        Cause::Scheduler => "other threads had the CPU",
        Cause::Suspend => "BOOTTIME continued",
        Cause::ClockSet => "a program set the time of day",
        Cause::LeapSecond => "leap second",
        Cause::Discipline => "a time service set the rate (adjtimex)",
        Cause::Kernel => "the kernel corrects an offset (adjtime)",
        Cause::KernelGaveUp => "the kernel rejected the former one",
        Cause::Chosen => "a person or a program chose it",
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
