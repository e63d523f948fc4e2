//! All findings: remarks about a clock, a machine or a report, each with a code, a severity, a
//! message and advice. This file defines them and fills their texts; the other files hold the
//! tables and the conditions.
//!
//! Messages and advice are templates: `{name}` is replaced by the value of that name,
//! `{name:short}` by the value without trailing zeros, and a part in `<…>` is omitted if one of its
//! values is missing. `docs/findings.md` is generated from the tables.

mod clocks;
pub mod counter;
mod judgement;
pub mod machine;
mod report;
mod waits;

pub use clocks::{CLOCKS, ClockCase, Clocks, DISQUALIFYING, FAILED, PRECISION, PrecisionCase};
pub use report::{
    EFFECTIVE_FREQUENCY_DOUBTFUL, EFFECTIVE_FREQUENCY_UNKNOWN, FREQUENCY_CHANGED, REPORTS,
    ReportCase, Reports,
};
pub use waits::{WAITS, WaitCase, Waits};

use crate::model::{Finding, Severity, Unit, Value, Values};
use crate::numbers::{rate, short_time, significant, time, trimmed};

/// The texts of the findings that have the same code, severity and reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// The code: a name of the finding that does not change between versions.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// The value `reason` of the finding, which selects between texts of one code and severity;
    /// empty if the finding has no such value.
    pub reason: &'static str,
    /// The template of the message: what was found and its consequences.
    pub message: &'static str,
    /// The template of the advice; empty if no action is required.
    pub advice: &'static str,
}

const fn wording(
    code: &'static str,
    severity: Severity,
    reason: &'static str,
    message: &'static str,
    advice: &'static str,
) -> Wording {
    Wording {
        code,
        severity,
        reason,
        message,
        advice,
    }
}

impl Wording {
    /// The message and the advice, with the names of the values in capitals and optional parts in
    /// brackets.
    pub fn texts(&self) -> [String; 2] {
        [self.message, self.advice].map(|template| {
            let mut out = String::new();
            for (at, piece) in template.split(['{', '}']).enumerate() {
                // Every second piece is the name of a value, with its style.
                match piece.split_once(':') {
                    _ if at % 2 == 0 => out += &piece.replace('<', "[").replace('>', "]"),
                    Some((name, _)) => out += &name.to_uppercase(),
                    None => out += &piece.to_uppercase(),
                }
            }
            out
        })
    }

    /// Creates a finding that has these texts and these values.
    pub fn with<const N: usize>(&self, values: [(&str, Value); N]) -> Finding {
        self.finding(self::values(values))
    }

    fn finding(&self, values: Values) -> Finding {
        Finding {
            code: self.code.to_owned(),
            severity: self.severity,
            values,
        }
    }
}

/// A kind of thing that findings are about, for example clocks; each table of rules is about one.
pub trait Subject: 'static {
    /// The facts about one such thing, from which its rules decide.
    type Case<'a>;
}

/// A rule: the texts of a finding, and the function that decides whether the finding is reported
/// and returns its values.
pub struct Rule<S: Subject> {
    wording: Wording,
    judge: for<'a> fn(&S::Case<'a>) -> Option<Values>,
}

impl<S: Subject> Rule<S> {
    const fn new(
        code: &'static str,
        severity: Severity,
        message: &'static str,
        advice: &'static str,
        judge: for<'a> fn(&S::Case<'a>) -> Option<Values>,
    ) -> Self {
        Self {
            wording: wording(code, severity, "", message, advice),
            judge,
        }
    }
}

/// Returns the findings whose rules apply to a case, in the order of the table.
pub fn apply_rules<S: Subject>(rules: &[Rule<S>], case: &S::Case<'_>) -> Vec<Finding> {
    let finding = |rule: &Rule<S>| Some(rule.wording.finding((rule.judge)(case)?));
    rules.iter().filter_map(finding).collect()
}

/// Returns the texts of all findings, table by table.
pub fn wordings() -> impl Iterator<Item = &'static Wording> {
    wordings_in(CLOCKS)
        .chain(wordings_in(DISQUALIFYING))
        .chain(wordings_in(FAILED))
        .chain(wordings_in(PRECISION))
        .chain(wordings_in(WAITS))
        .chain(wordings_in(REPORTS))
        .chain(report::FREQUENCY)
        .chain(machine::MACHINE)
        .chain(counter::COUNTER)
}

