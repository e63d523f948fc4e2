//! Measures a clock of another crate in this process: chooses the reference, and asks the clock the
//! questions of several processes one after the other.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use estimators::model::{Estimate, Hertz};
use estimators::numbers::time;
use estimators::rate::{tick_over_processes, tightest};
use estimators::statistics::median_with_percentiles;
use estimators::trace::{Reference, Trace};
use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};
use timers::os::counters::CounterSource;
use timers::{
    Answer, CoreFrequencyMeter, Deadline, Described, Entry, Fault, Info, Native, Properties,
    REFERENCES, Subject, Ticks, Timer, TimerQuestion, Unavailable, Values, find, is_tick,
};

use crate::characteristics::Characteristics;
use crate::prober::{calibrate, find_step, step_question, time_calls_briefly, watch_steps};

/// A clock that another crate defines.
pub trait TickClock: Sync {
    /// The nanoseconds in a tick; `None` if unknown, as for a counter. They are then measured.
    fn ns_per_tick(&self) -> Option<f64>;

    /// Reads the clock, in ticks. A counter of fewer than 64 bits must not wrap around during the
    /// measurement, which takes less than ten seconds.
    fn read(&self) -> u64;
}

/// Measures the clock on the calling thread, by the monotonic clock of the system. It takes a quarter of a second, up to four for a
/// clock with long steps and for slow reads, but at least three reads; beside busy programs a second more, and longer by what they take of
/// the CPU. The loops that read the clock are compiled with the crate that calls this
/// function, so it should be a release build.
///
/// # Errors
/// When no clock of the system can time the reads, or no clock has the declared tick.
pub fn characterise<C: TickClock>(clock: &C) -> Answer<Characteristics> {
    let tick = clock.ns_per_tick();
    if let Some(ns) = tick.filter(|ns| !is_tick(*ns)) {
        return Err(Fault::Refused(format!("no clock has a tick of {ns} ns")));
    }
    let random = &mut SmallRng::seed_from_u64(0);
    let calibrated = |entry: Entry| {
        let (ns_per_tick, mut subject) = ((entry.ns_per_tick)()?, (entry.open)().ok()?);
        let found = calibrate(entry.info.id, subject.as_mut(), ns_per_tick, random);
        Some((found.ok()?, subject))
    };
    let mut references = REFERENCES.into_iter().filter_map(find);
    let (reference, subject) = references
        .find_map(calibrated)
        .ok_or_else(|| Fault::Refused("no clock of the system can time the reads".into()))?;
    let native = Native::from_timer(Borrowed(clock));
    let mut timer = Box::new(Calm(native, Deadline::after(REPETITION)));
    let reads = timer.batches(&reference.id, 1, 3)?;
    let read_ns = reference.ns(0, reads.into_iter().min().unwrap_or(0));
    if read_ns > MAX_READ_NS {
        return Ok(Characteristics {
            cost: Some(Estimate::unbounded(read_ns)),
            reason: Some(format!(
                "a read takes {}, too long to find a step",
                time(read_ns)
            )),
            ..Characteristics::default()
        });
    }
    let meter = CoreFrequencyMeter::new().ok();
    let mut frequency = || Some(meter?.measure()?.hertz);
    let before = switches();
    let (trace, hertz) = observe([timer, subject], tick, reference, &mut frequency, random)?;
    Ok(Characteristics::from_trace(&trace, hertz).beside_others(switches().saturating_sub(before)))
}

/// The longest read, in nanoseconds, of a clock whose step is searched for. *Computed*: the reads of all rounds, of
/// a few thousand each, then take two seconds at most.
const MAX_READ_NS: f64 = 2e4;
/// How long interrupted intervals are repeated. *Judgement*.
const REPETITION: Duration = Duration::from_secs(1);

/// How often the calls are timed. *Judgement*: as many processes as the program starts by default.
const ROUNDS: u32 = 13;
/// In how many of these rounds the step is searched for. *Judgement*: as [`ROUNDS`].
const SEARCHES: u32 = 3;
/// The time of the intervals of a search, and the longest work, in nanoseconds. *Judgement*: as
/// [`ROUNDS`].
const SEARCH_LIMITS: [f64; 2] = [5e6, 5e5];
/// The time in nanoseconds for which a clock with longer steps is watched. *Judgement*: as
/// [`ROUNDS`].
const SLOW_NS: f64 = 3.2e9;
/// Comparisons of two clocks, of which the tightest counts. *Judgement*: as [`ROUNDS`].
const COMPARISONS: u32 = 9;

