//! Parses and evaluates the conditions on changes that users write, as in `quality<-1`,
//! `cost[monotonic*]>+10%` or `lost>0`.
//!
//! ```text
//! condition = field [ "[" glob "]" ] operator number [ unit ]
//! field     = "quality" | "cost" | "resolution" | "spread" | "drift" | "lost" | "trust"
//!           | "p99"                                  (the cost of clocks, the lateness of waits)
//!           | "granularity" | "floor" | "lateness" | "cpu" | "rate"          (not of clocks)
//! operator  = "<" | "<=" | ">" | ">="
//! unit      = "points" (quality) | "ppm" (drift, rate) | "%" | "ns" | "us" | "ms" | "s"
//! ```
//!
//! Limits of times need a unit. `trust` is -1 for each trust question that a timer newly fails, and
//! 1 for each question that it newly passes.

use std::str::FromStr;

use super::sentence::{limit, list, percent};
use super::{ChangeVerdict, ComparedFigure, Comparison, FamilyChange, Quantity};
use crate::fields::FieldUnit;
use crate::glob::Glob;
use crate::model::Interval;

/// A condition on the changes between two reports.
#[derive(Clone, Debug)]
pub struct ChangeCondition {
    text: String,
    field: ConditionField,
    /// The timers to which the condition is limited: the text of the glob and the parsed glob.
    timers: Option<(String, Glob)>,
    /// Whether values below the limit meet the condition; otherwise values above it do.
    below: bool,
    /// Whether the limit itself meets the condition.
    or_equal: bool,
    /// The limit in percent or in the unit of the field.
    limit: f64,
    /// Whether the limit is in percent of the old value.
    percent: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ConditionField {
    Figure(Quantity),
    Lost,
    Trust,
}

const GRAMMAR: &str = "write FIELD OPERATOR NUMBER, as in 'quality<-1' (points), 'cost>10%', 'cost[monotonic*]>5ns', \
                       'resolution>0ns', 'spread<-0.05', 'lost>0' or 'trust<0' (a question of trust newly failed); operators are <, <=, > and >=";

/// The error of a text that is not a valid condition: what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{0}; {GRAMMAR}")]
pub struct BadCondition(String);

/// The names of all quantities.
fn field_names() -> String {
    let mut names: Vec<&str> = Quantity::all().map(Quantity::name).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ").to_ascii_lowercase()
}

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
        let (head, glob) = match text.split_once('[') {
            Some((field, rest)) => {
                let (glob, rest) = rest
                    .split_once(']')
                    .ok_or_else(|| wrong("has no `]` for its `[`"))?;
                (format!("{}{rest}", field.trim_end()), Some(glob.trim()))
            }
            None => (text.to_owned(), None),
        };
        let parsed = glob
            .map(Glob::parse)
            .transpose()
            .map_err(|why| wrong(&format!("has no valid glob: {why}")))?;
        let timers = glob.map(str::to_owned).zip(parsed);
        let operator = head
            .find(['<', '>'])
            .ok_or_else(|| wrong("has no operator"))?;
        let (field, rest) = head.split_at(operator);
        let field: ConditionField = field.trim().parse()?;
        let (below, rest) = (rest.starts_with('<'), &rest[1..]);
        let limit = rest.strip_prefix('=');
        let or_equal = limit.is_some();
        let (limit, percent) = field.read_limit(limit.unwrap_or(rest).trim())?;
        let condition = Self {
            text: text.to_owned(),
            field,
            timers,
            below,
            or_equal,
            limit,
            percent,
        };
        if field == ConditionField::Lost && condition.timers.is_some() {
            return Err(wrong(
                "is limited to some timers, but `lost` counts all timers",
            ));
        }
        if !condition
            .ends()
            .into_iter()
            .any(|end| condition.is_met(end))
        {
            return Err(wrong("never holds, whatever changes"));
        }
        Ok(condition)
    }
}

impl FromStr for ConditionField {
    type Err = BadCondition;

