//! Measures a clock of another crate in this process: chooses the reference, asks the clock the
//! questions of several processes one after the other, and watches the core meanwhile.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use estimators::model::Hertz;
use estimators::rate::{Rate, rate_from_paired_readings, tick_over_processes, tightest};
use estimators::statistics::{mean, median_with_percentiles};
use estimators::trace::{Reference, Trace};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use timers::{
    Answer, CoreFrequencyMeter, Described, Entry, Fault, Info, Native, Properties, Subject, Ticks,
    Timer, Unavailable,
};

use crate::figures::Figures;
use crate::prober::{
    Bench, CallsPlan, CoreState, MAX_FREQUENCY_CHANGE, Watcher, calibrate, search_step, time_calls,
    watch_steps,
};

/// A clock that another crate defines.
pub trait TickClock: Sync {
    /// The nanoseconds in a tick; `None` if unknown, as for a counter. They are then measured.
    fn ns_per_tick(&self) -> Option<f64>;

    /// Reads the clock, in ticks. A counter of fewer than 64 bits must not wrap around during the
    /// measurement, which takes less than ten seconds.
    fn read(&self) -> u64;
}

/// Measures the clock on the calling thread. It takes half a second, for a clock with steps of
/// milliseconds and more up to four. The loops that read the clock are compiled with the crate that
/// calls this function, so it should be a release build.
///
/// # Errors
/// When no clock of the system can time the reads.
pub fn characterise<C: TickClock>(clock: &C) -> Answer<Figures> {
    let random = &mut SmallRng::seed_from_u64(SEED);
    let (reference, subject) = open_reference(random)?;
    let bench = Bench {
        timer: Box::new(Native::from_timer(Borrowed(clock))),
        ns_per_tick: clock.ns_per_tick(),
        reference_id: reference.id.clone(),
        floor: open(&timers::floor()).ok(),
        prober: None,
    };
    let mut watch = CoreWatch {
        meter: CoreFrequencyMeter::new().ok(),
        frequencies: Vec::new(),
    };
    let mut trace = observe(bench, subject, reference, &mut watch, random)?;
    let frequency = median_with_percentiles(&watch.frequencies);
    trace.core_hz = frequency.and_then(|hertz| Hertz::new(hertz.value));
    Ok(Figures::from_trace(&trace, frequency))
}

/// The seed of the amounts of work, so that two measurements differ by the clock alone.
const SEED: u64 = 67;

/// How often the calls are timed: as in as many processes of the program by default.
/// *Judgement*.
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

/// Observes the timer on the bench in this process. `clock` is the reference.
///
/// # Errors
/// When a timer refuses.
pub fn observe<R: Rng + SeedableRng>(
    mut bench: Bench<'_>,
    clock: Box<dyn Subject>,
    reference: Reference,
    watch: &mut dyn Watcher,
    random: &mut R,
) -> Answer<Trace> {
    let mut trace = Trace {
        declared: bench.ns_per_tick.is_some(),
        reference,
        ..Trace::default()
    };
    let (mut rates, mut slow) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        let (reference, calls) = (&trace.reference, &CallsPlan::BRIEF);
        let mut run = time_calls(&mut bench, watch, reference, calls, &mut None)?;
        if round < SEARCHES {
            let is_slow = slow > 0 && slow == round;
            let limits = SEARCH_LIMITS;
            let found = search_step(&mut bench, reference, limits, random, is_slow, &mut run)?;
            rates.extend(found.ns_per_tick);
            slow += u32::from(found.slow);
        }
        let compared = bench.timer.comparisons(&reference.id, 0, COMPARISONS);
        let compared = compared.ok().and_then(tightest);
        trace.evidence.sparse_comparisons.extend(compared);
        trace.runs.push(run);
    }
    if 2 * slow > SEARCHES {
        let (clocks, stop) = (&mut [bench.timer, clock], AtomicBool::new(false));
        (trace.slow, _) = watch_steps(clocks, &trace.reference, SLOW_NS, false, random, &stop)?;
    }
    if let Some((ns, uncertainty)) = tick_over_processes(&rates) {
        (trace.ns_per_tick, trace.ns_per_tick_uncertainty) = (Some(ns), uncertainty);
    }
    Ok(trace)
}

