//! Tests changes that families of clocks share.

use super::{compared, open, report, table, timer};
use crate::comparison::{COST, ChangeVerdict, Comparison, FamilyChange};
use crate::model::{Core, Family, Interval, ProcessFigures, Properties, ReadsBy, Report, TimerRow};

/// The clocks of a machine: names, costs in cycles, and how they are read.
const CLOCKS: [(&str, f64, ReadsBy, Option<Family>); 11] = [
    ("rdtsc", 34.0, ReadsBy::Instruction, None),
    ("rdtscp", 66.0, ReadsBy::Instruction, None),
    ("quanta", 35.0, ReadsBy::Instruction, None),
    ("monotonic", 81.0, ReadsBy::Vdso, None),
    ("realtime", 80.0, ReadsBy::Vdso, None),
    ("tai", 82.0, ReadsBy::Vdso, None),
    ("instant", 84.0, ReadsBy::Vdso, None),
    ("monotonic-syscall", 600.0, ReadsBy::SystemCall, None),
    ("realtime-syscall", 620.0, ReadsBy::SystemCall, None),
    ("tai-syscall", 700.0, ReadsBy::SystemCall, None),
    ("coarse-syscall", 500.0, ReadsBy::SystemCall, None),
];

/// A report of the clocks, whose processes cost `cycles` times the factors of `processes`.
fn run(cycles: impl Fn(&str, f64) -> f64, processes: &[f64]) -> Report {
    let row = |(id, cost, reads_by, family): &(&str, f64, ReadsBy, Option<Family>)| -> TimerRow {
        let cycles = cycles(id, *cost);
        let mut row = timer(id, 45.0, cycles / 3.0);
        row.properties = Some(Properties {
            family: *family,
            reads_by: Some(*reads_by),
            ..Properties::default()
        });
        let figures = processes.iter().map(|factor| ProcessFigures {
            core: Core::Alone,
            amortised_ns: cycles * factor / 3.0,
            amortised_cycles: Some(cycles * factor),
            ..ProcessFigures::default()
        });
        row.processes = figures.collect();
        row
    };
    let mut report = report(CLOCKS.iter().map(row).collect());
    report.frequency.effective_hz = Some(Interval::unbounded(3e9));
    report
}

const CALM: [f64; 5] = [1.0, 1.001, 1.002, 1.003, 1.06];

fn unchanged(_: &str, cycles: f64) -> f64 {
    cycles
}

fn family<'c>(comparison: &'c Comparison, name: &str) -> &'c FamilyChange {
    let mut families = comparison.families.iter();
    let found = families.find(|family| family.family == name);
    found.unwrap_or_else(|| panic!("no {name}: {:?}", comparison.families))
}

fn changed_costs(comparison: &Comparison) -> Vec<&str> {
    let figures = comparison.figures.iter();
    let changed = figures.filter(|figure| figure.quantity == COST && figure.is_changed());
    changed.map(|figure| figure.timer.as_str()).collect()
}

#[test]
fn names_family_of_slower_entry_to_kernel() {
    let slower = |id: &str, cycles: f64| {
        if id.ends_with("syscall") {
            cycles + 120.0
        } else {
            cycles
        }
    };
    let comparison = compared(&run(unchanged, &CALM), &run(slower, &CALM)).unwrap();
    let calls = family(&comparison, "system calls");
    assert_eq!(
        (calls.verdict, calls.timers.len()),
        (ChangeVerdict::Worse, 4)
    );
    assert_eq!(family(&comparison, "vDSO").verdict, ChangeVerdict::Noise);
    assert_eq!(changed_costs(&comparison).len(), 4);
    let text = table(&comparison);
    assert!(
        text.starts_with("system calls: 20 % slower [")
            && text.contains("all else unchanged (instructions within "),
        "{text}"
    );
}

#[test]
fn family_decides_condition_on_all_its_clocks() {
    let uneven = |id: &str, cycles: f64| cycles * if id == "tai" { 1.015 } else { 1.0 };
    let even = [1.0, 1.001, 1.002, 1.003, 1.004];
    let comparison = compared(&run(unchanged, &even), &run(uneven, &even)).unwrap();
    assert_eq!(changed_costs(&comparison), [""; 0]);
    let limit = family(&comparison, "vDSO").limit_percent;
    let conditions = ["cost[{monotonic,realtime,tai,instant}]", "cost[tai]"];
    let [all, tai] = conditions.map(|on| open(&format!("{on}>{limit}%"), &comparison));
    assert_eq!(all, None);
    assert!(tai.is_some_and(|why| why.starts_with("tai within ")));
    let disturbed = run(unchanged, &[1.0, 1.3, 1.6, 1.9, 2.2]);
    let comparison = compared(&disturbed, &disturbed).unwrap();
    let why = open("cost>5%", &comparison).expect("undecided");
    assert!(
        why.contains("system calls within ") && why.contains("more runs") && why.len() < 150,
        "{why}"
    );
}

