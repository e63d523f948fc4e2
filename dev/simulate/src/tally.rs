//! Counts what was found of simulated cases, by kind of case, and judges the counts: whether the
//! share of some answer, or of the intervals that contain the truth, misses a requirement by more
//! than chance. All modes of `simulate` use this.

use std::collections::BTreeMap;

use reporting::parallel;
use serde::Serialize;
use statrs::distribution::{Binomial, DiscreteCDF};
use timers::Answer;

use super::figure::{FigureScore, FoundFigure, Unit};

/// The probability that chance alone fails a requirement, of all kinds together.
/// *Judgement*: one run in a hundred.
const FALSE_ALARM_RATE: f64 = 0.01;

/// What was found of one simulated case.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// The kinds that the case belongs to.
    pub kinds: Vec<String>,
    /// Answers to questions about what was found.
    pub answers: Vec<(&'static str, bool)>,
    /// The figures with their truth.
    pub figures: Vec<(&'static str, FoundFigure, Unit)>,
    /// What was found, if it is wrong.
    pub wrong: Option<String>,
}

/// Judges each case, on all CPUs.
///
/// # Errors
/// If a simulated timer does not answer a question. Simulated timers answer all of them.
pub fn judge_all<T: Sync>(
    cases: &[T],
    judge: impl Fn(&T) -> Answer<Judged> + Sync,
) -> Answer<Vec<Judged>> {
    parallel::map(cases, judge).into_iter().collect()
}

/// How often something is so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// The number of times that it is so.
    pub yes: u32,
    /// The number of times that it might be.
    pub of: u32,
}

impl Share {
    /// The share in percent; `None` of nothing.
    #[must_use]
    pub fn percent(self) -> Option<f64> {
        (self.of > 0).then(|| 100.0 * f64::from(self.yes) / f64::from(self.of))
    }
}

/// The counts of the cases of one kind.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// The number of cases.
    pub cases: u32,
    /// How often each question was answered by yes.
    pub answers: BTreeMap<&'static str, Share>,
    /// The figures.
    pub figures: BTreeMap<&'static str, FigureScore>,
}

