//! Stores the runs of a trace as bytes, because hundreds of runs stay in memory until the end of a
//! campaign.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Observations, Trace};

/// A trace with packed runs. It is serialised like the trace that it contains.
pub type StoredTrace = Trace<PackedObservations>;

impl StoredTrace {
    /// Adds a run.
    pub fn add(&mut self, run: Observations) {
        self.runs.push(PackedObservations::from_run(run));
    }

    /// Adds a run that was disturbed throughout, from which no result is computed.
    pub fn set_aside(&mut self, run: Observations) {
        self.discarded += 1;
        self.set_aside.push(PackedObservations::from_run(run));
    }

    /// Moves the runs that were set aside to the runs that results are computed from, and marks
    /// them as disturbed. Returns whether there are any disturbed runs.
    pub fn use_set_aside_runs(&mut self) -> bool {
        for packed in std::mem::take(&mut self.set_aside) {
            let mut run = packed.open();
            run.batches.unstable = true;
            self.add(run);
            self.disturbed_runs += 1;
        }
        self.discarded -= self.disturbed_runs.min(self.discarded);
        self.disturbed_runs > 0
    }

    /// Adds counts of dropped windows, by kind of disturbance.
    pub fn count_dropped(&mut self, dropped: impl IntoIterator<Item = (String, u32)>) {
        for (reason, count) in dropped {
            *self.dropped.entry(reason).or_default() += count;
        }
    }

    /// Returns the trace with the last run only, unpacked, and without the runs that were set
    /// aside.
    pub fn unpack_last(&self) -> Trace {
        let last = self.runs.last().map(PackedObservations::open);
        self.with_runs(last.into_iter().collect(), Vec::new())
    }

    /// Returns the trace with all runs unpacked.
    pub fn open(&self) -> Trace {
        let open =
            |runs: &[PackedObservations]| runs.iter().map(PackedObservations::open).collect();
        self.with_runs(open(&self.runs), open(&self.set_aside))
    }
}

impl<R> Trace<R> {
    /// Returns a copy of the trace with these `runs` and `set_aside` in place of its own.
    pub fn with_runs<S>(&self, runs: Vec<S>, set_aside: Vec<S>) -> Trace<S> {
        Trace {
            ns_per_tick: self.ns_per_tick,
            ns_per_tick_uncertainty: self.ns_per_tick_uncertainty,
            declared: self.declared,
            reference: self.reference.clone(),
            calls_reference: self.calls_reference.clone(),
            core_hz: self.core_hz,
            full_width: self.full_width,
            runs,
            discarded: self.discarded,
            set_aside,
            disturbed_runs: self.disturbed_runs,
            dropped: self.dropped.clone(),
            adds: self.adds.clone(),
            slow: self.slow.clone(),
            evidence: self.evidence.clone(),
        }
    }
}

/// A run as bytes. Successive readings are stored as differences, which are small and take few
/// bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PackedObservations(Box<[u8]>);

impl PackedObservations {
    fn from_run(run: Observations) -> Self {
        Self(run.into_bytes().into())
    }

    fn open(&self) -> Observations {
        Observations::from_bytes(&self.0).expect("it was packed by this program")
    }
}

impl Serialize for PackedObservations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.open().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PackedObservations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Observations::deserialize(deserializer).map(Self::from_run)
    }
}

impl Observations {
    /// Returns the run as bytes, which only this version of the program can read. They take a third
    /// of the space of the same numbers in decimal.
    pub fn into_bytes(mut self) -> Vec<u8> {
        let mut last = 0_i64;
        for value in &mut self.readings.values {
            (last, *value) = (*value, value.wrapping_sub(last));
        }
        postcard::to_stdvec(&self).expect("lists of numbers can be written to memory")
    }

    /// Reads a run from its bytes. `None` if the bytes are not those of a run.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut run: Self = postcard::from_bytes(bytes).ok()?;
        let mut last = 0_i64;
        for value in &mut run.readings.values {
            last = last.wrapping_add(*value);
            *value = last;
        }
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Hertz;
    use crate::trace::{Batches, Differences, Readings};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_runs_can_be_opened(
            numbers in prop::collection::vec(prop_oneof![any::<i64>(), -9..9_i64], 0..40),
            core_hz in prop::option::of(Hertz::RANGE.prop_map(Hertz)),
        ) {
            let run = Observations {
                intervals: vec![Differences { work: u64::MAX, deltas: numbers.clone().into() }],
                readings: Readings { values: numbers.clone(), core_hz, unstable: true },
                singles: Batches { calls: 1, deltas: numbers, core_hz, unstable: false },
                disturbed: 3,
                ..Observations::default()
            };
            let aside = vec![run.clone()];
            let trace = Trace { runs: vec![run.clone()], discarded: 2, set_aside: aside, ..Trace::default() };
            let packed = |runs: &[Observations]| runs.iter().cloned().map(PackedObservations::from_run).collect();
            let mut stored = trace.with_runs(packed(&trace.runs), packed(&trace.set_aside));
            prop_assert_eq!(&stored.open(), &trace);
            let text = serde_json::to_string(&stored).unwrap();
            let again: StoredTrace = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(again.open().set_aside.len(), 1);
            stored.add(run.clone());
            prop_assert_eq!(&stored.open().runs[1], &run);
            prop_assert_eq!(stored.runs.len(), 2);
        }
    }
}
