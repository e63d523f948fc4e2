//! Scans waits of random lengths, until the steps of a sleep primitive show.

use rand::rngs::StdRng;
use timers::Answer;

use super::{EVENLY, FEWEST, Rough, SCAN_NS, STEPS_A_SCAN, WaitBench, takes, unanswered};
use crate::campaign::waits::plan::WaitPlan;
use crate::trace::{Wait, WaitRun};
use crate::waits::longest_step_ns;

/// Latenesses that are spread over up to this many steps that a scan shows are spread by these.
/// *Judgement*: the width of twenty latenesses is off by a fifth.
const EXPLAINED: f64 = 1.5;
/// The next scan is this many times as long, in all processes, so that they can be looked at
/// together.
const LONGER: f64 = 4.0;
/// A scan that is longer than this, in nanoseconds, is the last.
const LONGEST_SCAN_NS: f64 = 3e7;
/// The same of a longer one, which is only for those that seem to have long steps: these show in no
/// fewer.
const FEWEST_OF_LONG: u32 = 20;
/// Latenesses that lie within so many nanoseconds hold no step that the whole scan would be for.
/// *Judgement*: a sixtieth of the scan.
const WIDE_NS: f64 = 5e4;

/// Scans of lengths, longer ones where latenesses are spread as widely as a scan. Returns what the
/// last one tells.
pub(super) fn scan(
    bench: &mut WaitBench,
    before: &[WaitRun],
    plan: &WaitPlan,
    scans: &mut Vec<Vec<Wait>>,
    random: &mut StdRng,
) -> Answer<Rough> {
    let first = bench.scan([0.0, SCAN_NS], FEWEST, random)?;
    let rough = bench.rough(&first).ok_or_else(unanswered)?;
    let (most, most_ns) = if rough.width > WIDE_NS {
        plan.wide_scan
    } else {
        (plan.scan, plan.scan_ns)
    };
    let count = ((most_ns / (takes(SCAN_NS, &rough) + SCAN_NS / 4.0)) as u32).clamp(FEWEST, most);
    let mut scan = first;
    scan.extend(bench.scan([0.0, SCAN_NS], count.saturating_sub(FEWEST), random)?);
    let mut rough = bench.rough(&scan).unwrap_or(rough);
    let mut to = SCAN_NS;
    scans.push(scan);
    // Over steps of such a length latenesses are spread evenly; where a step is longer than the
    // scan, they show no more than that. A few latenesses tell the length roughly: where scans show
    // a step that explains them, it is that one.
    while to < LONGEST_SCAN_NS && STEPS_A_SCAN * rough.width / EVENLY > to {
        let explains =
            |shown: f64| EXPLAINED * shown > rough.width / EVENLY && STEPS_A_SCAN * shown <= to;
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
        to *= LONGER;
        let count = ((most_ns / (0.75 * to + rough.median.max(0.0))) as u32)
            .clamp(FEWEST_OF_LONG.min(most), most);
        let scan = bench.scan([0.0, to], count, random)?;
        rough = bench.rough(&scan).unwrap_or(rough);
        scans.push(scan);
    }
    Ok(rough)
}
