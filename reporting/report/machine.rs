//! Describes a machine: by its facts, in a line and for a heading.

use crate::fields::{self, Detail, Fact, field};
use estimators::model::Report;

/// The facts about the machine and the run; in one line unless all are wanted.
pub fn facts(report: &Report, detail: Detail) -> Vec<Fact> {
    let facts = fields::facts(report, detail);
    match detail {
        Detail::Full => facts
            .map(|(field, text)| field.fact(report, text))
            .collect(),
        Detail::Short => vec![("machine", in_a_line(report))],
    }
}

/// The facts of little detail in one line.
pub fn in_a_line(report: &Report) -> String {
    let parts = fields::facts(report, Detail::Short).map(|(field, text)| match field.key {
        // Next to a frequency, `tsc` alone would pass for that counter.
        "clock_source" | "publication" => format!("{} {text}", field.title()),
        _ => text,
    });
    parts.collect::<Vec<_>>().join(" · ")
}

/// The name of the machine for a heading.
pub fn name(report: &Report) -> String {
    let parts = ["node", "devices", "cpu", "hypervisor", "os"];
    let parts = parts
        .into_iter()
        .filter_map(|key| field(key)?.format_value(report));
    parts.collect::<Vec<_>>().join(" · ")
}
