//! A timer in a report: its status, its resolution and other results, and the observations that
//! they rest on. `apply` adds the derives of its argument; see `lib.rs`.

use std::cmp::Ordering;
use std::collections::BTreeMap;

#[cfg(feature = "serde")]
use super::plotted::in_one_line;
use super::row::deref_to_head;
use super::{
    AddedTimes, Context, Cost, Device, Distribution, Estimate, PlotData, ProcessFigures,
    Properties, RowHead, Status, Trust, Verdicts, value_of,
};

/// The upper bound of the time that a read adds to a program, divided by the larger of its amortised
/// cost and of the times that it adds to the kinds of work of a report.
///
/// *Seen*: at most 1.15, which leaves a margin: 1.15 in four queries of PostgreSQL and in SQLite on Zen 4, 1.09 in one
/// query on Zen 5, 1.05 on family 6 model 167 (docs/counter.md).
const MAX_PROGRAM_RATIO: f64 = 1.25;

/// A timer as its agent declares it, under its name in reports.
#[apply(recorded, Default)]
pub struct TimerInfo {
    /// Unique in the report.
    pub id: String,
    /// The source text of the call.
    pub label: String,
    /// The name used by Kuperberg, Krogmann and Reussner (ICPE 2011), as in `NANO`.
    #[serde(default)]
    pub legend: Option<String>,
    /// `native`, or the name of the runtime that hosts it, with its version if it has one.
    pub runtime: String,
    /// Nanoseconds in a tick; for a sleep primitive, in the unit of a request.
    #[serde(default)]
    pub ns_per_tick: Option<f64>,
    /// Properties according to its documentation.
    #[serde(default)]
    pub properties: Properties,
    /// The device that reads it; absent if a CPU does.
    #[optional]
    pub device: Option<Device>,
}

impl TimerInfo {
    /// Returns the head of its row.
    pub fn head(&self, status: Status) -> RowHead {
        RowHead {
            id: self.id.clone(),
            label: self.label.clone(),
            runtime: self.runtime.clone(),
            device: self.device.clone(),
            status,
            ..RowHead::default()
        }
    }
}

/// A row for one timer.
#[apply(wire, Default)]
pub struct TimerRow {
    /// Identity and status.
    #[serde(flatten)]
    pub head: RowHead,
    /// The name used by Kuperberg, Krogmann and Reussner (ICPE 2011), as in `NANO`; null for
    /// methods that they did not measure.
    pub legend: Option<String>,
    /// Nanoseconds in a tick of this timer, declared or measured.
    pub ns_per_tick: Option<f64>,
    /// The step in which its readings move, in nanoseconds; null if only an upper limit is known.
    pub resolution_ns: Option<Estimate>,
    /// The upper limit of the step, in nanoseconds; null if the step is known.
    pub resolution_at_most_ns: Option<Estimate>,
    /// The step, or its upper limit, in ticks and cycles.
    pub resolution: Option<Resolution>,
    /// Cost of an isolated call in nanoseconds: the median of single invocations, as far as these show it, refined
    /// by batches (METHODOLOGY.md, "Cost"). Used for Quality.
    pub cost_ns: Option<Estimate>,
    /// The same cost in cycles of the processor that reads it, at the frequency `cycles_hz` of its
    /// device, or of the report.
    pub cost_cycles: Option<Estimate>,
    /// Amortised cost: the mean over batches of consecutive calls, which may overlap, in
    /// nanoseconds.
    pub amortised_ns: Option<f64>,
    /// The time that a read adds to the code around it, in nanoseconds; null if not measured.
    pub adds_ns: Option<AddedTimes>,
    /// Percentiles of the cost, and how it was measured.
    pub cost: Option<Cost>,
    /// Share of single invocations within ±1 resolution of the median cost, in (0, 1].
    pub spread: Option<Estimate>,
    /// The distribution of single invocations; null if they were not observed.
    pub distribution: Option<Distribution>,
    /// The figures of all processes that measured it, in the order of measurement. The figures of the
    /// row rest on those that had their core to themselves, if there are enough of them.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "in_one_line"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<ProcessFigures>"))]
    pub processes: Vec<ProcessFigures>,
    /// Formula (1), in [0, 1]; exactly 0 for timers that are not monotonic, not stable or not
    /// thread-safe.
    pub quality: Option<Estimate>,
    /// Verdicts on whether it can be trusted, with the evidence.
    pub verdicts: Option<Verdicts>,
    /// Whether it can be trusted, as follows from the whole report; absent if nothing is known.
    #[optional]
    pub trust: Option<Trust>,
    /// Quality as printed in the source of a published report, in [0, 1]; null if it was measured.
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 1)))]
    pub printed_quality: Option<f64>,
    /// Properties according to its documentation; null if not declared.
    #[optional]
    pub properties: Option<Properties>,
    /// The number of observations of each kind.
    pub observations: Option<ObservationCounts>,
    /// Data for its plots; null if there are no observations.
    pub figures: Option<PlotData>,
}

