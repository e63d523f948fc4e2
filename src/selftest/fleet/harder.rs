//! Harder fleets, made by changing reports: tails as of Student's t of two degrees, six CPUs, three kernels, mixed clock sources, nodes with
//! several runs, renamed, missing and throttled ones, and in some of them a part whose reads cost 5 % more.

use std::collections::BTreeSet;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal, StudentT};

use super::{Fleet, Moment};
use crate::fleet::roll::Called;
use crate::model::{ReadsBy, Report, TimerRow};
use crate::parallel;

/// What reads of the part that changed cost more.
pub const PLANTED: f64 = 0.05;
/// Scale of the tails of a figure between two runs, a logarithm.
const TAILS: f64 = 0.01;
/// Standard deviation between two runs of a node of what all of its costs have in common, a logarithm.
const OF_NODE: f64 = 0.005;
/// Nodes that are throttled in the second run, as a share, and what that makes of their costs.
const THROTTLED: (f64, f64) = (0.12, 1.6);
/// Every so many nodes one has an earlier run, another name in the second folder, or is not there.
const SEVERAL: usize = 5;
const RENAMED: usize = 33;
const MISSING: usize = 37;

const CPUS: [&str; 6] = [
    "AMD EPYC 9R14",
    "AMD EPYC 7543 32-Core Processor",
    "AMD EPYC 7B13",
    "Intel(R) Xeon(R) Platinum 8488C",
    "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz",
    "Intel(R) Xeon(R) CPU @ 2.20GHz",
];
const KERNELS: [&str; 3] = ["5.15.0-119-generic", "6.1.0-28-amd64", "6.8.0-45-generic"];
/// With what reads through them cost over those of the first.
const SOURCES: [(&str, f64); 3] = [("tsc", 1.0), ("kvm-clock", 1.2), ("hpet", 30.0)];

/// A part that changed, by its name as `compare` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// As in `kernel 6.1.0-28-amd64`.
    pub name: String,
    /// Whether only system calls changed.
    calls_only: bool,
}

/// What nodes are.
struct Machine {
    cpu: usize,
    kernel: usize,
    source: usize,
}

/// A fleet, and what is true of it.
pub struct Harder {
    fleet: Fleet,
    seed: u64,
    machines: Vec<Machine>,
    /// The part that changed; nothing where nothing did.
    pub planted: Option<Part>,
    throttled: BTreeSet<usize>,
}

impl Harder {
    /// A fleet of so many nodes. Where something `changes`, some nodes are throttled, too.
    #[must_use]
    pub fn new(nodes: u32, seed: u64, changes: bool) -> Self {
        let mut random = StdRng::seed_from_u64(seed ^ 0x5eed_f1ee);
        let mut machine = |_| Machine {
            cpu: random.random_range(0..CPUS.len()),
            kernel: random.random_range(0..KERNELS.len()),
            // Eight in ten, then one each.
            source: random.random_range(0..10_usize).saturating_sub(7),
        };
        let machines: Vec<Machine> = (0..nodes).map(&mut machine).collect();
        let planted = changes.then(|| Part::drawn(&mut random));
        let mut places: Vec<usize> = (0..nodes as usize).collect();
        places.shuffle(&mut random);
        places.truncate(if changes { (THROTTLED.0 * f64::from(nodes)) as usize } else { 0 });
        Self {
            fleet: Fleet::new(nodes, seed),
            seed,
            machines,
            planted,
            throttled: places.into_iter().collect(),
        }
    }

    /// The reports of both folders, each with what tells it apart.
    #[must_use]
    pub fn folders(&self) -> [Vec<(Called, Report)>; 2] {
        [Moment::Before, Moment::After].map(|moment| {
            let each = parallel::numbered(self.fleet.len(), |node| self.of_node(node, moment));
            each.into_iter().flatten().collect()
        })
    }

    /// Nodes that can be found throttled: in both folders under one name.
    #[must_use]
    pub fn throttled(&self) -> BTreeSet<String> {
        let found = self.throttled.iter().filter(|node| !is_renamed(**node) && !is_missing(**node));
        found.map(|node| self.fleet.node(*node).name).collect()
    }

    fn of_node(&self, node: usize, moment: Moment) -> Vec<(Called, Report)> {
        let after = moment == Moment::After;
        if after && is_missing(node) {
            return Vec::new();
        }
        let runs = if node % SEVERAL == 1 { 2 } else { 1 };
        (0..runs).map(|run| self.run(node, after, run)).collect()
    }

