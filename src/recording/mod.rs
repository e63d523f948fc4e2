//! Defines the recording: the settings of a run, and its observations of the timers, the machine
//! and its frequency. The report is a pure function of the recording, so that a stored recording
//! gives the same report again.

mod file;
mod row;
mod waits;

use serde::{Deserialize, Serialize};

use crate::platform::frequency::{CyclesFrom, KnownFrequencies, summarise};
use estimators::figures::{Figures, figures};
use estimators::findings::{CLOCKS, Facts, RUN, apply};
use estimators::model::{
    self, Assessment, Estimate, Family, Hertz, Outcome, Platform, Provenance, Report, Settings,
    Status, TimerInfo, TimerRow, Tool, VerdictAnswer, Verdicts, WaitActivity, WaitConditions,
    value_of,
};
use estimators::rate::correction::LargeCorrection;
use estimators::rate::tick;
use estimators::scoring::scatter;
use estimators::trace::{PeriodTrace, StoredTrace, Trace, WaitTrace};
use judgement::assessment::assess;
use judgement::trust::{self, Case, MachineCase, ReadPathBaselines};
use reporting::parallel;
use reporting::text::by_text;

use row::fill_row;

pub use file::MAX_PACKED_BYTES;
pub use waits::NotUsable;

/// The version of the recording that this build writes and reads.
pub const SCHEMA: &str = "timermeter.trace.v1";

/// All observations of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFile {
    /// Always `timermeter.trace.v1`.
    pub schema: String,
    /// The program that made the recording.
    pub tool: Tool,
    /// When the measurement began, UTC (RFC 3339).
    pub created: String,
    /// The name of the machine within a fleet, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The machine.
    #[serde(deserialize_with = "by_text")]
    pub platform: Platform,
    /// The frequencies of the machine, from all sources.
    pub frequency: KnownFrequencies,
    /// The frequency that converts time to cycles.
    pub cycles_from: CyclesFrom,
    /// The settings of the measurement.
    #[serde(deserialize_with = "by_text")]
    pub settings: Settings,
    /// Costs with which the read paths of timers are compared.
    #[serde(alias = "yardsticks")]
    pub baselines: ReadPathBaselines,
    /// The timers that were measured, in that order.
    pub timers: Vec<Observation>,
    /// Rows of timers, or of whole agents, that could not be measured.
    #[serde(deserialize_with = "by_text")]
    #[serde(alias = "unasked")]
    pub unmeasured: Vec<TimerRow>,
    /// The sleep primitives, under the conditions of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<Observation<WaitTrace, NotUsable>>,
    /// The periodic timers, under the conditions of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub periods: Vec<Observation<PeriodTrace, NotUsable>>,
}

/// A timer under one set of conditions, and its observations. For clocks, all but the timer and the
/// outcome is absent, and the reason of a failure is a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation<T = StoredTrace, E = String> {
    /// The timer.
    #[serde(flatten)]
    pub timer: TimerInfo,
    /// Whether the thread blocks or spins during a wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub means: Option<WaitActivity>,
    /// The conditions of the waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<WaitConditions>,
    /// The period of a periodic timer, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ns: Option<u64>,
    /// The observations, or the reason why there are none.
    pub outcome: Result<T, E>,
    /// The reason why the measurement ended early after these observations, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

impl<T, E> Observation<T, E> {
    /// The outcome of a timer, under conditions that are not recorded.
    pub fn new(timer: TimerInfo, outcome: Result<T, E>) -> Self {
        Self {
            timer,
            means: None,
            conditions: None,
            period_ns: None,
            outcome,
            lost: None,
        }
    }
}

impl TraceFile {
    /// Computes the report. Its version is that of this build, which analyses the recording.
    pub fn report(&self) -> Report {
        let frequency = summarise(&self.frequency, self.cycles_from);
        let measured = self.rows(frequency.cycles());
        let timers: Vec<TimerRow> = self.unmeasured.iter().cloned().chain(measured).collect();
        let mut report = Report {
            schema: model::SCHEMA.into(),
            tool: Tool::this(),
            created: self.created.clone(),
            node: self.node.clone(),
            provenance: Provenance::default(),
            platform: self.platform.clone(),
            frequency,
            settings: self.settings.clone(),
            findings: Vec::new(),
            assessment: Assessment::default(),
            timers,
            waits: parallel::map(&self.waits, Observation::wait_row),
            periods: parallel::map(&self.periods, Observation::period_row),
        };
        report.findings = apply(
            RUN,
            &Facts {
                machine: Some(&self.platform),
                run: Some(&report),
                multiplication: self.frequency.doubtful_multiplication(),
                ..Facts::default()
            },
        );
        assess(&mut report);
        report
    }
}

impl TraceFile {
    /// Returns the rows of all measured timers, with verdicts. `frequency` in hertz converts time
    /// to cycles.
    fn rows(&self, frequency: Option<Estimate>) -> Vec<TimerRow> {
        let (mut rows, all_figures): (Vec<TimerRow>, Vec<Option<Figures>>) =
            parallel::map(&self.timers, |observed| {
                observed.row(frequency, &self.timers)
            })
            .into_iter()
            .unzip();
        let mut machine = MachineCase::of_baselines(&self.baselines);
        machine.correction = match &self.platform.ntp {
            Some(ntp) => LargeCorrection::of(ntp),
            None => self.measured_correction(&all_figures, machine),
        };
        for ((row, observed), figures) in rows.iter_mut().zip(&self.timers).zip(&all_figures) {
            let Some(figures) = figures else { continue };
            let hertz = row.cycles_hz(value_of(frequency));
            let precision = self.settings.precision_points.zip(hertz);
            let precision =
                precision.map(|(points, hertz)| (points / 100.0, scatter(figures, hertz)));
            let syscall_ns = self.syscall_ns(observed, &all_figures);
            observed.conclude(
                row,
                figures,
                (machine, &self.platform),
                syscall_ns,
                precision,
            );
        }
        rows
    }

