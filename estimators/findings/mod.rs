//! All findings: remarks about a clock, a machine or a report, each with a code, a severity, a
//! message and advice. This file defines them and fills their texts; the other files hold the
//! tables and the conditions.
//!
//! Messages and advice are templates: `{name}` is replaced by the value of that name,
//! `{name:short}` by the value without trailing zeros, and a part in `<…>` is omitted if one of its
//! values is missing. `docs/findings.md` is generated from the tables.

/// A table of rules about one kind of case, by code: severity (with the reason that
/// distinguishes it from others of this severity), message, advice and condition of each finding. Of
/// each code the first finding applies whose condition returns values; without a condition, any.
macro_rules! rules {
    (@or $default:expr) => { $default };
    (@or $default:expr, $given:expr) => { $given };
    ($(#[$meta:meta])* $visible:vis static $name:ident: $subject:ty;
     $($code:tt {
        $($severity:ident $(($reason:literal))? $message:literal $(in short $short:literal)? $(=> $advice:expr)? $(, $condition:expr)?;)*
     })*) => {
        $(#[$meta])*
        $visible static $name: &[$crate::findings::Rule<fn(&$subject) -> Option<$crate::model::Values>>] = &[$($($crate::findings::Rule {
            wording: $crate::findings::Wording {
                code: $code,
                severity: $crate::model::Severity::$severity,
                reason: concat!($($reason)?),
                message: $message,
                short: concat!($($short)?),
                advice: rules!(@or "" $(, $advice)?),
            },
            condition: rules!(@or |_| Some($crate::model::Values::new()) $(, $condition)?),
        },)*)*];
    };
}

pub mod assessment;
mod clocks;
pub mod counter;
pub mod machine;
mod report;
mod waits;

pub use clocks::{CLOCKS, ClockCase, DISQUALIFYING, FAILED, PRECISION, PrecisionCase};
pub use report::{FREQUENCY, FrequencyCase, MAX_FREQUENCY_RANGE, REPORTS, ReportCase};
pub use waits::{WAITS, WaitCase};

use crate::model::{Finding, Severity, Unit, Value, Values};
use crate::numbers::{rate, short_time, significant, time, trimmed};

/// The texts of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// The code: a name of the finding that does not change between versions.
    pub code: &'static str,
    /// The severity.
    pub severity: Severity,
    /// Distinguishes findings of one code and severity: the value `reason` of the finding; empty if
    /// it has none.
    pub reason: &'static str,
    /// The template of the message: what was found and its consequences.
    pub message: &'static str,
    /// The template of what follows the name of a timer in a list; empty if the finding makes no figure
    /// uncertain.
    pub short: &'static str,
    /// The template of the advice; empty if no action is required.
    pub advice: &'static str,
}

impl Wording {
    /// The message and the advice, with `…` for values, and optional parts in brackets.
    pub fn texts(&self) -> [String; 2] {
        [self.message, self.advice]
            .map(|template| fill(template, ["[", "]"], |_, _| Some("…".to_owned())))
    }
}

/// Returns, from the facts about what a finding is about, for example a clock with its figures, the
/// values of the finding; `None` if it does not apply.
type Condition<C> = fn(&C) -> Option<Values>;

/// A rule: the texts of a finding, and the condition under which it is reported.
pub struct Rule<F> {
    wording: Wording,
    condition: F,
}

/// Returns the findings whose rules apply to a case, in the order of the table: of each code the
/// first that applies.
pub fn apply_rules<C>(rules: &[Rule<Condition<C>>], case: &C) -> Vec<Finding> {
    let same_code = |a: &Rule<_>, b: &Rule<_>| a.wording.code == b.wording.code;
    let finding = |rule: &Rule<Condition<C>>| {
        let Wording {
            code,
            severity,
            reason,
            ..
        } = rule.wording;
        let mut values = (rule.condition)(case)?;
        if !reason.is_empty() {
            values.extend(values! { reason });
        }
        Some(Finding {
            code: code.to_owned(),
            severity,
            values,
        })
    };
    let codes = rules.chunk_by(same_code);
    codes
        .filter_map(|rules| rules.iter().find_map(finding))
        .collect()
}

/// Returns the texts of all findings, table by table.
pub fn wordings() -> impl Iterator<Item = &'static Wording> {
    wordings_in(CLOCKS)
        .chain(wordings_in(DISQUALIFYING))
        .chain(wordings_in(FAILED))
        .chain(wordings_in(PRECISION))
        .chain(wordings_in(WAITS))
        .chain(wordings_in(machine::EMULATED))
        .chain(wordings_in(REPORTS))
        .chain(wordings_in(FREQUENCY))
        .chain(machine::MACHINE.into_iter().flat_map(wordings_in))
        .chain(wordings_in(machine::TSC_CONFLICT))
        .chain(wordings_in(machine::READ_COST))
        .chain(wordings_in(machine::DATE))
        .chain(wordings_in(counter::COUNTER))
}

