//! Invariants of the real clocks of this machine; no test checks a magnitude.

use std::thread;

use timers::{
    Activity, AffinityError, Entry, Fault, Movement, RATE_SOURCES, REFERENCES, Subject,
    allowed_cpus, catalogue, find, pin_to,
};

/// All documented ids, in the order of the catalogue.
const DOCUMENTED_IDS: &str = "
    rdtsc rdtsc-lfence rdtscp cntvct cntvct-isb cntvctss pmccntr rdtime rdtime-fence rdcycle rdinstret monotonic monotonic-raw monotonic-coarse realtime realtime-coarse boottime tai
    process-cputime thread-cputime monotonic-syscall monotonic-raw-syscall monotonic-coarse-syscall
    realtime-syscall realtime-coarse-syscall boottime-syscall process-cputime-syscall thread-cputime-syscall
    gettimeofday time clock times getrusage-self getrusage-thread instant system-time quanta quanta-raw
    perf-task-clock perf-cycles
    qpc nt-qpc file-time file-time-precise unbiased-time
    tick-count-64 thread-times process-times
    mach-absolute uptime-raw";

/// The timers that can step backwards because somebody sets the clock.
const MAY_STEP_BACK: &str = "
    realtime realtime-coarse realtime-syscall realtime-coarse-syscall tai gettimeofday time system-time
    file-time file-time-precise";

/// The timers of elapsed time, and the counters that all cores share, whose steps are much shorter
/// than the time spans in these tests.
const FAST_WALL_CLOCKS: &str = "
    rdtsc rdtsc-lfence rdtscp monotonic monotonic-raw monotonic-syscall monotonic-raw-syscall boottime
    boottime-syscall instant quanta qpc nt-qpc mach-absolute uptime-raw cntvct cntvct-isb rdtime rdtime-fence";

/// The timers that count for one thread or one core and therefore refuse handoffs.
const REFUSE_HANDOFFS: &str = "
    thread-cputime thread-cputime-syscall getrusage-thread perf-task-clock perf-cycles thread-times pmccntr
    rdcycle rdinstret";

/// Whether a timer is in one of these lists.
fn is_in(list: &str, entry: &Entry) -> bool {
    list.split_whitespace().any(|id| id == entry.info.id)
}

fn readable_timers() -> Vec<(Entry, Box<dyn Subject>)> {
    catalogue()
        .iter()
        .filter_map(|entry| Some((*entry, (entry.open)().ok()?)))
        .collect()
}

fn median(mut values: Vec<i64>) -> i64 {
    values.sort_unstable();
    values[values.len() / 2]
}