    /// Returns the correction of the kernel's clocks from the measured rate of a clock that is not
    /// corrected, for a kernel that does not report it.
    fn measured_correction(
        &self,
        all_figures: &[Option<Figures>],
        machine: MachineCase,
    ) -> Option<LargeCorrection> {
        let offset_ppm = |(observed, figures): (&Observation, &Option<Figures>)| {
            let TimerInfo {
                properties, device, ..
            } = &observed.timer;
            let is_uncorrected = properties.family == Some(Family::SystemClock)
                && properties.slewed == Some(false)
                && device.is_none();
            let figures = figures.as_ref().filter(|_| is_uncorrected)?;
            let trace = observed.outcome.as_ref().ok()?.open();
            let stable = observed.verdicts(&trace, figures, machine, None).stable;
            stable
                .offset_ppm
                .filter(|_| stable.outcome == Outcome::Fail)
        };
        let offset_ppm = self.timers.iter().zip(all_figures).find_map(offset_ppm)?;
        LargeCorrection::measured(1.0 / (1.0 + 1e-6 * offset_ppm) - 1.0, None)
    }

    /// Returns the cost in nanoseconds of the variant through the system call, if there is one and it
    /// was measured.
    fn syscall_ns(
        &self,
        observation: &Observation,
        all_figures: &[Option<Figures>],
    ) -> Option<f64> {
        let id = observation.timer.properties.syscall_variant.as_ref()?;
        let index = self.timers.iter().position(|other| other.timer.id == *id)?;
        Some(all_figures[index].as_ref()?.cost?.value)
    }
}

impl Observation {
    /// Returns the complete row with verdicts, for a timer without a syscall variant. `frequency`
    /// in hertz converts time to cycles.
    pub fn row_with_verdicts(
        &self,
        frequency: Option<Estimate>,
        baselines: &ReadPathBaselines,
    ) -> TimerRow {
        let (mut row, figures) = self.row(frequency, std::slice::from_ref(self));
        if let Some(figures) = &figures {
            let machine = (MachineCase::of_baselines(baselines), &Platform::default());
            self.conclude(&mut row, figures, machine, None, None);
        }
        row
    }

    /// Returns the length of a tick in nanoseconds, and its relative uncertainty.
    fn rate(&self) -> Option<(f64, f64)> {
        tick(&self.outcome.as_ref().ok()?.open())
    }

    /// Adds the verdicts and the findings to the row of a timer that was measured. A timer that is not
    /// monotonic, not thread-safe or not stable has Quality 0 regardless of its other results: that value
    /// is reserved for such timers (ICPE 2011, section 4.4). `precision` is that of `Facts`.
    fn conclude(
        &self,
        row: &mut TimerRow,
        figures: &Figures,
        (machine, platform): (MachineCase, &Platform),
        syscall_ns: Option<f64>,
        precision: Option<(f64, Option<f64>)>,
    ) {
        let Ok(stored) = &self.outcome else { return };
        let trace = stored.open();
        let verdicts = self.verdicts(&trace, figures, machine, syscall_ns);
        let disqualifies = |answer: VerdictAnswer| {
            answer.outcome == Outcome::Fail && answer.question.disqualifies()
        };
        if verdicts.answers().any(disqualifies) {
            row.quality = Some(Estimate::exact(0.0));
        }
        row.verdicts = Some(verdicts);
        row.findings = apply(
            CLOCKS,
            &Facts {
                trace: Some(&trace),
                figures: Some(figures),
                row: Some(row),
                machine: Some(platform),
                precision,
                ..Facts::default()
            },
        );
    }

    /// Returns the verdicts on the timer.
    fn verdicts(
        &self,
        trace: &Trace,
        figures: &Figures,
        machine: MachineCase,
        syscall_ns: Option<f64>,
    ) -> Verdicts {
        trust::judge(&Case {
            properties: &self.timer.properties,
            device: self.timer.device.as_ref(),
            trace,
            figures,
            machine,
            syscall_ns,
        })
    }

    /// Returns the row of this timer without the verdicts, and its figures. `cpu` is the frequency of
    /// the CPU; `all` holds the timer that counts the cycles of a device.
    fn row(&self, cpu: Option<Estimate>, all: &[Self]) -> (TimerRow, Option<Figures>) {
        let mut row = TimerRow::without_results(&self.timer, Status::Failed);
        let mut frequency = cpu;
        if let Some(device) = &mut row.device {
            let is_counter = |other: &&Self| device.cycles.as_ref() == Some(&other.timer.id);
            let counted = all.iter().find(is_counter).and_then(Self::rate);
            let timed_by = self.outcome.as_ref().ok();
            let timed_by = timed_by.and_then(|stored| stored.calls_reference.as_ref());
            let timed_by = timed_by.map(|counter| (counter.ns_per_tick, counter.rate_uncertainty));
            device.cycles_hz = match timed_by.or(counted) {
                Some((ns, uncertainty)) => Hertz::new(1e9 / ns)
                    .map(|hertz| Estimate::around(hertz.0, hertz.0 * uncertainty)),
                None => device.hertz.map(Estimate::exact),
            };
            frequency = device.cycles_hz;
        }
        match &self.outcome {
            Ok(stored) => {
                let trace = stored.open();
                let figures = figures(&trace);
                fill_row(&mut row, &trace, &figures, frequency);
                (row, Some(figures))
            }
            Err(reason) => {
                row.reason = Some(reason.clone());
                (row, None)
            }
        }
    }
}