    fn from_str(name: &str) -> Result<Self, BadCondition> {
        let mut quantities = Quantity::all();
        let same_name = quantities.find(|quantity| quantity.name().eq_ignore_ascii_case(name));
        match (same_name, name.to_ascii_lowercase().as_str()) {
            (Some(quantity), _) => Ok(Self::Figure(quantity)),
            (None, "lost") => Ok(Self::Lost),
            (None, "trust") => Ok(Self::Trust),
            _ => Err(BadCondition(format!(
                "`{name}` is not a field; the fields are lost, trust, {}",
                field_names()
            ))),
        }
    }
}

impl ConditionField {
    /// Whether the field is this quantity: a name stands for all quantities of that name.
    fn names(self, quantity: Quantity) -> bool {
        matches!(self, Self::Figure(named) if named.name() == quantity.name())
    }

    /// The units in which the limit can be written, each with the factor that converts it to the
    /// unit of the field. The empty name stands for a number without a unit.
    fn units(self) -> &'static [(&'static str, f64)] {
        let Self::Figure(quantity) = self else {
            return &[("", 1.0)];
        };
        match quantity.unit() {
            FieldUnit::Percent => &[("", 1.0), ("points", 1.0), ("pp", 1.0)],
            FieldUnit::Share => &[("", 1.0)],
            FieldUnit::Ppm => &[("", 1.0), ("ppm", 1.0)],
            _ => &[
                ("%", 1.0),
                ("ns", 1.0),
                ("us", 1e3),
                ("µs", 1e3),
                ("ms", 1e6),
                ("s", 1e9),
            ],
        }
    }

    /// Parses a number with a unit. Returns the number in the unit of the field, and whether it is
    /// in percent.
    fn read_limit(self, text: &str) -> Result<(f64, bool), BadCondition> {
        let digits = text.trim_end_matches(|c: char| c.is_alphabetic() || c == '%' || c == ' ');
        let unit = text[digits.len()..].trim();
        let number = digits
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite());
        let Some(number) = number else {
            return Err(BadCondition(format!("`{text}` is not a number")));
        };
        let known = self.units().iter().find(|(name, _)| *name == unit);
        let Some((_, size)) = known else {
            let all: Vec<&str> = self.units().iter().map(|(name, _)| *name).collect();
            return Err(BadCondition(match all.join(" ").trim() {
                "" => format!("`{text}` has a unit, but its field has none"),
                units => format!("`{text}` has none of the units of its field: {units}"),
            }));
        };
        Ok((number * size, unit == "%"))
    }
}

impl ChangeCondition {
    /// The condition as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the condition says, in words that follow an article: `read costs more than 10 % more`.
    pub fn in_words(&self) -> String {
        let is_usual = !self.or_equal && (self.limit == 0.0 || self.below == (self.limit < 0.0));
        let of = |before: &str, after: &str| match &self.timers {
            Some((glob, _)) => [before, glob, after].concat(),
            None => String::new(),
        };
        let size = self.limit.abs();
        let side = |words: [&'static str; 2]| words[usize::from(self.below)];
        match self.field {
            ConditionField::Lost if self.limit == 0.0 => "timer lost its figures".to_owned(),
            ConditionField::Trust if is_usual => {
                format!("clock{} {} trust", of(" (", ")"), side(["gained", "lost"]))
            }
            ConditionField::Figure(quantity) if is_usual => {
                let than = match quantity.unit() {
                    _ if size == 0.0 => String::new(),
                    _ if self.percent => format!(" more than {size} %"),
                    FieldUnit::Percent => format!(" more than {size} points"),
                    _ => format!(" more than {}", quantity.written(size)),
                };
                if quantity == Quantity::COST {
                    return format!(
                        "read{} costs{than} {}",
                        of(" of ", ""),
                        side(["more", "less"])
                    );
                }
                let by = if than.is_empty() { "" } else { " by" };
                let name = quantity.name();
                format!(
                    "{name}{} {}{by}{than}",
                    of(" of ", ""),
                    side(["rose", "fell"])
                )
            }
            _ => format!("change with {}", self.text),
        }
    }

    /// The change of the figure that changed most in the direction of the condition, with its timer if
    /// there are several.
    pub fn most(&self, comparison: &Comparison) -> Option<String> {
        let size = |figure: &&ComparedFigure| {
            let change = figure.change.percent.unwrap_or(figure.change.difference);
            if self.below {
                -change.value
            } else {
                change.value
            }
        };
        let most = self
            .figures(comparison)
            .max_by(|a, b| size(a).total_cmp(&size(b)))?;
        let change = most.written_difference();
        Some(match self.figures(comparison).nth(1) {
            None => change,
            Some(_) => format!("most: {}, {change}", most.timer),
        })
    }

    /// The text of the glob if it matches none of `timers`; otherwise `None`.
    pub fn unmatched<'t>(&self, mut timers: impl Iterator<Item = &'t str>) -> Option<&str> {
        let (text, glob) = self.timers.as_ref()?;
        (!timers.any(|timer| glob.matches(timer))).then_some(text)
    }

