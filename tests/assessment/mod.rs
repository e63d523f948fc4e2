//! Draws machines whose clocks are wrong in a known way, and asks all verbs about them: each gives the
//! same answer, and the right one. `TIMERMETER_DRAW_SEED=7` draws the same machines again.

mod forged;

use forged::{Machine, draw};
use rand::SeedableRng;
use rand::rngs::StdRng;
use timermeter::assessment::assess;
use timermeter::model::{Answer, Report};
use timers::parts::Part;

/// Reports of machines whose kernels take the time from the counter.
const BASES: [&str; 4] = [
    crate::stored::XEON,
    crate::stored::EPYC,
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/reports/amd-epyc-zen-4-kvm-debian-12/2026-11-28/report.json"
    ),
    concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/reports/amd-epyc-zen-5-kvm-debian-12/2026-11-23-2/report.json"
    ),
];

/// The seed: another one in each run.
fn seed() -> u64 {
    let given = std::env::var("TIMERMETER_DRAW_SEED").ok();
    let now = || timers::kernel_time().unwrap_or_default();
    given.map_or_else(now, |text| text.parse().expect("the seed is a number"))
}

/// Draws machines; the seed of one that fails is printed.
fn for_each_machine(count: u64, mut test: impl FnMut(Machine)) {
    let first = seed();
    for seed in first..first + count {
        let mut random = StdRng::seed_from_u64(seed);
        let mut machine = draw(&mut random);
        assess(&mut machine.report);
        machine.truth = format!("TIMERMETER_DRAW_SEED={seed}: {}", machine.truth);
        test(machine);
    }
}

/// The words for a part.
fn in_words(part: Part) -> String {
    let call = |text: &str| {
        let clock = text.strip_prefix("clock_gettime(")?.strip_suffix(')')?;
        Some(format!("{clock} as the C library gives it"))
    };
    match part {
        Part::Call(text) => call(text).unwrap_or_else(|| format!("{text} of the C library")),
        Part::Clock(clock) => format!("the kernel's {clock}"),
        Part::Rate => "the kernel's correction of its rate".to_owned(),
        Part::Source => "the clock source".to_owned(),
        Part::Counter => "the counter".to_owned(),
        Part::Own(name) => name.to_owned(),
    }
}

/// The ids of the clocks with this answer.
fn answered(report: &Report, answer: Answer) -> Vec<&String> {
    let rows = report.timers.iter();
    let has = rows.filter(|row| row.trust.as_ref().is_some_and(|it| it.answer == answer));
    let mut ids: Vec<&String> = has.map(|row| &row.id).collect();
    ids.sort();
    ids
}

#[test]
fn blames_what_is_wrong() {
    for_each_machine(60, |machine| {
        let Machine {
            report,
            truth,
            wrong,
            distrusted,
            open,
            busy,
        } = machine;
        let found = &report.assessment;
        let truth = format!("{truth}\n{:#?}", found.wrong);
        let unlike: Vec<&String> = report
            .timers
            .iter()
            .filter(|row| {
                let answer = row.trust.as_ref().map(|it| it.answer);
                (answer == Some(Answer::No)) != distrusted.contains(&row.id)
            })
            .map(|row| &row.id)
            .collect();
        assert!(unlike.is_empty(), "{unlike:?} {truth}");
        let unsure = answered(&report, Answer::Open);
        assert!(
            open.iter().all(|id| unsure.contains(&id)),
            "{open:?} {unsure:?} {truth}"
        );
        match (&found.wrong[..], wrong) {
            ([one], Some((part, defect))) => {
                assert_eq!(one.parts, [in_words(part)], "{truth}");
                assert_eq!(one.defect.kind, defect.kind, "{truth}");
                let is_equal = one
                    .defect
                    .size
                    .zip(defect.size)
                    .is_some_and(|(a, b)| (a / b - 1.0).abs() < 1e-6);
                assert!(is_equal, "{truth}");
                let is_right = |id: &String| !distrusted.contains(id);
                assert!(one.witnesses.iter().all(is_right), "{truth}");
            }
            // Two clocks disagree, and nothing shows which is wrong.
            ([one], None) => assert!(one.parts.len() > 1 && !distrusted.is_empty(), "{truth}"),
            ([], None) => assert!(distrusted.is_empty(), "{truth}"),
            _ => panic!("{truth}"),
        }
        assert_eq!(found.quiet, Some(!busy), "{truth}");
        let chosen = found
            .to_time
            .iter()
            .chain(&found.cheapest)
            .chain(&found.hosted);
        let mut unfit = chosen.filter(|id| distrusted.contains(*id));
        assert_eq!(unfit.next(), None, "{truth}");
    });
}
