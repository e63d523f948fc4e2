//! Describes the events of `watch` in words.

use super::{Cause, ClockEvent, EventKind};
use estimators::numbers::short_time;

/// Describes an event.
pub fn describe(event: &ClockEvent) -> String {
    let stated = |size: f64| match event.kind {
        EventKind::Slew => format!("{size:.2} ppm"),
        _ if size < 0.0 => format!("-{}", short_time(-size * 1e9)),
        _ => short_time(size * 1e9),
    };
    let size = event.size.map_or(event.note.clone(), |size| {
        let value = stated(size.value);
        // Who wrote the log may not know the ends.
        match (event.kind, size.ends()) {
            (_, None) => value,
            (EventKind::Pause, Some((_, high))) => format!("{value} to {}", stated(high)),
            _ => format!("{value} ±{}", stated(size.half_width())),
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
    let kind = format!("{:?}", event.kind).to_lowercase();
    format!("{kind} {size}: {cause}")
}
