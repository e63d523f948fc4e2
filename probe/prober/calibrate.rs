//! Calibrates a reference, the timer that times the others: finds its rate, its step, and how long
//! a unit of work takes by it. A unit of work is one turn of the loop that an interval contains.

use std::time::Duration;

use rand::Rng;
use timers::{Answer, Deadline, Fault, Subject};

use super::steps::{equal_intervals, random_intervals};
use estimators::cost::singles::successive;
use estimators::rate;
use estimators::resolution::{KnownDurations, Step, resolve};
use estimators::trace::{Differences, Reference};

/// Time for which a reference is compared with another clock to find its rate, in milliseconds. All
/// measured times depend on this rate until the campaign has found it more accurately.
pub const REFERENCE_WATCH_MS: u32 = 10;

/// Finds the step of a reference whose tick takes `ns_per_tick` nanoseconds, and the time of a unit
/// of work.
///
/// # Errors
/// [`Fault::Refused`] if the reference does not move or does not advance with work; the errors of
/// the subject otherwise.
pub fn calibrate(
    id: &str,
    subject: &mut dyn Subject,
    ns_per_tick: f64,
    random: &mut dyn Rng,
) -> Answer<Reference> {
    let useless = |why: &str| Fault::Refused(format!("{id} cannot serve as a reference: {why}"));
    let groups = increase_work(subject, ns_per_tick)?;
    let work_ticks =
        rate::ticks_per_work(&groups).ok_or_else(|| useless("it does not advance with work"))?;
    let ns_per_work = work_ticks * ns_per_tick;
    let calibrated = |step, step_at_most| Reference {
        id: id.into(),
        ns_per_tick,
        step,
        step_at_most,
        ns_per_work,
        ..Reference::default()
    };
    // If the intervals so far show a long step, as in browsers, the step is the interval of which
    // all intervals are multiples. Otherwise the step is searched for with work of varied length.
    if let Some(long_step) = find_long_step(&groups, ns_per_tick)
        && let Some(step) = find_common_step(subject, &groups, long_step, work_ticks, random)?
    {
        return Ok(calibrated(step, None));
    }
    let mut lowest_bound = None;
    for _ in 0..MAX_STEP_SEARCHES {
        match search_step(subject, ns_per_tick, work_ticks, random)? {
            Step::Resolved { step, .. } => return Ok(calibrated(step.value, None)),
            Step::AtMost { bound, .. } => {
                lowest_bound = Some(lowest_bound.map_or(bound, |lowest| bound.min(lowest)));
            }
            Step::Unmoved => return Err(useless("it does not move")),
        }
    }
    // No search found the step. One tick is a lower bound of it.
    Ok(calibrated(1.0, lowest_bound))
}

/// Largest number of searches for the step of a reference. There are several because all results
/// depend on this step and a search may be disturbed.
const MAX_STEP_SEARCHES: u32 = 4;

/// Step in nanoseconds above which `find_common_step` searches for it instead of `search_step`.
/// *Computed*: the longest work of `search_step`.
const LONGEST_ORDINARY_STEP_NS: f64 = 4_000.0;
/// Number of steps by which the reference has to advance during the longest work of
/// `increase_work`, if its steps are long.
/// *Judgement*: the length of a unit of work is then known to a quarter.
const STEPS_IN_LONGEST_WORK: i64 = 4;
/// Number of intervals that must all be whole multiples of the shortest one.
/// *Chance*: if the step were half the shortest interval, one case in a million would pass.
const MIN_MULTIPLES: usize = 20;
/// Largest number of times that further intervals are measured to get `MIN_MULTIPLES` of them.
const MAX_ATTEMPTS: u32 = 6;

