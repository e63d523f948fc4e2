//! What changed about nodes that is no figure: platforms, answers about trust, timers that came and went.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::{Fate, PlatformChange, Verdict, platform, trust};
use super::nodes::{Fleets, Row};
use crate::model::{Outcome, Question};

/// Names of nodes that are told where many are concerned.
const MOST_NAMED: usize = 5;

/// How many nodes something is true of, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Concerned {
    /// How many.
    pub nodes: usize,
    /// The first of them.
    pub named: Vec<String>,
}

impl Concerned {
    fn add(&mut self, name: &str) {
        self.nodes += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(name.to_owned());
        }
    }
}

/// Something that differs between the platforms or settings of nodes before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FactChange {
    /// What, from what to what, and what that means.
    #[serde(flatten)]
    pub change: PlatformChange,
    /// Of whom.
    #[serde(flatten)]
    pub concerned: Concerned,
}

/// A question of trust that nodes answered otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerChange {
    /// The timer.
    pub timer: String,
    /// The question.
    pub question: Question,
    /// What the old reports answered.
    pub old: Outcome,
    /// What the new ones answer.
    pub new: Outcome,
    /// What that means.
    pub verdict: Verdict,
    /// Of whom.
    #[serde(flatten)]
    pub concerned: Concerned,
}

/// A timer that nodes have figures of in one of their reports only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FateOfTimer {
    /// The timer.
    pub timer: String,
    /// What became of it.
    pub fate: Fate,
    /// Of whom.
    #[serde(flatten)]
    pub concerned: Concerned,
}

/// What differs between the platforms: what matters most first, then what concerns most nodes. Beside each pair of nodes, what of its
/// platform changed that is loud.
pub(super) fn platforms(fleets: &Fleets) -> (Vec<FactChange>, BTreeMap<usize, Vec<String>>) {
    let mut seen = BTreeMap::<(&str, Option<String>, Option<String>), (PlatformChange, Concerned)>::new();
    let mut loud = BTreeMap::<usize, Vec<String>>::new();
    for (pair, (old, new)) in fleets.both.iter().enumerate() {
        let (old, new) = (&fleets.old[*old], &fleets.new[*new]);
        let frequency = platform::frequency(old.cycles_hz, new.cycles_hz);
        for change in platform::changes(&old.machine, &new.machine).into_iter().chain(frequency) {
            if change.is_loud() {
                let told = [&change.old, &change.new].map(|fact| fact.as_deref().unwrap_or("not reported"));
                let told = format!("{} {} → {}", change.what, told[0], told[1]);
                loud.entry(pair).or_default().push(told);
            }
            let key = (change.what, change.old.clone(), change.new.clone());
            seen.entry(key).or_insert_with(|| (change, Concerned::default())).1.add(&new.name);
        }
    }
    let mut changes: Vec<FactChange> =
        seen.into_values().map(|(change, concerned)| FactChange { change, concerned }).collect();
    changes.sort_by_key(|fact| (!fact.change.is_loud(), std::cmp::Reverse(fact.concerned.nodes)));
    (changes, loud)
}

/// Whether a node answered a question of trust about the timer on both sides.
pub(super) fn is_asked(fleets: &Fleets, timer: usize) -> bool {
    fleets.both.iter().any(|(old, new)| {
        let rows = [fleets.old[*old].row(timer), fleets.new[*new].row(timer)];
        let [Some(before), Some(after)] = rows.map(|row| row.and_then(|row| row.answers.as_ref())) else {
            return false;
        };
        let told = |outcome: &Outcome| *outcome != Outcome::NotTested;
        before.iter().zip(after.iter()).any(|(before, after)| told(before) && told(after))
    })
}

/// Answers about trust that changed, and what became of timers.
pub(super) fn of_timer(fleets: &Fleets, timer: usize) -> (Vec<AnswerChange>, Vec<FateOfTimer>) {
    let mut answers = BTreeMap::<(Question, u8, u8), (Outcome, Outcome, Concerned)>::new();
    let mut fates = Vec::<(Fate, Concerned)>::new();
    for (old, new) in &fleets.both {
        let name = &fleets.new[*new].name;
        let (old, new) = (fleets.old[*old].row(timer), fleets.new[*new].row(timer));
        if let Some(fate) = fate(old, new) {
            let known = fates.iter_mut().find(|(known, _)| *known == fate);
            match known {
                Some((_, concerned)) => concerned.add(name),
                None => {
                    let mut concerned = Concerned::default();
                    concerned.add(name);
                    fates.push((fate, concerned));
                }
            }
        }
        let asked = old.and_then(|row| row.answers.as_ref()).zip(new.and_then(|row| row.answers.as_ref()));
        let Some((before, after)) = asked else { continue };
        let pairs = Question::ALL.into_iter().zip(before.iter().zip(after));
        for (question, (&old, &new)) in pairs.filter(|(_, (old, new))| trust::is_another(**old, **new)) {
            let entry = answers.entry((question, old as u8, new as u8));
            entry.or_insert_with(|| (old, new, Concerned::default())).2.add(name);
        }
    }
    let timer = &fleets.timers[timer];
    let answers = answers.into_iter().map(|((question, ..), (old, new, concerned))| AnswerChange {
        timer: timer.clone(),
        question,
        old,
        new,
        verdict: trust::verdict(old, new),
        concerned,
    });
    let fates =
        fates.into_iter().map(|(fate, concerned)| FateOfTimer { timer: timer.clone(), fate, concerned });
    (answers.collect(), fates.collect())
}

fn fate(old: Option<&Row>, new: Option<&Row>) -> Option<Fate> {
    super::super::fate_of(old.map(|row| row.status), new.map(|row| row.status))
}
