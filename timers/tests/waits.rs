//! What timers that wait may be asked for: invariants, never magnitudes.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use timers::Fault;
use timers::waits::{
    Answers, FLOOR_ID, Means, REFERENCE_ID, Wait, WaitEntry, WaitRequest, WaitSubject, catalogue,
    find, floor,
};

/// Every id that the command line promises.
const PROMISED: &str = "
    nanosleep clock-nanosleep-monotonic clock-nanosleep-realtime clock-nanosleep-boottime
    clock-nanosleep-monotonic-absolute clock-nanosleep-realtime-absolute clock-nanosleep-boottime-absolute usleep
    poll ppoll select pselect epoll-wait epoll-pwait2 futex pthread-cond-timedwait sem-timedwait sigtimedwait
    so-rcvtimeo timerfd timer-create setitimer io-uring-timeout
    sleep waitable-timer waitable-timer-high-resolution
    std-sleep std-park-timeout std-condvar-wait-timeout std-recv-timeout spin yield hybrid spin-sleep
    tokio-sleep tokio-interval";

/// Those that may return before their time: because the clock that they wait for was set, for no
/// reason, or because they go by a tick that is under way.
const UNPROMISED: [&str; 6] = [
    "clock-nanosleep-realtime-absolute",
    "sem-timedwait",
    "std-park-timeout",
    "std-condvar-wait-timeout",
    "sleep",
    "waitable-timer",
];

/// The reference, which all systems have: the clock by which the others are programmed.
const REFERENCE: &str = REFERENCE_ID;

/// `setitimer` has one timer a process, and tests run side by side.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn usable(
    question: fn(Answers) -> bool,
) -> impl Iterator<Item = (WaitEntry, Box<dyn WaitSubject>)> {
    let asked = catalogue()
        .iter()
        .filter(move |entry| question(entry.answers));
    asked.filter_map(|entry| Some((*entry, entry.open().ok()?)))
}

fn request(lengths_ns: &[u64], repeat: u32) -> WaitRequest<'_> {
    WaitRequest {
        lengths_ns,
        repeat,
        pause_ns: 20_000,
        break_ns: None,
    }
}

fn took(wait: &Wait) -> i64 {
    wait.after - wait.before
}

#[test]
fn catalogue_holds_promised_ids() {
    let known: Vec<_> = catalogue().iter().map(|entry| entry.info.id).collect();
    assert_eq!(known, PROMISED.split_whitespace().collect::<Vec<_>>());
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
        assert_ne!(entry.answers, Answers::default(), "{id} answers nothing");
        assert_eq!(find(id).map(|found| found.info), Some(entry.info));
    }
    assert_eq!(floor().info.id, FLOOR_ID);
    assert!(find("hourglass").is_none());
}

