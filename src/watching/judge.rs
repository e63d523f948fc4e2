//! Derives events from samples of the clocks.

use super::pause::MachineRates;
use super::rates::{Change, Rates, Window};
use super::samples::{Samples, Stability};
use super::{Cause, Event, EventKind, Look, Machine};
use crate::model::Interval;

/// Tolerated change of the offset between two clocks from sample to sample, in nanoseconds, in
/// addition to the duration of both samples. *Judgement*: four steps of the slowest clock source
/// but the tick, of 279 ns (`acpi_pm`).
const STEPS_NS: i64 = 1_117;

/// The shortest suspend, in nanoseconds.
/// *Judgement*: no machine sleeps and wakes in less.
const SUSPEND_NS: i64 = 1_000_000;

/// Tolerated deviation of the counter from its rate, in nanoseconds, in addition to the uncertainty
/// of the rate. *Judgement*: counters of different CPUs agree better where a clock can go by them.
const JUMP_NS: f64 = 20_000.0;

/// Tolerated change of the rate of a counter between samples, as a share.
/// *Judgement*: twenty times what a crystal does in a second.
const MAX_RATE_WANDER: f64 = 2e-6;

/// Deviation, as a share of the time between two samples, that may be a changed rate, which the
/// windows detect. *Judgement*: twice the most that the kernel lets a rate be trimmed by.
const RATE_CHANGE_SHARE: f64 = 1e-3;

/// Seconds by which the RTC has to be ahead: each of two readings has an error of up to a second.
/// *Computed*.
const MIN_FROZEN_S: f64 = 2.0;

const SECOND: f64 = 1e9;

/// Judges successive samples.
#[derive(Clone, Debug)]
pub struct Judge {
    /// The shortest pause that is reported, in nanoseconds.
    shortest_pause: i64,
    first: Option<Look>,
    last: Option<Look>,
    machine: Option<(i64, Machine)>,
    usual: MachineRates,
    slew: Rates,
    counter: Rates,
    /// The trim of the rate, in ppm, at the start of the last settled window of `slew` and at the
    /// start of the current window.
    trims: [Option<f64>; 2],
    slewed: Samples,
    counted: Samples,
}

impl Judge {
    /// Creates a judge that reports pauses of at least this length, in nanoseconds.
    #[must_use]
    pub fn new(shortest_pause_ns: i64) -> Self {
        Self {
            shortest_pause: shortest_pause_ns,
            first: None,
            last: None,
            machine: None,
            usual: MachineRates::default(),
            slew: Rates::default(),
            counter: Rates::default(),
            trims: [None; 2],
            slewed: Samples::default(),
            counted: Samples::default(),
        }
    }

    /// Returns whether a sample is so late that the state of the machine should be read.
    #[must_use]
    pub fn is_late(&self, look: &Look) -> bool {
        look.monotonic.saturating_sub(look.planned) >= self.shortest_pause
    }

    /// Returns the stability of MONOTONIC relative to RAW, and of the counter relative to RAW.
    #[must_use]
    pub fn stability(&self) -> [Vec<Stability>; 2] {
        [self.slewed.stability(), self.counted.stability()]
    }

    /// Returns the seconds from the first sample to the last, on the clock that continues during a
    /// suspend.
    #[must_use]
    pub fn watched_s(&self) -> f64 {
        self.first
            .as_ref()
            .zip(self.last.as_ref())
            .map_or(0.0, |(first, last)| since(first, last))
    }

    /// Judges the next sample and returns its events.
    pub fn look(&mut self, look: Look) -> Vec<Event> {
        let (Some(first), Some(last)) = (self.first.clone(), self.last.take()) else {
            self.note(&look);
            self.trims = [look.trim_ppm; 2];
            self.last = Some(look.without_machine());
            self.first.clone_from(&self.last);
            return Vec::new();
        };
        let context = EventContext {
            first: &first,
            look: &look,
        };
        let mut events = Vec::new();
        let slept = suspend(&context, &last, &mut events);
        step(&context, &last, &mut events);
        let paused = !slept && self.pause(&context, &last, &mut events);
        self.frozen(&context, slept, &mut events);
        let source = self.source(&context, &mut events);
        if slept || source {
            self.slew.interrupt();
            self.counter.forget();
            self.slewed.forget();
            self.counted.forget();
        } else {
            self.rates(&context, &last, paused, &mut events);
        }
        self.note(&look);
        self.last = Some(look.without_machine());
        events
    }

