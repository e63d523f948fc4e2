//! How far the clock is from that of others: in one line for the header of every report, and by each service that was asked.

use super::fact::LONGEST;
use crate::model::{CommonTime, ComparedClock, Platform};
use crate::text::clipped;
use crate::text::numbers::short_time;

/// By the first who bounds it; `None` where none was asked.
#[must_use]
pub fn brief(platform: &Platform) -> Option<String> {
    let all = platform.common_time.as_ref()?;
    Some(platform.bounded_time().map_or_else(
        || match all.first() {
            Some(told) => format!("not told: {}", clipped(reason(told), LONGEST)),
            None => "no service of this machine reports one".to_owned(),
        },
        |told| clipped(&one(told), LONGEST),
    ))
}

/// By each service, one after the other.
#[must_use]
pub(super) fn details(platform: &Platform) -> Option<String> {
    let all = platform.common_time.as_ref()?;
    let each = |told: &CommonTime| match told.offset_ns.or(told.bound_ns) {
        Some(_) => one(told),
        None => format!("{}: {}", told.source, reason(told)),
    };
    let text = all.iter().map(|told| clipped(&each(told), LONGEST)).collect::<Vec<_>>().join(" · ");
    Some(if text.is_empty() { "none".to_owned() } else { text })
}

fn reason(told: &CommonTime) -> &str {
    told.reason.as_deref().unwrap_or("no reason given")
}

/// As in `12.3 µs ahead, at most 1.2 ms off, by chrony from 192.0.2.1 (stratum 2)`.
fn one(told: &CommonTime) -> String {
    let way = |offset: f64| if offset < 0.0 { "behind" } else { "ahead" };
    let offset = told.offset_ns.map(|offset| format!("{} {}", short_time(offset.abs()), way(offset)));
    let whose = match told.clock {
        ComparedClock::System => "",
        ComparedClock::Device => "the device ",
        ComparedClock::Unknown => "a clock ",
    };
    let bound = told.bound_ns.map(|bound| format!("at most {} off", short_time(bound)));
    let figures = [offset, bound].into_iter().flatten().collect::<Vec<_>>().join(", ");
    format!("{whose}{figures}, by {}", told.origin())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str, clock: ComparedClock, offset_ns: Option<f64>, bound_ns: Option<f64>) -> CommonTime {
        let reason = Some("it does not say".to_owned());
        CommonTime { source: source.into(), clock, offset_ns, bound_ns, reason, ..CommonTime::default() }
    }

    fn machine(common_time: Option<Vec<CommonTime>>) -> Platform {
        Platform { common_time, ..Platform::default() }
    }

    #[test]
    fn the_first_who_bounds_the_system_clock_is_shown() {
        let silent = told("chrony", ComparedClock::Unknown, None, None);
        let card = told("ptp4l", ComparedClock::Device, Some(3.0), Some(4_000.0));
        let kernel = told("adjtimex", ComparedClock::System, Some(-1_500.0), Some(2e6));
        let all = machine(Some(vec![silent.clone(), card, kernel]));
        assert_eq!(brief(&all).as_deref(), Some("1.5 µs behind, at most 2 ms off, by adjtimex"));
        let details = details(&all).expect("asked");
        assert_eq!(details.matches(" · ").count(), 2, "{details}");
        assert!(details.starts_with("chrony: it does not say · the device 3 ns ahead"), "{details}");
        assert_eq!(brief(&machine(Some(vec![silent]))).as_deref(), Some("not told: it does not say"));
        assert_eq!(
            brief(&machine(Some(Vec::new()))).as_deref(),
            Some("no service of this machine reports one")
        );
        assert_eq!(brief(&machine(None)), None);
    }
}
