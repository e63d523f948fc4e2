//! Parses and evaluates the conditions on changes that users write, as in `cost[monotonic*]>10%`.
//!
//! ```text
//! condition = field [ "[" glob "]" ] operator number [ unit ]
//! field     = "cost" | "resolution" | "trust" | "source" | "lost"
//! operator  = "<" | ">"
//! unit      = "%" | "ns" | "us" | "ms" | "s"          (of cost and resolution, which need one)
//! ```
//!
//! `trust<0` holds for clocks that newly fail a trust question, `source>0` for a more expensive clock
//! source, `lost>N` for more than N timers that cannot be read any more.

use std::str::FromStr;

use super::sentence::{list, percent};
use super::{
    COST, ChangeVerdict, ComparedFigure, Comparison, FELL, FamilyChange, MIN_SHARE, RESOLUTION,
};
use crate::glob::Glob;
use crate::model::Interval;
use crate::text::numbers::time;

/// A condition on the changes between two reports.
#[derive(Clone, Debug)]
pub struct ChangeCondition {
    text: String,
    field: &'static str,
    /// The timers to which the condition is limited: the text of the glob and the parsed glob.
    timers: Option<(String, Glob)>,
    /// Whether values below the limit meet the condition; otherwise values above it do.
    below: bool,
    /// The limit in percent, in nanoseconds, or as a number of timers.
    limit: f64,
    /// Whether the limit is in percent of the old value.
    percent: bool,
}

const TRUST: &str = "trust";
const SOURCE: &str = "source";
const LOST: &str = "lost";
const FIELDS: [&str; 5] = [COST, RESOLUTION, TRUST, SOURCE, LOST];

/// The units of limits with their sizes in nanoseconds.
const UNITS: [(&str, f64); 6] = [
    ("%", 1.0),
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
];

/// The error of a text that is not a valid condition: what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0}; write 'cost>10%', 'cost[monotonic*]>5ns', 'resolution>10%', 'trust<0' (a question of trust newly failed), \
     'source>0' (a slower clock source) or 'lost>0'"
)]
pub struct BadCondition(String);

/// The result of evaluating a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The condition holds; the text names the timers and their changes.
    Holds(String),
    /// The condition does not hold.
    Fails,
    /// The reports do not decide the condition; the text gives the reason.
    Open(String),
}

impl FromStr for ChangeCondition {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Self, BadCondition> {
        let wrong = |why: &str| BadCondition(format!("`{text}` {why}"));
        // The glob is removed first, because it can contain operators.
        let (head, timers) = match text.split_once('[') {
            Some((field, rest)) => {
                let (glob, rest) = rest
                    .split_once(']')
                    .ok_or_else(|| wrong("has no `]` for its `[`"))?;
                let parsed = Glob::parse(glob.trim());
                let parsed = parsed.map_err(|why| wrong(&format!("has no valid glob: {why}")))?;
                (
                    format!("{}{rest}", field.trim_end()),
                    Some((glob.trim().to_owned(), parsed)),
                )
            }
            None => (text.to_owned(), None),
        };
        let operator = head
            .find(['<', '>'])
            .ok_or_else(|| wrong("has no operator"))?;
        let (name, rest) = head.split_at(operator);
        let name = name.trim();
        let field = FIELDS
            .into_iter()
            .find(|field| field.eq_ignore_ascii_case(name));
        let field = field.ok_or_else(|| wrong("is not on a field that is judged"))?;
        let below = rest.starts_with('<');
        let rest = rest[1..].trim();
        let digits = rest.trim_end_matches(|c: char| c.is_alphabetic() || c == '%' || c == ' ');
        let number = digits
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite());
        let unit = rest[digits.len()..].trim();
        let size = match field {
            COST | RESOLUTION => UNITS
                .into_iter()
                .find(|(known, _)| *known == unit)
                .map(|(_, size)| size),
            _ => unit.is_empty().then_some(1.0),
        };
        let Some((number, size)) = number.zip(size) else {
            return Err(wrong(
                "needs a number, for cost and resolution with one of the units %, ns, us, ms, s",
            ));
        };
        let percent = unit == "%";
        let is_possible = match field {
            TRUST => below && number == 0.0,
            SOURCE => !below && number == 0.0 && timers.is_none(),
            LOST => !below && number >= 0.0,
            // A cost cannot fall by all of itself.
            _ if below => number <= 0.0 && !(percent && number <= -100.0),
            _ => number >= 0.0,
        };
        if !is_possible {
            return Err(wrong("is no limit that a change can exceed"));
        }
        Ok(Self {
            text: text.to_owned(),
            field,
            timers,
            below,
            limit: number * size,
            percent,
        })
    }
}

