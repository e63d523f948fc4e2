//! Calibrates a reference: finds its rate, its step, and how long a unit of work takes.

use rand::RngExt;
use rand::rngs::StdRng;
use smallvec::smallvec;
use timers::{Answer, During, Fault, Subject};

use crate::campaign::unless_refused;
use crate::cost::singles::successive;
use crate::rate;
use crate::resolution::{Context, Resolution, resolve};
use crate::trace::{Intervals, Reference};

/// Time for which the rate of a reference is watched, in milliseconds. Every time measured with the
/// reference depends on this rate until the campaign has measured it more closely.
pub const WATCH_MS: u32 = 10;
/// Time for which the rate of a timer is watched with the reference, in milliseconds.
/// *Judgement*: an error of 50 ns at the ends is 17 ppm, which no reported value shows.
pub const SHORT_WATCH_MS: u32 = 3;

/// Returns nanoseconds per tick of `timer`, found by watching it advance together with a reference
/// whose tick is known. `None` if the timer does not move or the host cannot watch it.
///
/// # Errors
/// Only when the host is lost.
pub fn watched_rate(
    timer: &mut dyn Subject,
    reference: &str,
    reference_ns: f64,
    milliseconds: u32,
) -> Answer<Option<f64>> {
    let moved = unless_refused(timer.advance(reference, During::Spin, milliseconds))?;
    Ok(moved.and_then(|moved| rate::ns_per_tick(moved.timer, moved.reference, reference_ns)))
}

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
    random: &mut StdRng,
) -> Answer<Reference> {
    let useless = |why: &str| Fault::Refused(format!("{id} cannot serve as a reference: {why}"));
    let groups = grow_work(subject, ns_per_tick)?;
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
    if let Some(least) = long_step(&groups, ns_per_tick)
        && let Some(step) = grid(subject, &groups, least, work_ticks, random)?
    {
        return Ok(calibrated(step, None));
    }
    let mut least_bound = None;
    for _ in 0..MOST_STEP_SEARCHES {
        match search_step(subject, ns_per_tick, work_ticks, random)? {
            Resolution::Resolved { step, .. } => return Ok(calibrated(step.value, None)),
            Resolution::AtMost { bound, .. } => {
                least_bound = Some(least_bound.map_or(bound, |least| bound.min(least)));
            }
            Resolution::Unmoved => return Err(useless("it stands still")),
        }
    }
    Ok(calibrated(1.0, least_bound))
}

/// Searches for the step of a reference, at most: every time measured with it depends on the step,
/// and one search may be disturbed.
const MOST_STEP_SEARCHES: u32 = 4;

/// Largest step that an ordinary search finds, in nanoseconds.
/// *Computed*: the longest work of such a search.
const LONGEST_ORDINARY_STEP_NS: f64 = 4_000.0;
/// Steps that the longest work spans if steps are long.
/// *Judgement*: the length of a unit of work is then known to a quarter.
const LONG_STEPS: i64 = 4;
/// Intervals that must be whole multiples of the shortest one.
/// *Chance*: if the step were half the shortest interval, one case in a million would pass.
const MIN_MULTIPLES: usize = 20;
/// Attempts to collect `MIN_MULTIPLES` intervals.
const TRIES: u32 = 6;

/// Returns the step of a reference with long steps, in ticks: the shortest interval, if all
/// intervals, which are about as long, are whole multiples of it.
fn grid(
    subject: &mut dyn Subject,
    groups: &[Intervals],
    least: i64,
    work_ticks: f64,
    random: &mut StdRng,
) -> Answer<Option<f64>> {
    let moved = |groups: &[Intervals]| -> Vec<i64> {
        groups
            .iter()
            .flat_map(|group| group.deltas.to_vec())
            .filter(|&delta| delta != 0)
            .collect()
    };
    let mut all = moved(groups);
    for _ in 0..TRIES {
        if all.len() >= MIN_MULTIPLES {
            break;
        }
        all.extend(moved(&within(
            subject,
            2.0 * least as f64 / work_ticks,
            MIN_MULTIPLES as u32 / 2,
            random,
        )?));
    }
    let Some(least) = all.iter().copied().filter(|&delta| delta > 0).min() else {
        return Ok(None);
    };
    let are_multiples = all.iter().all(|delta| delta % least == 0);
    Ok((all.len() >= MIN_MULTIPLES && are_multiples).then_some(least as f64))
}

