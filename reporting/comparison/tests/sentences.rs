//! Tests what has changed, by the sentence on it.

use super::{compared, decide, run};
use crate::comparison::ChangeVerdict::{Better, Unchanged, Worse};
use crate::comparison::{Comparison, Decision};
use crate::document::Document;
use crate::format::{Format, Render, Style};
use estimators::model::Report;

const UNCHANGED: &str = "costs unchanged (";

fn assert_sentences(cases: &[(&str, &str, &str)]) {
    for (old, new, words) in cases {
        let sentence = &compared(old, new).sentences[0];
        let (begin, end) = words.split_once(" … ").unwrap_or((words, ""));
        assert!(
            sentence.starts_with(begin) && sentence.contains(end),
            "{old} → {new}: {sentence}"
        );
    }
}

#[test]
fn families_and_clocks_change() {
    assert_sentences(&[
        (
            "",
            "",
            "costs unchanged (instructions within 3.7 %, vDSO within 0.",
        ),
        (
            "",
            "v 1.3",
            "vDSO +30 % [30, 30]; all else unchanged (instructions ",
        ),
        ("", "s 0.5", "system calls -50 % [-50, -50]; "),
        ("", "c 1.4", "CPU time +40 % [40, 40]; all else unchanged ("),
        ("", "j 3.0", "java 3.00 times … ; "),
        (
            "",
            "v 1.1, s 1.2",
            "vDSO +10 % [9.8, 10]; system calls +20 % [20, 20]; all",
        ),
        // Other clocks of the family are what a clock is compared with.
        ("", "v0 1.2", "v0 +20 % [20, 20]; all"),
        // Of fewer clocks each is judged by itself.
        ("without v3", "without v3, v0 1.2", "v0 +20 % [20, 20]; all"),
        ("", "v 1.2, v3 0.84", "vDSO +20 % [20, 20], all but v3; all"),
        // Less than 5 %, through the kernel 6.5 %, or 0.2 ns is not named.
        ("", "v 1.045", UNCHANGED),
        ("", "v 1.06", "vDSO +6.0 % "),
        ("", "v1 1.045", UNCHANGED),
        ("", "v1 1.07", "v1 +7.0 % "),
        ("", "s 1.055", UNCHANGED),
        ("", "s 1.07", "system calls +7.0 % "),
        ("v 0.08", "v 0.087", UNCHANGED),
        ("v 0.08", "v 0.09", "vDSO +12 % "),
        ("", "v 1e-9", "vDSO -100 % "),
        (
            "",
            "v 1e-100",
            "costs unchanged … too few processes to judge v0, v1, v2",
        ),
        // The instructions are the machine, but no machine makes them three times as expensive.
        (
            "",
            "* 1.2",
            "instructions +20 % [16, 25]; relative to them: costs unchanged (",
        ),
        (
            "",
            "* 1.2, v 1.5",
            "instructions +20 % [16, 25]; relative to them: vDSO +50 % ",
        ),
        (
            "",
            "i 1.2",
            "instructions +20 % [16, 25]; relative to them: costs unchanged (",
        ),
        ("", "i 0.93, v 1.03, s 1.03, c 1.03, j 1.03", UNCHANGED),
        ("", "i 3.0", "instructions 3.00 times … ]; all else"),
        ("", "i2 1.4", "i2 +40 % "),
    ]);
}

#[test]
fn state_explains_changes() {
    assert_sentences(&[
        // A neighbour on the core makes reads through the kernel more expensive.
        ("", "width 0.8, s 1.2", UNCHANGED),
        ("", "width 0.8, s 1.3", "system calls +30 % "),
        ("", "width 0.8, v 1.2", "vDSO +20 % "),
        ("width ?", "width ?, s 1.2", UNCHANGED),
        ("width ?", "width ?, s 1.4", "system calls +40 % "),
        (
            "width ? | width ?",
            "width ?, s 1.2 | width ?, s 1.2",
            "system calls +20 % ",
        ),
        ("runtime java", "runtime java, * 1.9", UNCHANGED),
        ("runtime java", "runtime java, * 2.1", "java 2.10 times "),
        (
            "",
            "v 2.1, processes 2",
            "too few processes to judge i0, i1, i2 and 17 more",
        ),
        ("", "v 2.1, processes 3", "vDSO 2.10 times "),
        // What the runs of a side differ by.
        (
            "v 0.998 | v 1.0 | v 1.002",
            "v 1.08 | v 1.078 | v 1.082",
            "vDSO +8.0 % ",
        ),
        (
            "v 0.9 | v 1.0 | v 1.1",
            "v 1.0 | v 1.08 | v 1.16",
            UNCHANGED,
        ),
        (
            "v0 0.98 | v0 1.0 | v0 1.02",
            "v0 1.05 | v0 1.07 | v0 1.09",
            UNCHANGED,
        ),
    ]);
    let [one, three] =
        ["", " |  | "].map(|runs| compared(runs, runs).families[0].change.limit_percent);
    assert!(three < 0.6 * one, "{three} {one}");
}