    fn run(&self, node: usize, after: bool, run: usize) -> (Called, Report) {
        let truth = self.fleet.node(node);
        let purpose = (node * 4 + usize::from(after) * 2 + run) as u64;
        let mut random = StdRng::seed_from_u64(self.seed.wrapping_mul(1 << 24) ^ purpose);
        let mut report = self.fleet.report(&truth, Moment::Before);
        let machine = &self.machines[node];
        report.platform.cpu.model = Some(CPUS[machine.cpu].into());
        (report.platform.cpu.family, report.platform.cpu.model_number) = (None, None);
        report.platform.kernel.release = Some(KERNELS[machine.kernel].into());
        report.platform.clocksource.current = Some(SOURCES[machine.source].0.into());
        // The last run of a folder is the one that counts.
        let day = if after { 20 } else { 10 } + usize::from(run == 0);
        report.created = format!("2026-11-{day}T{:02}:{:02}:00Z", node / 60 % 24, node % 60);
        let scatter: f64 = StandardNormal.sample(&mut random);
        let throttled = after && run == 0 && self.throttled.contains(&node);
        let of_node = OF_NODE * scatter + if throttled { THROTTLED.1.ln() } else { 0.0 };
        let tails = StudentT::new(2.0).ok();
        for row in &mut report.timers {
            let own = tails.map_or(0.0, |law| TAILS * law.sample(&mut random));
            let through_source = matches!(reads_by(row), Some(ReadsBy::Vdso | ReadsBy::SystemCall));
            let source = if through_source { SOURCES[machine.source].1.ln() } else { 0.0 };
            let changed = if after && self.is_changed(machine, row) { PLANTED.ln_1p() } else { 0.0 };
            shift(row, of_node + own + source + changed);
        }
        let renamed = after && is_renamed(node);
        let name = if renamed { format!("{}-new", truth.name) } else { truth.name };
        let file = format!("{name}/{run}");
        let called = Called {
            name: Some(name),
            file,
            created: report.created.clone(),
            cpu: CPUS[machine.cpu].into(),
            platform: String::new(),
        };
        (called, report)
    }

    fn is_changed(&self, machine: &Machine, row: &TimerRow) -> bool {
        self.planted.as_ref().is_some_and(|part| {
            let names = [
                format!("CPU {}", CPUS[machine.cpu]),
                format!("kernel {}", KERNELS[machine.kernel]),
                format!("clock source {}", SOURCES[machine.source].0),
            ];
            names.contains(&part.name) && (!part.calls_only || reads_by(row) == Some(ReadsBy::SystemCall))
        })
    }
}

impl Part {
    fn drawn(random: &mut StdRng) -> Self {
        let (name, calls_only) = match random.random_range(0..3) {
            0 => (format!("CPU {}", CPUS[random.random_range(0..CPUS.len())]), false),
            1 => (format!("kernel {}", KERNELS[random.random_range(0..KERNELS.len())]), true),
            _ => (format!("clock source {}", SOURCES[random.random_range(0..SOURCES.len())].0), false),
        };
        Self { name, calls_only }
    }
}

fn reads_by(row: &TimerRow) -> Option<ReadsBy> {
    row.properties.as_ref().and_then(|properties| properties.reads_by)
}

fn is_renamed(node: usize) -> bool {
    node % RENAMED == 7
}

fn is_missing(node: usize) -> bool {
    node % MISSING == 11
}

/// Costs a share more, and what follows from that.
fn shift(row: &mut TimerRow, by: f64) {
    if let Some(cost) = &mut row.cost {
        let times = by.exp();
        let figures = [
            &mut cost.median_ns,
            &mut cost.low_ns,
            &mut cost.high_ns,
            &mut cost.median_cycles,
            &mut cost.amortised_ns,
            &mut cost.single_median_ns,
            &mut cost.p99_ns,
        ];
        figures.into_iter().flatten().for_each(|figure| *figure *= times);
    }
    let times = (crate::quality::COST_EXPONENT * by).exp();
    let qualities = [&mut row.quality, &mut row.quality_low, &mut row.quality_high];
    qualities.into_iter().flatten().for_each(|quality| *quality = (*quality * times).min(1.0));
}
