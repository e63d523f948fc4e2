//! Describes the events of `watch` in sentences.

use std::fmt::Write as _;

use super::{Cause, ClockEvent, EventKind};
use crate::model::Interval;
use crate::numbers::{short_time, significant};

/// Each kind of event with its noun and the template of its sentence, in which `SIZE`,
/// `CAUSE` and `NOTE` are replaced.
const KINDS: [(EventKind, &str, &str); 10] = [
    (EventKind::Pause, "pause", "pause of SIZE: CAUSE"),
    (
        EventKind::Suspend,
        "suspend",
        "the machine was suspended for SIZE (BOOTTIME continued, MONOTONIC did not)",
    ),
    (
        EventKind::Frozen,
        "freeze",
        "the kernel's clocks stood still for SIZE by the RTC: CAUSE",
    ),
    (
        EventKind::RtcRate,
        "RTC difference",
        "the rate of the kernel's clocks differs from that of the RTC by SIZE: CAUSE",
    ),
    (
        EventKind::Step,
        "step",
        "the time of day was set by SIZE: CAUSE",
    ),
    (
        EventKind::Slew,
        "slew",
        "the rate of the kernel's clocks changed by SIZE: CAUSE",
    ),
    (
        EventKind::Source,
        "clock source change",
        "clock source NOTE: CAUSE",
    ),
    (
        EventKind::CounterJump,
        "counter jump",
        "the CPU counter jumped by SIZE: CAUSE",
    ),
    (
        EventKind::CounterRate,
        "counter rate change",
        "the rate of the CPU counter changed by SIZE: CAUSE",
    ),
    (
        EventKind::Moved,
        "VMClock report",
        "the VMClock device reports a move (NOTE): rates and offsets from before it are void",
    ),
];

/// Returns a sentence that describes an event.
pub fn describe(event: &ClockEvent) -> String {
    let kind = KINDS.iter().find(|(kind, ..)| *kind == event.kind);
    kind.map_or("", |(.., text)| text)
        .replace("SIZE", &size_in_words(event))
        .replace("CAUSE", cause_in_words(event))
        .replace("NOTE", &event.note)
}

/// Returns a sentence that describes pauses of one cause; empty if there are none.
pub fn describe_pauses(pauses: &[ClockEvent]) -> String {
    let Some(mut all) = pauses.first().cloned() else {
        return String::new();
    };
    let sizes = pauses.iter().filter_map(|pause| pause.size);
    all.size = sizes.reduce(|all, size| Interval {
        value: all.value.max(size.value),
        low: all.low.min(size.low),
        high: all.high.max(size.high),
    });
    match pauses.len() {
        1 => describe(&all),
        count => format!("{count} × {}", describe(&all)),
    }
}

/// Returns a sentence that describes the series to which an event belongs; `None` if it belongs to
/// none.
pub fn describe_series(event: &ClockEvent) -> Option<String> {
    let series = event.series?;
    let (period_s, size) = (series.period_s.value, series.mean_size);
    let every = format!("every {} s", significant(period_s, 2));
    // A changed rate gains time while it lasts.
    let gain = match event.unit.as_str() {
        "s" => Some(1e6),
        _ => event.duration.map(|duration| duration.value),
    };
    let ppm = gain.map(|gain| significant(size.abs() * gain / period_s, 2));
    let is_one_way = 2.0 * size.abs() > event.size.map_or(0.0, |last| last.value.abs());
    Some(match ppm {
        Some(ppm) if event.kind == EventKind::Step && is_one_way => {
            let (by, way) = (
                seconds(size.abs()),
                if size < 0.0 { "back" } else { "forward" },
            );
            format!(
                "the time of day was set {way} by {by} {every}: something outside corrects a drift of {ppm} ppm"
            )
        }
        Some(ppm) => format!("{}, {every}: {ppm} ppm on average", describe(event)),
        None => format!("{}, {every}", describe(event)),
    })
}

/// Returns a sentence for each series among events.
pub fn describe_all_series(events: &[ClockEvent]) -> Vec<String> {
    let begin = |event: &ClockEvent| (event.kind, event.series.map(|series| series.since_s));
    let is_last = |(at, event): &(usize, &ClockEvent)| {
        let mut later = events[at + 1..].iter();
        !later.any(|later| begin(later) == begin(event))
    };
    let last = events.iter().enumerate().filter(is_last);
    last.filter_map(|(_, event)| describe_series(event))
        .collect()
}

