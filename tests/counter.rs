//! Tests the findings about the raw counter of the processor.

use timermeter::findings::counter::{COUNTER, Counter};
use timermeter::findings::{Facts, apply};
use timermeter::model::{
    Answer, CpuOffset, Defect, DefectKind, Interval, Outcome, Platform, Severity, Status, TimerRow,
    Trust, Verdicts,
};
use timermeter::trace::Pair;

/// The verdicts on a counter of a kept report, in which nothing is wrong.
fn verdicts() -> Verdicts {
    let report = timermeter::report::read(crate::stored::XEON.as_ref()).expect("it is kept");
    let mut rows = report.timers.into_iter();
    let row = rows
        .find(|row| row.id == "rdtsc-lfence")
        .expect("it was measured");
    let mut verdicts = row.verdicts.expect("it was examined");
    let stable = &mut verdicts.stable;
    (stable.offset_ppm, stable.offset_uncertainty_ppm) = (Some(10.0), Some(0.5));
    verdicts.thread_safe.offsets.clear();
    verdicts
}

fn trust(kind: Option<DefectKind>) -> Trust {
    Trust {
        answer: Answer::Yes,
        open: None,
        defect: kind.map(|kind| Defect { kind, size: None }),
        part: None,
        caution: None,
    }
}

fn row(cost_ns: f64) -> TimerRow {
    TimerRow {
        ns_per_tick: Some(0.5),
        cost_ns: Some(Interval::exact(cost_ns)),
        verdicts: Some(verdicts()),
        trust: Some(trust(None)),
        ..TimerRow::unmeasured("a", "a()", "native", Status::Ok)
    }
}

/// The severity and the message of the finding with this code, if there is one, on a machine with such changes.
fn judged(
    code: &str,
    change: impl Fn(&mut Platform, &mut TimerRow, &mut TimerRow),
) -> Option<(Severity, String)> {
    let (mut platform, mut read, mut clock) = (Platform::default(), row(8.0), row(20.0));
    platform.cpu.architecture = "x86_64".into();
    platform.cpu.invariant_tsc = Some(true);
    platform.clocksource.current = Some("hpet".into());
    platform.clocksource.available = vec!["tsc".into(), "hpet".into()];
    change(&mut platform, &mut read, &mut clock);
    let counter = Counter {
        platform: &platform,
        bare: &read,
        fenced: &read,
        clocks: vec![&clock],
        unfenced: Some(Pair::from_handoffs(None, &[[10, 20], [40, 30]])),
        declared: Some((2e9, "CPUID")),
    };
    let found = apply(
        COUNTER,
        &Facts {
            counter: Some(&counter),
            ..Facts::default()
        },
    );
    let finding = found.iter().find(|it| it.code == code);
    finding.map(|it| (it.severity, it.message()))
}

#[test]
fn verdict_follows_from_evidence() {
    let counter = |change: fn(&mut Platform, &mut TimerRow)| {
        judged("counter", |machine, row, _| change(machine, row))
            .expect("a verdict")
            .0
    };
    assert_eq!(counter(|_, _| ()), Severity::Ok);
    assert_eq!(
        counter(|machine, _| machine.hypervisor = Some("KVM".into())),
        Severity::Note
    );
    let problems: [fn(&mut Platform, &mut TimerRow); 4] = [
        |machine, _| machine.tsc.nonstop = Some(false),
        |machine, _| machine.clocksource.available = vec!["hpet".into()],
        |_, row| row.trust = Some(trust(Some(DefectKind::CpusDiffer))),
        |_, row| (row.head.status, row.verdicts) = (Status::Failed, None),
    ];
    for change in problems {
        assert_eq!(counter(change), Severity::Problem);
    }
    let gaps: [fn(&mut Platform, &mut TimerRow); 3] = [
        |_, row| row.verdicts.as_mut().unwrap().thread_safe.outcome = Outcome::NotTested,
        |machine, _| machine.cpu.invariant_tsc = None,
        |_, row| row.ns_per_tick = None,
    ];
    for change in gaps {
        assert_eq!(counter(change), Severity::Unknown);
    }
}

/// A change of a machine, of the row of its counter and of that of its clock.
type Change = fn(&mut Platform, &mut TimerRow, &mut TimerRow);

#[test]
fn figures_are_named() {
    let judged =
        |code, change: Change| judged(code, change).unwrap_or((Severity::Problem, String::new()));
    let ready = |_: &mut Platform, _: &mut TimerRow, _: &mut TimerRow| ();
    let failing = |_: &mut Platform, _: &mut TimerRow, clock: &mut TimerRow| {
        clock.trust = Some(trust(Some(DefectKind::Rate)))
    };
    let offsets = |_: &mut Platform, row: &mut TimerRow, _: &mut TimerRow| {
        let offset = |(cpu, ns)| CpuOffset {
            cpu,
            ns,
            uncertainty_ns: 30.0,
        };
        row.verdicts.as_mut().unwrap().thread_safe.offsets =
            [(0, 0.0), (1, -40.0)].map(offset).into();
    };
    let slow = |_: &mut Platform, row: &mut TimerRow, _: &mut TimerRow| {
        row.cost_ns = Some(Interval::exact(900.0));
    };
    let cases: [(&str, Change, Severity, &str); 8] = [
        ("rate", ready, Severity::Ok, "1999980000 Hz ± 0.500 ppm"),
        ("declared-rate", ready, Severity::Note, "10.0 ppm too fast"),
        // There is none.
        ("rate", failing, Severity::Problem, ""),
        (
            "counter",
            failing,
            Severity::Unknown,
            "could not be measured",
        ),
        ("cpus", offsets, Severity::Ok, "apart by at most 70 ns"),
        ("fence", ready, Severity::Note, "1 times in 2 handoffs"),
        ("gain", ready, Severity::Ok, "saves 12 ns"),
        ("gain", slow, Severity::Note, "saves nothing"),
    ];
    for (code, change, severity, words) in cases {
        let (found, message) = judged(code, change);
        assert!(
            found == severity && message.contains(words),
            "{code}: {message}"
        );
    }
}
