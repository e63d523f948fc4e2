//! Rows of sleep primitives and periodic timers in the report.

use crate::recording::{NotUsable, Observation};
use estimators::findings::{Facts, WAITS, apply};
use estimators::model::{PeriodRow, RowHead, Status, WaitFigures, WaitRow};
use estimators::trace::{PeriodTrace, WaitObservations, WaitTrace};
use estimators::waits::{self, periods};

impl Observation<WaitTrace, NotUsable> {
    /// Returns the row of the report.
    pub fn wait_row(&self) -> WaitRow {
        let trace = self.trace();
        let figures = trace.map(waits::figures);
        let signals = trace.map(|trace| {
            // A request of 0 ns is of the loop that does not wait.
            let waits = trace.runs.iter().flat_map(WaitObservations::waits);
            let waits = waits.filter(|wait| wait.request_ns > 0);
            waits.fold([0, 0], |[interrupted, all], wait| {
                [interrupted + usize::from(wait.signals > 0), all + 1]
            })
        });
        WaitRow {
            head: self.head(Facts {
                waits: figures.as_ref(),
                earliest: figures.as_ref().and_then(WaitFigures::earliest),
                wait_trace: trace,
                signals,
                ..Facts::default()
            }),
            conditions: self.conditions.clone().unwrap_or_default(),
            means: self.means.unwrap_or_default(),
            figures,
        }
    }
}

impl Observation<PeriodTrace, NotUsable> {
    /// Returns the row of the report.
    pub fn period_row(&self) -> PeriodRow {
        let trace = self.trace();
        let figures = trace.map(periods::figures);
        let signals = trace.map(|trace| {
            let all = trace.runs.iter().map(|run| run.wakeups.len());
            let signals = trace.runs.iter().map(|run| run.signals as usize);
            let all: usize = all.sum();
            [signals.sum::<usize>().min(all), all]
        });
        PeriodRow {
            head: self.head(Facts {
                period: figures.as_ref(),
                signals,
                earliest: figures.as_ref().and_then(|found| found.lateness.as_ref()),
                ..Facts::default()
            }),
            conditions: self.conditions.clone().unwrap_or_default(),
            period_ns: self.period_ns.unwrap_or_default(),
            means: self.means.unwrap_or_default(),
            figures,
        }
    }
}

impl<T> Observation<T, NotUsable> {
    /// Returns the columns that all rows of waits share; the findings follow from `facts`.
    fn head<'a>(&'a self, mut facts: Facts<'a>) -> RowHead {
        facts.lost = self.lost.as_deref();
        let why = self.outcome.as_ref().err();
        RowHead {
            reason: why.map(|why| why.reason.clone()),
            remedy: why.and_then(|why| why.remedy.clone()),
            findings: apply(WAITS, &facts),
            ..self.timer.head(why.map_or(Status::Ok, |why| why.status))
        }
    }
}