    fn note(&mut self, look: &Look) {
        let late = self.is_late(look);
        if let Some(machine) = &look.machine {
            self.usual.note(look.monotonic, machine, late);
            self.machine = Some((look.boottime.unwrap_or(look.monotonic), machine.clone()));
        }
    }

    fn pause(&self, context: &EventContext<'_>, last: &Look, events: &mut Vec<Event>) -> bool {
        let look = context.look;
        if !self.is_late(look) {
            return false;
        }
        let late = look.monotonic - look.planned;
        let waited = look
            .waited
            .zip(last.waited)
            .and_then(|(now, then)| now.checked_sub(then));
        let cause = self.usual.cause(look, late, waited);
        // The pause began between the last sample and the planned time of this one.
        let most = look.monotonic - last.monotonic;
        events.push(context.time_event(EventKind::Pause, cause, late, [late, most.max(late)]));
        true
    }

    /// Detects that all clocks except the RTC stood still.
    fn frozen(&self, context: &EventContext<'_>, slept: bool, events: &mut Vec<Event>) {
        let look = context.look;
        let Some((then, before)) = self.machine.as_ref().filter(|_| !slept) else {
            return;
        };
        let now = look.boottime.unwrap_or(look.monotonic);
        let rtc = look
            .machine
            .as_ref()
            .and_then(|machine| Some(machine.rtc_s? - before.rtc_s?));
        let Some(rtc) = rtc else { return };
        let passed = (now - then) as f64 / SECOND;
        let stood = rtc as f64 - passed;
        if stood >= MIN_FROZEN_S {
            let event = context.event(EventKind::Frozen, Cause::Machine, "s");
            events.push(Event {
                size: Some(Interval::with_ends(stood, Some((stood - 1.0, stood + 1.0)))),
                ..event
            });
        }
    }

    fn source(&self, context: &EventContext<'_>, events: &mut Vec<Event>) -> bool {
        let was = self
            .machine
            .as_ref()
            .and_then(|(_, machine)| machine.source.as_deref());
        let machine = context.look.machine.as_ref();
        let (Some(was), Some(machine)) = (was, machine) else {
            return false;
        };
        let Some(is) = machine.source.as_deref().filter(|is| *is != was) else {
            return false;
        };
        // A clock source that the kernel rejected is no longer available.
        let offered = machine.sources.iter().any(|source| source == was);
        let cause = if offered {
            Cause::Chosen
        } else {
            Cause::KernelGaveUp
        };
        let event = context.event(EventKind::Source, cause, "");
        events.push(Event {
            note: format!("{was} → {is}"),
            ..event
        });
        true
    }

    fn rates(
        &mut self,
        context: &EventContext<'_>,
        last: &Look,
        paused: bool,
        events: &mut Vec<Event>,
    ) {
        let (first, look) = (context.first, context.look);
        let (Some(raw), Some(began)) = (look.raw, first.raw) else {
            return;
        };
        let passed = (raw - began) as f64;
        let took = (look.took + STEPS_NS) as f64;
        // The machine state is compared first, because windows that contain a change of source are
        // invalid.
        let ahead = (look.monotonic - first.monotonic) as f64 - passed;
        self.slewed.add(passed / SECOND, ahead / SECOND);
        if look.machine.is_some() {
            let monotonic = (look.monotonic - first.monotonic) as f64;
            match self.slew.add(monotonic, passed, took) {
                Window::Open => {}
                Window::Settled => self.trims = [self.trims[1], look.trim_ppm],
                Window::Changed(change) => {
                    events.push(self.slewed_by(context, change));
                    self.slewed.forget();
                }
            }
        }
        let (Some(counter), Some(zero)) = (look.counter, first.counter) else {
            return;
        };
        let counted = counter.wrapping_sub(zero) as i64 as f64;
        if let Some(jump) = self.jump(look, last) {
            let cause = if paused {
                Cause::Migration
            } else {
                Cause::Counter
            };
            events.push(context.time_event(EventKind::CounterJump, cause, jump.0, jump.1));
            self.counter.forget();
            self.counted.forget();
            return;
        }
        if let Some((rate, _)) = self.counter.rate() {
            self.counted
                .add(passed / SECOND, (counted / rate - passed) / SECOND);
        }
        if look.machine.is_some()
            && let Window::Changed(change) = self.counter.add(counted, passed, took)
        {
            events.push(context.rate_event(EventKind::CounterRate, Cause::Counter, change));
            self.counted.forget();
        }
    }