deref_to_head!(TimerRow);

impl TimerRow {
    /// Returns the row of a timer without results.
    pub fn without_results(timer: &TimerInfo, status: Status) -> Self {
        let declared = Some(&timer.properties).filter(|it| **it != Properties::default());
        Self {
            head: timer.head(status),
            legend: timer.legend.clone(),
            ns_per_tick: timer.ns_per_tick,
            properties: declared.cloned(),
            ..Self::default()
        }
    }

    /// The frequency, in hertz, that converts its times to cycles, where that of the CPU is `cpu_hz`.
    pub fn cycles_hz(&self, cpu_hz: Option<f64>) -> Option<f64> {
        match &self.device {
            Some(device) => value_of(device.cycles_hz),
            None => cpu_hz,
        }
    }

    /// The step, or its upper limit if the step is unknown, in nanoseconds.
    pub fn step_or_limit_ns(&self) -> Option<Estimate> {
        self.resolution_ns.or(self.resolution_at_most_ns)
    }

    /// The least and the greatest time that a read adds to [usual](Context::USUAL) code, in
    /// nanoseconds. The least is the least figure of the kinds of work. The greatest is an upper
    /// bound: `MAX_PROGRAM_RATIO` times the larger of the amortised cost and the greatest upper end
    /// of these figures. `None` if no kind of work was measured.
    pub fn adds_range_ns(&self) -> Option<[f64; 2]> {
        let adds = self.adds_ns?;
        let usual = Context::USUAL.into_iter();
        let found = usual.filter_map(|context| Some(adds.get(context)?.ns));
        let found: Vec<Estimate> = found.filter(|ns| ns.value.is_finite()).collect();
        let values = found.iter().map(|ns| ns.value);
        let least = values.min_by(f64::total_cmp)?;
        let upper_ends = found.iter().map(|ns| ns.high().unwrap_or(ns.value));
        let bounds = upper_ends.chain(self.amortised_ns);
        let most = bounds.filter(|ns| ns.is_finite()).max_by(f64::total_cmp)?;
        Some([least, (MAX_PROGRAM_RATIO * most).max(least)])
    }

    /// Returns the agent that hosts it, if its id contains one: `NAME:ID` is the id of the timer
    /// `ID` of the agent `NAME`.
    pub fn agent(&self) -> Option<&str> {
        self.id.split_once(':').map(|(agent, _)| agent)
    }

    /// Compares rows in the order of a report: rows with status `ok` by descending Quality, then
    /// unresolved, failed and unavailable timers.
    pub fn best_first(&self, other: &Self) -> Ordering {
        let class = |row: &Self| match row.status {
            Status::Ok => 0,
            Status::Unresolved => 1,
            Status::Failed => 2,
            Status::Unavailable => 3,
        };
        let quality = |row: &Self| row.quality.map_or(-1.0, |quality| quality.value);
        class(self)
            .cmp(&class(other))
            .then(quality(other).total_cmp(&quality(self)))
    }
}