impl ChangeCondition {
    /// The condition as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the condition says, in words that follow an article: `read costs more than 10 % more`.
    pub fn in_words(&self) -> String {
        let glob = self.timers.as_ref().map(|(glob, _)| glob);
        let only = glob.map_or_else(String::new, |glob| format!(" ({glob})"));
        let of = glob.map_or_else(String::new, |glob| format!(" of {glob}"));
        let amount = match self.limit.abs() {
            0.0 => String::new(),
            limit if self.percent => format!(" more than {limit} %"),
            limit => format!(" more than {}", time(Some(limit))),
        };
        match (self.field, self.below) {
            (TRUST, _) => format!("clock{only} lost trust"),
            (SOURCE, _) => "slower clock source".to_owned(),
            (LOST, _) if self.limit == 0.0 => format!("timer{only} lost its figures"),
            (LOST, _) => format!("loss of more than {} timers{only}", self.limit),
            (COST, true) => format!("read{of} costs{amount} less"),
            (COST, false) => format!("read{of} costs{amount} more"),
            (_, below) => {
                let how = if below { "fell" } else { "rose" };
                let by = if amount.is_empty() { "" } else { " by" };
                format!("resolution{of} {how}{by}{amount}")
            }
        }
    }

    /// The change of the figure that changed most in the direction of the condition, with its timer if
    /// there are several.
    pub fn most(&self, comparison: &Comparison) -> Option<String> {
        let size = |figure: &&ComparedFigure| {
            let change = figure
                .change
                .percent
                .unwrap_or(figure.change.difference)
                .value;
            if self.below { -change } else { change }
        };
        let figures = || self.figures(comparison);
        let most = figures().max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let change = most.written_difference();
        Some(match figures().nth(1) {
            None => change,
            Some(_) => format!("most: {}, {change}", most.timer),
        })
    }

    /// The text of the glob if it matches none of `timers`; otherwise `None`.
    pub fn unmatched(&self, timers: &[&str]) -> Option<&str> {
        let (text, glob) = self.timers.as_ref()?;
        (!timers.iter().any(|timer| glob.matches(timer))).then_some(text)
    }

    /// Whether the condition is on this timer.
    pub fn includes(&self, timer: &str) -> bool {
        self.field != SOURCE
            && self
                .timers
                .as_ref()
                .is_none_or(|(_, glob)| glob.matches(timer))
    }

