//! Runs of one machine, one after the other: what each timer's runs differ by is drawn once, its core runs at another frequency each time,
//! and what a call costs follows that.

use std::ops::Range;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};

use super::row::{Between, OfTimer};
use super::{Fleet, Moment, Node, Simulated};
use crate::model::{Following, ReadsBy, Report};

/// What runs differ by: standard deviations of logarithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// Of the core's frequency.
    pub core: f64,
    /// Of the costs of a timer in cycles that is read in user mode: each has its own, drawn from these.
    pub in_user_mode: Range<f64>,
    /// Of one that the kernel answers.
    pub by_kernel: Range<f64>,
}

/// A change of one timer: what its calls take more from then on, as a share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planted<'a> {
    /// The timer.
    pub timer: &'a str,
    /// What they take more.
    pub share: f64,
}

impl Fleet {
    /// What `probe` would have written in that run on the first node with which nothing is wrong, with a change or without. Nothing of a
    /// fleet without such a node.
    #[must_use]
    pub fn run(&self, number: u64, scatter: &Scatter, planted: Option<Planted>) -> Option<Report> {
        let is_fine = |node: &Node| node.is_sound() && !node.restless && node.lacks.is_none();
        let node = (0..self.len()).map(|at| self.node(at)).find(is_fine)?;
        let mut run = StdRng::seed_from_u64(self.seed().wrapping_mul(1 << 20) ^ (number + 1));
        // What a timer's runs differ by is the same in each.
        let mut own = self.random(0, 5);
        let timers = self.timers().iter().map(|timer| {
            let share =
                planted.filter(|planted| planted.timer == timer.id).map_or(0.0, |planted| planted.share);
            let drift: f64 = StandardNormal.sample(&mut run);
            let shift = share.ln_1p() + deviation(timer, scatter, &mut own) * drift;
            // A run in which the core kept its frequency cannot tell.
            let follows = if own.random() { Some(Following::Core) } else { None };
            OfTimer { shift, follows }
        });
        let between = Between { core: scatter.core, timers: timers.collect() };
        let mut report = self.report_of(&node, Moment::Before, &mut run, Some(&between));
        report.created = format!("2026-11-20T12:{:02}:{:02}Z", number / 60 % 60, number % 60);
        Some(report)
    }
}

fn deviation(timer: &Simulated, scatter: &Scatter, own: &mut StdRng) -> f64 {
    let in_user_mode = matches!(timer.properties.reads_by, Some(ReadsBy::Instruction | ReadsBy::Vdso));
    let range = if in_user_mode { &scatter.in_user_mode } else { &scatter.by_kernel };
    own.random_range(range.start.ln()..range.end.ln()).exp()
}
