//! The report of a node.

use rand::rngs::StdRng;
use rand_distr::{Distribution, StandardNormal};

use super::row::Between;
use super::{Fleet, Moment, Node, platform, row};
use crate::model::{Frequency, Provenance, Report, SCHEMA, Settings, Tool};

/// Standard deviation of the logarithm of the core's frequency between runs.
const WANDER: f64 = 0.002;

impl Fleet {
    /// What `probe` would have written on that node.
    #[must_use]
    pub fn report(&self, node: &Node, moment: Moment) -> Report {
        let mut run = self.random(node.index, if moment == Moment::Before { 2 } else { 3 });
        self.report_of(node, moment, &mut run, None)
    }

    /// The same of a run, which differs from others by what is `between` them.
    pub(super) fn report_of(
        &self,
        node: &Node,
        moment: Moment,
        run: &mut StdRng,
        between: Option<&Between>,
    ) -> Report {
        let wander: f64 = StandardNormal.sample(run);
        let hz = node.machine.core_hz * (between.map_or(WANDER, |between| between.core) * wander).exp();
        // What is the node's own is the same in both runs.
        let mut own = self.random(node.index, 4);
        let mut timers: Vec<_> = self
            .timers
            .iter()
            .enumerate()
            .map(|(at, timer)| {
                let of_run = between.map(|between| between.timers[at]);
                row::Run { timer, node, moment, hz, quantile: self.quantile, of_run }.row(&mut own, run)
            })
            .collect();
        timers.sort_by(|a, b| a.best_first(b));
        Report {
            schema: SCHEMA.into(),
            tool: Tool::this(),
            created: created(node, moment),
            node: None,
            provenance: Provenance::default(),
            platform: platform::platform(node, moment),
            frequency: frequency(node, hz),
            settings: Settings {
                profile: "quick".into(),
                cpu: Some(1),
                seed: self.seed,
                processes: row::PROCESSES as u32,
                precision_points: None,
                budget_seconds: Some(20.0),
                timeout_seconds: 30,
            },
            warnings: Vec::new(),
            timers,
            waits: Vec::new(),
            periods: Vec::new(),
        }
    }
}

/// Within two hours of one day, and of the day a week later.
fn created(node: &Node, moment: Moment) -> String {
    let day = if moment == Moment::Before { 13 } else { 20 };
    let second = node.index % 7_200;
    format!("2026-11-{day}T{:02}:{:02}:{:02}Z", 10 + second / 3_600, second / 60 % 60, second % 60)
}

fn frequency(node: &Node, hz: f64) -> Frequency {
    Frequency {
        tsc_hz: Some(node.machine.tsc_hz),
        effective_hz: Some(hz),
        effective_hz_low: Some(hz * 0.998),
        effective_hz_high: Some(hz * 1.002),
        effective_hz_before: Some(hz),
        effective_hz_after: Some(hz),
        cycles_from: "effective".into(),
        cycles_hz: Some(hz),
        cycles_hz_low: Some(hz * 0.999),
        cycles_hz_high: Some(hz * 1.001),
        ..Frequency::default()
    }
}
