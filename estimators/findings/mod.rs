//! All findings: code, severity, message and advice in tables, next to the rules that judge them.
//!
//! A message and an advice are templates: `{name}` stands for the value of that name, `{name:short}`
//! for the same without trailing zeros, and a part in `<…>` is left out where one of its values is
//! missing. `docs/findings.md` is generated from the tables.

mod clocks;
pub mod counter;
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

/// How findings of one code, one severity and one reason are worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// Stable name.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// The value `reason` that a finding has to have; empty where it is one for all.
    pub reason: &'static str,
    /// What was found and what follows from it.
    pub message: &'static str,
    /// What to do about it; empty where nothing has to be done.
    pub advice: &'static str,
}

impl Wording {
    /// The finding with these values.
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

/// What a table of rules is about.
pub trait Subject: 'static {
    /// What its rules judge by.
    type Case<'a>;
}

/// A finding that is judged by a case alone: its wording, and the condition, which gives the
/// values.
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
        let wording = Wording {
            code,
            severity,
            reason: "",
            message,
            advice,
        };
        Self { wording, judge }
    }
}

/// All findings of a case, in the order of the table.
pub fn judged<S: Subject>(rules: &[Rule<S>], case: &S::Case<'_>) -> Vec<Finding> {
    let judged = |rule: &Rule<S>| Some(rule.wording.finding((rule.judge)(case)?));
    rules.iter().filter_map(judged).collect()
}

/// All wordings, table by table.
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
    /// What was found. A text that an older program wrote, and one without a known code, is the
    /// value `message`.
    pub fn message(&self) -> String {
        if let Some(Value::Text(text)) = self.values.get("message") {
            return text.clone();
        }
        match self.wording() {
            Some(wording) => rendered(wording.message, &self.values),
            None => {
                let all = self.values.iter();
                let all: Vec<String> = all
                    .map(|(name, value)| format!("{name} {}", written(value, "")))
                    .collect();
                all.join(", ")
            }
        }
    }

    /// What to do about it; empty where nothing has to be done.
    pub fn advice(&self) -> String {
        if let Some(Value::Text(text)) = self.values.get("advice") {
            return text.clone();
        }
        self.wording()
            .map(|wording| rendered(wording.advice, &self.values))
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

/// Values by name.
pub fn values<const N: usize>(values: [(&str, Value); N]) -> Values {
    values
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// A number; one that is not finite is text, as JSON has none.
pub fn number(value: f64, unit: Unit) -> Value {
    if value.is_finite() {
        Value::Number { value, unit }
    } else {
        Value::Text(value.to_string())
    }
}

/// A time in nanoseconds.
pub fn ns(value: f64) -> Value {
    number(value, Unit::Nanoseconds)
}

/// A number of things.
pub fn count(value: impl TryInto<u64>) -> Value {
    number(value.try_into().unwrap_or(u64::MAX) as f64, Unit::Count)
}

/// A text.
pub fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

/// The template with the values in it.
pub fn rendered(template: &str, values: &Values) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(begin) = rest.find('<') {
        let (before, optional) = rest.split_at(begin);
        let (inner, after) = optional[1..]
            .split_once('>')
            .unwrap_or((&optional[1..], ""));
        out += &filled(before, values).unwrap_or_default();
        out += &filled(inner, values).unwrap_or_default();
        rest = after;
    }
    out + &filled(rest, values).unwrap_or_default()
}

/// The part of a template with its values; none where one of them is missing. A value in the style
/// `hidden` has to be there and is not printed.
fn filled(part: &str, values: &Values) -> Option<String> {
    let mut out = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let (name, style) = name.split_once(':').unwrap_or((name, ""));
        out += before;
        let value = values.get(name)?;
        if style != "hidden" {
            out += &written(value, style);
        }
        rest = after;
    }
    Some(out + rest)
}

/// A value in the notation of its unit.
fn written(value: &Value, style: &str) -> String {
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
        assert_eq!(rendered(template, &found), "a step of 4.000 ms");
        found.insert("grown".into(), ns(8e6));
        assert_eq!(
            rendered(template, &found),
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
