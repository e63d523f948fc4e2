//! Calibrating a reference: its rate, its step, and what a unit of work takes.

use rand::RngExt;
use rand::rngs::StdRng;
use smallvec::smallvec;
use timers::{Answer, During, Fault, Subject};

use crate::campaign::unless_refused;
use crate::cost::singles::successive;
use crate::rate;
use crate::resolution::{Context, Resolution, resolve};
use crate::trace::{Intervals, Reference};

/// How long the rate of a reference is watched, in milliseconds: all that it times hangs on it
/// until the campaign has seen more.
pub const WATCH_MS: u32 = 10;
/// How long that of a timer is watched that the reference times.
/// *Judgement*: 50 ns at the ends are 17 ppm, of which no figure shows anything.
pub const SHORT_WATCH_MS: u32 = 3;

/// Nanoseconds in a tick of `timer` by a reference whose own tick is known, from watching both
/// advance. `None` when the timer does not move or the host cannot watch.
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

/// Finds out what there is to know about a reference whose tick takes `ns_per_tick` nanoseconds.
///
/// # Errors
/// Refused when the reference does not move or has no step; as the subject otherwise.
pub fn calibrate(
    id: &str,
    subject: &mut dyn Subject,
    ns_per_tick: f64,
    random: &mut StdRng,
) -> Answer<Reference> {
    let useless = |why: &str| Fault::Refused(format!("{id} cannot serve as a reference: {why}"));
    let groups = growing(subject, ns_per_tick)?;
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
    for _ in 0..LOOKS {
        match look(subject, ns_per_tick, work_ticks, random)? {
            Resolution::Resolved { step, .. } => return Ok(calibrated(step.value, None)),
            Resolution::AtMost { bound, .. } => {
                least_bound = Some(least_bound.map_or(bound, |least| bound.min(least)));
            }
            Resolution::Unmoved => return Err(useless("it stands still")),
        }
    }
    Ok(calibrated(1.0, least_bound))
}

/// How often the step of a reference is looked for: all that it times hangs on it, and one look may
/// be disturbed.
const LOOKS: u32 = 4;

/// What a reference moves by at once in a usual look at most, in nanoseconds.
/// *Computed*: the longest work of one.
const USUAL_NS: f64 = 4_000.0;
/// Steps that work grows to where they are long.
/// *Judgement*: the length of a unit of work is then known to a quarter.
const LONG_STEPS: i64 = 4;
/// So many intervals have to be whole multiples of the shortest.
/// *Chance*: were the step a half of that, one in a million would be.
const MULTIPLES: usize = 20;
/// How often intervals are taken, until there are so many.
const TRIES: u32 = 6;

/// The step of a reference whose steps are long, by intervals about as long: what all of them are
/// whole multiples of.
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
        if all.len() >= MULTIPLES {
            break;
        }
        all.extend(moved(&within(
            subject,
            2.0 * least as f64 / work_ticks,
            MULTIPLES as u32 / 2,
            random,
        )?));
    }
    let Some(least) = all.iter().copied().filter(|&delta| delta > 0).min() else {
        return Ok(None);
    };
    let are_multiples = all.iter().all(|delta| delta % least == 0);
    Ok((all.len() >= MULTIPLES && are_multiples).then_some(least as f64))
}

/// Intervals of random work of at most `most` units.
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

/// The least that a reference moved by, in ticks, where that is more than a usual look would see,
/// as in browsers. One that moves in each interval, however short, shows what a read takes.
fn long_step(groups: &[Intervals], ns_per_tick: f64) -> Option<i64> {
    let all = || groups.iter().flat_map(|group| &group.deltas).copied();
    let least = all()
        .filter(|&delta| delta > 0)
        .min()
        .filter(|_| all().any(|delta| delta == 0));
    least.filter(|&least| least as f64 * ns_per_tick > USUAL_NS)
}

/// One look at the step of a reference.
fn look(
    subject: &mut dyn Subject,
    ns_per_tick: f64,
    work_ticks: f64,
    random: &mut StdRng,
) -> Answer<Resolution> {
    // Random work over a few hundred nanoseconds and over a few microseconds: steps up to about a
    // microsecond show.
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
    // A reference is read in a fixed number of instructions: a nanosecond or two of variation are
    // its own.
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

/// Work that grows until the reference shows it clearly: at least 20 µs and 64 ticks, and some
/// steps where these are long.
fn growing(subject: &mut dyn Subject, ns_per_tick: f64) -> Answer<Vec<Intervals>> {
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
