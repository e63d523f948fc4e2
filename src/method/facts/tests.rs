use super::*;
use crate::method::Need;

#[test]
fn every_native_timer_is_known() {
    for entry in timers::catalogue() {
        let facts = Facts::of(entry.info.id);
        assert!(facts.threads.is_some(), "nothing is known of {}", entry.info.id);
    }
}

#[test]
fn facts_that_decide() {
    assert_eq!(Facts::of("boottime").meets(Need::Suspend), Some(true));
    assert_eq!(Facts::of("monotonic-syscall").meets(Need::NoSlew), Some(false));
    assert_eq!(Facts::of("monotonic-raw").meets(Need::NoSlew), Some(true));
    assert_eq!(Facts::of("realtime").meets(Need::Monotonic), Some(false));
    assert_eq!(Facts::of("thread-cputime").meets(Need::Threads), Some(false));
    assert_eq!(Facts::of("java:nanoTime").meets(Need::Monotonic), Some(true));
    assert_eq!(Facts::of("java:currentTimeMillis").meets(Need::Monotonic), Some(false));
    assert_eq!(Facts::of("cpython:time.thread_time_ns").counts, Some(Counts::Thread));
    assert_eq!(Facts::of("x:sundial").meets(Need::Threads), None);
}

#[test]
fn what_was_found_comes_before_what_is_claimed_and_both_before_the_name() {
    let named = Facts::of("monotonic");
    assert_eq!(named.counting(Counted::Wall), named);
    assert_eq!(named.counting(Counted::ThreadCpu).counts, Some(Counts::Thread));
    assert_eq!(named.counting(Counted::ThreadCpu).threads, Some(false));
    assert_eq!(named.counting(Counted::SomethingElse).counts, None);
    let unknown = Facts::of("x:sundial").counting(Counted::Wall);
    assert_eq!((unknown.counts, unknown.monotonic), (Some(Counts::Wall), None));
}

#[test]
fn only_an_invariant_tsc_agrees_between_cpus_and_keeps_its_rate() {
    let row = TimerRow::unmeasured("rdtsc", "rdtsc", "native", crate::model::Status::Ok);
    let mut platform = Platform::default();
    platform.cpu.architecture = "x86_64".into();
    let facts = |platform: &Platform| {
        let facts = Facts::of_row(&row, platform);
        (facts.threads, facts.no_slew)
    };
    assert_eq!(facts(&platform), (None, None));
    platform.cpu.invariant_tsc = Some(false);
    assert_eq!(facts(&platform), (Some(false), Some(false)));
    platform.cpu.invariant_tsc = None;
    (platform.tsc.constant, platform.tsc.nonstop) = (Some(true), Some(true));
    assert_eq!(facts(&platform), (Some(true), Some(true)));
}

#[test]
fn printed_timers_are_known_by_their_calls() {
    let row = |id, label| TimerRow::unmeasured(id, label, "Java", crate::model::Status::Ok);
    let mut platform = Platform::default();
    platform.os.family = "windows".into();
    let nano = Facts::of_row(&row("NANO", "System.nanoTime()"), &platform);
    assert_eq!((nano.counts, nano.no_slew), (Some(Counts::Wall), None));
    let user = Facts::of_row(&row("CTUT", "ThreadMXBean.getCurrentThreadUserTime()"), &platform);
    assert_eq!(user.counts, Some(Counts::Thread));
}
