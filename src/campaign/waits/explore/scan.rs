//! Makes waits of random lengths (a scan) until they show the step of a sleep primitive, the
//! distance between its possible wake-up times.

use rand::rngs::StdRng;
use timers::Answer;

use super::{
    FIRST_SCAN_NS, MIN_SCAN_WAITS, QUANTILE_DISTANCE, RoughLateness, STEPS_PER_SCAN, WaitBench,
};
use crate::campaign::sampling::WaitPlan;
use crate::trace::{Wait, WaitRun};
use crate::waits::longest_step_ns;

/// Largest width of the lateness, in steps, that a step explains. Lateness is spread over one step,
/// but the width that a few waits show is inaccurate.
/// *Judgement*: the width of the lateness of twenty waits is off by a fifth.
const MAX_SPREAD_STEPS: f64 = 1.5;
/// Ratio of the lengths of successive scans. It is the same in all processes, so that their scans
/// can be analysed together.
const SCAN_GROWTH: f64 = 4.0;
/// Length of a scan, in nanoseconds, after which no longer scan is made.
const LONGEST_SCAN_NS: f64 = 3e7;
/// Fewest waits of a scan after the first, because fewer do not show a long step.
const MIN_LONG_SCAN_WAITS: u32 = 20;
/// Width of the lateness, in nanoseconds, above which the first scan gets more waits to show a
/// step.
/// *Judgement*: a sixtieth of the scan.
const MIN_WIDE_NS: f64 = 5e4;

/// Makes a scan, and longer scans while the lateness is so wide that the step may be longer than
/// the scan. Adds them to `scans` and returns the lateness in the last one. `before` are the runs
/// of earlier processes.
pub(super) fn scan(
    bench: &mut WaitBench,
    before: &[WaitRun],
    plan: &WaitPlan,
    scans: &mut Vec<Vec<Wait>>,
    random: &mut StdRng,
) -> Answer<RoughLateness> {
    let mut scan = bench.scan([0.0, FIRST_SCAN_NS], MIN_SCAN_WAITS, random)?;
    let mut rough = bench.rough_lateness(&scan)?;
    let (max_waits, time_ns) = if rough.width_ns > MIN_WIDE_NS {
        plan.wide_scan
    } else {
        (plan.scan, plan.scan_ns)
    };
    let affordable = |length_ns: f64, rough: &RoughLateness, least: u32| {
        // Requests take half the length of the scan on average, and the pauses before them a quarter.
        let wait_ns = 0.75 * length_ns + rough.median_ns.max(0.0);
        ((time_ns / wait_ns) as u32).clamp(least.min(max_waits), max_waits)
    };
    let count = affordable(FIRST_SCAN_NS, &rough, MIN_SCAN_WAITS);
    let further = count.saturating_sub(MIN_SCAN_WAITS);
    scan.extend(bench.scan([0.0, FIRST_SCAN_NS], further, random)?);
    rough = bench.rough_lateness(&scan)?;
    let mut length_ns = FIRST_SCAN_NS;
    scans.push(scan);
    // Lateness is spread evenly over a step, but over no more than the scan. The scan is long
    // enough if it is several times as long as this spread. It is also long enough if the scans
    // show a step that explains the spread, because the spread of few waits is inaccurate.
    while length_ns < LONGEST_SCAN_NS
        && STEPS_PER_SCAN * rough.width_ns / QUANTILE_DISTANCE > length_ns
    {
        let explains = |step_ns: f64| {
            MAX_SPREAD_STEPS * step_ns > rough.width_ns / QUANTILE_DISTANCE
                && STEPS_PER_SCAN * step_ns <= length_ns
        };
        let runs: Vec<WaitRun> = before
            .iter()
            .map(|run| &run.scans)
            .chain([&*scans])
            .map(|scans| WaitRun {
                scans: scans.clone(),
                ..WaitRun::default()
            })
            .collect();
        if longest_step_ns(&runs, &bench.reference).is_some_and(explains) {
            break;
        }
        length_ns *= SCAN_GROWTH;
        let count = affordable(length_ns, &rough, MIN_LONG_SCAN_WAITS);
        let scan = bench.scan([0.0, length_ns], count, random)?;
        rough = bench.rough_lateness(&scan)?;
        scans.push(scan);
    }
    Ok(rough)
}
