//! Checks that every timer of a runtime answers all questions of the protocol.

use timermeter::agents::runtimes::PreparedAgent;
use timermeter::agents::subject::subject;
use timers::Activity;

use super::loops::{minimum, smallest_change, sufficient_work};
use super::{start, timers};

/// Checks that every timer of the runtime answers all questions, and that its readings fit those of
/// the reference.
pub fn check_answers(host: &PreparedAgent) {
    let connection = start(host, None);
    let (reference, ids) = timers(&connection);
    let mut reference_timer = subject(&connection, &reference);
    let change = smallest_change(host, reference_timer.as_mut());
    let turns = sufficient_work(reference_timer.as_mut(), change);
    for id in ids {
        let mut timer = subject(&connection, &id);
        for count in [3, 0] {
            let readings = timer.readings(count).map(|readings| readings.len());
            assert_eq!(readings, Ok(count as usize), "{}:{id}", host.prefix);
        }
        for work in [&[0, 5][..], &[]] {
            let rows = timer.intervals(work, 4).map(|rows| rows.len());
            assert_eq!(rows, Ok(work.len()), "{}:{id}", host.prefix);
        }
        assert!(
            timer
                .batches(&reference, 4, 4)
                .is_ok_and(|all| minimum(&all) >= 0),
            "{}:{id}",
            host.prefix
        );
        let compared = timer.comparisons(&reference, turns, 5).unwrap();
        assert_eq!(compared.len(), 5, "{}:{id}", host.prefix);
        let times: Vec<i64> = compared
            .iter()
            .flat_map(|[before, _, after]| [*before, *after])
            .collect();
        assert!(
            times.is_sorted() && times[0] < times[9],
            "{}:{id}: {compared:?}",
            host.prefix
        );
        let advance = timer.advance(&reference, Activity::Spin, 40).unwrap();
        assert!(
            advance.timer >= 0 && advance.reference > 0,
            "{}:{id}: {advance:?}",
            host.prefix
        );
    }
}