fn wordings_in<S: Subject>(rules: &'static [Rule<S>]) -> impl Iterator<Item = &'static Wording> {
    rules.iter().map(|rule| &rule.wording)
}

impl Finding {
    /// Returns the message. A report of an older program has it as the value `message`. The message
    /// of a finding with an unknown code is a list of its values.
    pub fn message(&self) -> String {
        if let Some(Value::Text(text)) = self.values.get("message") {
            return text.clone();
        }
        match self.wording() {
            Some(wording) => fill_template(wording.message, &self.values),
            None => {
                let all = self.values.iter();
                let all: Vec<String> = all
                    .map(|(name, value)| format!("{name} {}", format_value(value, "")))
                    .collect();
                all.join(", ")
            }
        }
    }

    /// Returns the advice; empty if no action is required.
    pub fn advice(&self) -> String {
        if let Some(Value::Text(text)) = self.values.get("advice") {
            return text.clone();
        }
        self.wording()
            .map(|wording| fill_template(wording.advice, &self.values))
            .unwrap_or_default()
    }

    fn wording(&self) -> Option<&'static Wording> {
        let reason = match self.values.get("reason") {
            Some(Value::Text(reason)) => reason,
            _ => "",
        };
        wordings().find(|wording| {
            (wording.code, wording.severity, wording.reason) == (&*self.code, self.severity, reason)
        })
    }
}

/// Collects values by name.
pub fn values<const N: usize>(values: [(&str, Value); N]) -> Values {
    values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Makes a value from a number. A number that is not finite becomes text, because JSON cannot
/// represent it.
pub fn number(value: f64, unit: Unit) -> Value {
    if value.is_finite() {
        Value::Number { value, unit }
    } else {
        Value::Text(value.to_string())
    }
}

/// Makes a value from a time in nanoseconds.
pub fn ns(value: f64) -> Value {
    number(value, Unit::Nanoseconds)
}

/// Makes a value from a count.
pub fn count(value: impl TryInto<u64>) -> Value {
    number(value.try_into().unwrap_or(u64::MAX) as f64, Unit::Count)
}

/// Makes a value from a text.
pub fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

/// Returns the template with the values filled in.
pub fn fill_template(template: &str, values: &Values) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(begin) = rest.find('<') {
        let (before, optional) = rest.split_at(begin);
        let (inner, after) = optional[1..]
            .split_once('>')
            .unwrap_or((&optional[1..], ""));
        out += &fill_part(before, values).unwrap_or_default();
        out += &fill_part(inner, values).unwrap_or_default();
        rest = after;
    }
    out + &fill_part(rest, values).unwrap_or_default()
}

/// Returns a part of a template with the values filled in; `None` if one of its values is missing.
fn fill_part(part: &str, values: &Values) -> Option<String> {
    let mut out = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let (name, style) = name.split_once(':').unwrap_or((name, ""));
        out += before;
        out += &format_value(values.get(name)?, style);
        rest = after;
    }
    Some(out + rest)
}

/// Formats a value with its unit. `style` is `short` or empty, as in the template.
fn format_value(value: &Value, style: &str) -> String {
    let (value, unit) = match value {
        Value::Text(text) => return text.clone(),
        Value::Number { value, unit } => (*value, *unit),
    };
    match unit {
        Unit::Nanoseconds if style == "short" => short_time(value),
        Unit::Nanoseconds => time(Some(value)),
        Unit::Hertz if style == "short" => trimmed(&rate(Some(value))),
        Unit::Hertz => rate(Some(value)),
        Unit::Share => format!("{} %", significant(100.0 * value, 3)),
        Unit::Points => significant(value, 2),
        Unit::Ppm => format!("{} ppm", significant(value, 3)),
        Unit::Ratio => significant(value, 2),
        Unit::Count => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn optional_parts_need_values() {
        let template = "a step of {step}<, and of {grown:short} later>";
        let mut found = values([("step", ns(4e6))]);
        assert_eq!(fill_template(template, &found), "a step of 4.000 ms");
        found.insert("grown".into(), ns(8e6));
        assert_eq!(
            fill_template(template, &found),
            "a step of 4.000 ms, and of 8 ms later"
        );
    }

    #[test]
    fn unknown_codes_list_values() {
        let finding = Finding {
            code: "from-tomorrow".into(),
            severity: Severity::Note,
            values: values([("cpu", count(3_u32)), ("rate", number(2e9, Unit::Hertz))]),
        };
        assert_eq!(finding.message(), "cpu 3, rate 2.000 GHz");
        assert_eq!(finding.advice(), "");
    }

    #[test]
    fn wordings_are_unique() {
        let all: Vec<_> = wordings()
            .map(|wording| (wording.code, wording.severity, wording.reason))
            .collect();
        let unique: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), unique.len());
    }
}
