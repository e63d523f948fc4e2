//! Checks of the sleep primitives and periodic timers of a runtime.

use timermeter::agents::protocol::AgentTimer;
use timermeter::agents::runtimes::PreparedAgent;
use timermeter::agents::subject::subject;
use timers::waits::WaitList;

use super::{start, timers};

/// Checks that every sleep primitive and periodic timer answers the questions that it offers, with
/// the requested number of waits, none of which ends before it begins.
pub fn check_waits(host: &PreparedAgent) {
    const LENGTHS: [u64; 3] = [0, 50_000, 1_200_000];
    let name = |waiter: &AgentTimer| format!("{}:{}", host.prefix, waiter.id);
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
            if offers("waits") {
                let list = WaitList {
                    lengths_ns: &LENGTHS.repeat(4),
                    pause_ns: 30_000,
                };
                let waits = timer.waits(&reference, list);
                let waits = waits.unwrap_or_else(|fault| panic!("{}: {fault}", name(hosted)));
                assert!(
                    waits.len() == 4 * LENGTHS.len()
                        && waits.iter().all(|wait| wait.after >= wait.before)
                        && waits.windows(2).all(|pair| pair[1].before >= pair[0].after)
                        && (waits.iter()).all(|wait| wait.cpu_ns.is_none_or(|cpu| cpu >= 0)),
                    "{}: {waits:?}",
                    name(hosted)
                );
            }
            if offers("periods") {
                let periods = timer.periods(&reference, 2_000_000, 9);
                let is_sorted = periods.as_ref().is_ok_and(|periods| {
                    let list = &periods.list;
                    list.len() == 9 && list.is_sorted_by_key(|tick| tick.0)
                });
                assert!(is_sorted, "{}: {periods:?}", name(hosted));
            }
        }
    }
}
