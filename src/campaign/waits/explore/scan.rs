//! Scans waits of random lengths until the steps of a sleep primitive become visible.

use rand::rngs::StdRng;
use timers::Answer;

use super::{
    MIDDLE_SHARE, MIN_SCAN_WAITS, Rough, SCAN_NS, STEPS_A_SCAN, WaitBench, no_waits_fault,
    wait_time_ns,
};
use crate::campaign::waits::plan::WaitPlan;
use crate::trace::{Wait, WaitRun};
use crate::waits::longest_step_ns;

/// Lateness may be spread over up to this many steps and is still explained by them.
/// *Judgement*: the width of twenty latenesses is off by a fifth.
const MAX_SPREAD_STEPS: f64 = 1.5;
/// Factor by which the next scan is longer. It is the same in all processes, so that their scans
/// can be analysed together.
const SCAN_GROWTH: f64 = 4.0;
/// A scan longer than this, in nanoseconds, is the last.
const LONGEST_SCAN_NS: f64 = 3e7;
/// Fewest waits of a longer scan, which is only made for primitives that seem to have long steps:
/// fewer waits do not show them.
const FEWEST_OF_LONG: u32 = 20;
/// Latenesses within this many nanoseconds contain no step that is worth the longer scan.
/// *Judgement*: a sixtieth of the scan.
const WIDE_NS: f64 = 5e4;

/// Scans random lengths, and longer ones while the lateness is spread as widely as the scan.
/// Returns the quantiles of the last scan.
pub(super) fn scan(
    bench: &mut WaitBench,
    before: &[WaitRun],
    plan: &WaitPlan,
    scans: &mut Vec<Vec<Wait>>,
    random: &mut StdRng,
) -> Answer<Rough> {
    let first = bench.scan([0.0, SCAN_NS], MIN_SCAN_WAITS, random)?;
    let rough = bench.rough(&first).ok_or_else(no_waits_fault)?;
    let (most, most_ns) = if rough.width > WIDE_NS {
        plan.wide_scan
    } else {
        (plan.scan, plan.scan_ns)
    };
    let count = ((most_ns / (wait_time_ns(SCAN_NS, &rough) + SCAN_NS / 4.0)) as u32)
        .clamp(MIN_SCAN_WAITS, most);
    let mut scan = first;
    scan.extend(bench.scan([0.0, SCAN_NS], count.saturating_sub(MIN_SCAN_WAITS), random)?);
    let mut rough = bench.rough(&scan).unwrap_or(rough);
    let mut to = SCAN_NS;
    scans.push(scan);
    // With steps of a given length, lateness is spread evenly over it. If a step is longer than the
    // scan, the spread is limited by the scan. Few latenesses give only a rough length, so a step
    // that the scans show and that explains the spread is accepted.
    while to < LONGEST_SCAN_NS && STEPS_A_SCAN * rough.width / MIDDLE_SHARE > to {
        let explains = |shown: f64| {
            MAX_SPREAD_STEPS * shown > rough.width / MIDDLE_SHARE && STEPS_A_SCAN * shown <= to
        };
        let scans_alone = |scans: &Vec<Vec<Wait>>| WaitRun {
            scans: scans.clone(),
            ..WaitRun::default()
        };
        let runs: Vec<WaitRun> = before
            .iter()
            .map(|run| &run.scans)
            .chain([&*scans])
            .map(scans_alone)
            .collect();
        if longest_step_ns(&runs, &bench.reference).is_some_and(explains) {
            break;
        }
        to *= SCAN_GROWTH;
        let count = ((most_ns / (0.75 * to + rough.median.max(0.0))) as u32)
            .clamp(FEWEST_OF_LONG.min(most), most);
        let scan = bench.scan([0.0, to], count, random)?;
        rough = bench.rough(&scan).unwrap_or(rough);
        scans.push(scan);
    }
    Ok(rough)
}
