//! Checks of the sleep primitives and periodic timers of a runtime.

use timermeter::hosts::hosted::subject;
use timermeter::hosts::protocol::HostedTimer;
use timermeter::hosts::runtimes::PreparedHost;
use timers::waits::{Wait, WaitRequest};

use super::{start, timers};

/// Checks that every sleep primitive and periodic timer answers the questions that it offers, with
/// the requested number of waits, none of which ends before it begins.
pub fn check_waits(host: &PreparedHost) {
    const LENGTHS: [u64; 3] = [0, 50_000, 1_200_000];
    let name = |waiter: &HostedTimer| format!("{}:{}", host.prefix, waiter.id);
    let all = start(host, None);
    let (reference, _) = timers(&all);
    let hosted = all.borrow().hello().waiters.clone();
    let count_waiters = |op: &str| {
        hosted
            .iter()
            .filter(|waiter| waiter.ops.iter().any(|offered| offered == op))
            .count()
    };
    assert!(
        count_waiters("waits") > 1 && count_waiters("periods") > 0,
        "{}: {hosted:?}",
        host.prefix
    );
    for hosted in &hosted {
        let offers = |op: &str| hosted.ops.iter().any(|offered| offered == op);
        // In a process that serves this timer only, as in a probe, and in a process with all
        // timers.
        for connection in [&start(host, Some(&hosted.id)), &all] {
            let mut timer = subject(connection, &hosted.id);
            let request = WaitRequest {
                lengths_ns: &LENGTHS,
                repeat: 4,
                pause_ns: 30_000,
                break_ns: None,
            };
            let waits = timer.waits(&reference, request);
            assert_eq!(
                waits.is_ok(),
                offers("waits"),
                "{}: {waits:?}",
                name(hosted)
            );
            for (row, length) in waits.unwrap_or_default().iter().zip(LENGTHS) {
                assert!(
                    row.len() == 4 && row.iter().all(|wait| wait.after >= wait.before),
                    "{}",
                    name(hosted)
                );
                assert!(
                    row.windows(2).all(|pair| pair[1].before >= pair[0].after),
                    "{}: {length} ns: {row:?}",
                    name(hosted)
                );
                assert!(
                    row.iter()
                        .all(|wait| wait.cpu_ns.is_none_or(|cpu| cpu >= 0)),
                    "{}: {row:?}",
                    name(hosted)
                );
            }
            let periods = timer.periods(&reference, 2_000_000, 9, &[2]);
            assert_eq!(
                periods.is_ok(),
                offers("periods"),
                "{}: {periods:?}",
                name(hosted)
            );
            assert!(
                periods.unwrap_or_default().is_sorted_by_key(|tick| tick.at),
                "{}",
                name(hosted)
            );
            let arms = timer.arms(&reference, 5);
            assert_eq!(arms.is_ok(), offers("arms"), "{}: {arms:?}", name(hosted));
            assert!(
                arms.unwrap_or_default().iter().all(|&ticks| ticks >= 0),
                "{}",
                name(hosted)
            );
        }
    }
}

/// Checks that a wait later than `break_ns` is the last of an answer.
pub fn check_break(host: &PreparedHost) {
    let connection = start(host, None);
    let (reference, _) = timers(&connection);
    let hosted = connection.borrow().hello().waiters.clone();
    for HostedTimer { id, .. } in &hosted {
        let request = WaitRequest {
            lengths_ns: &[0],
            repeat: 3,
            pause_ns: 0,
            break_ns: Some(0),
        };
        // A wait ends later than it begins unless it is shorter than the step of the clock.
        let Ok(rows) = subject(&connection, id).waits(&reference, request) else {
            continue;
        };
        let is_late = |wait: &Wait| wait.after > wait.before;
        let expected = rows[0]
            .iter()
            .position(is_late)
            .map_or(3, |first| first + 1);
        assert_eq!(rows[0].len(), expected, "{}:{id}: {rows:?}", host.prefix);
    }
}