/// The number of observations of each kind, and what was left out.
#[apply(wire)]
pub struct ObservationCounts {
    /// The number of fresh processes that measured.
    pub processes: u32,
    /// Processes that were left out because their cost was clearly higher: they were disturbed
    /// throughout.
    pub disturbed_processes: u32,
    /// Additional processes that were left out because they found no undisturbed window.
    #[serde(default)]
    pub discarded_processes: u32,
    /// The number of measurement windows that were dropped and repeated, by the disturbance that
    /// was found.
    #[serde(default)]
    pub dropped_windows: BTreeMap<String, u32>,
    /// Differences (two reads with work between them).
    pub intervals: u64,
    /// Invocations in batches.
    pub batched_calls: u64,
    /// Single invocations between two reads of the reference.
    pub single_calls: u64,
    /// Differences between successive readings that were negative.
    pub backward_steps: u64,
    /// Resolution of the reference, in nanoseconds.
    pub reference_resolution_ns: Option<f64>,
    /// The name of the rule that found the resolution.
    pub resolution_rule: Option<String>,
}

/// Whether the resolution is the step itself or an upper limit of it.
#[apply(names)]
pub enum ResolutionKind {
    /// The step was determined.
    Resolved = "resolved",
    /// The step is unknown; the value is its upper limit.
    AtMost = "at_most",
}

/// The resolution: the step in which returned values move (the paper calls it accuracy).
#[apply(wire, Copy)]
pub struct Resolution {
    /// The step, or its upper limit, in ticks of the timer.
    pub ticks: f64,
    /// The step, or its upper limit, in cycles of the processor that reads it.
    pub cycles: Option<f64>,
    /// Whether these values are the step or its upper limit.
    pub kind: ResolutionKind,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AddedTime;

    fn row(usual_ns: [f64; 2], amortised_ns: Option<f64>) -> TimerRow {
        let mut adds = AddedTimes::default();
        // Other kinds of work do not count, however long a read takes in them.
        let found = [usual_ns[0], usual_ns[1], 700.0, 90.0];
        let contexts = [
            Context::Latency,
            Context::Ahead,
            Context::Cold,
            Context::Contended,
        ];
        for (context, ns) in contexts.into_iter().zip(found) {
            let ns = Estimate::with_ends(ns, Some((ns - 0.1, ns + 0.1)));
            adds.set(context, Some(AddedTime { ns, work_ns: 9.0 }));
        }
        TimerRow {
            adds_ns: Some(adds),
            amortised_ns,
            ..TimerRow::default()
        }
    }

    /// The time that a read added to PostgreSQL or SQLite on three cores (docs/counter.md), next to
    /// the figures of `probe` on such cores: the greatest upper end of the kinds of work, the
    /// amortised cost, and the time in the program.
    #[test]
    fn range_contains_the_time_that_a_read_adds_to_programs() {
        let seen = [
            // Family 6 model 167; the amortised cost is the least of its reports.
            [10.3, 7.2, 10.6],
            [16.4, 12.8, 17.2],
            [16.2, 12.3, 16.7],
            [19.2, 15.8, 19.4],
            // Zen 4, the program in which a read adds most; the amortised cost is of its report.
            [4.4, 8.5, 9.8],
            [15.7, 17.4, 19.8],
            [15.3, 17.2, 19.6],
            [19.3, 21.2, 19.3],
            // Zen 5; the amortised cost is from a report three days older.
            [2.1, 9.0, 3.7],
            [12.0, 15.1, 16.5],
            [14.1, 17.3, 18.6],
            [18.3, 20.9, 17.6],
        ];
        for [most, amortised, in_program] in seen {
            let row = row([0.0, most - 0.1], Some(amortised));
            let [_, high] = row.adds_range_ns().unwrap();
            assert!(in_program < high, "{in_program} {high}");
        }
    }

    #[test]
    fn range_needs_a_kind_of_work() {
        let unmeasured = TimerRow {
            amortised_ns: Some(9.0),
            ..TimerRow::default()
        };
        assert_eq!(unmeasured.adds_range_ns(), None);
        let unknown = [None, Some(f64::NAN), Some(1.0)];
        for amortised in unknown {
            let [low, high] = row([0.5, 3.9], amortised).adds_range_ns().unwrap();
            assert_eq!(low, 0.5);
            assert!((high - 5.0).abs() < 1e-9, "{high}");
        }
    }
}