    fn slewed_by(&mut self, context: &EventContext<'_>, change: Change) -> Event {
        let trim_ppm = context.look.trim_ppm;
        let trimmed = trim_ppm.zip(self.trims[0]).map(|(now, then)| now - then);
        self.trims = [trim_ppm; 2];
        let agrees = trimmed.is_some_and(|ppm| {
            (ppm - change.ppm).abs() <= change.error_ppm + change.ppm.abs() / 2.0
        });
        let cause = if agrees {
            Cause::Discipline
        } else {
            Cause::Kernel
        };
        context.rate_event(EventKind::Slew, cause, change)
    }

    /// Returns how far the counter deviates from its rate, with the lower and upper bound, in
    /// nanoseconds.
    fn jump(&self, look: &Look, last: &Look) -> Option<(i64, [i64; 2])> {
        let (rate, error) = self.counter.rate()?;
        let passed = (look.raw? - last.raw?) as f64;
        let counted = look.counter?.wrapping_sub(last.counter?) as i64 as f64;
        let off = counted / rate - passed;
        let open = bracket(look, last) as f64
            + (passed.abs() + off.abs()) * (error / rate.abs() + MAX_RATE_WANDER);
        (off.abs() > open + JUMP_NS + passed.abs() * RATE_CHANGE_SHARE)
            .then_some((off as i64, [(off - open) as i64, (off + open) as i64]))
    }
}

/// Returns the uncertainty of a change of the offset between two clocks, in nanoseconds.
fn bracket(look: &Look, last: &Look) -> i64 {
    look.took + last.took + STEPS_NS
}

fn since(first: &Look, look: &Look) -> f64 {
    let time = |look: &Look| look.boottime.unwrap_or(look.monotonic);
    (time(look) - time(first)) as f64 / SECOND
}

fn suspend(context: &EventContext<'_>, last: &Look, events: &mut Vec<Event>) -> bool {
    let look = context.look;
    let offset = |look: &Look| Some(look.boottime? - look.monotonic);
    let Some(slept) = offset(look).zip(offset(last)).map(|(now, then)| now - then) else {
        return false;
    };
    let open = bracket(look, last);
    if slept <= SUSPEND_NS.max(open) {
        return false;
    }
    events.push(context.time_event(
        EventKind::Suspend,
        Cause::Suspend,
        slept,
        [slept - open, slept + open],
    ));
    true
}

fn step(context: &EventContext<'_>, last: &Look, events: &mut Vec<Event>) {
    let look = context.look;
    let offset = |look: &Look| Some(look.realtime? - look.boottime.unwrap_or(look.monotonic));
    let Some(set) = offset(look).zip(offset(last)).map(|(now, then)| now - then) else {
        return;
    };
    let open = bracket(look, last);
    if set.abs() <= open {
        return;
    }
    let tai = look
        .tai_offset_s
        .zip(last.tai_offset_s)
        .map_or(0, |(now, then)| now - then);
    let leap = tai != 0 && (set + tai.saturating_mul(1_000_000_000)).abs() <= open;
    let cause = if leap {
        Cause::LeapSecond
    } else {
        Cause::ClockSet
    };
    events.push(context.time_event(EventKind::Step, cause, set, [set - open, set + open]));
}

/// The first sample, and the sample that the events belong to.
struct EventContext<'a> {
    first: &'a Look,
    look: &'a Look,
}

impl EventContext<'_> {
    fn event(&self, kind: EventKind, cause: Cause, unit: &str) -> Event {
        Event {
            kind,
            cause,
            at_s: self.look.realtime.unwrap_or(0) as f64 / SECOND,
            since_s: since(self.first, self.look),
            size: None,
            unit: unit.to_owned(),
            note: String::new(),
        }
    }

    fn time_event(&self, kind: EventKind, cause: Cause, size: i64, ends: [i64; 2]) -> Event {
        let [size, low, high] = [size, ends[0], ends[1]].map(|ns| ns as f64 / SECOND);
        Event {
            size: Some(Interval::with_ends(size, Some((low, high)))),
            ..self.event(kind, cause, "s")
        }
    }

    fn rate_event(&self, kind: EventKind, cause: Cause, change: Change) -> Event {
        let Change { ppm, error_ppm } = change;
        let ends = (ppm - error_ppm, ppm + error_ppm);
        Event {
            size: Some(Interval::with_ends(ppm, Some(ends))),
            ..self.event(kind, cause, "ppm")
        }
    }
}
