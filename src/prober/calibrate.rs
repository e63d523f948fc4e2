//! Calibrating a reference: its rate, its step, and what a unit of work takes.

use rand::RngExt;
use rand::rngs::StdRng;
use smallvec::smallvec;
use timers::{Answer, During, Fault, Subject};

use crate::analysis::rate;
use crate::analysis::resolution::{Context, Resolution, resolve};
use crate::analysis::singles::successive;
use crate::trace::{Intervals, Reference};

/// How long a rate is watched, in milliseconds.
const WATCH_MS: u32 = 10;

/// Nanoseconds in a tick of `timer` by a reference whose own tick is known, from watching both advance. `None` when the timer
/// does not move or the host cannot watch.
///
/// # Errors
/// Only when the host is lost.
pub fn watched_rate(timer: &mut dyn Subject, reference: &str, reference_ns: f64) -> Answer<Option<f64>> {
    match timer.advance(reference, During::Spin, WATCH_MS) {
        Ok(moved) => Ok(rate::ns_per_tick(moved.timer, moved.reference, reference_ns)),
        Err(Fault::Refused(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
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
    let work_ticks = rate::ticks_per_work(&groups).ok_or_else(|| useless("it does not advance with work"))?;
    let ns_per_work = work_ticks * ns_per_tick;
    let mut bounds = Vec::new();
    for _ in 0..LOOKS {
        match look(subject, ns_per_tick, work_ticks, random)? {
            Resolution::Resolved { step, .. } => {
                return Ok(Reference {
                    id: id.into(),
                    ns_per_tick,
                    step: step.value,
                    ns_per_work,
                    ..Reference::default()
                });
            }
            Resolution::AtMost { bound, .. } => bounds.push(bound),
            Resolution::Unmoved => return Err(useless("it stands still")),
        }
    }
    let step_at_most = bounds.into_iter().reduce(f64::min);
    let step = 1.0;
    Ok(Reference { id: id.into(), ns_per_tick, step, step_at_most, ns_per_work, ..Reference::default() })
}

/// How often the step of a reference is looked for: all that it times hangs on it, and one look may be disturbed.
const LOOKS: u32 = 4;

/// One look at the step of a reference.
fn look(
    subject: &mut dyn Subject,
    ns_per_tick: f64,
    work_ticks: f64,
    random: &mut StdRng,
) -> Answer<Resolution> {
    // Random work over a few hundred nanoseconds and over a few microseconds: steps up to about a microsecond show.
    let mut all = vec![Intervals { work: 0, deltas: once(subject, &[0], 400)?.into() }];
    for span_ns in [120.0, 400.0, 4_000.0] {
        let most = (span_ns / (work_ticks * ns_per_tick)).max(8.0) as u64;
        let work: Vec<u64> = (0..400).map(|_| random.random_range(0..=most)).collect();
        let deltas = once(subject, &work, 1)?;
        all.extend(
            work.into_iter().zip(deltas).map(|(work, delta)| Intervals { work, deltas: smallvec![delta] }),
        );
    }
    // A reference is read in a fixed number of instructions: a nanosecond or two of variation are its own.
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

/// Work that grows until the reference shows it clearly: at least 20 µs and 64 ticks.
fn growing(subject: &mut dyn Subject, ns_per_tick: f64) -> Answer<Vec<Intervals>> {
    let enough = (20_000.0 / ns_per_tick).max(64.0) as i64;
    let mut groups = vec![Intervals { work: 0, deltas: once(subject, &[0], 9)?.into() }];
    let mut work = 64_u64;
    loop {
        let deltas = once(subject, &[work], 9)?;
        let mut ordered = deltas.clone();
        ordered.sort_unstable();
        groups.push(Intervals { work, deltas: deltas.into() });
        if ordered[ordered.len() / 2] >= enough || work >= 1 << 26 {
            return Ok(groups);
        }
        work *= 4;
    }
}

fn once(subject: &mut dyn Subject, work: &[u64], repeat: u32) -> Answer<Vec<i64>> {
    Ok(subject.intervals(work, repeat)?.into_iter().flatten().collect())
}