/// Returns the step of a reference with long steps, in ticks: the shortest interval, if all
/// intervals are whole multiples of it. `groups` are the intervals so far, and `long_step` is the
/// step that they show. If they are too few, measures further intervals around work of at most
/// about twice `long_step`. `None` if the intervals are no multiples of the shortest, or are still
/// too few.
fn find_common_step(
    subject: &mut dyn Subject,
    groups: &[Differences],
    long_step: i64,
    work_ticks: f64,
    random: &mut dyn Rng,
) -> Answer<Option<f64>> {
    let nonzero_deltas = |groups: &[Differences]| -> Vec<i64> {
        groups
            .iter()
            .flat_map(|group| group.deltas.to_vec())
            .filter(|&delta| delta != 0)
            .collect()
    };
    let mut all = nonzero_deltas(groups);
    for _ in 0..MAX_ATTEMPTS {
        if all.len() >= MIN_MULTIPLES {
            break;
        }
        all.extend(nonzero_deltas(&random_intervals(
            subject,
            2.0 * long_step as f64 / work_ticks,
            MIN_MULTIPLES / 2,
            random,
        )?));
    }
    let Some(shortest) = all.iter().copied().filter(|&delta| delta > 0).min() else {
        return Ok(None);
    };
    let are_multiples = all.iter().all(|delta| delta % shortest == 0);
    Ok((all.len() >= MIN_MULTIPLES && are_multiples).then_some(shortest as f64))
}

/// Returns the smallest positive movement of a reference, in ticks, if it is longer than
/// `LONGEST_ORDINARY_STEP_NS`, as in browsers. `None` if it is shorter, or if the reference moved
/// in every interval: the smallest movement then shows the cost of a read, not a step.
fn find_long_step(groups: &[Differences], ns_per_tick: f64) -> Option<i64> {
    let all = || groups.iter().flat_map(|group| &group.deltas).copied();
    let shortest = all()
        .filter(|&delta| delta > 0)
        .min()
        .filter(|_| all().any(|delta| delta == 0));
    shortest.filter(|&shortest| shortest as f64 * ns_per_tick > LONGEST_ORDINARY_STEP_NS)
}

/// Searches once for the step of a reference whose steps are at most `LONGEST_ORDINARY_STEP_NS`
/// long. If the step is longer than about a microsecond, it may find only an upper bound.
fn search_step(
    subject: &mut dyn Subject,
    ns_per_tick: f64,
    work_ticks: f64,
    random: &mut dyn Rng,
) -> Answer<Step> {
    // Short steps show best in short work, long steps only in long work.
    let mut all = vec![equal_intervals(subject, 0, 400)?];
    for max_work_ns in [120.0, 400.0, 4_000.0] {
        all.extend(random_intervals(
            subject,
            (max_work_ns / (work_ticks * ns_per_tick)).max(8.0),
            400,
            random,
        )?);
    }
    // Reading a reference takes a fixed number of instructions, so its cost is assumed to vary by
    // no more than one nanosecond, because no distribution of the cost is known yet.
    let context = KnownDurations {
        cost_width: 1.0 / ns_per_tick,
        work_unit: work_ticks,
        ..KnownDurations::default()
    };
    let successive_deltas = successive(&subject.readings(1_000)?.into());
    Ok(resolve(&all, &[successive_deltas], &context))
}

/// Measures intervals around increasing work until the reference clearly advances (by at least 20
/// µs and 64 ticks, and by `STEPS_IN_LONGEST_WORK` steps if steps are long), or the work is too
/// long.
fn increase_work(subject: &mut dyn Subject, ns_per_tick: f64) -> Answer<Vec<Differences>> {
    /// How long a clock that does not move is waited for.
    /// *Judgement*: three quarters of it, of the last group, are longer than the longest steps, 0.1 s.
    const LONGEST_STANDSTILL: Duration = Duration::from_millis(150);
    let min_advance = (20_000.0 / ns_per_tick).max(64.0) as i64;
    let mut groups = vec![equal_intervals(subject, 0, 9)?];
    let mut work = 64_u64;
    let limit = Deadline::after(LONGEST_STANDSTILL);
    loop {
        let long = find_long_step(&groups, ns_per_tick);
        // Several long steps need longer work. To save time, fewer intervals are then measured, and
        // the work grows more slowly, so that it exceeds the required number of steps by less.
        let (repeat, max_work, growth) = match long {
            Some(_) => (3, 1 << 34, 2),
            None => (9, 1 << 28, 4),
        };
        let group = equal_intervals(subject, work, repeat)?;
        let mut ordered = group.deltas.to_vec();
        ordered.sort_unstable();
        groups.push(group);
        let advance = long.map_or(0, |step| step.saturating_mul(STEPS_IN_LONGEST_WORK));
        let is_still = limit.remaining().is_none() && ordered.iter().all(|&delta| delta == 0);
        if ordered[ordered.len() / 2] >= min_advance.max(advance) || work >= max_work || is_still {
            return Ok(groups);
        }
        work *= growth;
    }
}
