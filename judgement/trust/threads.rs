//! Judges whether a timer steps backwards within a thread (monotonic) or between threads
//! (thread-safe).

use super::{Case, Judged, how_often, reference, times};
use estimators::model::{Counted, Monotonic, Outcome, ThreadSafe};
use estimators::numbers::significant;
use estimators::rate::order::{Backward, EXPECTED_FOR_DETECTION, MIN_CHANGES, offsets};
use estimators::trace::Threads;

/// Pairs of readings, the second after the first.
struct Ordered<'a> {
    /// What they are, for people.
    pairs: &'static str,
    count: u64,
    backward: Backward,
    /// At least so many pairs have readings that differ; `None` if unknown.
    changes: Option<u64>,
    /// The fewest of them that prove something.
    min_changes: u32,
    /// Why they prove nothing, if they do not.
    why_not: Option<&'a str>,
    /// Where they were taken, for the end of a sentence.
    place: String,
}

impl Ordered<'_> {
    fn judge(&self, case: &Case) -> Judged {
        let (count, pairs, place) = (self.count, self.pairs, &self.place);
        let detectable = self.changes.map_or(String::new(), |changes| {
            let share = significant(100.0 * EXPECTED_FOR_DETECTION / changes as f64, 2);
            match changes < MIN_CHANGES.into() {
                true => format!("; its value changed {}, too seldom to detect steps back", times(changes)),
                false => format!("; steps back at {share} % of the {changes} changes of its value would have been detected"),
            }
        });
        if self.backward.steps > 0 {
            let often = how_often(self.backward, case.figures.ns_per_tick);
            let evidence = format!("it stepped backwards {often}, in {count} {pairs}{place}");
            return (Outcome::Fail, evidence);
        }
        if let Some(why) = self.why_not {
            return (Outcome::NotTested, format!("{pairs} show nothing: {why}"));
        }
        let is_enough = |changes| changes >= self.min_changes.into();
        let outcome = match self.changes.is_none_or(is_enough) {
            true => Outcome::Pass,
            false => Outcome::NotTested,
        };
        let evidence = format!("{count} {pairs} never stepped backwards{place}{detectable}");
        (outcome, evidence)
    }

    /// The largest step backwards in nanoseconds; `None` if there is none, or the tick is unknown.
    fn largest_ns(&self, case: &Case) -> Option<f64> {
        let largest = Some(self.backward.largest).filter(|ticks| *ticks > 0)?;
        case.ticks_to_ns(largest as f64)
    }
}

/// Judges whether readings that are handed from thread to thread step backwards.
pub(super) fn judge_between_threads(case: &Case) -> ThreadSafe {
    let none = Threads::default();
    let threads = case.evidence().threads.as_ref().unwrap_or(&none);
    let all = || threads.pairs.iter();
    let handoffs: u64 = all().map(|pair| u64::from(pair.handoffs)).sum();
    let worst = all().max_by_key(|pair| pair.largest);
    let backward = Backward {
        steps: all().map(|pair| u64::from(pair.backward)).sum(),
        largest: worst.map_or(0, |pair| pair.largest),
    };
    let (chosen, possible) = (
        all().filter(|pair| pair.cpus.is_some()).count(),
        threads.possible_pairs,
    );
    let kind = case.device.map_or("CPU", |_| "place");
    let place = match worst.and_then(|pair| pair.cpus) {
        Some([a, b]) if backward.steps > 0 => format!(", most between {kind} {a} and {kind} {b}"),
        Some(_) => format!(", in {chosen} of {possible} pairs of {kind}s"),
        None => format!(", on {kind}s chosen by the system"),
    };
    let refused = || case.refusal("handoffs").unwrap_or("none were asked for");
    let is_alone = possible == 0 && case.device.is_none();
    let ordered = Ordered {
        pairs: "handoffs between threads",
        count: handoffs,
        backward,
        changes: all().map(|pair| Some(u64::from(pair.changed?))).sum(),
        min_changes: MIN_CHANGES,
        why_not: (handoffs == 0)
            .then(refused)
            .or(is_alone.then_some("there is one CPU only")),
        place,
    };
    let (outcome, evidence) = match case.claimed() {
        Some(Counted::ThreadCpu | Counted::ThreadCycles) => {
            let evidence = "it counts for one thread; readings of two cannot be compared";
            (Outcome::NotApplicable, evidence.into())
        }
        _ => ordered.judge(case),
    };
    let step = case.step_ns().zip(case.figures.ns_per_tick);
    ThreadSafe {
        outcome,
        evidence,
        handoffs,
        backward_steps: backward.steps,
        largest_ns: ordered.largest_ns(case),
        rounds: threads.rounds,
        pairs: chosen as u32,
        pairs_possible: possible,
        offsets: step.map_or(Vec::new(), |(step_ns, ns)| {
            offsets(&threads.pairs, step_ns / ns, ns)
        }),
    }
}

/// Judges whether successive readings of one thread step backwards.
pub(super) fn judge_one_thread(case: &Case) -> Monotonic {
    let order = case.evidence().order.unwrap_or_default();
    let moves = case.device.map_or(order.moves, |_| 0);
    let of_order = Backward {
        steps: order.backward,
        largest: order.largest,
    };
    let runs = case.trace.runs.iter();
    let own = || runs.clone().map(|run| &run.readings.values);
    let readings = order.readings + own().map(|values| values.len() as u64).sum::<u64>();
    let step = case.figures.resolution.step_or_limit().unwrap_or(1.0);
    let in_order = (order.readings == 0)
        .then_some(0)
        .or_else(|| order.changes(step));
    let changed = own().flat_map(|values| values.iter().zip(values.iter().skip(1)));
    let changed = changed.filter(|(one, next)| one != next).count() as u64;
    let refused = case.refusal("readings").filter(|_| order.readings == 0);
    let ordered = Ordered {
        pairs: "readings of one thread",
        count: readings,
        // Those of the order check, of the successive readings of each process, and of comparisons
        // with the reference.
        backward: of_order
            .and(case.figures.backward)
            .and(reference::timer_backward_steps(case)),
        changes: in_order.map(|changes| changes + changed),
        min_changes: 1,
        why_not: (readings == 0).then_some("there are none").or(refused),
        place: match moves {
            0 => String::new(),
            _ => {
                let cpus = order.cpus;
                format!(", while the thread was moved {moves} times among {cpus} CPUs")
            }
        },
    };
    let (outcome, evidence) = ordered.judge(case);
    Monotonic {
        outcome,
        evidence,
        readings,
        backward_steps: ordered.backward.steps,
        largest_ns: ordered.largest_ns(case),
        moves,
    }
}
