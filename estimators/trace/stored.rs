//! A trace that waits: its runs are packed, as hundreds of them wait for the end of a campaign
//! while one is looked at.

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Evidence, InContext, Intervals, Reference, Run, Trace};

/// A trace whose runs are packed. It is written and read as the trace that it holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stored {
    /// All but the runs: this one has none.
    pub trace: Trace,
    runs: Vec<Packed>,
    set_aside: Vec<Packed>,
}

impl Stored {
    /// Adds a run.
    pub fn add(&mut self, run: Run) {
        self.runs.push(Packed::of(run));
    }

    /// Keeps a run that was disturbed throughout.
    pub fn set_aside(&mut self, run: Run) {
        self.trace.discarded += 1;
        self.set_aside.push(Packed::of(run));
    }

    /// Counts the runs that were set aside with the others, marked as disturbed. Returns whether
    /// there are any.
    pub fn count_set_aside(&mut self) -> bool {
        for packed in self.set_aside.drain(..) {
            let mut run = packed.open();
            run.batches.unstable = true;
            self.runs.push(Packed::of(run));
            self.trace.shared += 1;
        }
        self.trace.discarded -= self.trace.shared.min(self.trace.discarded);
        self.trace.shared > 0
    }

    /// Counts windows that were dropped, by what disturbed them.
    pub fn count_dropped(&mut self, dropped: impl IntoIterator<Item = (String, u32)>) {
        for (reason, count) in dropped {
            *self.trace.dropped.entry(reason).or_default() += count;
        }
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// The trace with the last of its runs only.
    pub fn open_last(&self) -> Trace {
        Trace {
            runs: self.runs.last().map(Packed::open).into_iter().collect(),
            ..self.trace.clone()
        }
    }

    /// The whole trace.
    pub fn open(&self) -> Trace {
        let open = |runs: &[Packed]| runs.iter().map(Packed::open).collect();
        Trace {
            runs: open(&self.runs),
            set_aside: open(&self.set_aside),
            ..self.trace.clone()
        }
    }
}

impl From<Trace> for Stored {
    fn from(mut trace: Trace) -> Self {
        let pack = |runs: &mut Vec<Run>| runs.drain(..).map(Packed::of).collect();
        let (runs, set_aside) = (pack(&mut trace.runs), pack(&mut trace.set_aside));
        Self {
            trace,
            runs,
            set_aside,
        }
    }
}

impl Serialize for Stored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.open().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Stored {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Read::deserialize(deserializer)?;
        plausible(
            read.evidence
                .order
                .iter()
                .flat_map(|order| [order.readings, order.backward]),
        )?;
        let trace = Trace {
            ns_per_tick: read.ns_per_tick,
            ns_per_tick_uncertainty: read.ns_per_tick_uncertainty,
            declared: read.declared,
            reference: read.reference,
            core_hz: read.core_hz,
            runs: Vec::new(),
            discarded: read.discarded,
            set_aside: Vec::new(),
            shared: read.shared,
            dropped: read.dropped,
            adds: read.adds,
            slow: read.slow,
            evidence: read.evidence,
        };
        Ok(Self {
            trace,
            runs: read.runs,
            set_aside: read.set_aside,
        })
    }
}

/// Refuses what would take a host longer than any campaign lasts; sums of the rest fit.
fn plausible<E: Error>(counts: impl IntoIterator<Item = u64>) -> Result<(), E> {
    /// Some minutes of the fastest host.
    const MOST: u64 = 1_000_000_000_000;
    match counts.into_iter().find(|count| *count > MOST) {
        Some(count) => Err(E::custom(format!(
            "a count of {count}, where {MOST} is more than is ever asked for"
        ))),
        None => Ok(()),
    }
}

/// A trace as it is read: each run is packed before the next one is looked at.
#[derive(Deserialize)]
struct Read {
    ns_per_tick: Option<f64>,
    #[serde(default, rename = "ns_per_tick_doubt")]
    ns_per_tick_uncertainty: f64,
    declared: bool,
    reference: Reference,
    core_hz: Option<f64>,
    runs: Vec<Packed>,
    #[serde(rename = "spoilt")]
    discarded: u32,
    #[serde(default)]
    set_aside: Vec<Packed>,
    #[serde(default)]
    shared: u32,
    dropped: BTreeMap<String, u32>,
    #[serde(default)]
    adds: Vec<Vec<InContext>>,
    slow: Vec<Intervals>,
    evidence: Evidence,
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let run = Run::deserialize(deserializer)?;
        let batches = [
            &run.bracket,
            &run.singles,
            &run.batches,
            &run.few,
            &run.some,
            &run.floor,
        ];
        let counts = batches
            .into_iter()
            .map(|batches| batches.calls)
            .chain([run.disturbed.into()]);
        plausible(counts)?;
        Ok(Self::of(run))
    }
}

/// A run as bytes: most of its numbers are small, once readings are told by their differences.
#[derive(Clone, Debug, PartialEq)]
struct Packed(Box<[u8]>);

impl Packed {
    fn of(run: Run) -> Self {
        Self(run.into_bytes().into())
    }

    fn open(&self) -> Run {
        Run::of_bytes(&self.0).expect("it was packed by this program")
    }
}

impl Run {
    /// The run in a third of what it takes as numbers in decimal, for this version of the program.
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.readings.differ();
        postcard::to_stdvec(&self).expect("lists of numbers can be written to memory")
    }

    /// The run that these bytes hold. `None` where they hold none.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut run: Self = postcard::from_bytes(bytes).ok()?;
        run.readings.add_up();
        Some(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Batches, Readings};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_packed_can_be_had_again(
            numbers in prop::collection::vec(prop_oneof![any::<i64>(), -9..9_i64], 0..40),
            core_hz in prop::option::of(any::<f64>().prop_filter("equal to itself", |hertz| !hertz.is_nan())),
        ) {
            let run = Run {
                intervals: vec![Intervals { work: u64::MAX, deltas: numbers.clone().into() }],
                readings: Readings { values: numbers.clone(), core_hz, unstable: true },
                singles: Batches { calls: 1, deltas: numbers, core_hz, unstable: false },
                disturbed: 3,
                ..Run::default()
            };
            let aside = vec![run.clone()];
            let trace = Trace { runs: vec![run.clone()], discarded: 2, set_aside: aside, ..Trace::default() };
            let mut stored = Stored::from(trace.clone());
            prop_assert_eq!(&stored.open(), &trace);
            prop_assert!(stored.trace.runs.is_empty() && stored.trace.set_aside.is_empty());
            let text = serde_json::to_string(&stored).unwrap();
            let again: Stored = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(again.open().set_aside.len(), 1);
            stored.add(run.clone());
            prop_assert_eq!(&stored.open().runs[1], &run);
            prop_assert_eq!(stored.runs(), 2);
        }
    }
}
