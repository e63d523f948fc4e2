//! Invariants of the sleep primitives and periodic timers of this machine; no test checks a
//! magnitude.

use std::collections::HashSet;

use timers::waits::{
    FLOOR_ID, REFERENCE_ID, Start, Supported, Wait, WaitEntry, WaitList, catalogue, find, floor,
};
use timers::{Fault, Subject};

/// All documented ids, in the order of the catalogue.
const DOCUMENTED_IDS: &str = "
    nanosleep nanosleep-slack-1ns clock-nanosleep-monotonic clock-nanosleep-realtime
    clock-nanosleep-monotonic-absolute clock-nanosleep-realtime-absolute
    poll ppoll select epoll-wait epoll-pwait2 futex pthread-cond-timedwait sigtimedwait timerfd timer-create
    std-sleep std-park-timeout std-condvar-wait-timeout std-recv-timeout spin yield hybrid spin-sleep";

/// The waits that may return early: because their clock was set, spuriously, or because they end at
/// a timer interrupt.
const MAY_END_EARLY: [&str; 3] = [
    "clock-nanosleep-realtime-absolute",
    "std-park-timeout",
    "std-condvar-wait-timeout",
];

/// The available methods that support a measurement.
fn available(
    supports: fn(Supported) -> bool,
) -> impl Iterator<Item = (WaitEntry, Box<dyn Subject>)> {
    let supporting = catalogue()
        .iter()
        .filter(move |entry| supports(entry.supports));
    supporting.filter_map(|entry| Some((*entry, entry.open().ok()?)))
}

fn list(lengths_ns: &[u64]) -> WaitList<'_> {
    WaitList {
        lengths_ns,
        pause_ns: 20_000,
    }
}

/// The length of a wait in ticks of the reference.
fn ticks(wait: &Wait) -> i64 {
    wait.after - wait.before
}

