//! Tests the properties of clocks, as declared and as found by experiment.

use super::*;
use crate::model::Status;

/// The facts declared for the native timer with this id.
fn native(id: &str) -> Facts {
    Facts::from_declared(&timers::find(id).expect("it is known").info.properties)
}

fn row(runtime: &str, properties: Option<Properties>) -> TimerRow {
    TimerRow {
        properties,
        ..TimerRow::unmeasured("sundial", "shadow()", runtime, Status::Ok)
    }
}

#[test]
fn native_timers_declare_all_properties() {
    for entry in timers::catalogue() {
        let declared = entry.info.properties;
        let undeclared = declared.counts.is_none()
            || declared.family.is_none()
            || declared.settable.is_none()
            || declared.slewed.is_none()
            || declared.needs_fence.is_none()
            || declared.reads_by.is_none();
        assert!(!undeclared, "{}: {declared:?}", entry.info.id);
    }
}

#[test]
fn syscall_variants_enter_the_kernel() {
    for entry in timers::catalogue() {
        let Some(variant) = entry.info.properties.syscall_variant else {
            continue;
        };
        let variant = timers::find(variant).expect("it is in the catalogue").info;
        assert_eq!(
            variant.properties.reads_by,
            Some(ReadsBy::SystemCall),
            "{}",
            entry.info.id
        );
        assert_eq!(
            variant.properties.syscall_variant, None,
            "{}",
            entry.info.id
        );
    }
}

#[test]
fn facts_that_decide() {
    assert_eq!(native("monotonic-syscall").no_slew, Some(false));
    assert_eq!(native("monotonic-raw").no_slew, Some(true));
    assert_eq!(native("realtime").monotonic, Some(false));
    assert_eq!(native("thread-cputime").threads, Some(false));
    assert_eq!(native("process-cputime").threads, Some(true));
    assert!(native("times").through_kernel && !native("time").through_kernel);
    assert!(native("rdtscp").ordered && !native("rdtsc").ordered && !native("time").ordered);
}

#[test]
fn undeclared_facts_are_unknown() {
    let platform = Platform::default();
    let facts = Facts::from_row(&row("native", None), &platform);
    assert_eq!(facts, Facts::default());
    let older = TimerRow::unmeasured("realtime", "r()", "native", Status::Ok);
    assert_eq!(
        Facts::from_row(&older, &platform),
        native("realtime"),
        "this program declares it"
    );
    let older = TimerRow::unmeasured("realtime", "r()", "Mine 1.0", Status::Ok);
    assert_eq!(
        Facts::from_row(&older, &platform),
        Facts {
            ordered: true,
            ..Facts::default()
        }
    );
    assert!(
        Facts::from_row(&row("Java", None), &platform).ordered,
        "its callers have no fence"
    );
}

#[test]
fn found_facts_overrule_declared() {
    let declared = native("monotonic");
    assert_eq!(declared.with_counted(Counted::Wall), declared);
    assert_eq!(
        declared.with_counted(Counted::ThreadCpu).counts,
        Some(Counted::ThreadCpu)
    );
    assert_eq!(
        declared.with_counted(Counted::ThreadCpu).threads,
        Some(false)
    );
    assert_eq!(
        declared.with_counted(Counted::SomethingElse).counts,
        Some(Counted::SomethingElse)
    );
    let unknown = Facts::default().with_counted(Counted::Wall);
    assert_eq!(
        (unknown.counts, unknown.monotonic),
        (Some(Counted::Wall), None)
    );
}

#[test]
fn only_invariant_tsc_keeps_rate() {
    let mut platform = Platform::default();
    platform.cpu.architecture = "x86_64".into();
    let facts = |platform: &Platform| {
        let facts = Facts::from_row(
            &row("native", Some(timers::Properties::COUNTER.into_owned())),
            platform,
        );
        (facts.threads, facts.no_slew)
    };
    assert_eq!(facts(&platform), (None, None));
    platform.cpu.invariant_tsc = Some(false);
    assert_eq!(facts(&platform), (Some(false), Some(false)));
    platform.cpu.invariant_tsc = None;
    (platform.tsc.constant, platform.tsc.nonstop) = (Some(true), Some(true));
    assert_eq!(facts(&platform), (Some(true), Some(true)));
}
