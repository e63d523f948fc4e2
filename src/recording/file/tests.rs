//! Tests that recordings are read as written, and that damaged files are rejected.

use std::io::{self};

use proptest::prelude::*;

use super::{SizeLimit, TraceFile};
use crate::platform::frequency::CyclesFrom;
use estimators::model::{Hertz, Status, TimerInfo, TimerRow};
use estimators::trace::Differences;

/// A recording in which these differences and this figure replace some of the first clock, and the second one failed.
fn recording(deltas: Vec<i64>, figure: f64) -> TraceFile {
    let kept = include_str!("../../../tests/fuzz/corpus/trace/few.json");
    let mut file: TraceFile = serde_json::from_str(kept).unwrap();
    file.timers.truncate(2);
    file.timers[1].outcome = Err("it crashed".into());
    let trace = file.timers[0].outcome.as_mut().unwrap();
    (trace.ns_per_tick, trace.reference.ns_per_tick) = (Some(figure), figure);
    let run = &mut trace.runs[0];
    for list in [
        &mut run.readings.values,
        &mut run.singles.deltas,
        &mut run.batches.deltas,
    ] {
        *list = deltas.clone().into();
    }
    let deltas = deltas.into();
    run.intervals = [Differences { work: 3, deltas }].into_iter().collect();
    let hertz = Hertz(figure * 1e9);
    file.cycles_from = CyclesFrom::Given(hertz);
    file.frequency.before.as_mut().unwrap().hertz = hertz;
    file.settings.seed = u64::MAX;
    file.baselines.system_call_ns = Some(figure);
    let missing = TimerRow::without_results(&TimerInfo::default(), Status::Unavailable);
    file.unmeasured.push(missing);
    file
}

#[test]
fn changed_bytes_are_noticed() {
    let kept = recording(vec![i64::MIN, -1, 0, i64::MAX], 0.1 + 0.2);
    let good = kept.pack().unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        if let Ok(read) = TraceFile::unpack(&bad, "a.trace") {
            // Some bytes of the header have no meaning; the decompressed data is then the same.
            assert_eq!(read, kept, "byte {at}");
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
        let good = recording(Vec::new(), 1.0).pack().unwrap();
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
