//! Finds the timers of a runtime, which users may call by any of its common names.

use timers::agents::{Runtime, runtime};

use super::ChoiceError;
use estimators::model::{ProvenanceKind, Report, RowHead, TimerRow};

/// The runtime with this name, if this program provides a host for it.
pub fn find_host(name: &str) -> Option<&'static Runtime> {
    // Mono uses the host of .NET.
    runtime(if name.eq_ignore_ascii_case("mono") {
        "dotnet"
    } else {
        name
    })
}

/// The name that this program uses for a runtime.
fn common_name(name: &str) -> String {
    runtime(name).map_or_else(|| name.to_lowercase(), |runtime| runtime.name.to_owned())
}

/// The names of the runtime of a row: the prefix of its id, and the runtime without its version.
fn runtime_names(row: &TimerRow) -> impl Iterator<Item = String> {
    let words: Vec<&str> = row
        .runtime
        .split_whitespace()
        .take_while(|word| !word.starts_with(|first: char| first.is_ascii_digit()))
        .collect();
    let prefix = row.agent().map(common_name);
    prefix.into_iter().chain([common_name(&words.join(" "))])
}

/// The rows of a runtime, or of the native timers if `runtime` is `None`.
pub(super) fn rows_of_runtime<'a>(
    report: &'a Report,
    runtime: Option<&str>,
) -> impl Iterator<Item = &'a TimerRow> + use<'a> {
    let wanted = common_name(runtime.unwrap_or("native"));
    report
        .timers
        .iter()
        .filter(move |row| match wanted.as_str() {
            "native" => row.runtime == "native" && row.agent().is_none(),
            _ => runtime_names(row).any(|name| name == wanted),
        })
}

/// The error for a runtime without timers in the report: it names the runtimes that the
/// report has, and how to measure others.
pub(super) fn missing_runtime(report: &Report, runtime: Option<&str>) -> ChoiceError {
    let mut known: Vec<String> = report
        .timers
        .iter()
        .filter_map(|row| runtime_names(row).next())
        .collect();
    known.sort_unstable();
    known.dedup();
    if known.is_empty() {
        return ChoiceError(
            "the report has no clocks: measure them with `timermeter probe -o report.json`".into(),
        );
    }
    let remedy = match report.provenance.kind {
        ProvenanceKind::Published => "its figures were published and are not of this machine",
        _ => "`timermeter probe` with --runtime or --agent measures those of other runtimes",
    };
    ChoiceError(format!(
        "the report has no timers of `{}`, but those of: {} (--runtime NAME); {remedy}",
        runtime.unwrap_or("native"),
        known.join(", ")
    ))
}

/// The reason of the first row that could not be measured, with its remedy.
pub(super) fn why_unavailable<'a>(mut rows: impl Iterator<Item = &'a RowHead>) -> Option<String> {
    rows.find_map(|row| {
        let (reason, remedy) = row.reason.as_ref().zip(row.remedy.as_ref())?;
        Some(format!("{reason}; {remedy}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::clock_figures::tests::row;

    fn report(rows: &[(&str, &str)]) -> Report {
        let text = include_str!("../../reports/icpe2011-samsb/2011-03-14/report.json");
        let mut report: Report = serde_json::from_str(text).unwrap();
        if !rows.is_empty() {
            let rows = rows.iter().map(|(id, runtime)| row(id, runtime, None));
            report.timers = rows.collect();
            report.provenance.kind = ProvenanceKind::Measured;
        }
        report
    }

    fn ids(report: &Report, runtime: &str) -> Vec<String> {
        rows_of_runtime(report, Some(runtime))
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
        assert_eq!(rows_of_runtime(&report, None).count(), 1);
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
        let both = ["java", "dotnet"].map(|runtime| ids(&published, runtime).len());
        assert_eq!(both[0] + both[1], published.timers.len());
        let own = report(&[("monotonic", "native")]);
        for (report, asked, words) in [
            (&published, None, ["`native`", "dotnet, java", "published"]),
            (&own, Some("cobol"), ["`cobol`", "--agent", "of: native"]),
        ] {
            let text = missing_runtime(report, asked).to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
    }
}