#[test]
fn catalogue_holds_promised_ids() {
    let known: Vec<_> = catalogue().iter().map(|entry| entry.info.id).collect();
    assert_eq!(known, DOCUMENTED_IDS.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn ids_are_unique_and_kebab_case() {
    let mut seen = HashSet::new();
    for entry in catalogue().iter().chain([&floor()]) {
        let id = entry.info.id;
        assert!(seen.insert(id), "{id} twice");
        assert!(
            id.chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{id}"
        );
        assert!(
            !entry.info.label.is_empty() && entry.info.unit_ns > 0,
            "{id}"
        );
        assert_ne!(
            entry.supports,
            Supported::default(),
            "{id} supports no measurement"
        );
        assert_eq!(find(id).map(|found| found.info), Some(entry.info));
    }
    assert_eq!(floor().info.id, FLOOR_ID);
    assert!(find("hourglass").is_none());
}

#[test]
fn timers_open_or_explain() {
    for entry in catalogue().iter().chain([&floor()]) {
        let (id, availability) = (entry.info.id, entry.availability());
        match entry.open() {
            Ok(_) => assert_eq!(availability, Ok(()), "{id}"),
            Err(why) => {
                println!("{id}: {why}; remedy: {:?}", why.remedy);
                assert!(!why.reason.trim().is_empty(), "{id} gives no reason");
                assert_eq!(availability, Err(why), "{id}");
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn slack_of_thread_stays() {
    use timers::os::scheduling::timer_slack;
    let usual = timer_slack();
    let mut sleep = find("nanosleep-slack-1ns").expect("known").open();
    if let Ok(sleep) = &mut sleep {
        let answer = sleep.waits(REFERENCE_ID, list(&[1_000]));
        assert_eq!(answer.map(|waits| waits.len()), Ok(1));
    }
    assert_eq!(timer_slack(), usual);
}

#[test]
fn refuses_unsupported_measurements() {
    for (entry, mut subject) in available(|_| true) {
        let Supported { waits, periods } = entry.supports;
        let given = [
            subject.waits(REFERENCE_ID, list(&[0])).map(drop),
            subject.periods(REFERENCE_ID, 100_000, 1).map(drop),
        ];
        for (given, answered) in given.into_iter().zip([waits, periods]) {
            match given {
                Ok(()) => assert!(answered, "{}", entry.info.id),
                Err(fault) => assert!(!answered && matches!(fault, Fault::Refused(_)), "{fault}"),
            }
        }
    }
}

#[test]
fn waits_are_never_too_short() {
    const LENGTHS: [u64; 4] = [0, 1, 300_000, 1_000_001];
    let unit = find_unit(REFERENCE_ID);
    for (entry, mut subject) in available(|supported| supported.waits) {
        let lengths = LENGTHS.repeat(4);
        let waits = subject
            .waits(REFERENCE_ID, list(&lengths))
            .expect("the method answers");
        let made: Vec<u64> = waits.iter().map(|wait| wait.request_ns).collect();
        assert_eq!(made, lengths, "{}", entry.info.id);
        for wait in &waits {
            let requested_ns = wait.request_ns;
            {
                let minimum = if MAY_END_EARLY.contains(&entry.info.id) {
                    0.0
                } else {
                    requested_ns as f64
                };
                // One tick more, because the reference may have ticked just before the first read.
                let observed = (ticks(wait) + 1) as f64 * unit;
                assert!(
                    observed >= minimum,
                    "{}: requested {requested_ns} ns, took {observed}",
                    entry.info.id
                );
                assert!(wait.cpu_ns.is_none_or(|ns| ns >= 0));
            }
        }
    }
}

fn find_unit(reference: &str) -> f64 {
    (timers::find(reference).expect("known").ns_per_tick)().expect("declared")
}

#[test]
fn waits_take_time() {
    let median = |mut values: Vec<i64>| {
        values.sort_unstable();
        values[values.len() / 2]
    };
    let asked = [[1_000; 21], [500_000; 21]].concat();
    let mut nothing = floor().open().expect("available on all systems");
    let floor = nothing
        .waits(REFERENCE_ID, list(&asked))
        .expect("the method answers");
    let mut spin = find("spin")
        .expect("known")
        .open()
        .expect("available on all systems");
    let spun = spin
        .waits(REFERENCE_ID, list(&asked))
        .expect("the method answers");
    let (floor, spun) = (floor.split_at(21), spun.split_at(21));
    let lengths = |row: &[Wait]| median(row.iter().map(ticks).collect());
    assert!(lengths(floor.1) < lengths(spun.0) && lengths(spun.0) < lengths(spun.1));
    let cpu = |row: &[Wait]| {
        row.iter()
            .map(|wait| wait.cpu_ns)
            .collect::<Option<Vec<_>>>()
            .map(median)
    };
    if let (Some(floor), Some(less), Some(more)) = (cpu(floor.1), cpu(spun.0), cpu(spun.1)) {
        assert!(floor < more && less < more, "{floor} {less} {more}");
    }
}

#[test]
fn periods_report_missed_expirations() {
    const PERIOD_NS: u64 = 400_000;
    const REPORTS_EXPIRATIONS: [&str; 2] = ["timerfd", "timer-create"];
    for (entry, mut subject) in available(|supported| supported.periods) {
        let id = entry.info.id;
        let answer = subject
            .periods(REFERENCE_ID, PERIOD_NS, 12)
            .expect("the method answers");
        // No wake-up is due before the timer was armed, and a loop has no due times.
        match answer.start {
            Start::Between([before, after]) => {
                assert!(
                    before <= after && after < answer.list[0].at,
                    "{id}: {answer:?}"
                );
            }
            start => assert_eq!(start, Start::Relative, "{id}"),
        }
        let expirations = answer.list;
        assert_eq!(expirations.len(), 12, "{id}");
        assert!(
            expirations.is_sorted_by(|earlier, later| earlier.at < later.at),
            "{id}: {expirations:?}"
        );
        if !REPORTS_EXPIRATIONS.contains(&id) {
            assert!(
                expirations.iter().all(|wake_up| wake_up.expirations == 1),
                "{id}: {expirations:?}"
            );
        }
        // The timer can be started again.
        assert_eq!(
            subject
                .periods(REFERENCE_ID, PERIOD_NS, 0)
                .map(|answer| answer.list),
            Ok(vec![]),
            "{id}"
        );
        assert_eq!(
            subject
                .periods(REFERENCE_ID, PERIOD_NS, 1)
                .expect("the method answers")
                .list
                .len(),
            1,
            "{id}"
        );
        let refused = subject.periods(REFERENCE_ID, 0, 1);
        assert!(
            matches!(refused, Err(Fault::Refused(_))),
            "{id}: {refused:?}"
        );
    }
}

#[test]
fn unknown_references_are_refused_by_name() {
    for (entry, mut subject) in available(|supported| supported.waits && supported.periods) {
        let faults = [
            subject.waits("sundial", list(&[0])).map(drop),
            subject.periods("sundial", 1_000, 1).map(drop),
        ];
        for fault in faults {
            let Err(Fault::Refused(why)) = fault else {
                panic!("{}: {fault:?}", entry.info.id)
            };
            assert!(
                why.contains("sundial") && why.contains(REFERENCE_ID),
                "{why}"
            );
        }
    }
}
