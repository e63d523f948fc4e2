//! Checks what the protocol cannot check of the answers of a runtime.

use timermeter::agents::runtimes::PreparedAgent;
use timermeter::agents::subject::subject;
use timers::Activity;

use super::{start, timers};

/// Checks that every timer of the runtime answers questions for nothing, and that its readings fit those of
/// the reference.
pub fn check_answers(host: &PreparedAgent) {
    let connection = start(host, None);
    let (reference, ids) = timers(&connection);
    for id in ids {
        let mut timer = subject(&connection, &id);
        let is_answered = timer.readings(0).is_ok() && timer.intervals(&[], 4).is_ok();
        let compared = timer.comparisons(&reference, 1_000, 5).unwrap();
        let ends = compared
            .iter()
            .flat_map(|[before, _, after]| [*before, *after]);
        let advance = timer.advance(&reference, Activity::Spin, 40).unwrap();
        assert!(
            is_answered && ends.is_sorted() && advance.timer >= 0 && advance.reference > 0,
            "{}:{id}: {compared:?} {advance:?}",
            host.prefix
        );
    }
}
