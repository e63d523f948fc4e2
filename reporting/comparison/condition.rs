//! Parses and evaluates the conditions on changes that users write, as in `cost[monotonic*]>10%`.
//!
//! ```text
//! condition = field [ "[" glob "]" ] ( ">" limit | "<0" )
//! field     = "cost" | "resolution"     limit in % or a time
//!           | "trust"                   <0: a clock is newly wrong, or cannot be read any more
//!           | "source"                  >0: a slower clock source
//!           | "lost"                    >N: more timers that cannot be read any more, or are missing
//! ```

use std::str::FromStr;

use super::sentence::{listed, percent};
use super::{COST, Change, ComparedFigure, Comparison, RESOLUTION, Standing};
use crate::text::numbers::time;

/// A condition on the changes between two reports.
#[derive(Clone, Debug)]
pub struct ChangeCondition {
    field: &'static str,
    /// The timers to which the condition is limited: an id, a name or a glob.
    pub glob: String,
    /// The limit with its unit as the user wrote it.
    amount: String,
    /// The limit in percent, in nanoseconds, or as a number of timers.
    limit: f64,
    /// Whether the limit is in percent of the old value.
    in_percent: bool,
}

/// The glob of a condition without one.
const ALL: &str = "*";
const TRUST: &str = "trust";
const LOST: &str = "lost";
const FIELDS: [&str; 5] = [COST, RESOLUTION, TRUST, LOST, "source"];

/// The units of limits with their sizes in the units of [`ChangeCondition::limit`].
const UNITS: [(&str, f64); 7] = [
    ("", 1.0),
    ("%", 1.0),
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
];

/// The error of a text that is not a valid condition.
#[derive(Debug, thiserror::Error)]
#[error(
    "cost and resolution are judged, as in 'cost>10%', 'cost[monotonic*]>5ns' or 'resolution>10%', and 'trust<0', 'source>0' \
     and 'lost>0'; quality and spread are not"
)]
pub struct BadCondition;

/// The result of evaluating a condition.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// The condition holds.
    Holds,
    /// The condition does not hold.
    Fails,
    /// The reports do not decide the condition.
    Open,
}

impl FromStr for ChangeCondition {
    type Err = BadCondition;

    fn from_str(text: &str) -> Result<Self, BadCondition> {
        Self::parse(text).ok_or(BadCondition)
    }
}

impl ChangeCondition {
    fn parse(text: &str) -> Option<Self> {
        let (head, limit) = text.split_at(text.find(['<', '>'])?);
        let (name, glob) = head.trim().split_once('[').unwrap_or((head.trim(), "*]"));
        let glob = glob.strip_suffix(']')?;
        let field = FIELDS.into_iter().find(|field| *field == name.trim())?;
        let (operator, limit) = limit.split_at(1);
        let unit = limit.trim_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ');
        let (_, size) = UNITS.into_iter().find(|(known, _)| *known == unit)?;
        let number: f64 = limit.replace(unit, "").trim().parse().ok()?;
        let is_change = [COST, RESOLUTION].contains(&field);
        let has_limit = is_change || field == LOST || number == 0.0;
        let is_possible = (operator == "<") == (field == TRUST) && is_change != unit.is_empty();
        (has_limit && is_possible).then(|| Self {
            field,
            glob: glob.to_owned(),
            amount: format!("{number} {unit}").trim_end().to_owned(),
            limit: number * size,
            in_percent: unit == "%",
        })
    }

    /// Evaluates the condition on `timers`, to which it is limited. Says what meets it, or why it is open.
    pub fn decide(&self, comparison: &Comparison, timers: &[&str]) -> (Decision, String) {
        let of = match &*self.glob {
            ALL => String::new(),
            glob => format!(" of {glob}"),
        };
        let by = match self.limit {
            0.0 => String::new(),
            _ => format!(" more than {}", self.amount),
        };
        let failed = |other: Standing| {
            let failed = comparison.failed().filter(move |it| it.new != other);
            failed.filter(|it| timers.contains(&&*it.timer))
        };
        let slower = comparison
            .platform
            .iter()
            .filter(|it| it.is_slower_source());
        match self.field {
            COST => self.decide_change(comparison, timers, &format!("read{of} costs{by} more")),
            RESOLUTION => {
                self.decide_change(comparison, timers, &format!("step{of} is{by} longer"))
            }
            TRUST => self.decide_count(&format!("clock{of} lost trust"), failed(Standing::Absent)),
            LOST => self.decide_count(&format!("loss of{by} timers{of}"), failed(Standing::Wrong)),
            _ => self.decide_count("slower clock source", slower),
        }
    }

    fn decide_count<T: ToString>(
        &self,
        words: &str,
        met: impl Iterator<Item = T>,
    ) -> (Decision, String) {
        let met: Vec<T> = met.collect();
        let is_met = met.len() as f64 > self.limit;
        match listed(met).filter(|_| is_met) {
            Some(names) => (Decision::Holds, format!("a {words}: {names}")),
            None => (Decision::Fails, format!("no {words}")),
        }
    }

    /// Evaluates a condition on changes. It holds if one exceeds the limit. It is open if what is unchanged
    /// is known to be so only within more than the limit.
    fn decide_change(
        &self,
        comparison: &Comparison,
        timers: &[&str],
        words: &str,
    ) -> (Decision, String) {
        // The size of each change and its limit, in the unit of the condition.
        let meant = comparison
            .figures
            .iter()
            .filter(|it| it.quantity == self.field);
        let meant = meant.filter(|it| timers.contains(&&*it.timer));
        let judged = meant.map(|it| {
            let unit = if self.in_percent { 1.0 } else { it.old / 100.0 };
            let of_change =
                |change: Change| (unit * change.percent.value, unit * change.limit_percent, it);
            it.change
                .map_or((f64::NEG_INFINITY, f64::INFINITY, it), of_change)
        });
        let mut judged: Vec<(f64, f64, &ComparedFigure)> = judged.collect();
        judged.sort_by(|one, other| other.0.total_cmp(&one.0));
        let most = listed(judged.first().map(|it| it.2));
        let is_met =
            |(size, _, it): &&(f64, f64, &ComparedFigure)| it.is_changed() && *size > self.limit;
        let met = listed(judged.iter().filter(is_met).map(|it| it.2));
        let least = if self.limit > 0.0 {
            self.limit
        } else {
            f64::MAX
        };
        judged.retain(|(_, within, it)| !it.is_changed() && *within > least);
        judged.sort_by(|one, other| other.1.total_cmp(&one.1));
        let wide = judged.iter().map(|(_, within, it)| match self.in_percent {
            _ if it.change.is_none() => format!("{} with too few processes", it.timer),
            true => format!("{} within {} %", it.timer, percent(*within)),
            false => format!("{} within {}", it.timer, time(Some(*within))),
        });
        let open = |why: &str| (Decision::Open, format!("open whether a {words}: {why}"));
        match (met, listed(wide), most) {
            (Some(met), ..) => (Decision::Holds, format!("a {words}: {met}")),
            (_, Some(wide), _) => open(&format!("{wide}: a larger limit or more runs decide it")),
            (.., Some(most)) => (Decision::Fails, format!("no {words} (most: {most})")),
            _ => open("no timer has this figure on both sides"),
        }
    }
}
