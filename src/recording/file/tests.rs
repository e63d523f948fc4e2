//! Tests that recordings are read as written, and that damaged files are rejected.

use std::io::{self};

use proptest::prelude::*;

use super::{SizeLimit, TraceFile};
use crate::platform::frequency::{Chains, CyclesFrom, KnownFrequencies};
use crate::recording::{Observation, SCHEMA};
use estimators::model::{Hertz, Platform, Settings, Status, TimerInfo, TimerRow, Tool};
use estimators::trace::{Batches, Differences, Observations, Reference, Trace};
use judgement::trust::ReadPathBaselines;

fn recording(deltas: Vec<i64>, figure: f64) -> TraceFile {
    let batches = |calls| Batches {
        calls,
        deltas: deltas.clone().into(),
        ..Batches::default()
    };
    let run = Observations {
        intervals: [Differences {
            work: 3,
            deltas: deltas.clone().into(),
        }]
        .into_iter()
        .collect(),
        readings: estimators::trace::Readings {
            values: deltas.clone().into(),
            ..Default::default()
        },
        singles: batches(1),
        batches: batches(100),
        ..Observations::default()
    };
    let trace = Trace {
        ns_per_tick: Some(figure),
        reference: Reference {
            id: "rdtsc".into(),
            ns_per_tick: figure,
            step: 26.0,
            step_at_most: None,
            ns_per_work: 1.0 / 3.0,
            ..Reference::default()
        },
        runs: vec![run],
        ..Trace::default()
    };
    let observed = |id: &str, outcome| {
        let timer = TimerInfo {
            id: id.into(),
            label: id.into(),
            runtime: "native".into(),
            properties: timers::Properties::COUNTER.into_owned(),
            ..TimerInfo::default()
        };
        Observation::new(timer, outcome)
    };
    let chains = Chains {
        hertz: Hertz(figure * 1e9),
        low: Hertz(figure * 0.9e9),
        high: Hertz(figure * 1.1e9),
        multiplication_cycles: Some(3.0),
        samples: 60,
    };
    TraceFile {
        schema: SCHEMA.into(),
        tool: Tool::this(),
        created: "2026-11-20T12:00:00Z".into(),
        node: None,
        platform: Platform::default(),
        frequency: KnownFrequencies {
            before: Some(chains),
            nominal: Some((Hertz(2e9), "brand string".into())),
            ..KnownFrequencies::default()
        },
        cycles_from: CyclesFrom::Given(Hertz(figure * 1e9)),
        settings: Settings {
            plan: "quick".into(),
            cpu: None,
            seed: u64::MAX,
            processes: 1,
            precision_points: None,
            budget_seconds: None,
            timeout_seconds: 5,
        },
        baselines: ReadPathBaselines {
            system_call_ns: Some(figure),
            ..ReadPathBaselines::default()
        },
        timers: vec![
            observed("a", Ok(trace)),
            observed("b", Err("it crashed".into())),
        ],
        unmeasured: vec![TimerRow::without_results(
            &TimerInfo::default(),
            Status::Unavailable,
        )],
        waits: Vec::new(),
        periods: Vec::new(),
    }
}

fn packed_recording() -> Vec<u8> {
    recording(vec![i64::MIN, -1, 0, i64::MAX], 0.1 + 0.2)
        .pack()
        .unwrap()
}

#[test]
fn changed_bytes_are_noticed() {
    let good = packed_recording();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        if let Ok(read) = TraceFile::unpack(&bad, "a.trace") {
            // Some bytes of the header have no meaning; the decompressed data is then the same.
            assert_eq!(
                read,
                recording(vec![i64::MIN, -1, 0, i64::MAX], 0.1 + 0.2),
                "byte {at}"
            );
        }
    }
}

proptest! {
    #[test]
    fn packed_recording_is_read_unchanged(deltas in proptest::collection::vec(any::<i64>(), 0..50), figure in 1e-6f64..900.0) {
        let kept = recording(deltas, figure);
        let read = TraceFile::unpack(&kept.pack().unwrap(), "a.trace").unwrap();
        prop_assert_eq!(&read, &kept);
        prop_assert_eq!(read.report(), kept.report());
    }

    #[test]
    fn rejects_damaged_files_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..400) {
        prop_assert!(TraceFile::unpack(&bytes, "a.trace").is_err());
        let good = packed_recording();
        let cut = &good[..at.min(good.len() - 1)];
        prop_assert!(TraceFile::unpack(cut, "a.trace").is_err());
    }
}

#[test]
fn endless_files_are_rejected() {
    for (byte, packed, words) in [
        (b' ', 1, "unpacks to more than 100 times its size"),
        (b'{', 1 << 20, "more than 50331648 values"),
        (b',', 1 << 20, "a list of more than 1048576 values"),
    ] {
        let mut endless = SizeLimit::new(io::repeat(byte), packed);
        let error = io::copy(&mut endless, &mut io::sink()).expect_err(words);
        assert!(error.to_string().contains(words), "{error}");
    }
}