/// Observes a timer in this process; `clock` is the reference, `ns_per_tick` the declared tick, and `frequency` returns that of the core in hertz. Returns the
/// observations, and the frequency in the meantime.
///
/// # Errors
/// When a timer refuses.
pub fn observe<R: Rng + SeedableRng>(
    [mut timer, clock]: [Box<dyn Subject + '_>; 2],
    ns_per_tick: Option<f64>,
    reference: Reference,
    frequency: &mut dyn FnMut() -> Option<f64>,
    random: &mut R,
) -> Answer<(Trace, Option<Estimate>)> {
    let mut trace = Trace {
        declared: ns_per_tick.is_some(),
        ..Trace::default()
    };
    let (mut rates, mut frequencies, mut slow) = (Vec::new(), Vec::new(), 0);
    for round in 0..ROUNDS {
        let run = time_calls_briefly(timer.as_mut(), None, &reference)?;
        let hertz = frequency();
        frequencies.extend(hertz);
        let mut run = run.with_core_state(hertz.and_then(Hertz::new), false);
        if round < SEARCHES {
            let (subject, references) = (timer.as_mut(), [&reference; 2]);
            let seed = random.random();
            let limits = SEARCH_LIMITS;
            let question = step_question(subject, ns_per_tick, references, limits, seed, &mut run)?;
            let (intervals, is_slow) = find_step::<R>(subject, &question)?;
            run.intervals = intervals;
            rates.extend(question.ns_per_tick);
            slow += u32::from(is_slow);
        }
        let compared = timer.comparisons(&reference.id, 0, COMPARISONS);
        let compared = compared.ok().and_then(tightest);
        trace.evidence.sparse_comparisons.extend(compared);
        trace.runs.push(run);
    }
    if 2 * slow > SEARCHES {
        let (clocks, stop) = (&mut [timer, clock], AtomicBool::new(false));
        (trace.slow, _) = watch_steps(clocks, &reference, SLOW_NS, false, random, &stop)?;
    }
    if let Some((ns, uncertainty)) = tick_over_processes(&rates) {
        (trace.ns_per_tick, trace.ns_per_tick_uncertainty) = (Some(ns), uncertainty);
    }
    let hertz = median_with_percentiles(&frequencies);
    trace.core_hz = hertz.and_then(|hertz| Hertz::new(hertz.value));
    trace.reference = reference;
    Ok((trace, hertz))
}

/// How often another thread took the CPU from this one, as far as the system tells.
fn switches() -> u64 {
    CounterSource::of_this_thread().map_or(0, |found| found.switches)
}

/// A timer whose intervals are measured again until the deadline where another thread took the CPU, as their
/// steps would seem longer; after it they are left out.
struct Calm<'a>(Native<'a>, Deadline);

impl Subject for Calm<'_> {
    fn answer(&mut self, question: TimerQuestion) -> Answer<Values> {
        self.0.answer(question)
    }

    fn intervals(&mut self, work: &[u64], repeat: u32) -> Answer<Vec<Vec<i64>>> {
        let mut row = |&work| {
            loop {
                let before = switches();
                let deltas = self.0.intervals(&[work], repeat)?.concat();
                if switches() == before {
                    return Ok(deltas);
                } else if self.1.remaining().is_none() {
                    return Ok(Vec::new());
                }
            }
        };
        work.iter().map(&mut row).collect()
    }
}

/// A clock of another crate as a timer.
struct Borrowed<'a, C>(&'a C);

impl<C> Described for Borrowed<'_, C> {
    const INFO: Info = Info {
        id: "clock",
        label: "read()",
        ns_per_tick: None,
        properties: Properties::UNKNOWN,
    };
}

impl<C: TickClock> Timer for Borrowed<'_, C> {
    type Reading = u64;

    fn open() -> Result<Self, Unavailable> {
        Err(Unavailable::because("it is open before it is measured"))
    }

    #[inline(always)]
    fn read(&self) -> u64 {
        self.0.read()
    }

    fn ticks(&self, reading: u64) -> Ticks {
        Ticks(reading)
    }
}
