//! Searches for the step of a timer in one process: measures intervals with growing amounts of work
//! until the timer moves in nearly all of them, then intervals with random amounts of work.

use rand::{Rng, RngExt, SeedableRng};
use timers::{Activity, Answer, Fault, StepQuestion, Subject};

use estimators::rate;
use estimators::resolution::common_divisor;
use estimators::statistics::median;
use estimators::trace::{Differences, IntervalGroups};

/// Number of intervals before the maximum amount of work is doubled. *Judgement*.
const STAGE_INTERVALS: usize = 24;

/// The longest work for readings that are multiples of a unit of several ticks, in these units.
/// *Judgement*: eight of the longest steps that no lattice shows.
const UNITS: f64 = 40.0;
/// The number of intervals with such work. *Judgement*: three processes then tell 1.7 units from one.
const MIN_UNIT_INTERVALS: f64 = 400.0;

/// Returns the nanoseconds per tick of `timer`. Compares how far the timer and a reference, whose
/// tick takes `reference_ns` nanoseconds, advance in the given time. `None` if the timer does not
/// move or the host does not support the question.
///
/// # Errors
/// When the host is lost or the run is interrupted.
pub fn measure_rate(
    timer: &mut dyn Subject,
    reference: &str,
    reference_ns: f64,
    milliseconds: u32,
) -> Answer<Option<f64>> {
    let moved = match timer.advance(reference, Activity::Spin, milliseconds) {
        Err(Fault::Refused(_)) => return Ok(None),
        moved => moved?,
    };
    Ok(rate::ns_per_tick(
        moved.timer,
        moved.reference,
        reference_ns,
    ))
}

/// Searches for the step with work of random lengths. Returns the intervals, packed, and whether the timer
/// steps too rarely for the search.
///
/// # Errors
/// When the timer refuses or its host is lost.
pub fn find_step<R: Rng + SeedableRng>(
    timer: &mut dyn Subject,
    question: &StepQuestion,
) -> Answer<(IntervalGroups, bool)> {
    let random = &mut R::seed_from_u64(question.seed);
    let &StepQuestion {
        ns_per_work,
        ns_per_tick,
        cost_ns,
        interval_ns,
        growth_ns,
        ..
    } = question;
    let repeat = (0.2 * interval_ns / (cost_ns + 20.0)).clamp(100.0, 2_000.0) as u32;
    let without_work = equal_intervals(timer, 0, repeat)?;
    // Movements of at most this many ticks are not counted: 1 if the timer counts its reads.
    let max_uncounted_ticks =
        u64::from(median(without_work.deltas.iter().map(|&delta| delta as f64)) == Some(1.0));
    let mut groups = vec![without_work];
    let mut max_work_ns = (16.0 * ns_per_work).max(8.0 * ns_per_tick.unwrap_or(0.0).min(100.0));
    loop {
        let stage = random_intervals(timer, max_work_ns / ns_per_work, STAGE_INTERVALS, random)?;
        let moved = stage
            .iter()
            .flat_map(|group| &group.deltas)
            .filter(|delta| delta.unsigned_abs() > max_uncounted_ticks)
            .count();
        groups.extend(stage);
        if 10 * moved >= 9 * STAGE_INTERVALS {
            break;
        }
        max_work_ns *= 2.0;
        if max_work_ns > growth_ns {
            return Ok((groups.into_iter().collect(), true));
        }
    }
    // If a read costs far more than this work, steps that are nearly as long as the cost of a read
    // would remain hidden, so intervals of that length are measured too. If the readings are
    // multiples of many ticks, only intervals of many such multiples tell whether these are the
    // steps.
    let unit_ns = common_divisor(&groups) as f64 * ns_per_tick.unwrap_or(0.0);
    let units_ns = (UNITS * unit_ns).min(growth_ns);
    let mut work_limits_ns = vec![max_work_ns, 2.0 * max_work_ns, 4.0 * max_work_ns];
    work_limits_ns.extend(
        [0.5 * cost_ns, 2.0 * cost_ns, units_ns]
            .into_iter()
            .filter(|limit| *limit > 4.0 * max_work_ns),
    );
    for &limit_ns in &work_limits_ns {
        let least = if limit_ns == units_ns {
            MIN_UNIT_INTERVALS
        } else {
            20.0
        };
        let count = (interval_ns / work_limits_ns.len() as f64 / (cost_ns + limit_ns / 2.0))
            .clamp(least, 500.0);
        groups.extend(random_intervals(
            timer,
            limit_ns / ns_per_work,
            count as usize,
            random,
        )?);
    }
    // Differences with a constant amount of work vary only because of the timer.
    for scale in [0.3, 0.7] {
        let work = (scale * max_work_ns / ns_per_work) as u64 + random.random_range(0..4_u64);
        let repeat =
            (0.1 * interval_ns / (cost_ns + scale * max_work_ns)).clamp(10.0, 100.0) as u32;
        groups.push(equal_intervals(timer, work, repeat)?);
    }
    Ok((groups.into_iter().collect(), false))
}

/// Measures `repeat` intervals with the same amount of work.
///
/// # Errors
/// When the timer refuses or its host is lost.
pub fn equal_intervals(timer: &mut dyn Subject, work: u64, repeat: u32) -> Answer<Differences> {
    let deltas = timer.intervals(&[work], repeat)?.pop();
    Ok(Differences {
        work,
        deltas: deltas.unwrap_or_default().into(),
    })
}

/// Measures `count` intervals, each with a random amount of work of at most `max_work` units.
///
/// # Errors
/// When the timer refuses or its host is lost.
pub fn random_intervals(
    timer: &mut dyn Subject,
    max_work: f64,
    count: usize,
    random: &mut dyn Rng,
) -> Answer<Vec<Differences>> {
    let work: Vec<u64> = (0..count)
        .map(|_| random.random_range(0..=max_work as u64))
        .collect();
    let rows = timer.intervals(&work, 1)?;
    Ok(work
        .into_iter()
        .zip(rows)
        .map(|(work, row)| Differences {
            work,
            deltas: row.into_iter().collect(),
        })
        .collect())
}
