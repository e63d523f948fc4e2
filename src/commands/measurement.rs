//! What `measure` found out.

use std::cmp::Ordering::Equal;

use serde::Serialize;

use crate::measure::campaigns::Ratio;
use crate::measure::worker::MeasuredRow;

/// One operation at one size, measured in one way.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measurement {
    pub operation: String,
    /// Null where the operation has no size.
    pub size: Option<u64>,
    #[serde(flatten)]
    pub outcome: MeasurementOutcome,
    /// Of a command, its runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Runs>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub(super) enum MeasurementOutcome {
    Measured(Box<MeasuredRow>),
    Allocated { instances: f64, bytes: f64 },
    Failed { reason: String },
}

/// What is known of the runs of a command beside their durations.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Runs {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What ran before each run, not timed.
    pub prepare: Option<Vec<String>>,
    /// Runs before the first that was timed.
    pub warmup: u32,
    /// Mean CPU time in programs, in nanoseconds; null where the system does not count it.
    pub user_ns: Option<f64>,
    /// Mean CPU time in the kernel.
    pub system_ns: Option<f64>,
    /// What each run ended with; null where a signal ended it.
    pub exit_codes: Vec<Option<i32>>,
    /// How many times as long it took as the fastest of the commands; null where it is the only one.
    pub relative: Option<Ratio>,
}

impl Measurement {
    /// What it came to, if it did.
    pub fn row(&self) -> Option<&MeasuredRow> {
        if let MeasurementOutcome::Measured(row) = &self.outcome { Some(row) } else { None }
    }

    /// How many times as long it took as the fastest.
    pub fn relative(&self) -> Option<Ratio> {
        self.command.as_ref()?.relative
    }
}

/// Holds each of several commands against the fastest of them.
pub(super) fn relate(measurements: &mut [Measurement], confidence: f64) {
    let mean = |one: &Measurement| one.row().map(|row| row.summary.mean_ns);
    let measured: Vec<usize> =
        (0..measurements.len()).filter(|&at| mean(&measurements[at]).is_some()).collect();
    let fastest = measured
        .iter()
        .copied()
        .min_by(|&a, &b| mean(&measurements[a]).partial_cmp(&mean(&measurements[b])).unwrap_or(Equal));
    let Some(fastest) = fastest.filter(|_| measured.len() > 1) else { return };
    let each = |row: &MeasuredRow| row.samples.iter().map(|sample| sample.ns_per_call).collect::<Vec<_>>();
    for at in measured {
        let relative = measurements[at].row().zip(measurements[fastest].row()).and_then(|(row, fastest)| {
            let clock_error = row.summary.clock_error + fastest.summary.clock_error;
            Ratio::of(&each(row), &each(fastest), clock_error, confidence)
        });
        if let Some(runs) = &mut measurements[at].command {
            runs.relative = if at == fastest { Some(Ratio::ONE) } else { relative };
        }
    }
}
