//! Tests differences between platforms, and timers with results on one side only.

use super::{compared, decide, failed, markdown, report, table, timer};
use crate::comparison::Decision;

#[test]
fn slower_clock_source_comes_first() {
    let old = report(vec![timer("a", 45.0, 20.0)]);
    let mut new = old.clone();
    new.platform.clocksource.current = Some("hpet".into());
    new.platform.kernel.release = Some("6.2".into());
    new.platform.cpu.microcode = None;
    let comparison = compared(&old, &new).unwrap();
    let names: Vec<&str> = comparison
        .platform
        .iter()
        .map(|change| change.what)
        .collect();
    assert_eq!(names, ["clock source", "kernel", "microcode"]);
    for text in [table(&comparison), markdown(&comparison)] {
        let first = text.lines().next().unwrap();
        assert!(
            first.contains("clock source")
                && first.contains("tsc → hpet (reads through the kernel"),
            "{text}"
        );
    }
    let Decision::Holds(why) = decide("source>0", &comparison) else {
        panic!("the clock source fell");
    };
    assert!(why.starts_with("tsc → hpet ("), "{why}");
    let reverse = compared(&new, &old).unwrap();
    assert_eq!(decide("source>0", &reverse), Decision::Fails);
    assert!(reverse.platform[0].remark.is_none() && reverse.platform[0].is_loud());
}

#[test]
fn reports_clock_source_without_figures() {
    let old = report(vec![timer("a", 45.0, 20.0), timer("b", 40.0, 20.0)]);
    let mut new = report(vec![failed("a"), failed("b")]);
    new.platform.clocksource.current = Some("hpet".into());
    let comparison = compared(&old, &new).unwrap();
    assert!(comparison.figures.is_empty());
    let text = table(&comparison);
    assert!(
        text.starts_with("clock source: tsc → hpet (reads through the kernel"),
        "{text}"
    );
    assert_eq!(
        decide("lost>0", &comparison),
        Decision::Holds("a, b".into())
    );
}

#[test]
fn reports_other_cpu_once() {
    let report_of_cpu = |model: &str, family: u32| {
        let mut report = report(vec![timer("a", 45.0, 20.0)]);
        (report.platform.cpu.model, report.platform.cpu.family) =
            (Some(model.into()), Some(family));
        report
    };
    let comparison = compared(
        &report_of_cpu("AMD EPYC", 25),
        &report_of_cpu("Intel Xeon", 6),
    )
    .unwrap();
    let text = table(&comparison);
    assert!(
        text.starts_with("CPU: AMD EPYC → Intel Xeon (another CPU"),
        "{text}"
    );
    assert_eq!(text.matches("another CPU").count(), 1, "{text}");
    assert!(markdown(&comparison).starts_with("CPU: AMD EPYC → Intel Xeon"));
    let family = compared(
        &report_of_cpu("AMD EPYC", 25),
        &report_of_cpu("AMD EPYC", 26),
    )
    .unwrap();
    let text = table(&family);
    assert!(
        text.starts_with("cpu family: 25 → 26 (another CPU"),
        "{text}"
    );
    assert!(text.contains("\ncosts equal (a within "), "{text}");
    let mut without_model = report_of_cpu("AMD EPYC", 25);
    without_model.platform.cpu.model = None;
    let unknown = compared(&report_of_cpu("AMD EPYC", 25), &without_model).unwrap();
    assert!(!table(&unknown).contains("another CPU"));
}

#[test]
fn refuses_reports_without_common_timer() {
    let (old, new) = (
        report(vec![timer("a", 45.0, 20.0)]),
        report(vec![timer("b", 45.0, 20.0)]),
    );
    assert!(
        compared(&old, &new)
            .unwrap_err()
            .to_string()
            .contains("cannot be compared")
    );
    assert!(compared(&report(vec![]), &report(vec![])).is_err());
}