#[test]
fn timers_open_or_explain() {
    let _alone = alone();
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
fn unanswered_questions_are_refused() {
    let _alone = alone();
    for (entry, mut subject) in usable(|_| true) {
        let Answers {
            waits,
            arms,
            periods,
        } = entry.answers;
        let given = [
            subject.waits(REFERENCE, request(&[0], 1)).map(drop),
            subject.arms(REFERENCE, 1).map(drop),
            subject.periods(REFERENCE, 100_000, 1, &[]).map(drop),
        ];
        for (given, answered) in given.into_iter().zip([waits, arms, periods]) {
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
    let _alone = alone();
    let unit = find_unit(REFERENCE);
    for (entry, mut subject) in usable(|answers| answers.waits) {
        let rows = subject
            .waits(REFERENCE, request(&LENGTHS, 4))
            .expect("waits are given");
        assert_eq!(
            rows.iter().map(Vec::len).collect::<Vec<_>>(),
            [4; 4],
            "{}",
            entry.info.id
        );
        for (row, asked) in rows.iter().zip(LENGTHS) {
            for wait in row {
                let least = if UNPROMISED.contains(&entry.info.id) {
                    0.0
                } else {
                    asked as f64
                };
                // As much as a step of the reference may be missing.
                let observed = (took(wait) + 1) as f64 * unit;
                assert!(
                    observed >= least,
                    "{}: asked for {asked}, took {observed}",
                    entry.info.id
                );
                assert!(
                    wait.cpu_ns.is_none_or(|ns| ns >= 0)
                        && wait.run_delay_ns.is_none_or(|ns| ns >= 0)
                );
                assert!(
                    entry.info.means == Means::Blocks || wait.run_delay_ns.is_none(),
                    "{}",
                    entry.info.id
                );
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
    let asked = [1_000, 500_000];
    let mut nothing = floor().open().expect("everybody has it");
    let floor = nothing
        .waits(REFERENCE, request(&asked, 21))
        .expect("waits are given");
    let mut spin = find("spin")
        .expect("known")
        .open()
        .expect("everybody has it");
    let spun = spin
        .waits(REFERENCE, request(&asked, 21))
        .expect("waits are given");
    let lengths = |row: &[Wait]| median(row.iter().map(took).collect());
    assert!(lengths(&floor[1]) < lengths(&spun[0]) && lengths(&spun[0]) < lengths(&spun[1]));
    let cpu = |row: &[Wait]| {
        row.iter()
            .map(|wait| wait.cpu_ns)
            .collect::<Option<Vec<_>>>()
            .map(median)
    };
    if let (Some(floor), Some(less), Some(more)) = (cpu(&floor[1]), cpu(&spun[0]), cpu(&spun[1])) {
        assert!(floor < more && less < more, "{floor} {less} {more}");
    }
}

#[test]
fn arming_takes_time() {
    let _alone = alone();
    for (entry, mut subject) in usable(|answers| answers.arms) {
        let pairs = subject.arms(REFERENCE, 50).expect("pairs are given");
        assert!(
            pairs.len() == 50 && pairs.iter().all(|&ticks| ticks > 0),
            "{}: {pairs:?}",
            entry.info.id
        );
        // What was cancelled does not come in between.
        let rows = subject
            .waits(REFERENCE, request(&[1_000], 2))
            .expect("waits are given");
        assert_eq!(rows[0].len(), 2, "{}", entry.info.id);
    }
}

#[test]
fn periods_report_missed_expirations() {
    const PERIOD_NS: u64 = 400_000;
    const COUNTING: [&str; 2] = ["timerfd", "timer-create"];
    let _alone = alone();
    for (entry, mut subject) in usable(|answers| answers.periods) {
        let id = entry.info.id;
        let ticks = subject
            .periods(REFERENCE, PERIOD_NS, 12, &[4, 8])
            .expect("it ticks");
        assert_eq!(ticks.len(), 12, "{id}");
        assert!(
            ticks.is_sorted_by(|earlier, later| earlier.at < later.at),
            "{id}: {ticks:?}"
        );
        if COUNTING.contains(&id) {
            // A stall takes 3.5 periods.
            assert!(
                [5, 9].iter().all(|&after| ticks[after].expirations >= 3),
                "{id}: {ticks:?}"
            );
        } else {
            assert!(
                ticks.iter().all(|tick| tick.expirations == 1),
                "{id}: {ticks:?}"
            );
        }
        // It begins anew.
        assert_eq!(
            subject.periods(REFERENCE, PERIOD_NS, 0, &[]),
            Ok(vec![]),
            "{id}"
        );
        assert_eq!(
            subject
                .periods(REFERENCE, PERIOD_NS, 1, &[])
                .expect("it ticks")
                .len(),
            1,
            "{id}"
        );
        let refused = subject.periods(REFERENCE, 0, 1, &[]);
        assert!(
            matches!(refused, Err(Fault::Refused(_))),
            "{id}: {refused:?}"
        );
    }
}

#[test]
fn late_wait_ends_question() {
    let mut sleep = find("std-sleep")
        .expect("known")
        .open()
        .expect("everybody has it");
    let mut waited = |break_ns| {
        let request = WaitRequest {
            break_ns,
            ..request(&[1_000, 2_000], 3)
        };
        let rows = sleep.waits(REFERENCE, request).expect("waits are given");
        rows.iter().map(Vec::len).sum::<usize>()
    };
    assert_eq!(
        [waited(None), waited(Some(u64::MAX)), waited(Some(0))],
        [6, 6, 1]
    );
}

#[test]
fn unknown_references_are_refused_by_name() {
    let _alone = alone();
    for (entry, mut subject) in usable(|answers| answers.waits && answers.arms && answers.periods) {
        let faults = [
            subject.waits("sundial", request(&[0], 1)).map(drop),
            subject.arms("sundial", 1).map(drop),
            subject.periods("sundial", 1_000, 1, &[]).map(drop),
        ];
        for fault in faults {
            let Err(Fault::Refused(why)) = fault else {
                panic!("{}: {fault:?}", entry.info.id)
            };
            assert!(why.contains("sundial") && why.contains(REFERENCE), "{why}");
        }
    }
}

#[test]
fn process_timer_has_one_holder() {
    let _alone = alone();
    let setitimer = find("setitimer").expect("known");
    if let Ok(held) = setitimer.open() {
        let why = setitimer.open().map(drop).expect_err("there is one");
        assert!(why.reason.contains("in use"), "{why}");
        drop(held);
        assert!(setitimer.open().is_ok());
    }
}

/// Its signal goes to the process: to a thread that would be ended by it, unless something is done
/// about that.
#[test]
fn process_timer_serves_waiting_thread() {
    let _alone = alone();
    let (done, wait_for_it) = mpsc::channel::<()>();
    let wait_for_it = Mutex::new(wait_for_it);
    let linger = || drop(wait_for_it.lock().map(|end| end.recv()));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(linger);
        }
        if let Ok(mut timer) = find("setitimer").expect("known").open() {
            // One more, which knows nothing of it yet.
            scope.spawn(linger);
            let rows = timer
                .waits(REFERENCE, request(&[100_000], 10))
                .expect("waits are given");
            assert!(
                rows[0].len() == 10 && rows[0].iter().all(|wait| took(wait) >= 100_000),
                "{rows:?}"
            );
        }
        drop(done);
    });
}