#[test]
fn steps_and_platforms_change() {
    let library = "preloaded library – → LD_PRELOAD=slow.so";
    assert_sentences(&[
        (
            "step 10",
            "step 100",
            "resolution of v0 10.00 ns → 100.0 ns; all else unchanged (",
        ),
        (
            "step 1000",
            "step 10",
            "resolution of v0 1.000 µs → 10.00 ns; ",
        ),
        (
            "step 10",
            "step 10.2",
            "resolution of v0 10.00 ns → 10.20 ns; ",
        ),
        ("step 10", "step 10.08", UNCHANGED),
        ("step 10 | step 20", "step 20 | step 100", UNCHANGED),
        (
            "step 10 | step 20",
            "step 40 | step 60",
            "resolution of v0 15.00 ns → 50.00 ns; ",
        ),
        (
            "source tsc",
            "source hpet, v 20.0",
            "vDSO 20.0 times [20.0, 20.0]; clock source tsc → hpet (a slower ",
        ),
        (
            "",
            "v 5.0, library slow.so",
            &format!("vDSO 5.00 times … ; probable cause: {library}"),
        ),
        (
            "CPU A",
            "CPU B, * 1.2",
            "instructions +20 % [16, 25]; vDSO +20 % … ; probable cause: CPU A → B (another CPU",
        ),
    ]);
    let sentence = &compared("", "library slow.so").sentences[0];
    assert!(!sentence.contains("cause"), "{sentence}");
    let source = |old, new| decide("source>0", &compared(old, new)).0;
    let decisions = [
        source("source tsc", "source hpet, v 20.0"),
        source("source hpet", "source tsc"),
    ];
    assert_eq!(decisions, [Decision::Holds, Decision::Fails]);
}

#[test]
fn clocks_become_wrong_or_lost() {
    let [wrong, lost] = ["newly wrong: v0 (500 ppm fast); all else ", "lost: v0 ("];
    for (old, new, verdict, words, conditions) in [
        ("trust yes", "trust no", Some(Worse), wrong, [false, true]),
        ("", "trust no", Some(Worse), wrong, [false, true]),
        ("trust no", "trust yes", Some(Better), UNCHANGED, [false; 2]),
        ("trust yes", "trust ?", None, UNCHANGED, [false; 2]),
        ("trust no", "trust no", None, UNCHANGED, [false; 2]),
        // The answer of most runs counts, of as many the worse.
        (
            "trust yes",
            "trust no | trust yes | trust yes",
            None,
            UNCHANGED,
            [false; 2],
        ),
        (
            "trust yes",
            "trust no | trust yes",
            Some(Worse),
            wrong,
            [false, true],
        ),
        ("", "status failed", Some(Worse), lost, [true, true]),
        ("", "without v0", Some(Worse), lost, [true, false]),
        ("", "status unresolved", None, UNCHANGED, [false; 2]),
        ("without v0", "", Some(Unchanged), UNCHANGED, [false; 2]),
        ("status failed", "", Some(Better), UNCHANGED, [false; 2]),
    ] {
        let comparison = compared(old, new);
        let standing = comparison.answers.first();
        assert_eq!(standing.map(|it| it.verdict), verdict, "{old} → {new}");
        assert_sentences(&[(old, new, words)]);
        let held = ["lost>0", "trust<0"].map(|on| decide(on, &comparison).0 == Decision::Holds);
        assert_eq!(held, conditions, "{old} → {new}");
    }
    assert!(Comparison::between(&[&run("")], &[&Report::default()]).is_none());
}

#[test]
fn extreme_costs_have_finite_figures() {
    let sides = ["v 0.0", "v 5e-324", "v 1e-200", "", "v 1e300"];
    for (old, new) in sides.iter().flat_map(|old| sides.map(|new| (old, new))) {
        let comparison = compared(old, new);
        let document = comparison.add_to(Document::new(&comparison), true);
        let text = [Format::Table, Format::Json]
            .map(|format| document.rendered(format, Style::default()))
            .concat();
        let refused = ["NaN", "inf", "\"value\": null"].map(|word| text.contains(word));
        assert_eq!(refused, [false; 3], "{old} → {new}: {text}");
    }
}
