//! Conditions of a wait in a few words.

use crate::model::{BackgroundLoad, WaitConditions};
use crate::text::clipped;
use crate::text::numbers::short_time;

/// Conditions in a few words each.
fn parts(conditions: &WaitConditions) -> [String; 4] {
    let load = match conditions.load {
        BackgroundLoad::None => "idle",
        BackgroundLoad::SameCpu => "busy CPU",
        BackgroundLoad::OtherCpu => "other CPU busy",
    };
    [
        conditions
            .slack_ns
            .map_or_else(|| "no slack".into(), |ns| format!("slack {}", short_time(ns as f64))),
        format!("policy {}", clipped(&conditions.policy, 40)),
        load.into(),
        conditions.cpu.map_or_else(|| "any CPU".into(), |cpu| format!("CPU {cpu}")),
    ]
}

/// Those conditions by which some of `among` differ, or those that all of them share.
#[must_use]
pub fn in_short(own: &WaitConditions, among: &[&WaitConditions], shared: bool) -> String {
    let differ: [fn(&WaitConditions, &WaitConditions) -> bool; 4] = [
        |a, b| a.slack_ns != b.slack_ns,
        |a, b| a.policy != b.policy,
        |a, b| a.load != b.load,
        |a, b| a.cpu != b.cpu,
    ];
    let differs = differ.map(|differ| among.iter().any(|other| differ(own, other)));
    let told = parts(own).into_iter().zip(differs).filter(|(_, differs)| *differs != shared);
    told.map(|(part, _)| part).collect::<Vec<_>>().join(", ")
}

/// An id with those of its conditions by which some of `among` differ. One that is not among them could not be asked, and so has none.
#[must_use]
pub fn named(id: &str, own: &WaitConditions, among: &[&WaitConditions]) -> String {
    match in_short(own, among, false) {
        same if same.is_empty() || !among.contains(&own) => id.to_owned(),
        told => format!("{id} ({told})"),
    }
}