#[test]
fn catalogue_holds_promised_ids() {
    let known: Vec<_> = catalogue().iter().map(|entry| entry.info.id).collect();
    assert_eq!(known, DOCUMENTED_IDS.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn timers_are_found_by_their_ids() {
    for entry in catalogue() {
        let (id, info) = (entry.info.id, entry.info);
        assert!(!info.label.is_empty(), "{id}");
        assert!(info.ns_per_tick.is_none_or(|length| length > 0.0), "{id}");
        assert_eq!(find(id).map(|found| found.info), Some(info), "{id} twice");
    }
    assert!(find("sundial").is_none());
}

#[test]
fn timers_open_or_explain() {
    for entry in catalogue() {
        let (id, availability) = (entry.info.id, (entry.availability)());
        match (entry.open)() {
            Ok(_) => assert_eq!(availability, Ok(()), "{id}"),
            Err(why) => {
                println!("{id}: {why}; remedy: {:?}", why.remedy);
                assert!(!why.reason.trim().is_empty(), "{id} gives no reason");
                let remedy = why.remedy.as_deref().unwrap_or("none");
                assert!(!remedy.trim().is_empty(), "{id}: empty remedy");
                assert_eq!(availability, Err(why), "{id}");
            }
        }
    }
}

#[test]
fn monotonic_timers_never_decrease() {
    // On one CPU, because counters of different CPUs may disagree.
    let _ = pin_to(allowed_cpus().unwrap()[0]);
    for (entry, mut subject) in readable_timers() {
        let readings = subject.readings(10_000).unwrap();
        assert_eq!(readings.len(), 10_000, "{}", entry.info.id);
        if !is_in(MAY_STEP_BACK, &entry) {
            let step = readings.windows(2).position(|pair| pair[1] < pair[0]);
            assert_eq!(step, None, "{} went backwards", entry.info.id);
        }
    }
}

#[test]
fn more_work_takes_longer() {
    for (entry, mut subject) in readable_timers() {
        let rows = subject.intervals(&[0, 100_000], 51).unwrap();
        assert!(rows.iter().map(Vec::len).eq([51, 51]), "{}", entry.info.id);
        if is_in(FAST_WALL_CLOCKS, &entry) {
            // Medians, because a few intervals may contain an interruption.
            let [without_work, with_work] = [0, 1].map(|row| median(rows[row].clone()));
            assert!(
                with_work > without_work,
                "{}: {with_work} ticks with work, {without_work} without",
                entry.info.id
            );
        }
    }
}

#[test]
fn batches_have_requested_number_and_calls() {
    for (entry, mut subject) in readable_timers() {
        let is_readable = |id: &&str| find(id).is_some_and(|entry| (entry.availability)().is_ok());
        for reference in REFERENCES.into_iter().filter(is_readable) {
            let batches = subject.batches(reference, 0, 7).unwrap();
            assert_eq!(batches.len(), 7, "{} by {reference}", entry.info.id);
        }
        let mut batch = |calls| subject.batches(RATE_SOURCES[1], calls, 21).unwrap();
        let [few, many] = [1, 10_000].map(|calls| median(batch(calls)));
        assert!(
            many > few,
            "{}: the compiler removed the loop",
            entry.info.id
        );
    }
}

#[test]
fn unknown_references_are_refused_by_name() {
    for (_, mut subject) in readable_timers() {
        let faults = [
            subject.batches("sundial", 1, 1).map(drop),
            subject.advance("sundial", Activity::Spin, 1).map(drop),
        ];
        for fault in faults {
            let Err(Fault::Refused(message)) = fault else {
                panic!("not refused: {fault:?}")
            };
            assert!(
                message.contains("sundial") && message.contains(RATE_SOURCES[1]),
                "{message}"
            );
        }
    }
}

#[test]
fn wall_clocks_always_advance() {
    for (entry, mut subject) in readable_timers() {
        for during in [Activity::Spin, Activity::Sleep, Activity::OtherSpin] {
            let Movement { timer, reference } =
                subject.advance(RATE_SOURCES[1], during, 5).unwrap();
            assert!(reference > 0, "{}", entry.info.id);
            if is_in(FAST_WALL_CLOCKS, &entry) {
                assert!(timer > 0, "{} stood still in {during:?}", entry.info.id);
            }
        }
    }
}

#[test]
fn handoffs_keep_affinity() {
    let before = allowed_cpus().unwrap();
    for (entry, mut subject) in readable_timers() {
        for count in [0, 1, 2, 101] {
            match subject.handoffs(&[], count) {
                Ok(pairs) => assert_eq!(pairs[0].len(), count as usize, "{}", entry.info.id),
                Err(Fault::Refused(_)) => {
                    assert!(is_in(REFUSE_HANDOFFS, &entry), "{}", entry.info.id)
                }
                Err(fault) => panic!("{}: {fault}", entry.info.id),
            }
        }
    }
    assert_eq!(allowed_cpus().unwrap(), before);
}

#[test]
fn ordered_handoffs_never_step_back() {
    let mut subject = (find(RATE_SOURCES[1]).unwrap().open)().unwrap();
    let pairs = subject.handoffs(&[], 1_000).unwrap().concat();
    assert!(pairs.iter().all(|[a, b]| a <= b));
    // Pairs are in the order of the handoffs, whichever thread read first.
    assert!(pairs.is_sorted());
}

#[test]
fn threads_bind_to_allowed_cpus() {
    thread::spawn(|| {
        let cpus = allowed_cpus().unwrap();
        assert!(!cpus.is_empty() && cpus.is_sorted());
        for cpu in cpus {
            pin_to(cpu).unwrap();
            assert_eq!(allowed_cpus().unwrap(), [cpu]);
        }
    })
    .join()
    .unwrap();
}

#[test]
fn absent_cpu_is_refused() {
    let before = allowed_cpus().unwrap();
    for absent in [100_000, u32::MAX] {
        let error = pin_to(absent).expect_err("no machine has that many");
        assert!(
            matches!(error, AffinityError::Absent(cpu) if cpu == absent),
            "{error:?}"
        );
        assert!(error.to_string().contains(&absent.to_string()));
    }
    assert_eq!(allowed_cpus().unwrap(), before);
}

#[test]
fn opening_leaks_no_descriptors() {
    let open_files = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let entry = find("perf-task-clock").unwrap();
    let before = open_files();
    for _ in 0..100 {
        drop((entry.open)());
    }
    // Other tests of this process may open some files at the same time.
    assert!(open_files() < before + 50);
}

/// If the TSC faults, the vDSO faults too: trying to read a clock would end the program.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn forbidden_tsc_is_reported() {
    let rdtsc = thread::spawn(|| {
        // SAFETY: the call takes integers and affects only the calling thread, which ends soon.
        let status = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) };
        assert_eq!(status, 0);
        for entry in catalogue() {
            let _ = ((entry.availability)(), (entry.open)());
        }
        let rdtsc = (find("rdtsc").unwrap().open)().map(drop);
        // SAFETY: as for the call above.
        unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_ENABLE) };
        rdtsc
    });
    let why = rdtsc.join().unwrap().expect_err("it would fault");
    assert!(
        why.reason.contains("prctl(PR_SET_TSC, PR_TSC_SIGSEGV)") && why.remedy.is_some(),
        "{why:?}"
    );
}
