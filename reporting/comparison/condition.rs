//! Conditions on what changed, as in `quality<-1`, `cost[monotonic*]>+10%`, `lost>0`.
//!
//! ```text
//! condition = field [ "[" glob "]" ] operator number [ unit ]
//! field     = "quality" | "cost" | "resolution" | "spread" | "lost" | "trust"
//!           | "granularity" | "floor" | "lateness" | "p99" | "cpu" | "rate"    (of timers that wait)
//! operator  = "<" | "<=" | ">" | ">="
//! unit      = "points" (quality) | "%" | "ns" | "us" | "ms" | "s" (cost, resolution: one of them has to be given)
//! ```
//!
//! `trust` is -1 for each question of trust that a timer fails and did not fail before, and 1 for
//! each that it passes and failed before.

use std::str::FromStr;

use super::quantity::Measure;
use super::{Compared, Comparison, Quantity, Verdict};
use crate::glob::Glob;

/// A condition on what changed.
#[derive(Clone, Debug)]
pub struct Condition {
    text: String,
    field: Field,
    timers: Option<Named>,
    operator: Operator,
    /// In percent or in the unit of the field.
    limit: f64,
    percent: bool,
}

/// Timers that are named.
#[derive(Clone, Debug)]
struct Named {
    text: String,
    glob: Glob,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Field {
    Figure(Quantity),
    Lost,
    Trust,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Less,
    AtMost,
    More,
    AtLeast,
}

const GRAMMAR: &str = "write FIELD OPERATOR NUMBER, as in 'quality<-1' (points), 'cost>10%', 'cost[monotonic*]>5ns', \
                       'resolution>0ns', 'spread<-0.05', 'lost>0' or 'trust<0' (a question of trust newly failed); operators are <, <=, > and >=";

/// A condition that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; {GRAMMAR}")]
pub struct BadCondition {
    what: String,
}

fn bad<T>(what: String) -> Result<T, BadCondition> {
    Err(BadCondition { what })
}

impl FromStr for Condition {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Self, BadCondition> {
        // A glob may hold anything but its closing bracket; `[` and `]` of a glob are not needed to
        // name timers.
        let (head, timers) = match text.split_once('[') {
            Some((field, rest)) => {
                let Some((glob, rest)) = rest.split_once(']') else {
                    return bad(format!("`{text}` opens a [ and does not close it"));
                };
                (format!("{}{rest}", field.trim_end()), Some(matcher(glob)?))
            }
            None => (text.to_owned(), None),
        };
        let Some(at) = head.find(['<', '>']) else {
            return bad(format!("`{text}` has no operator"));
        };
        let (field, rest) = head.split_at(at);
        let field = read_field(field.trim())?;
        let operators = [
            ("<=", Operator::AtMost),
            (">=", Operator::AtLeast),
            ("<", Operator::Less),
            (">", Operator::More),
        ];
        let found = operators
            .into_iter()
            .find_map(|(sign, op)| Some((op, rest.strip_prefix(sign)?)));
        let Some((operator, rest)) = found else {
            return bad(format!("`{text}` has no operator"));
        };
        let (limit, percent) = read_limit(rest.trim(), field)?;
        if field == Field::Lost && timers.is_some() {
            return bad(format!("`{text}` names timers, but `lost` counts all"));
        }
        let condition = Self {
            text: text.to_owned(),
            field,
            timers,
            operator,
            limit,
            percent,
        };
        match condition.range() {
            Some(range) if condition.is_dead(range) => {
                let (low, high) = range;
                let up_to = if high.is_finite() {
                    format!("to {high}")
                } else {
                    "up".to_owned()
                };
                bad(format!(
                    "`{text}` never holds: {} from {low} {up_to}",
                    condition.changes()
                ))
            }
            _ => Ok(condition),
        }
    }
}

fn matcher(glob: &str) -> Result<Named, BadCondition> {
    let text = glob.trim().to_owned();
    match Glob::read(&text) {
        Ok(glob) => Ok(Named { text, glob }),
        Err(why) => bad(format!("`{glob}` is no glob: {why}")),
    }
}

fn read_field(name: &str) -> Result<Field, BadCondition> {
    match name.to_ascii_lowercase().as_str() {
        "lost" => return Ok(Field::Lost),
        "trust" => return Ok(Field::Trust),
        name => {
            let known = Quantity::all().find(|quantity| quantity.name().eq_ignore_ascii_case(name));
            if let Some(quantity) = known {
                return Ok(Field::Figure(quantity));
            }
        }
    }
    let named = |of_clocks: bool| {
        let all = Quantity::all().filter(|quantity| quantity.is_of_clocks() == of_clocks);
        all.map(|quantity| quantity.name().to_ascii_lowercase())
            .collect::<Vec<_>>()
            .join(", ")
    };
    bad(format!(
        "`{name}` is no field; there are {}, lost and trust, and of timers that wait {}",
        named(true),
        named(false)
    ))
}

/// The number, and whether it is in percent.
fn read_limit(text: &str, field: Field) -> Result<(f64, bool), BadCondition> {
    let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%' || c == ' ');
    let unit = text[digits.len()..].trim();
    let plain = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'));
    let Some(number) = digits
        .parse::<f64>()
        .ok()
        .filter(|number| plain && number.is_finite())
    else {
        return bad(format!("`{text}` is no number"));
    };
    let times = [
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
    ];
    match field {
        Field::Lost | Field::Trust if unit.is_empty() => Ok((number, false)),
        Field::Figure(quantity) => match (quantity.measure(), unit) {
            (Measure::Points, "" | "points" | "pp")
            | (Measure::Share, "")
            | (Measure::Ppm, "" | "ppm") => Ok((number, false)),
            (Measure::Points, _) => bad(format!(
                "`{unit}` is no unit of Quality; it changes by points"
            )),
            (Measure::Share, _) => bad(format!("`{unit}` is no unit of the spread; it is a share")),
            (Measure::Ppm, _) => bad(format!("`{unit}` is no unit of a rate; it is in ppm")),
            (Measure::Time, "%") => Ok((number, true)),
            (Measure::Time, _) => match times.iter().find(|(name, _)| *name == unit) {
                Some((_, ns)) => Ok((number * ns, false)),
                None if unit.is_empty() => bad(format!("`{text}` has no unit; give % or ns")),
                None => bad(format!("`{unit}` is no unit of time")),
            },
        },
        Field::Lost => bad(format!("`{unit}`: timers that were lost have no unit")),
        Field::Trust => bad(format!("`{unit}`: questions of trust have no unit")),
    }
}

/// Why it cannot be told whether a condition holds.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untold {
    /// No timer that it means has the figure on both sides.
    #[error("no timer that it means has that figure on both sides")]
    Absent,
    /// No timer that it means was asked about trust on both sides.
    #[error("no timer that it means was asked about trust on both sides")]
    Unasked,
    /// Figures of single processes, which have no intervals.
    #[error("without intervals: {0} (a single process tells nothing; probe with more)")]
    Single(String),
    /// What the reports hold leaves room for it.
    #[error(
        "as much is left open of {0}: name timers, raise the limit, or compare several runs a side (compare OLD... -- NEW...)"
    )]
    Open(String),
}

