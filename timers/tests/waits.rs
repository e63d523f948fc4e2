//! Invariants of the sleep primitives and periodic timers of this machine; no test checks a
//! magnitude.

use std::collections::HashSet;

use timers::waits::{FLOOR, REFERENCE_ID, Start, Wait, WaitEntry, WaitList, catalogue, find};
use timers::{Fault, Subject};

/// All documented ids, in the order of the catalogue.
const DOCUMENTED_IDS: &str = "
    nanosleep nanosleep-slack-1ns clock-nanosleep-monotonic-absolute clock-nanosleep-realtime-absolute
    poll select epoll-wait futex timerfd timer-create std-sleep std-condvar-wait-timeout spin hybrid";

/// The waits that may return early: because their clock was set, or spuriously.
const MAY_END_EARLY: [&str; 2] = [
    "clock-nanosleep-realtime-absolute",
    "std-condvar-wait-timeout",
];

/// The available methods.
fn available() -> impl Iterator<Item = (WaitEntry, Box<dyn Subject>)> {
    let all = catalogue().iter().copied();
    all.filter_map(|entry| Some((entry, entry.open().ok()?)))
}

/// Waits for these lengths by the usual reference.
fn wait(subject: &mut dyn Subject, lengths_ns: &[u64]) -> Vec<Wait> {
    let pause_ns = 20_000;
    let list = WaitList {
        lengths_ns,
        pause_ns,
    };
    subject.waits(REFERENCE_ID, list).unwrap()
}

/// The length of a wait in ticks of the reference.
fn ticks(wait: &Wait) -> i64 {
    wait.after - wait.before
}

#[test]
fn catalogue_holds_promised_ids() {
    let known: Vec<_> = catalogue().iter().map(|entry| entry.id).collect();
    assert_eq!(known, DOCUMENTED_IDS.split_whitespace().collect::<Vec<_>>());
    let mut seen = HashSet::new();
    for entry in catalogue().iter().chain([&FLOOR]) {
        let is_kebab_case =
            (entry.id.chars()).all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        let is_sound = is_kebab_case && !entry.label.is_empty() && entry.unit_ns > 0;
        assert!(is_sound && seen.insert(entry.id), "{}", entry.id);
        assert_eq!(find(entry.id).map(|found| found.label), Some(entry.label));
    }
    assert!(find("hourglass").is_none());
}

#[test]
fn timers_open_or_explain() {
    for entry in catalogue().iter().chain([&FLOOR]) {
        let (id, availability) = (entry.id, entry.availability());
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
    let mut sleep = find("nanosleep-slack-1ns").unwrap().open();
    if let Ok(sleep) = &mut sleep {
        wait(sleep.as_mut(), &[1_000]);
    }
    assert_eq!(timer_slack(), usual);
}

#[test]
fn waits_are_never_too_short() {
    const LENGTHS: [u64; 4] = [0, 1, 300_000, 1_000_001];
    let reference = timers::find(REFERENCE_ID).unwrap();
    let unit = (reference.ns_per_tick)().unwrap();
    for (entry, mut subject) in available() {
        let lengths = LENGTHS.repeat(4);
        let waits = wait(subject.as_mut(), &lengths);
        let made: Vec<u64> = waits.iter().map(|wait| wait.request_ns).collect();
        assert_eq!(made, lengths, "{}", entry.id);
        for wait in &waits {
            // One tick more, because the reference may have ticked just before the first read.
            let observed = (ticks(wait) + 1) as f64 * unit;
            let is_long = MAY_END_EARLY.contains(&entry.id) || observed >= wait.request_ns as f64;
            assert!(is_long, "{}: {wait:?} took {observed}", entry.id);
            assert!(wait.cpu_ns.is_none_or(|ns| ns >= 0));
        }
    }
}

#[test]
fn waits_take_time() {
    const SHORT: [u64; 21] = [1_000; 21];
    const LONG: [u64; 21] = [500_000; 21];
    /// The median of something over waits of one method.
    fn median<T: Ord>(method: &str, lengths: &[u64], of: fn(&Wait) -> T) -> T {
        let opened = find(method).unwrap().open();
        let waits = wait(opened.unwrap().as_mut(), lengths);
        let mut values: Vec<T> = waits.iter().map(of).collect();
        values.sort_unstable();
        values.swap_remove(values.len() / 2)
    }
    let floor = median(FLOOR.id, &LONG, ticks);
    let short = median("spin", &SHORT, ticks);
    assert!(floor < short && short < median("spin", &LONG, ticks));
    // `None` is the least.
    let floor = median(FLOOR.id, &LONG, |wait| wait.cpu_ns);
    let short = median("spin", &SHORT, |wait| wait.cpu_ns);
    let long = median("spin", &LONG, |wait| wait.cpu_ns);
    assert!(floor.max(short) < long || long.is_none(), "{long:?}");
}

#[test]
fn periods_report_missed_expirations() {
    const PERIOD_NS: u64 = 400_000;
    const REPORTS_EXPIRATIONS: [&str; 2] = ["timerfd", "timer-create"];
    for (entry, mut subject) in available() {
        let id = entry.id;
        let mut run = |period_ns, count| subject.periods(REFERENCE_ID, period_ns, count);
        let answer = run(PERIOD_NS, 12).unwrap();
        let list = &answer.list;
        // No wake-up is due before the timer was armed, and a loop has no due times.
        let starts_in_time = match answer.start {
            Start::Between([before, after]) => before <= after && after < list[0].0,
            start => start == Start::Relative,
        };
        assert!(starts_in_time && list.len() == 12, "{id}: {answer:?}");
        assert!(
            list.is_sorted_by(|one, next| one.0 < next.0),
            "{id}: {list:?}"
        );
        assert!(
            REPORTS_EXPIRATIONS.contains(&id) || list.iter().all(|wakeup| wakeup.1 == 1),
            "{id}: {list:?}"
        );
        // The timer can be started again.
        for count in [0, 1] {
            let again = run(PERIOD_NS, count).map(|answer| answer.list.len());
            assert_eq!(again, Ok(count as usize), "{id}");
        }
        let refused = run(0, 1);
        assert!(
            matches!(refused, Err(Fault::Refused(_))),
            "{id}: {refused:?}"
        );
    }
}

#[test]
fn unknown_references_are_refused_by_name() {
    for (entry, mut subject) in available() {
        let list = WaitList {
            lengths_ns: &[0],
            pause_ns: 0,
        };
        let faults = [
            subject.waits("sundial", list).map(drop),
            subject.periods("sundial", 1_000, 1).map(drop),
        ];
        for fault in faults {
            let Err(Fault::Refused(why)) = fault else {
                panic!("{}: {fault:?}", entry.id)
            };
            let is_named = why.contains("sundial") && why.contains(REFERENCE_ID);
            assert!(is_named, "{why}");
        }
    }
}
