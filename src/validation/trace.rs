//! A report and its trace: the report is what the trace analyses to, bit for bit.

use serde_json::Value;

use super::Flaw;
use crate::model::{Report, Tool};
use crate::recording::Recording;
use crate::report::json;
use crate::text::clipped;

/// Longest value that is told.
const LONGEST: usize = 60;

/// Where the report differs from what its trace analyses to; nothing where it is that.
#[must_use]
pub fn against(report: &Report, recording: &Recording) -> Option<Flaw> {
    let own = Tool::this().version;
    if report.tool.version != own {
        return Some(Flaw::of(
            "tool.version",
            format!(
                "version {} analysed it, and this is {own}: the same version has to, or `timermeter analyse TRACE` anew",
                clipped(&report.tool.version, LONGEST)
            ),
        ));
    }
    let analysed = match recording.report() {
        Ok(analysed) => analysed,
        Err(error) => return Some(Flaw::of("its trace", format!("no report follows from it: {error}"))),
    };
    let [told, follows] = [report, &analysed].map(json::dense);
    if told == follows {
        return None;
    }
    let [told, follows] = [told, follows].map(|text| serde_json::from_str(&text).unwrap_or(Value::Null));
    Some(
        difference("", &told, &follows)
            .unwrap_or_else(|| Flaw::of("the report", "it is not what its trace analyses to")),
    )
}

/// The first place at which two documents differ.
fn difference(place: &str, told: &Value, follows: &Value) -> Option<Flaw> {
    let within = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match (told, follows) {
        (Value::Object(told), Value::Object(follows)) => {
            let keys = told.keys().chain(follows.keys().filter(|key| !told.contains_key(*key)));
            let of = |key: &String| {
                difference(
                    &within(key),
                    told.get(key).unwrap_or(&Value::Null),
                    follows.get(key).unwrap_or(&Value::Null),
                )
            };
            keys.into_iter().find_map(of)
        }
        (Value::Array(told), Value::Array(follows)) if told.len() == follows.len() => {
            let mut pairs = told.iter().zip(follows).enumerate();
            pairs.find_map(|(at, (told, follows))| difference(&format!("{place}[{at}]"), told, follows))
        }
        _ if told == follows => None,
        _ => {
            let [told, follows] = [told, follows].map(|value| clipped(&value.to_string(), LONGEST));
            Some(Flaw::of(place, format!("the report says {told}, and its trace analyses to {follows}")))
        }
    }
}
