//! All findings: remarks about a clock, a machine or a run, each with a code, a severity, a message
//! and advice. This file defines them and fills their texts; the other files hold the tables of
//! rules, which decide from [`Facts`].
//!
//! Messages and advice are templates: `{name}` is replaced by the value of that name, and a part in
//! `<…>` is omitted if one of its values is missing. `docs/findings.md` is generated from the tables.

/// A table of rules by code: severity, message, advice, and the values as a function of facts, which
/// are named as the fields of [`Facts`]. The function returns `None` where the rule does not apply,
/// or leaves with `?` where a fact is missing. `about` names what a code is about, so that it is
/// reported too if there is no problem, or if it is unknown whether there is one.
macro_rules! rules {
    ($(#[$meta:meta])* $visible:vis static $name:ident;
     $($code:literal $(about $topic:literal)? {
        $($severity:ident $message:literal $(in short $short:literal)? $(=> $advice:literal)?,
            |$($fact:ident),+| $values:expr;)*
     })*) => {
        $(#[$meta])*
        $visible static $name: &[$crate::findings::Rule] = &[$(
            $($crate::findings::Rule {
                code: $code,
                severity: $crate::model::Severity::$severity,
                message: $message,
                short: concat!($($short)?),
                advice: concat!($($advice)?),
                values: |facts| {
                    $(let $fact = facts.$fact?;)+
                    Some($values)
                },
            },)*
            $(
                $crate::findings::Rule::otherwise($code, $crate::model::Severity::Ok, concat!("no problem: ", $topic)),
                $crate::findings::Rule::otherwise($code, $crate::model::Severity::Unknown, concat!("not known here: ", $topic)),
            )?
        )*];
    };
}

pub mod assessment;
mod clocks;
pub mod counter;
pub mod machine;
mod run;
mod waits;

pub use clocks::CLOCKS;
pub use run::RUN;
pub use waits::WAITS;

use crate::figures::Figures;
use crate::model::{
    Finding, Lateness, PeriodFigures, Platform, Report, Severity, TimerRow, Unit, Value, Values,
    WaitFigures,
};
use crate::numbers::{rate, short_time, significant, trimmed};
use crate::trace::{Trace, WaitTrace};

/// The facts from which the rules decide; those that do not concern a table are absent.
#[derive(Clone, Copy, Default)]
pub struct Facts<'a> {
    /// The machine.
    pub machine: Option<&'a Platform>,
    /// The whole run, with the rows of its timers.
    pub run: Option<&'a Report>,
    /// How many times as long as an addition a multiplication took, if that is implausible.
    pub multiplication: Option<f64>,
    /// How the portable clock is read.
    pub read: Option<machine::PortableRead>,
    /// The observations of a clock.
    pub trace: Option<&'a Trace>,
    /// The results for the clock.
    pub figures: Option<&'a Figures>,
    /// Its row, with its verdicts.
    pub row: Option<&'a TimerRow>,
    /// The requested half width of the interval of its Quality, and the half width that results from
    /// the variation between processes alone.
    pub precision: Option<(f64, Option<f64>)>,
    /// The counter of the processor, with the clocks that it is compared with.
    pub counter: Option<&'a counter::Counter<'a>>,
    /// Why the measurement of a sleep primitive or periodic timer was ended early, if it was.
    pub lost: Option<&'a str>,
    /// The observations of the sleep primitive.
    pub wait_trace: Option<&'a WaitTrace>,
    /// The results for it.
    pub waits: Option<&'a WaitFigures>,
    /// The number of its waits or wake-ups that signals interrupted, and of all.
    pub signals: Option<[usize; 2]>,
    /// Its waits that return early most often, or the wake-ups of a periodic timer.
    pub earliest: Option<&'a Lateness>,
    /// The results for the periodic timer.
    pub period: Option<&'a PeriodFigures>,
}

/// A finding that may be reported.
pub struct Rule {
    /// The code: a name of the finding that does not change between versions.
    pub code: &'static str,
    /// The severity; a code has one rule of each.
    pub severity: Severity,
    /// The template of the message: what was found and its consequences.
    pub message: &'static str,
    /// The template of what follows the name of a timer in a list; empty if the finding makes no figure
    /// uncertain.
    pub short: &'static str,
    /// The template of the advice; empty if no action is required.
    pub advice: &'static str,
    /// The values of the finding, if the rule applies; `None` if that is unknown.
    values: fn(&Facts<'_>) -> Option<Option<Values>>,
}

impl Rule {
    /// The finding of a code of which no rule applies.
    const fn otherwise(code: &'static str, severity: Severity, message: &'static str) -> Self {
        Self {
            code,
            severity,
            message,
            short: "",
            advice: "",
            values: |_| Some(None),
        }
    }

    fn finding(&self, values: Values) -> Finding {
        Finding {
            code: self.code.to_owned(),
            severity: self.severity,
            values,
        }
    }
}

/// Returns the findings of a table, in its order: of each code that of the first rule that applies.
pub fn apply(rules: &[Rule], facts: &Facts) -> Vec<Finding> {
    let of_code = |rules: &[Rule]| {
        let mut otherwise = Severity::Ok;
        for rule in rules {
            match (rule.values)(facts) {
                Some(Some(values)) => return Some(rule.finding(values)),
                Some(None) => {}
                None => otherwise = Severity::Unknown,
            }
        }
        let rule = rules.iter().rfind(|rule| rule.severity == otherwise)?;
        Some(rule.finding(Values::new()))
    };
    let codes = rules.chunk_by(|one, other| one.code == other.code);
    codes.filter_map(of_code).collect()
}

/// Returns a template in words: `…` for each value, and with all optional parts.
pub fn in_words(template: &str) -> String {
    let text = template.replace(['<', '>'], "");
    let values = text.split_inclusive('}').map(|part| {
        part.split_once('{')
            .map_or(part.to_owned(), |(before, _)| format!("{before}…"))
    });
    values.collect::<String>().replace("……", "…")
}

/// Returns all rules, table by table.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let machine = machine::MACHINE.into_iter();
    let tables = [CLOCKS, WAITS, RUN].into_iter().chain(machine);
    tables.chain([counter::COUNTER]).flatten()
}

impl Finding {
    /// Returns the message; a list of the values if it cannot be made of them, because another version
    /// of the program found it.
    pub fn message(&self) -> String {
        self.text("message", |rule| rule.message)
            .unwrap_or_else(|| {
                let named = |(name, value)| format!("{name} {}", format_value(value));
                let all: Vec<String> = self.values.iter().map(named).collect();
                all.join(", ")
            })
    }

    /// Returns what follows the name of a timer in a list; `None` if the finding makes no figure uncertain.
    pub fn in_short(&self) -> Option<String> {
        self.text("short", |rule| rule.short)
    }

    /// Returns the advice, if an action is required.
    pub fn advice(&self) -> Option<String> {
        self.text("advice", |rule| rule.advice)
    }

    /// A text of the rule with the values. A report of an older program has it as the value `key`.
    fn text(&self, key: &str, template: fn(&Rule) -> &str) -> Option<String> {
        if let Some(Value::Text(text)) = self.values.get(key) {
            return Some(text.clone());
        }
        let is_this = |rule: &&Rule| (rule.code, rule.severity) == (&*self.code, self.severity);
        let text = fill(template(rules().find(is_this)?), &self.values);
        text.filter(|text| !text.is_empty())
    }
}

/// Collects the values of a finding by name, as in `values! { cpu: 3, list }`: counts, texts, and
/// numbers with a unit. A value that is `None` is left out.
#[macro_export]
macro_rules! values {
    (@value $name:ident) => { $name };
    (@value $name:ident $value:expr) => { $value };
    ($($name:ident $(: $value:expr)?),* $(,)?) => {
        $crate::findings::known(vec![
            $((stringify!($name), $crate::findings::ToValue::to_value($crate::values!(@value $name $($value)?)))),*
        ])
    };
}

/// Returns the values that are known, by name.
pub fn known(values: Vec<(&str, Option<Value>)>) -> Values {
    let known = values.into_iter();
    known
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

pub use crate::values;

/// What may be the value of a finding.
pub trait ToValue {
    /// Returns the value, if there is one.
    fn to_value(self) -> Option<Value>;
}

macro_rules! to_value {
    ($($type:ty: |$it:ident| $value:expr;)*) => {$(
        impl ToValue for $type {
            fn to_value(self) -> Option<Value> {
                let $it = self;
                Some($value)
            }
        }
    )*};
}

to_value! {
    Value: |value| value;
    &str: |text| Value::Text(text.to_owned());
    String: |text| Value::Text(text);
    u32: |count| number(f64::from(count), Unit::Count);
    u64: |count| number(count as f64, Unit::Count);
    usize: |count| number(count as f64, Unit::Count);
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(self) -> Option<Value> {
        self?.to_value()
    }
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

/// Returns the template with the values filled in; `None` if one is missing that is not in an optional
/// part.
fn fill(template: &str, values: &Values) -> Option<String> {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['<', '{']) {
        let is_optional = rest[at..].starts_with('<');
        let (inner, after) = rest[at + 1..].split_once(if is_optional { '>' } else { '}' })?;
        out += &rest[..at];
        out += &match is_optional {
            true => fill(inner, values).unwrap_or_default(),
            false => format_value(values.get(inner)?),
        };
        rest = after;
    }
    Some(out + rest)
}

/// Formats a value with its unit.
fn format_value(value: &Value) -> String {
    let (value, unit) = match value {
        Value::Text(text) => return text.clone(),
        Value::Number { value, unit } => (*value, *unit),
    };
    match unit {
        Unit::Nanoseconds => short_time(value),
        Unit::Hertz => trimmed(&rate(Some(value))),
        Unit::Share => format!("{} %", significant(100.0 * value, 3)),
        Unit::Points | Unit::Ratio => significant(value, 2),
        Unit::Ppm => format!("{} ppm", significant(value, 3)),
        Unit::Count => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn optional_parts_need_values() {
        let template = "a step of {step}<, and of {grown} later>";
        let mut found = values! { step: ns(4e6) };
        let filled = |found: &Values| fill(template, found);
        assert_eq!(filled(&found).as_deref(), Some("a step of 4 ms"));
        found.insert("grown".into(), ns(8e6));
        let both = Some("a step of 4 ms, and of 8 ms later");
        assert_eq!(filled(&found).as_deref(), both);
        assert_eq!(filled(&Values::new()), None);
    }

    #[test]
    fn other_versions_list_values() {
        for code in ["from-tomorrow", "shared-core"] {
            let finding = Finding {
                code: code.into(),
                severity: Severity::Note,
                values: values! { cpu: 3_u32, rate: number(2e9, Unit::Hertz) },
            };
            assert_eq!(finding.message(), "cpu 3, rate 2 GHz");
        }
    }

    #[test]
    fn rules_are_unique() {
        let all: Vec<_> = rules().map(|rule| (rule.code, rule.severity)).collect();
        let unique: BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), unique.len());
    }
}
