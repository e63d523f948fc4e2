//! Draws libraries that change clocks of the C library, and asks all verbs: each says which clock is
//! wrong, by how much and why, recommends none of the wrong ones, and spares the others.
//! `TIMERMETER_DRAW_SEED=7` draws the same libraries again.

use rand::SeedableRng;
use rand::prelude::IndexedRandom;
use rand::rngs::StdRng;
use serde_json::Value;
use timers::parts::{Part, made_of};

use super::wrapped_clock::{build_wrapper, wrapped};

/// The clocks that are changed, as `wrapper.c` numbers them, and the functions that read them.
const FAULTY: [(&str, &[&str]); 6] = [
    ("1", &["CLOCK_MONOTONIC"]),
    ("0", &["CLOCK_REALTIME", "gettimeofday()", "time()"]),
    ("4", &["CLOCK_MONOTONIC_RAW"]),
    ("7", &["CLOCK_BOOTTIME"]),
    ("99", &["gettimeofday()"]),
    (
        "-1",
        &[
            "CLOCK_MONOTONIC",
            "CLOCK_REALTIME",
            "CLOCK_MONOTONIC_RAW",
            "CLOCK_BOOTTIME",
            "CLOCK_MONOTONIC_COARSE",
            "CLOCK_REALTIME_COARSE",
            "CLOCK_TAI",
            "gettimeofday()",
            "time()",
        ],
    ),
];

/// The faults of `wrapper.c`: the size in ppm or ns, and the least and the most that is found.
const FAULTS: [(&str, f64); 8] = [
    ("slew", 20.0),
    ("slew", -20.0),
    ("slew", 500.0),
    ("slew", -500.0),
    ("slew", 10_000.0),
    ("slew", -50_000.0),
    ("offset", 1e6),
    ("offset", 5e9),
];

const VERBS: [&str; 7] = [
    "",
    "probe --quick",
    "check",
    "check --counter",
    "pick 250ns",
    "pick 250ns --for cpp",
    "measure multiply --time 10ms",
];

fn is_changed(id: &str, calls: &[&str]) -> bool {
    made_of(id)
        .iter()
        .any(|part| matches!(part, Part::Call(call) if calls.contains(call)))
}

#[test]
#[ignore = "takes two minutes"]
fn verbs_find_what_a_library_changes() {
    let Some((_folder, library, _lock)) = build_wrapper() else {
        return;
    };
    let given = std::env::var("TIMERMETER_DRAW_SEED").ok();
    let now = || timers::kernel_time().unwrap_or_default();
    let first = given.map_or_else(now, |text| text.parse().unwrap());
    for seed in first..first + 4 {
        let mut random = StdRng::seed_from_u64(seed);
        let (clock, calls) = *FAULTY.choose(&mut random).expect("there are clocks");
        let (fault, by) = *FAULTS.choose(&mut random).expect("there are faults");
        let truth = format!("TIMERMETER_DRAW_SEED={seed}: {fault} of {clock} by {by}");
        println!("{truth}");
        for verb in VERBS {
            let ask = |format: &str| {
                let fault = [clock, fault, &by.to_string()];
                let mut command = wrapped(&library, fault, &format!("{verb} --format {format}"));
                let output = command.env("COLUMNS", "1000").output();
                let output = output.unwrap();
                String::from_utf8(output.stdout).unwrap()
            };
            let printed = ask("table");
            let words = printed.split_whitespace().collect::<Vec<_>>().join(" ");
            let cause = words.find(&format!("Cause: LD_PRELOAD={library}."));
            let at_start = cause.is_some_and(|at| at < 500);
            // In a second, so small a rate may remain unknown.
            let is_small = fault == "slew" && by.abs() <= 20.0;
            assert!(at_start || is_small, "{verb}: {printed}\n{truth}");
            let is_fit = words.contains("CLOCK_MONOTONIC: fit");
            assert!(
                !is_fit || !is_changed("monotonic", calls) || is_small,
                "{verb}: {printed}\n{truth}"
            );
            check_document(verb, &ask("json"), calls, (fault, by), &truth);
        }
    }
}

/// Checks what a verb says in its document.
fn check_document(verb: &str, text: &str, calls: &[&str], (fault, by): (&str, f64), truth: &str) {
    let document: Value = serde_json::from_str(text)
        .unwrap_or_else(|error| panic!("{verb}: {error}: {text}\n{truth}"));
    for one in document["assessment"]["wrong"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let kind = if fault == "slew" { "rate" } else { "offset" };
        // CPU time that runs too fast runs ahead of wall time.
        let of_cpu = one["clocks"][0]
            .as_str()
            .is_some_and(|id| id.contains("cputime"));
        let by_library = one["cause"].is_string() && !of_cpu;
        let (size, tolerance) = (one["defect"]["size"].as_f64(), (0.02 * by.abs()).max(10.0));
        // Of a slow slew, only what it has amounted to so far may show.
        let is_start_of_slew = fault == "slew"
            && by.abs() <= 20.0
            && one["defect"]["kind"] == "offset"
            && size.is_some_and(|size| size * by > 0.0);
        // A machine that is busy may disturb a clock besides.
        assert!(
            !by_library
                || is_start_of_slew
                || one["defect"]["kind"] == kind
                    && size.is_some_and(|size| (size - by).abs() <= tolerance),
            "{verb}: {one}\n{truth}"
        );
    }
    for id in [&document["to_time"]["id"], &document["picked"]["id"]] {
        let unfit = id.as_str().filter(|id| is_changed(id, calls));
        assert!(
            unfit.is_none() || by.abs() <= 20.0,
            "{verb}: {unfit:?}\n{truth}"
        );
    }
    for row in document["timers"].as_array().into_iter().flatten() {
        let (id, trust) = (row["id"].as_str().unwrap_or_default(), &row["trust"]);
        // In seconds, little can be seen of a clock that counts seconds, or of CPU time.
        if trust.is_null() || id == "time" || id.contains("cputime") {
            continue;
        }
        if is_changed(id, calls) {
            assert_eq!(trust["answer"], "no", "{id}: {trust}\n{truth}");
        } else {
            let part = trust["part"].as_str().unwrap_or_default();
            assert!(!part.contains("C library"), "{id}: {trust}\n{truth}");
        }
    }
}
