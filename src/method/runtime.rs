//! Which timers of a report the name of a runtime means.

use timers::agents::{RUNTIMES, Runtime, runtime};

use crate::model::{ProvenanceKind, Report, TimerRow};
use crate::text::clipped;

/// It stands in for .NET, but is not called so.
const MONO: &str = "mono";

/// Why nothing can be chosen at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// The runtime has no timers in the report.
    #[error("the report has no timers of `{runtime}`: {known}; {remedy}")]
    NoSuchRuntime {
        /// The runtime that was asked for.
        runtime: String,
        /// Those there are.
        known: String,
        /// How to get at others.
        remedy: String,
    },
}

/// The runtime whose host this program brings along that is called so. Mono is one of .NET.
#[must_use]
pub fn host(name: &str) -> Option<&'static Runtime> {
    let name = name.to_lowercase();
    RUNTIMES
        .iter()
        .find(|runtime| is_called(runtime, &name))
        .or_else(|| runtime("dotnet").filter(|_| name == MONO))
}

/// All that this program brings hosts along for, as a sentence names them.
#[must_use]
pub fn hosts() -> String {
    RUNTIMES
        .iter()
        .map(|runtime| runtime.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A name in lower case.
fn is_called(runtime: &Runtime, name: &str) -> bool {
    runtime.name == name || runtime.called.contains(&name)
}

/// Whether two names in lower case are of the same runtime.
fn same(a: &str, b: &str) -> bool {
    a == b
        || RUNTIMES
            .iter()
            .any(|runtime| is_called(runtime, a) && is_called(runtime, b))
}

/// The timers of this runtime, the native ones without a name: those whose ids lead with exactly
/// that name, else with another name of the same runtime, else those whose runtime is called so.
pub(super) fn timers_of<'a>(report: &'a Report, runtime: Option<&str>) -> Vec<&'a TimerRow> {
    let picked =
        |is: &dyn Fn(&TimerRow) -> bool| report.timers.iter().filter(|row| is(row)).collect();
    let Some(wanted) = runtime
        .map(str::to_lowercase)
        .filter(|wanted| wanted != "native")
    else {
        return picked(&|row| row.runtime == "native" && row.agent().is_none());
    };
    let called =
        |row: &TimerRow, is: &dyn Fn(&str) -> bool| prefix(row).is_some_and(|prefix| is(&prefix));
    let mut rows: Vec<&TimerRow> = picked(&|row| called(row, &|prefix| prefix == wanted));
    if rows.is_empty() {
        rows = picked(&|row| called(row, &|prefix| same(prefix, &wanted)));
    }
    if rows.is_empty() {
        rows = picked(&|row| same(&name(row), &wanted));
    }
    rows
}

/// What leads the id, in lower case.
fn prefix(row: &TimerRow) -> Option<String> {
    row.agent().map(str::to_lowercase)
}

/// The name of the runtime without its version, in lower case.
fn name(row: &TimerRow) -> String {
    let words = row.runtime.split_whitespace();
    let words: Vec<&str> = words
        .take_while(|word| !word.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    words.join(" ").to_lowercase()
}

/// What to say where the report has no timers of the runtime.
pub(super) fn missing(report: &Report, runtime: Option<&str>) -> ChoiceError {
    let mut known: Vec<String> = report.timers.iter().map(choice_of).collect();
    known.sort_unstable();
    known.dedup();
    let known = match known.as_slice() {
        [] => "it has no timers at all".to_owned(),
        [only] => format!("it has those of `{only}` (--runtime {only})"),
        _ => format!("it has those of {} (--runtime NAME)", known.join(", ")),
    };
    let runtime = clipped(runtime.unwrap_or("native"), 40);
    let remedy = match (report.provenance.kind, host(&runtime)) {
        (ProvenanceKind::Published, _) => {
            "its figures are published ones, and not of this machine".to_owned()
        }
        (_, Some(host)) => format!("timermeter probe --runtime {} has them", host.name),
        (_, None) => {
            "timermeter probe --runtime all has those of other runtimes, and probe --agent those of any agent"
                .to_owned()
        }
    };
    ChoiceError::NoSuchRuntime {
        runtime,
        known,
        remedy,
    }
}

/// The name by which `--runtime` takes this timer.
fn choice_of(row: &TimerRow) -> String {
    let by_name = || {
        let name = name(row);
        let called = RUNTIMES.iter().find(|runtime| is_called(runtime, &name));
        called.map_or(name.clone(), |runtime| runtime.name.to_owned())
    };
    clipped(&prefix(row).unwrap_or_else(by_name), 40)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Status;

    fn report(rows: &[(&str, &str)]) -> Report {
        let text = include_str!("../../reports/icpe2011-samsb/2011-03-14/report.json");
        let mut report = crate::report::parse(text, "the report").expect("it reads");
        if !rows.is_empty() {
            let row =
                |&(id, runtime): &(&str, &str)| TimerRow::unmeasured(id, id, runtime, Status::Ok);
            report.timers = rows.iter().map(row).collect();
            report.provenance.kind = ProvenanceKind::Measured;
        }
        report
    }

    fn ids(report: &Report, runtime: &str) -> Vec<String> {
        timers_of(report, Some(runtime))
            .iter()
            .map(|row| row.id.clone())
            .collect()
    }

    #[test]
    fn names_are_whole_names() {
        let report = report(&[
            ("monotonic", "native"),
            ("java:nanoTime", "OpenJDK 17.0.9"),
            ("dotnet:TickCount", ".NET 8.0.1"),
            ("mono:TickCount", "Mono 6.8.0"),
            ("node:hrtime", "Node.js 22.1"),
        ]);
        for (name, id) in [
            ("native", "monotonic"),
            ("java", "java:nanoTime"),
            ("OpenJDK", "java:nanoTime"),
            ("dotnet", "dotnet:TickCount"),
            (".NET", "dotnet:TickCount"),
            ("mono", "mono:TickCount"),
            ("node.js", "node:hrtime"),
        ] {
            assert_eq!(ids(&report, name), [id], "{name}");
        }
        for name in ["open", "jav", "no", "m", "python"] {
            assert!(ids(&report, name).is_empty(), "{name}");
        }
        assert_eq!(timers_of(&report, None).len(), 1);
    }

    #[test]
    fn mono_replaces_dotnet() {
        let report = report(&[
            ("dotnet:TickCount", "Mono 6.8.0"),
            ("cpython:time", "CPython 3.12.1"),
        ]);
        for name in ["mono", "dotnet"] {
            assert_eq!(ids(&report, name), ["dotnet:TickCount"], "{name}");
        }
        assert_eq!(ids(&report, "python"), ["cpython:time"]);
    }

    #[test]
    fn unknown_runtime_lists_known_ones() {
        let published = report(&[]);
        let text = missing(&published, None).to_string();
        assert!(
            text.contains("`native`")
                && text.contains("dotnet, java")
                && text.contains("published"),
            "{text}"
        );
        assert_eq!(
            ids(&published, "java").len() + ids(&published, "dotnet").len(),
            published.timers.len()
        );
        let own = report(&[("monotonic", "native")]);
        let text = missing(&own, Some("java")).to_string();
        assert!(
            text.contains("`java`") && text.contains("probe --runtime java"),
            "{text}"
        );
        let text = missing(&own, Some("cobol")).to_string();
        assert!(
            text.contains("`cobol`") && text.contains("probe --agent"),
            "{text}"
        );
    }
}