impl Tally {
    fn add(&mut self, judged: &Judged) {
        self.cases += 1;
        for (name, answer) in &judged.answers {
            let share = self.answers.entry(*name).or_default();
            share.of += 1;
            share.yes += u32::from(*answer);
        }
        for (name, found, unit) in &judged.figures {
            self.figures.entry(*name).or_default().add(found, *unit);
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The cases in which a question is answered by yes.
    Answer(&'static str),
    /// The intervals that contain the truth, of each figure whose name begins so.
    Covered(&'static str),
}

/// The cases that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All.
    All,
    /// Those of each kind.
    EachKind,
}

/// The shares that are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This share or more.
    AtLeast(f64),
    /// This share or less.
    AtMost(f64),
}

/// What is required of a share.
#[derive(Clone, Copy, Debug)]
pub struct Requirement(pub Question, pub Among, pub Bound);

impl Bound {
    /// The probability that a share is as far beyond the bound, or farther, if the true one is at the
    /// bound.
    fn p_value(self, Share { yes, of }: Share) -> f64 {
        let binomial = |share| Binomial::new(share, of.into()).expect("a share");
        match (self, yes) {
            (Self::AtLeast(share), _) => binomial(share).cdf(yes.into()),
            (Self::AtMost(_), 0) => 1.0,
            (Self::AtMost(share), _) => binomial(share).sf(u64::from(yes) - 1),
        }
    }
}

impl Requirement {
    /// Returns a sentence for each share that misses the requirement by more than chance (S. Holm,
    /// *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of Statistics
    /// 6, 1979): in ascending order of p-value, each at its own level, until one does not.
    fn failures(&self, outcome: &Outcome) -> Vec<String> {
        let Self(counted, among, bound) = self;
        let kinds: Vec<(&str, &Tally)> = match among {
            Among::All => vec![("all", &outcome.all)],
            Among::EachKind => outcome
                .kinds
                .iter()
                .map(|(kind, of)| (&**kind, of))
                .collect(),
        };
        let mut shares: Vec<(String, Share)> = Vec::new();
        for (kind, tally) in kinds {
            match counted {
                Question::Answer(name) => {
                    let share = tally.answers.get(name);
                    shares.extend(share.map(|share| (format!("{kind}: {name}"), *share)));
                }
                Question::Covered(begin) => {
                    let figures = tally
                        .figures
                        .iter()
                        .filter(|(name, _)| name.starts_with(begin));
                    shares.extend(figures.map(|(name, score)| {
                        let found = score.summary();
                        let (yes, of) = (found.covered, found.intervals);
                        (format!("{kind}: {name} covered"), Share { yes, of })
                    }));
                }
            }
        }
        shares.sort_by(|a, b| bound.p_value(a.1).total_cmp(&bound.p_value(b.1)));
        let count = shares.len();
        let each = shares.into_iter().enumerate();
        let failed = each.take_while(|(at, (_, share))| {
            bound.p_value(*share) < FALSE_ALARM_RATE / (count - at) as f64
        });
        failed
            .map(|(_, (name, share))| {
                let (bound, wanted) = match bound {
                    Bound::AtLeast(wanted) => ("at least", wanted),
                    Bound::AtMost(wanted) => ("at most", wanted),
                };
                let (percent, wanted) = (share.percent().unwrap_or(0.0), 100.0 * wanted);
                format!(
                    "{name} in {percent:.1} % of {}, {bound} {wanted} % required",
                    share.of
                )
            })
            .collect()
    }
}

/// What was found of all cases.
#[derive(Debug, Default, Serialize)]
pub struct Outcome {
    /// The counts by kind.
    pub kinds: BTreeMap<String, Tally>,
    /// The counts of all cases.
    pub all: Tally,
    /// A sentence for each requirement that is not met.
    pub failures: Vec<String>,
    /// What was found wrongly.
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Counts what was found, and judges the counts.
    #[must_use]
    pub fn new(judged: Vec<Judged>, requirements: &[Requirement]) -> Self {
        let mut outcome = Self::default();
        for one in judged {
            outcome.all.add(&one);
            for kind in &one.kinds {
                outcome.kinds.entry(kind.clone()).or_default().add(&one);
            }
            let kinds = one.kinds.join(", ");
            outcome
                .wrong
                .extend(one.wrong.map(|wrong| format!("{kinds}: {wrong}")));
        }
        let failures = requirements.iter().flat_map(|it| it.failures(&outcome));
        let failures = failures.collect();
        Self {
            failures,
            ..outcome
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Judges cases of kinds, of each so many yes of so many.
    fn fails(kinds: &[(u32, u32)], among: Among, bound: Bound) -> bool {
        let mut judged = Vec::new();
        for (kind, (yes, of)) in kinds.iter().enumerate() {
            judged.extend((0..*of).map(|number| Judged {
                kinds: vec![kind.to_string()],
                answers: vec![("right", number < *yes)],
                figures: vec![(
                    "cost",
                    FoundFigure {
                        truth: Some(1.0),
                        low: Some(if number < *yes { 0.0 } else { 2.0 }),
                        high: Some(3.0),
                        ..FoundFigure::default()
                    },
                    Unit::Percent,
                )],
                wrong: None,
            }));
        }
        let [one, other] = [Question::Answer("right"), Question::Covered("")].map(|counted| {
            let requirement = [Requirement(counted, among, bound)];
            !Outcome::new(judged.clone(), &requirement)
                .failures
                .is_empty()
        });
        assert_eq!(one, other);
        one
    }

    #[test]
    fn share_beyond_chance_fails() {
        let (most, each) = (Bound::AtMost(0.01), Bound::AtLeast(0.9));
        let with = |low: u32| [vec![(95, 100); 60], vec![(low, 100)]].concat();
        for (kinds, among, bound, expected) in [
            (vec![(87, 100)], Among::All, Bound::AtLeast(0.95), true),
            (vec![(91, 100)], Among::All, Bound::AtLeast(0.95), false),
            (
                vec![(40, 50), (47, 50)],
                Among::All,
                Bound::AtLeast(0.95),
                true,
            ),
            (vec![(75, 100)], Among::EachKind, each, true),
            (vec![(86, 100)], Among::EachKind, each, false),
            (with(80), Among::EachKind, each, false),
            (with(70), Among::EachKind, each, true),
            (vec![(0, 400)], Among::All, most, false),
            (vec![(9, 400)], Among::All, most, false),
            (vec![(13, 400)], Among::All, most, true),
        ] {
            assert_eq!(fails(&kinds, among, bound), expected, "{kinds:?} {bound:?}");
        }
    }
}
