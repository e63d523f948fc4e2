//! How often each lateness was seen, as cyclictest writes it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Recording, WaitObservation};
use crate::trace::{Wait, WaitTrace};

/// Microseconds that have a line of their own.
const MOST_US: i64 = 100_000;

impl Recording {
    /// A line for each microsecond of lateness, rounded down, a column for each timer, conditions
    /// and length that was chosen. Then totals, the least, mean and greatest lateness in whole
    /// microseconds, and how many were above the last line.
    #[must_use]
    pub fn latencies(&self) -> String {
        let mut observed: Vec<(&WaitObservation<WaitTrace>, u64, Vec<i64>)> = Vec::new();
        for waited in &self.waits {
            let Ok(trace) = &waited.outcome else { continue };
            let mut lengths: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
            // Those of 0 and 1 ns tell the floor.
            for wait in trace
                .runs
                .iter()
                .flat_map(|run| &run.lengths)
                .filter(|wait| wait.request_ns > 1)
            {
                lengths
                    .entry(wait.request_ns)
                    .or_default()
                    .push(late_us(wait, trace.reference.ns_per_tick));
            }
            observed.extend(
                lengths
                    .into_iter()
                    .map(|(length, all)| (waited, length, all)),
            );
        }
        let mut lines: BTreeMap<i64, Vec<u64>> = BTreeMap::new();
        for (column, (_, _, all)) in observed.iter().enumerate() {
            for &us in all.iter().filter(|us| **us < MOST_US) {
                lines.entry(us).or_insert_with(|| vec![0; observed.len()])[column] += 1;
            }
        }
        let mut text = String::from("# Histogram: lateness in us, then waits, a column each:\n");
        for (column, (observed, length, _)) in observed.iter().enumerate() {
            let (id, conditions) = (crate::text::plain(&observed.timer.id), &observed.conditions);
            let slack = conditions
                .slack_ns
                .map_or_else(|| "no slack".into(), |ns| format!("slack {ns} ns"));
            let cpu = conditions
                .cpu
                .map_or_else(|| "any CPU".into(), |cpu| format!("CPU {cpu}"));
            let (policy, load) = (&conditions.policy, conditions.load);
            let _ = writeln!(
                text,
                "# {column}: {id}, {length} ns, {slack}, {policy}, {load:?}, {cpu}"
            );
        }
        for (us, counts) in lines {
            let counts: Vec<String> = counts.iter().map(|count| format!("{count:06}")).collect();
            let _ = writeln!(text, "{us:06}\t{}", counts.join("\t"));
        }
        type Summary = (&'static str, fn(&[i64]) -> i64);
        let summaries: [Summary; 5] = [
            ("Total:", |all| all.len() as i64),
            ("Min Latencies:", |all| {
                all.iter().copied().min().unwrap_or(0)
            }),
            ("Avg Latencies:", |all| {
                all.iter().sum::<i64>() / all.len().max(1) as i64
            }),
            ("Max Latencies:", |all| {
                all.iter().copied().max().unwrap_or(0)
            }),
            ("Histogram Overflows:", |all| {
                all.iter().filter(|us| **us >= MOST_US).count() as i64
            }),
        ];
        for (name, of) in summaries {
            let figures: Vec<String> = observed
                .iter()
                .map(|(_, _, all)| format!("{:05}", of(all)))
                .collect();
            let _ = writeln!(text, "# {name} {}", figures.join(" "));
        }
        text
    }
}

fn late_us(wait: &Wait, ns_per_tick: f64) -> i64 {
    (wait.late_ns(ns_per_tick) / 1e3).floor().clamp(-1e12, 1e12) as i64
}