fn wordings_in<F>(rules: &'static [Rule<F>]) -> impl Iterator<Item = &'static Wording> {
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

    /// Returns what follows the name of a timer in a list; `None` if the finding makes no figure uncertain.
    pub fn in_short(&self) -> Option<String> {
        let short = fill_template(self.wording()?.short, &self.values);
        Some(short).filter(|text| !text.is_empty())
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

/// Collects the values of a finding by name, as in `values! { cpu: 3, list }`: counts, texts, and
/// numbers with a unit. A value that is `None` is left out.
#[macro_export]
macro_rules! values {
    (@value $name:ident) => { $name };
    (@value $name:ident $value:expr) => { $value };
    ($($name:ident $(: $value:expr)?),* $(,)?) => {{
        #[allow(unused_mut)]
        let mut all = $crate::model::Values::new();
        $(
            let value = $crate::findings::ToValue::to_value($crate::values!(@value $name $($value)?));
            all.extend(value.map(|value| (stringify!($name).to_owned(), value)));
        )*
        all
    }};
}

pub use crate::values;

/// What may be the value of a finding.
pub trait ToValue {
    /// Returns the value, if there is one.
    fn to_value(self) -> Option<Value>;
}

impl ToValue for Value {
    fn to_value(self) -> Option<Value> {
        Some(self)
    }
}

impl ToValue for &str {
    fn to_value(self) -> Option<Value> {
        Some(Value::Text(self.to_owned()))
    }
}

impl ToValue for String {
    fn to_value(self) -> Option<Value> {
        Some(Value::Text(self))
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(self) -> Option<Value> {
        self?.to_value()
    }
}

macro_rules! counts {
    ($($integer:ty),*) => {$(
        impl ToValue for $integer {
            fn to_value(self) -> Option<Value> {
                Some(number(self as f64, Unit::Count))
            }
        }
    )*};
}

counts!(u32, u64, usize);

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

/// Returns the template with the values filled in.
pub fn fill_template(template: &str, values: &Values) -> String {
    fill(template, [""; 2], |name, style| {
        Some(format_value(values.get(name)?, style))
    })
}

/// Returns the template filled in with what `value` returns for a name and a style. Optional parts
/// are put in these brackets.
fn fill(
    template: &str,
    [open, close]: [&str; 2],
    value: impl Fn(&str, &str) -> Option<String>,
) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, optional)) = rest.split_once('<') {
        let (inner, after) = optional.split_once('>').unwrap_or((optional, ""));
        out += &fill_part(before, &value).unwrap_or_default();
        if let Some(inner) = fill_part(inner, &value) {
            out += &[open, &inner, close].concat();
        }
        rest = after;
    }
    out + &fill_part(rest, &value).unwrap_or_default()
}

/// Returns a part of a template with the values filled in, which `value` returns for a name and a
/// style; `None` if one is missing.
fn fill_part(part: &str, value: &impl Fn(&str, &str) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let (name, style) = name.split_once(':').unwrap_or((name, ""));
        out += before;
        out += &value(name, style)?;
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
        Unit::Nanoseconds => time(value),
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
        let mut found = values! { step: ns(4e6) };
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
            values: values! { cpu: 3_u32, rate: number(2e9, Unit::Hertz) },
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