#[test]
fn names_single_changed_clock() {
    let slower = |id: &str, cycles: f64| cycles * if id == "tai" { 1.05 } else { 1.0 };
    let comparison = compared(&run(unchanged, &CALM), &run(slower, &CALM)).unwrap();
    assert_eq!(changed_costs(&comparison), ["tai"]);
    assert_eq!(family(&comparison, "vDSO").own, ["tai"]);
    let text = table(&comparison);
    assert!(
        text.starts_with("tai: 5.0 % slower [") && text.contains("all else unchanged"),
        "{text}"
    );
}

#[test]
fn names_clocks_that_family_left_behind() {
    let faster = |id: &str, cycles: f64| {
        if id.ends_with("syscall") && id != "tai-syscall" {
            cycles * 0.8
        } else {
            cycles
        }
    };
    let comparison = compared(&run(unchanged, &CALM), &run(faster, &CALM)).unwrap();
    let calls = family(&comparison, "system calls");
    assert_eq!(calls.verdict, ChangeVerdict::Better);
    assert_eq!(calls.unchanged, ["tai-syscall"]);
    assert!(!changed_costs(&comparison).contains(&"tai-syscall"));
    let text = table(&comparison);
    assert!(text.contains(", 3 of 4, not tai-syscall"), "{text}");
}

/// Marks the processes of the clocks with these names as those of shared cores.
fn share(report: &mut Report, is_meant: impl Fn(&str) -> bool) {
    let rows = report
        .timers
        .iter_mut()
        .filter(|row| is_meant(&row.head.id));
    rows.flat_map(|row| &mut row.processes)
        .for_each(|process| process.core = Core::Shared);
}

#[test]
fn mixture_of_states_hides_change() {
    let slower = |id: &str, cycles: f64| cycles * if id.ends_with("syscall") { 1.08 } else { 1.0 };
    let width = |processes: &[f64], is_shared: bool| {
        let [mut old, mut new] = [run(unchanged, processes), run(slower, processes)];
        for run in [&mut old, &mut new] {
            share(run, |_| is_shared);
        }
        let calls = family(&compared(&old, &new).unwrap(), "system calls").clone();
        (calls.verdict, calls.percent.high - calls.percent.low)
    };
    let (calm, calm_width) = width(&CALM, false);
    assert_eq!(calm, ChangeVerdict::Worse);
    let (verdict, mixture_width) = width(&[1.0, 1.09, 1.12, 1.15, 1.2], true);
    assert_eq!(verdict, ChangeVerdict::Noise);
    assert!(
        mixture_width > 1.5 * calm_width,
        "{mixture_width} {calm_width}"
    );
}

/// Too few undisturbed processes of a clock make its own cost uncertain, not that of others.
#[test]
fn shared_core_hides_change_of_one_clock() {
    let slower = |id: &str, cycles: f64| cycles * if id == "tai" { 1.05 } else { 1.0 };
    let mut old = run(unchanged, &[1.0, 1.02, 1.04, 1.06, 1.05]);
    share(&mut old, |id| id == "tai");
    let comparison = compared(&old, &run(slower, &CALM)).unwrap();
    assert!(changed_costs(&comparison).is_empty());
}

/// What all costs share is the machine's; a family is judged relative to it.
#[test]
fn neighbours_change_machine_and_no_clock() {
    let slower = |calls: f64| {
        move |id: &str, cycles: f64| cycles * if id.ends_with("syscall") { calls } else { 1.2 }
    };
    let old = run(unchanged, &CALM);
    let alike = compared(&old, &run(slower(1.2), &CALM)).unwrap();
    assert!(changed_costs(&alike).is_empty(), "{:?}", alike.families);
    let machine = alike.machine.expect("the machine is slower");
    assert!((machine.value - 20.0).abs() < 0.1, "{machine:?}");
    let text = table(&alike);
    assert!(
        text.starts_with("the machine is 20 % slower [")
            && text.contains(" in everything; relative to that, costs unchanged ("),
        "{text}"
    );
    let apart = compared(&old, &run(slower(1.44), &CALM)).unwrap();
    let calls = family(&apart, "system calls");
    assert_eq!(calls.verdict, ChangeVerdict::Worse);
    assert!((calls.percent.value - 20.0).abs() < 0.1, "{calls:?}");
    assert_eq!(changed_costs(&apart).len(), 4);
}