    /// The values whose changes the condition limits.
    fn figures<'c>(&self, comparison: &'c Comparison) -> impl Iterator<Item = &'c ComparedFigure> {
        let figures = comparison.figures.iter();
        figures.filter(|figure| figure.quantity == self.field && self.includes(&figure.timer))
    }

    /// Evaluates the condition. It holds if a difference meets the limit, exceeds noise, and is at
    /// least the smallest difference that matters. A difference without an interval, for which
    /// noise is unknown, is compared with the limit too, except if it depends on a single process.
    pub fn decide(&self, comparison: &Comparison) -> Decision {
        let figures: Vec<&ComparedFigure> = self.figures(comparison).collect();
        let names = |is_meant: fn(&ComparedFigure) -> bool| -> Vec<String> {
            let meant = figures.iter().filter(|figure| is_meant(figure));
            meant.map(|figure| figure.timer.clone()).collect()
        };
        let met: Vec<String> = match self.field {
            LOST => {
                let lost = comparison.lost().map(|lost| &lost.timer);
                lost.filter(|timer| self.includes(timer)).cloned().collect()
            }
            TRUST => {
                let failed = comparison
                    .answers
                    .iter()
                    .filter(|answer| answer.verdict == ChangeVerdict::Worse);
                let failed = failed.filter(|answer| self.includes(&answer.timer));
                failed
                    .map(|answer| format!("{} {}", answer.timer, answer.question.name()))
                    .collect()
            }
            SOURCE => {
                let falls = comparison
                    .platform
                    .iter()
                    .filter(|change| change.remark == Some(FELL));
                falls.map(ToString::to_string).collect()
            }
            _ => {
                let met = figures.iter().filter(|figure| self.is_met_by(figure));
                met.map(|figure| figure.timer.clone()).collect()
            }
        };
        let most = if self.field == LOST { self.limit } else { 0.0 };
        if met.len() as f64 > most {
            return Decision::Holds(list(&met));
        }
        let is_known = match self.field {
            LOST | SOURCE => return Decision::Fails,
            TRUST => comparison.asked.iter().any(|timer| self.includes(timer)),
            _ => !figures.is_empty(),
        };
        if !is_known {
            return Decision::Open("no timer has this field on both sides".to_owned());
        }
        let single =
            names(|figure| figure.verdict == ChangeVerdict::Unjudged && figure.single_process);
        if !single.is_empty() {
            return Decision::Open(format!(
                "{} without intervals, from a single process: probe with more processes",
                list(&single)
            ));
        }
        let unlike = names(|figure| figure.unlike_cores);
        if !unlike.is_empty() && unlike.len() == figures.len() {
            return Decision::Open(format!(
                "{} on free cores on one side, on shared cores on the other: more runs decide it",
                list(&unlike)
            ));
        }
        // A family all of whose timers are meant is judged as a whole: what is common to its timers
        // is known better than the change of each.
        let is_whole = |family: &&FamilyChange| {
            self.percent
                && self.field == COST
                && family.timers.iter().all(|timer| self.includes(timer))
        };
        let families: Vec<&FamilyChange> = comparison.families.iter().filter(is_whole).collect();
        let of_families = families
            .iter()
            .filter_map(|it| self.hidden(&it.family, it.verdict, Some(it.percent), 100.0));
        let mut open: Vec<(f64, String)> = of_families.collect();
        for figure in figures {
            let old = if self.percent {
                100.0
            } else {
                figure.change.old.value
            };
            if !families
                .iter()
                .any(|family| family.timers.contains(&figure.timer))
            {
                open.extend(self.hidden(
                    &figure.timer,
                    figure.verdict,
                    self.change_of(figure),
                    old,
                ));
            }
        }
        open.sort_by(|one, other| other.0.total_cmp(&one.0));
        let open: Vec<String> = open.into_iter().map(|(_, limit)| limit).collect();
        if open.is_empty() {
            return Decision::Fails;
        }
        Decision::Open(format!(
            "{}: a larger limit or more runs decide it",
            list(&open)
        ))
    }

    /// The change of a figure in the unit of the limit.
    fn change_of(&self, figure: &ComparedFigure) -> Option<Interval> {
        let change = &figure.change;
        if self.percent {
            change.percent
        } else {
            Some(change.difference)
        }
    }

    /// The limit within which a figure is unchanged, as a number and as text, if it is within noise but its
    /// interval contains changes that meet the condition. `None` for limits of the condition at or below
    /// the smallest difference that matters.
    fn hidden(
        &self,
        name: &str,
        verdict: ChangeVerdict,
        change: Option<Interval>,
        old: f64,
    ) -> Option<(f64, String)> {
        let (low, high) = change?.ends()?;
        let within = high.abs().max(low.abs());
        let written = if self.percent {
            percent(within)
        } else {
            time(Some(within))
        };
        let is_open = verdict == ChangeVerdict::Noise
            && self.limit.abs() > MIN_SHARE * old.abs()
            && (self.is_met(low) || self.is_met(high));
        is_open.then(|| (within, format!("{name} within {written}")))
    }

    fn is_met(&self, value: f64) -> bool {
        if self.below {
            value < self.limit
        } else {
            value > self.limit
        }
    }

    fn is_met_by(&self, figure: &ComparedFigure) -> bool {
        let counts = match figure.verdict {
            ChangeVerdict::Better | ChangeVerdict::Worse => true,
            ChangeVerdict::Unjudged => {
                figure.matters() && !figure.single_process && !figure.unlike_cores
            }
            ChangeVerdict::Noise => false,
        };
        counts
            && self
                .change_of(figure)
                .is_some_and(|change| self.is_met(change.value))
    }
}
