//! Tests the findings about the raw counter of the processor.

use estimators::findings::counter::{COUNTER, Counter};
use estimators::findings::{Facts, apply};
use estimators::model::{
    Answer, CpuOffset, Defect, DefectKind, Estimate, Outcome, Platform, Severity, Status,
    TimerInfo, TimerRow, Trust, Verdicts,
};
use estimators::trace::Pair;

/// The verdicts on a counter of a kept report, in which nothing is wrong.
fn verdicts() -> Verdicts {
    let report = reporting::report::read(crate::stored::XEON.as_ref()).unwrap();
    let mut rows = report.timers.into_iter();
    let row = rows.find(|row| row.id == "rdtsc-lfence").unwrap();
    let mut verdicts = row.verdicts.unwrap();
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
        cost_ns: Some(Estimate::exact(cost_ns)),
        verdicts: Some(verdicts()),
        trust: Some(trust(None)),
        ..TimerRow::without_results(&TimerInfo::default(), Status::Ok)
    }
}

/// A change of a machine, of the row of its counter and of that of its clock.
type Change = fn(&mut Platform, &mut TimerRow, &mut TimerRow);

/// The severity and the message of the finding with this code, if there is one, on a machine with this change.
fn judged(code: &str, change: Change) -> Option<(Severity, String)> {
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
fn findings_follow_from_evidence() {
    use Severity::{Note, Ok, Problem, Unknown};
    let ready: Change = |_, _, _| ();
    let failing: Change = |_, _, clock| clock.trust = Some(trust(Some(DefectKind::Rate)));
    let offsets: Change = |_, row, _| {
        let offset = |(cpu, ns)| CpuOffset {
            cpu,
            ns,
            uncertainty_ns: 30.0,
        };
        row.verdicts.as_mut().unwrap().thread_safe.offsets =
            [(0, 0.0), (1, -40.0)].map(offset).into();
    };
    let cases: [(&str, Change, Severity, &str); 17] = [
        ("counter", ready, Ok, ""),
        (
            "counter",
            |machine, _, _| machine.hypervisor = Some("KVM".into()),
            Note,
            "",
        ),
        (
            "counter",
            |machine, _, _| machine.cpu.architecture = "aarch64".into(),
            Note,
            "if there is one",
        ),
        (
            "counter",
            |machine, _, _| machine.tsc.nonstop = Some(false),
            Problem,
            "",
        ),
        (
            "counter",
            |machine, _, _| machine.clocksource.available = vec!["hpet".into()],
            Problem,
            "",
        ),
        (
            "counter",
            |_, row, _| row.trust = Some(trust(Some(DefectKind::CpusDiffer))),
            Problem,
            "",
        ),
        (
            "counter",
            |_, row, _| (row.head.status, row.verdicts) = (Status::Failed, None),
            Problem,
            "",
        ),
        (
            "counter",
            |_, row, _| row.verdicts.as_mut().unwrap().thread_safe.outcome = Outcome::NotTested,
            Unknown,
            "",
        ),
        (
            "counter",
            |machine, _, _| machine.cpu.invariant_tsc = None,
            Unknown,
            "",
        ),
        ("counter", |_, row, _| row.ns_per_tick = None, Unknown, ""),
        ("counter", failing, Unknown, "could not be measured"),
        ("rate", ready, Ok, "1999980000 Hz ± 0.500 ppm"),
        ("declared-rate", ready, Note, "10.0 ppm too fast"),
        ("cpus", offsets, Ok, "apart by at most 70 ns"),
        ("fence", ready, Note, "1 times in 2 handoffs"),
        ("gain", ready, Ok, "saves 12 ns"),
        (
            "gain",
            |_, row, _| row.cost_ns = Some(Estimate::exact(900.0)),
            Note,
            "saves nothing",
        ),
    ];
    for (number, (code, change, severity, words)) in cases.into_iter().enumerate() {
        let (found, message) = judged(code, change).expect(code);
        assert!(
            found == severity && message.contains(words),
            "{number} {code}: {message}"
        );
    }
    assert_eq!(judged("rate", failing), None);
}