    /// The values whose changes the condition limits; none for conditions on trust and on lost timers.
    pub fn figures<'c>(
        &self,
        comparison: &'c Comparison,
    ) -> impl Iterator<Item = &'c ComparedFigure> {
        comparison.figures.iter().filter(|compared| {
            self.field.names(compared.quantity) && self.includes(&compared.timer)
        })
    }

    /// Evaluates the condition. It holds if a difference meets the limit, exceeds noise, and is at
    /// least the smallest difference that matters. A difference without an interval, for which
    /// noise is unknown, is compared with the limit too, except if it depends on a single process.
    pub fn decide(&self, comparison: &Comparison) -> Decision {
        let figures = || self.figures(comparison);
        let met: Vec<String> = match self.field {
            ConditionField::Lost => {
                let lost: Vec<String> = comparison.lost().map(|lost| lost.timer.clone()).collect();
                return match lost.as_slice() {
                    lost if !self.is_met(lost.len() as f64) => Decision::Fails,
                    [] => Decision::Holds("no timer lost its figures".to_owned()),
                    lost => Decision::Holds(list(lost)),
                };
            }
            ConditionField::Trust => comparison
                .answers
                .iter()
                .filter(|answer| {
                    self.includes(&answer.timer) && self.is_met(change_of_trust(answer.verdict))
                })
                .map(|answer| format!("{} {}", answer.timer, answer.question.name()))
                .collect(),
            ConditionField::Figure(_) => {
                names_where(figures(), |compared| self.is_met_by(compared))
            }
        };
        if !met.is_empty() {
            return Decision::Holds(list(&met));
        }
        let is_known = match self.field {
            ConditionField::Trust => comparison.asked.iter().any(|timer| self.includes(timer)),
            _ => figures().next().is_some(),
        };
        if !is_known {
            return Decision::Open("no timer has this field on both sides".to_owned());
        }
        let single = names_where(figures(), |compared| {
            compared.verdict == ChangeVerdict::Unjudged && compared.single_process
        });
        if !single.is_empty() {
            return Decision::Open(format!(
                "{} without intervals, from a single process: probe with more processes",
                list(&single)
            ));
        }
        let unlike = names_where(figures(), |compared| compared.unlike_cores);
        if !unlike.is_empty() && unlike.len() == figures().count() {
            return Decision::Open(format!(
                "{} on free cores on one side, on shared cores on the other: more runs decide it",
                list(&unlike)
            ));
        }
        // A family all of whose timers are meant is judged as a whole: what is common to its timers
        // is known better than the change of each.
        let families: Vec<&FamilyChange> = comparison
            .families
            .iter()
            .filter(|it| self.is_on(it))
            .collect();
        let mut open: Vec<(f64, String)> = Vec::new();
        for family in &families {
            let smallest = 100.0 * family.quantity.smallest_share();
            if self.may_be_met_within(family.verdict, Some(family.percent), smallest) {
                open.push((family.limit_percent, limit(family)));
            }
        }
        for compared in figures() {
            let is_in_family = |family: &&FamilyChange| family.timers.contains(&compared.timer);
            if !families.iter().any(is_in_family) {
                open.extend(self.open_figure(compared));
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

    /// Whether the condition limits a change in percent of all timers of a family.
    fn is_on(&self, family: &FamilyChange) -> bool {
        self.percent
            && self.field.names(family.quantity)
            && family.timers.iter().all(|timer| self.includes(timer))
    }

    /// The limit within which a timer is unchanged, as a number and as text, if the limit of the
    /// condition is smaller.
    fn open_figure(&self, compared: &ComparedFigure) -> Option<(f64, String)> {
        let (change, quantity) = (&compared.change, compared.quantity);
        let (interval, smallest) = if self.percent {
            (change.percent, 100.0 * quantity.smallest_share())
        } else {
            let smallest = quantity.smallest_difference(change.old.value);
            (Some(change.difference), smallest)
        };
        let (low, high) = interval?.ends()?;
        let within = high.abs().max(low.abs());
        let written = if self.percent {
            percent(within)
        } else {
            quantity.written(within)
        };
        self.may_be_met_within(compared.verdict, interval, smallest)
            .then(|| (within, format!("{} within {written}", compared.timer)))
    }

    /// The smallest and the largest possible change, in the unit of the limit.
    fn ends(&self) -> [f64; 2] {
        /// A decrease of 100 % is impossible, because every call takes some time.
        const ALMOST_ALL: f64 = 99.999_999;
        match self.field {
            ConditionField::Lost => [0.0, f64::INFINITY],
            ConditionField::Trust => [-1.0, 1.0],
            ConditionField::Figure(_) if self.percent => [-ALMOST_ALL, f64::INFINITY],
            ConditionField::Figure(quantity) => match quantity.unit() {
                FieldUnit::Percent => [-100.0, 100.0],
                FieldUnit::Share => [-1.0, 1.0],
                _ => [f64::NEG_INFINITY, f64::INFINITY],
            },
        }
    }

    /// Whether the condition is on this timer.
    pub fn includes(&self, timer: &str) -> bool {
        self.timers
            .as_ref()
            .is_none_or(|(_, glob)| glob.matches(timer))
    }

    fn is_met(&self, value: f64) -> bool {
        (self.or_equal && value == self.limit)
            || if self.below {
                value < self.limit
            } else {
                value > self.limit
            }
    }

    fn is_met_by(&self, compared: &ComparedFigure) -> bool {
        let counts = match compared.verdict {
            ChangeVerdict::Better | ChangeVerdict::Worse => true,
            ChangeVerdict::Unjudged => {
                compared.matters && !compared.single_process && !compared.unlike_cores
            }
            ChangeVerdict::Noise => false,
        };
        let change = if self.percent {
            compared.change.percent
        } else {
            Some(compared.change.difference)
        };
        counts && change.is_some_and(|change| self.is_met(change.value))
    }

    /// Whether the interval of a difference contains values that meet the limit although the
    /// difference itself is within noise. `false` for limits at or below the smallest difference
    /// that matters.
    fn may_be_met_within(
        &self,
        verdict: ChangeVerdict,
        interval: Option<Interval>,
        smallest: f64,
    ) -> bool {
        let ends = interval.and_then(|interval| interval.ends());
        verdict == ChangeVerdict::Noise
            && self.limit.abs() > smallest
            && !self.is_met(0.0)
            && ends.is_some_and(|(low, high)| self.is_met(low) || self.is_met(high))
    }
}

/// The value of a changed answer in conditions on `trust`.
fn change_of_trust(verdict: ChangeVerdict) -> f64 {
    match verdict {
        ChangeVerdict::Worse => -1.0,
        ChangeVerdict::Better => 1.0,
        ChangeVerdict::Noise | ChangeVerdict::Unjudged => 0.0,
    }
}

/// The names of the timers whose values are meant.
fn names_where<'a>(
    figures: impl Iterator<Item = &'a ComparedFigure>,
    is_meant: impl Fn(&ComparedFigure) -> bool,
) -> Vec<String> {
    figures
        .filter(|compared| is_meant(compared))
        .map(|compared| compared.timer.clone())
        .collect()
}