/// What makes a condition hold; nothing where there is none.
fn listed(met: impl Iterator<Item = String>) -> Option<String> {
    let met: Vec<String> = met.collect();
    (!met.is_empty()).then(|| met.join(", "))
}

impl Condition {
    /// As it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds, with what makes it hold: a difference that satisfies it, is not noise, and
    /// is as large as the smallest that matters. A difference without an interval counts as it is,
    /// unless a single process is all it rests on.
    #[must_use]
    pub fn holds(&self, comparison: &Comparison) -> Option<String> {
        match self.field {
            Field::Lost => {
                let lost: Vec<&str> = comparison
                    .lost()
                    .map(|timer| timer.timer.as_str())
                    .collect();
                self.is_met(lost.len() as f64).then(|| match lost.len() {
                    0 => "no timer lost its figures".into(),
                    _ => lost.join(", "),
                })
            }
            Field::Trust => {
                let answers = comparison
                    .answers
                    .iter()
                    .filter(|answer| self.means(&answer.timer));
                let met = answers.filter(|answer| self.is_met(answer.difference()));
                listed(met.map(|answer| format!("{} {}", answer.timer, answer.question.name())))
            }
            Field::Figure(quantity) => {
                let meant = comparison
                    .figures
                    .iter()
                    .filter(|compared| compared.quantity == quantity);
                let met = meant
                    .filter(|compared| self.means(&compared.timer) && self.is_met_by(compared));
                listed(met.map(|compared| compared.timer.clone()))
            }
        }
    }

