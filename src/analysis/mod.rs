//! Computes the report of a recording: the row of each timer from the figures of its trace, then the verdicts,
//! the findings and the assessment.

mod row;
mod waits;

use crate::platform::frequency::summarise;
use crate::recording::{Observation, TraceFile};
use estimators::figures::{Figures, figures};
use estimators::findings::{CLOCKS, Facts, RUN, apply};
use estimators::model::{
    self, Assessment, Estimate, Family, Hertz, Outcome, Platform, Provenance, Report, Status,
    TimerInfo, TimerRow, Tool, VerdictAnswer, Verdicts, value_of,
};
use estimators::rate::correction::LargeCorrection;
use estimators::rate::tick;
use estimators::scoring::scatter;
use estimators::trace::Trace;
use judgement::assessment::assess;
use judgement::trust::{self, Case, MachineCase, ReadPathBaselines};
use reporting::parallel;
use reporting::report::accepted;

use row::fill_row;

impl TraceFile {
    /// Computes the report. Its version is that of this build, which analyses the recording. A value that
    /// no report may hold is unknown in it.
    pub fn report(&self) -> Report {
        let frequency = summarise(&self.frequency, self.cycles_from);
        let measured = self.rows(frequency.cycles());
        let timers: Vec<TimerRow> = self.unmeasured.iter().cloned().chain(measured).collect();
        let mut report = accepted(Report {
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
        });
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
            let trace = observed.trace()?;
            let stable = observed.verdicts(trace, figures, machine, None).stable;
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
        tick(self.trace()?)
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
        let Ok(trace) = &self.outcome else { return };
        let verdicts = self.verdicts(trace, figures, machine, syscall_ns);
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
                trace: Some(trace),
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
            let timed_by = self.trace();
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
            Ok(trace) => {
                let figures = figures(trace);
                fill_row(&mut row, trace, &figures, frequency);
                (row, Some(figures))
            }
            Err(reason) => {
                row.reason = Some(reason.clone());
                (row, None)
            }
        }
    }
}
