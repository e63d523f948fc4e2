//! What the kernel was told of its clock (adjtimex(2)): the last in a chain, it knows neither who keeps the clock nor by whom.

use std::io;

use timers::os::Discipline;

use super::{now, silent};
use crate::model::{CommonTime, ComparedClock};

const SOURCE: &str = "adjtimex";
const US: f64 = 1e3;

/// What the kernel says; `None` where there is no such call.
pub(super) fn ask() -> Option<CommonTime> {
    match timers::os::discipline::discipline() {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => None,
        found => Some(CommonTime { asked: now(), ..told(found) }),
    }
}

fn told(found: io::Result<Discipline>) -> CommonTime {
    let found = match found {
        Ok(found) => found,
        Err(error) => return silent(SOURCE, format!("adjtimex: {error}")),
    };
    if !found.synchronised {
        return silent(SOURCE, "no time service has told the kernel that its clock is synchronised");
    }
    // What is still to be slewed in is added to the clock, which is behind by as much.
    let offset_ns = Some(found.offset_ns).filter(|&ns| ns != 0).map(|ns| 0.0 - ns as f64);
    let why = "the service that keeps the clock does not tell the kernel how far it is off";
    CommonTime {
        source: SOURCE.to_owned(),
        clock: ComparedClock::System,
        offset_ns,
        bound_ns: Some(found.maximum_error_us as f64 * US),
        estimated_error_ns: Some(found.estimated_error_us as f64 * US),
        reason: offset_ns.is_none().then(|| why.to_owned()),
        ..CommonTime::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_hands_on_what_it_was_told() {
        let kept = Discipline {
            synchronised: true,
            offset_ns: 1_500,
            estimated_error_us: 20,
            maximum_error_us: 4_000,
            ..Discipline::default()
        };
        let found = told(Ok(kept));
        assert_eq!((found.offset_ns, found.bound_ns), (Some(-1_500.0), Some(4e6)), "it is behind");
        assert_eq!((found.estimated_error_ns, found.bounds_system_clock()), (Some(20e3), true));
        let found = told(Ok(Discipline { offset_ns: 0, ..kept }));
        assert_eq!((found.offset_ns, found.reason.is_some()), (None, true), "not told is not 0");
        let found = told(Ok(Discipline { synchronised: false, ..kept }));
        assert_eq!((found.bound_ns, found.reason.is_some()), (None, true));
        assert!(told(Err(io::ErrorKind::PermissionDenied.into())).reason.is_some());
    }
}
