//! Checks of the sleep primitives and periodic timers of a runtime.

use timermeter::agents::protocol::{Op, answers};
use timermeter::agents::runtimes::PreparedAgent;
use timermeter::agents::subject::subject;
use timers::waits::WaitList;

use super::{start, timers};

/// Checks that every sleep primitive and periodic timer answers the questions that it offers, and that no
/// wait ends before it begins.
pub fn check_waits(host: &PreparedAgent) {
    let all = start(host, None);
    let (reference, _) = timers(&all);
    let hosted = all.borrow().hello().waiters.clone();
    let [waits, periods] = [Op::Waits, Op::Periods].map(|op| {
        hosted
            .iter()
            .filter(|it| answers(&it.ops, Some(op)))
            .count()
    });
    assert!(waits > 1 && periods > 0, "{}: {hosted:?}", host.prefix);
    for hosted in &hosted {
        let name = format!("{}:{}", host.prefix, hosted.id);
        // In a process that serves this timer only, as in a probe, and in a process with all timers.
        for connection in [&start(host, Some(&hosted.id)), &all] {
            let mut timer = subject(connection, &hosted.id);
            if answers(&hosted.ops, Some(Op::Waits)) {
                let list = WaitList {
                    lengths_ns: &[0, 50_000, 1_200_000].repeat(4),
                    pause_ns: 30_000,
                };
                let waits = timer.waits(&reference, list).expect(&name);
                let ends = waits.iter().flat_map(|wait| [wait.before, wait.after]);
                let mut cpu = waits.iter().filter_map(|wait| wait.cpu_ns);
                assert!(
                    ends.is_sorted() && cpu.all(|ns| ns >= 0),
                    "{name}: {waits:?}"
                );
            }
            if answers(&hosted.ops, Some(Op::Periods)) {
                let periods = timer.periods(&reference, 2_000_000, 9).expect(&name);
                let at = periods.list.iter().map(|tick| tick.0);
                assert!(at.is_sorted(), "{name}: {periods:?}");
            }
        }
    }
}
