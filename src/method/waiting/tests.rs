//! Tests which timers are punctual enough, and how many waits prove it.

use super::*;

fn lateness(counts: &[(f64, u64)]) -> Lateness {
    let bins = counts
        .iter()
        .map(|&(ns, count)| (LatenessHistogram::bin(ns), count))
        .collect();
    Lateness {
        request_ns: 1_000_000,
        waits: counts.iter().map(|(_, count)| count).sum(),
        with_others: false,
        p50_ns: None,
        p90_ns: None,
        p99_ns: None,
        p999_ns: None,
        max_ns: 0.0,
        timers_part_ns: None,
        early: 0.0,
        earliest_ns: 0.0,
        cpu_ns: None,
        cpu_cycles: None,
        error_ns: 0.0,
        spread: None,
        quality: None,
        histogram: LatenessHistogram { bins },
    }
}

fn punctuality(within_ns: f64, share: f64, overhead: Option<f64>) -> Punctuality {
    Punctuality {
        every_ns: 1e6,
        within_ns: Some(within_ns),
        share,
        overhead,
    }
}

#[test]
fn partial_bin_does_not_count() {
    let late = lateness(&[(10_000.0, 90), (49_000.0, 5), (60_000.0, 5)]);
    assert!(
        (share_within(&late, 50_000.0) - 0.9).abs() < 1e-9,
        "the bin of 49 us goes on to 50.1 us"
    );
    assert!((share_within(&late, 52_000.0) - 0.95).abs() < 1e-9);
}

#[test]
fn few_waits_prove_little() {
    assert!(lower_limit(1.0, 100) < 0.98 && lower_limit(1.0, 1_000) > 0.997);
    assert!(lower_limit(0.99, 10_000) < 0.99);
    assert_eq!(lower_limit(1.0, 0), 0.0);
}

#[test]
fn few_waits_ask_for_more() {
    let asked = punctuality(5e4, 0.99, Some(0.02));
    let record = |share: f64, waits, overhead| WaitRecord {
        share,
        waits,
        overhead,
        ..WaitRecord::default()
    };
    for (record, may) in [
        (record(1.0, 24, Some(0.01)), true),
        (record(23.0 / 24.0, 24, Some(0.01)), true),
        (record(20.0 / 24.0, 24, Some(0.01)), false),
        (record(0.98, 10_000, Some(0.01)), false),
        (record(1.0, 24, Some(0.03)), false),
        (record(1.0, 24, None), true),
        (
            WaitRecord {
                too_coarse: true,
                ..record(1.0, 24, Some(0.01))
            },
            false,
        ),
    ] {
        assert_eq!(record.is_promising(&asked), may, "{record:?}");
    }
}

#[test]
fn rejects_invalid_punctuality() {
    assert!(punctuality(5e4, 0.99, Some(0.02)).checked().is_ok());
    for (within, share, overhead) in [
        (1e6, 0.9, None),
        (1e3, 1.0, None),
        (1e3, 0.0, None),
        (1e3, 0.9, Some(0.0)),
    ] {
        assert!(punctuality(within, share, overhead).checked().is_err());
    }
}

#[test]
fn proof_works_for_any_count() {
    for waits in (0..=60).chain([997, 4_096, 99_999, 1_000_003, 10_000_000, u64::MAX]) {
        let mut before = 0.0;
        for missed in [1.0, 0.5, 1e-2, 1e-4, 1e-6, 0.0] {
            let share = 1.0 - missed;
            let least = lower_limit(share, waits);
            assert!(
                (before..=1.0).contains(&least) && least <= share,
                "{share} of {waits}: {least}"
            );
            before = least;
        }
    }
    // If no wait missed the bound, the limit is the n-th root of 5 %.
    assert!((lower_limit(1.0, 100) - 0.05_f64.powf(0.01)).abs() < 1e-8);
    assert!((lower_limit(1.0, 10_000_000) - 0.05_f64.powf(1e-7)).abs() < 1e-8);
}