/// Formats a time in seconds with a suitable unit.
fn seconds(seconds: f64) -> String {
    short_time(seconds * 1e9)
}

/// Returns the size of an event with its interval.
fn size_in_words(event: &ClockEvent) -> String {
    let Some((size, (low, high))) = event.size.and_then(|size| Some((size.value, size.ends()?)))
    else {
        return "an unknown size".into();
    };
    if event.unit == "ppm" {
        let duration = event
            .duration
            .and_then(|lasted| Some((lasted.value, lasted.ends()?)));
        let duration = duration.map_or(String::new(), |(lasted, (shortest, longest))| {
            let half_width = seconds((longest - shortest) / 2.0);
            format!(" for {} ±{half_width}", seconds(lasted))
        });
        return format!("{size:+.2} ppm ({low:+.2} to {high:+.2}){duration}");
    }
    if event.kind == EventKind::Pause {
        return format!("{} to {}", seconds(low), seconds(high));
    }
    let sign = if size < 0.0 { "-" } else { "" };
    let half_width = seconds((high - low) / 2.0);
    format!("{sign}{} ±{half_width}", seconds(size.abs()))
}

fn cause_in_words(event: &ClockEvent) -> &'static str {
    match event.cause {
        Cause::Machine if event.kind == EventKind::Frozen => {
            "the host halted the machine, or restored it from a snapshot, or somebody set the RTC"
        }
        Cause::Unknown if event.kind == EventKind::RtcRate => {
            "one of the two is wrong, and nothing here shows which"
        }
        Cause::Process => {
            "this process was stopped (a signal, a debugger, its control group); the machine continued"
        }
        Cause::Quota => "the control group of this process had used up its CPU quota",
        Cause::Scheduler => "this machine gave the CPU to other threads",
        Cause::Host => "the host gave the CPU to other machines (steal time)",
        Cause::Machine => "the whole machine stood still: its host, its firmware or its kernel",
        Cause::Unknown => "the cause is unknown, as nothing shows it",
        Cause::Suspend => "the machine was suspended",
        Cause::ClockSet => "a program or a person set it",
        Cause::LeapSecond => "a leap second",
        Cause::Discipline => "a program such as a time service set it (adjtimex)",
        Cause::Kernel => "the kernel corrects an offset gradually (adjtime)",
        Cause::KernelGaveUp => "the kernel rejected the former one, which is no longer available",
        Cause::Chosen => "a person or a program chose it; the former one is still available",
        Cause::Counter => "the host or the firmware set it",
        Cause::Migration => {
            "the machine was moved to another host or reset to a snapshot, because it also paused"
        }
        Cause::Restored if [EventKind::Pause, EventKind::CounterJump].contains(&event.kind) => {
            "the machine was restored from a snapshot, or moved: its clocks leapt, its counter did not"
        }
        Cause::Restored => "the machine was restored from a snapshot",
        Cause::Rtc => "the RTC is wrong, as a time service synchronises the time of day",
    }
}

/// Returns a text with the number of events of each kind, and for kinds whose sizes are times the
/// largest size. `None` if there are no events.
pub fn tally(events: &[ClockEvent]) -> Option<String> {
    let mut text = String::new();
    for (kind, word, _) in KINDS {
        let same_kind: Vec<&ClockEvent> =
            events.iter().filter(|event| event.kind == kind).collect();
        if same_kind.is_empty() {
            continue;
        }
        let separator = if text.is_empty() { "" } else { ", " };
        let (plural, of) = match same_kind.len() {
            1 => ("", "of"),
            _ => ("s", "of up to"),
        };
        let _ = write!(text, "{separator}{} {word}{plural}", same_kind.len());
        let sizes = same_kind.iter().filter(|event| event.unit == "s");
        let sizes = sizes.filter_map(|event| Some(event.size?.value.abs()));
        if let Some(largest) = sizes.max_by(f64::total_cmp) {
            let _ = write!(text, " {of} {}", seconds(largest));
        }
    }
    (!text.is_empty()).then_some(text)
}