/// Opens and calibrates the best clock of this process that can time the reads.
fn open_reference(random: &mut dyn Rng) -> Answer<(Reference, Box<dyn Subject>)> {
    let mut opened = Err(Fault::Refused("there is no clock that can time it".into()));
    for entry in timers::REFERENCES.into_iter().filter_map(timers::find) {
        opened = calibrated(&entry, random);
        if opened.is_ok() {
            break;
        }
    }
    opened
}

fn calibrated(entry: &Entry, random: &mut dyn Rng) -> Answer<(Reference, Box<dyn Subject>)> {
    let mut subject = open(entry)?;
    let id = entry.info.id;
    let rate = match (entry.ns_per_tick)() {
        Some(ns_per_tick) => Rate {
            ns_per_tick,
            uncertainty: 0.0,
            unexplained_deviation_ns: 0.0,
        },
        None => measure_rate(id)?,
    };
    let reference = Reference {
        rate_uncertainty: rate.uncertainty,
        unexplained_deviation_ns: rate.unexplained_deviation_ns,
        ..calibrate(id, subject.as_mut(), rate.ns_per_tick, random)?
    };
    Ok((reference, subject))
}

fn open(entry: &Entry) -> Answer<Box<dyn Subject>> {
    (entry.open)().map_err(|why| Fault::Refused(format!("{}: {why}", entry.info.id)))
}

/// Compares a counter with the clock of the system to find its rate.
fn measure_rate(counter: &str) -> Answer<Rate> {
    /// How often they are compared. *Judgement*.
    const SAMPLES: u32 = 9;
    /// The time between two comparisons. *Judgement*: an error of 50 ns is 1 ppm of five.
    const APART: Duration = Duration::from_millis(10);
    for source in timers::RATE_SOURCES.into_iter().filter_map(timers::find) {
        let Some(ns_per_tick) = (source.ns_per_tick)() else {
            continue;
        };
        let (mut clock, mut samples) = (open(&source)?, Vec::new());
        for _ in 0..SAMPLES {
            samples.extend(tightest(clock.comparisons(counter, 0, COMPARISONS)?));
            timers::pause(APART);
        }
        if let Some(rate) = rate_from_paired_readings(&samples, ns_per_tick) {
            return Ok(rate);
        }
    }
    Err(Fault::Refused(format!(
        "the rate of {counter} is unknown: it can be compared with no clock"
    )))
}

/// Watches the frequency of the core, and repeats questions during which it changed.
struct CoreWatch {
    meter: Option<CoreFrequencyMeter>,
    frequencies: Vec<f64>,
}

impl CoreWatch {
    fn measure(&mut self) -> Option<f64> {
        let hertz = self.meter?.measure()?.hertz;
        self.frequencies.push(hertz);
        Some(hertz)
    }
}

impl Watcher for CoreWatch {
    fn gather(
        &mut self,
        repeat: u32,
        question: &mut dyn FnMut(u32) -> Answer<Vec<i64>>,
    ) -> Answer<(Vec<i64>, CoreState)> {
        /// How often a question is asked at most. *Judgement*.
        const MAX_TRIES: u32 = 3;
        let mut tries = 0;
        loop {
            tries += 1;
            let before = self.measure();
            let values = question(repeat)?;
            let pair = before.zip(self.measure());
            let unstable = pair
                .is_some_and(|(before, after)| (after / before - 1.0).abs() > MAX_FREQUENCY_CHANGE);
            if !unstable || tries == MAX_TRIES {
                let core_hz = pair.and_then(|(before, after)| mean([before, after]));
                let core_hz = core_hz.and_then(Hertz::new);
                return Ok((values, CoreState { core_hz, unstable }));
            }
        }
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