    /// The timers that it names, where none of `timers` is meant.
    #[must_use]
    pub fn meets_none<'t>(&self, mut timers: impl Iterator<Item = &'t str>) -> Option<&str> {
        let named = self.timers.as_ref()?;
        (!timers.any(|timer| named.glob.means(timer))).then_some(&named.text)
    }

    /// Why it cannot be told whether it holds, where that is so: what it means was not determined,
    /// or a change as large as its limit lies within the interval of a difference that is no more
    /// than noise.
    #[must_use]
    pub fn untold(&self, comparison: &Comparison) -> Option<Untold> {
        let quantity = match self.field {
            Field::Figure(quantity) => quantity,
            Field::Trust => {
                return (!comparison.asked.iter().any(|timer| self.means(timer)))
                    .then_some(Untold::Unasked);
            }
            Field::Lost => return None,
        };
        let meant = comparison
            .figures
            .iter()
            .filter(|compared| compared.quantity == quantity);
        let meant: Vec<&Compared> = meant
            .filter(|compared| self.means(&compared.timer))
            .collect();
        if meant.is_empty() {
            return Some(Untold::Absent);
        }
        let named = |open: &dyn Fn(&&Compared) -> bool| {
            listed(
                meant
                    .iter()
                    .copied()
                    .filter(open)
                    .map(|compared| compared.timer.clone()),
            )
        };
        let single =
            |compared: &&Compared| compared.verdict == Verdict::Unjudged && compared.single_process;
        let open =
            |compared: &&Compared| compared.verdict == Verdict::Noise && self.is_open(compared);
        named(&single)
            .map(Untold::Single)
            .or_else(|| named(&open).map(Untold::Open))
    }

    /// Whether a change that meets it lies within the interval of what is no more than noise. One
    /// that any change would meet asks for what can be found.
    fn is_open(&self, compared: &Compared) -> bool {
        let difference = &compared.difference;
        let (interval, smallest) = if self.percent {
            (
                difference.percent_interval,
                100.0 * compared.quantity.smallest(),
            )
        } else {
            (
                difference.interval,
                compared.quantity.smallest_of(difference.old.value),
            )
        };
        let meets = |(low, high): (f64, f64)| self.is_met(low) || self.is_met(high);
        self.limit.abs() > smallest && !self.is_met(0.0) && interval.is_some_and(meets)
    }

    /// All that a change can be, in the unit of the limit; nothing where that has no end.
    fn range(&self) -> Option<(f64, f64)> {
        match self.field {
            Field::Lost => Some((0.0, f64::INFINITY)),
            Field::Trust => Some((-1.0, 1.0)),
            Field::Figure(_) if self.percent => Some((-100.0, f64::INFINITY)),
            Field::Figure(quantity) => match quantity.measure() {
                Measure::Points => Some((-100.0, 100.0)),
                Measure::Share => Some((-1.0, 1.0)),
                Measure::Time | Measure::Ppm => None,
            },
        }
    }

    fn is_dead(&self, (low, high): (f64, f64)) -> bool {
        match self.operator {
            // What took time takes some.
            Operator::AtMost if self.percent => self.limit <= low,
            Operator::Less | Operator::AtMost => !self.is_met(low),
            Operator::More | Operator::AtLeast => high.is_finite() && !self.is_met(high),
        }
    }

    /// What its limit is held against, as the beginning of a sentence.
    fn changes(&self) -> &'static str {
        match self.field {
            Field::Lost => "the number of timers that were lost goes",
            Field::Trust => "an answer about trust changes",
            Field::Figure(_) if self.percent => "a time changes, in percent,",
            Field::Figure(quantity) if quantity.measure() == Measure::Points => {
                "it changes, in points,"
            }
            Field::Figure(_) => "it changes",
        }
    }

    fn means(&self, timer: &str) -> bool {
        self.timers
            .as_ref()
            .is_none_or(|timers| timers.glob.means(timer))
    }

    fn is_met_by(&self, compared: &Compared) -> bool {
        let difference = &compared.difference;
        let value = if self.percent {
            difference.percent
        } else {
            Some(difference.absolute)
        };
        let counts = match compared.verdict {
            Verdict::Better | Verdict::Worse => true,
            Verdict::Unjudged => compared.matters && !compared.single_process,
            Verdict::Noise => false,
        };
        value.is_some_and(|value| counts && self.is_met(value))
    }

    fn is_met(&self, value: f64) -> bool {
        match self.operator {
            Operator::Less => value < self.limit,
            Operator::AtMost => value <= self.limit,
            Operator::More => value > self.limit,
            Operator::AtLeast => value >= self.limit,
        }
    }
}