/// Returns `count` intervals around random work of at most `most` units.
fn within(
    subject: &mut dyn Subject,
    most: f64,
    count: u32,
    random: &mut StdRng,
) -> Answer<Vec<Intervals>> {
    let work: Vec<u64> = (0..count)
        .map(|_| random.random_range(0..=most as u64))
        .collect();
    let deltas = once(subject, &work, 1)?;
    let one = |(work, delta)| Intervals {
        work,
        deltas: smallvec![delta],
    };
    Ok(work.into_iter().zip(deltas).map(one).collect())
}

/// Returns the smallest positive movement of a reference, in ticks, if it exceeds what an ordinary
/// search can find, as in browsers. `None` if the reference moved in every interval: the smallest
/// movement then shows the cost of a read, not a step.
fn long_step(groups: &[Intervals], ns_per_tick: f64) -> Option<i64> {
    let all = || groups.iter().flat_map(|group| &group.deltas).copied();
    let least = all()
        .filter(|&delta| delta > 0)
        .min()
        .filter(|_| all().any(|delta| delta == 0));
    least.filter(|&least| least as f64 * ns_per_tick > LONGEST_ORDINARY_STEP_NS)
}

/// Searches for the step of a reference once.
fn search_step(
    subject: &mut dyn Subject,
    ns_per_tick: f64,
    work_ticks: f64,
    random: &mut StdRng,
) -> Answer<Resolution> {
    // Random work over 120 ns, 400 ns and 4 µs shows steps up to about a microsecond.
    let mut all = vec![Intervals {
        work: 0,
        deltas: once(subject, &[0], 400)?.into(),
    }];
    for span_ns in [120.0, 400.0, 4_000.0] {
        all.extend(within(
            subject,
            (span_ns / (work_ticks * ns_per_tick)).max(8.0),
            400,
            random,
        )?);
    }
    // Reading a reference takes a fixed number of instructions, so a variation of one nanosecond is
    // attributed to the reference itself.
    let own = 1.0 / ns_per_tick;
    let context = Context {
        cost_deviation: own,
        cost_lower_width: own,
        cost_edge: own,
        work_unit: work_ticks,
        ..Context::default()
    };
    let tight = successive(&subject.readings(1_000)?);
    Ok(resolve(&all, &[tight], &context))
}

/// Increases work until the reference clearly advances: by at least 20 µs and 64 ticks, and by
/// `LONG_STEPS` steps if steps are long.
fn grow_work(subject: &mut dyn Subject, ns_per_tick: f64) -> Answer<Vec<Intervals>> {
    let enough = (20_000.0 / ns_per_tick).max(64.0) as i64;
    let mut groups = vec![Intervals {
        work: 0,
        deltas: once(subject, &[0], 9)?.into(),
    }];
    let mut work = 64_u64;
    loop {
        let long = long_step(&groups, ns_per_tick);
        let deltas = once(subject, &[work], if long.is_some() { 3 } else { 9 })?;
        let mut ordered = deltas.clone();
        ordered.sort_unstable();
        groups.push(Intervals {
            work,
            deltas: deltas.into(),
        });
        let enough = enough.max(long.map_or(0, |least| least.saturating_mul(LONG_STEPS)));
        let most = if long.is_some() { 1 << 34 } else { 1 << 28 };
        if ordered[ordered.len() / 2] >= enough || work >= most {
            return Ok(groups);
        }
        work *= if long.is_some() { 2 } else { 4 };
    }
}

fn once(subject: &mut dyn Subject, work: &[u64], repeat: u32) -> Answer<Vec<i64>> {
    Ok(subject
        .intervals(work, repeat)?
        .into_iter()
        .flatten()
        .collect())
}
