//! What tells one measurement from another, however its document is written and wherever it lies: a copy, a line of `jq -c` and the
//! kept file are the same report.

use std::fmt;

use twox_hash::XxHash3_128;

use crate::model::Report;

/// What tells reports apart, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity(u128);

impl Identity {
    /// That of a report: when and by whom it was made, the machine's own figures, and what was found of each timer. What goes into it is
    /// never changed: datasets hold it.
    pub fn of(report: &Report) -> Self {
        let mut content = Vec::new();
        let mut add = |text: &str| {
            content.extend_from_slice(text.as_bytes());
            content.push(0);
        };
        let figure = |figure: Option<f64>| figure.map_or_else(String::new, |figure| figure.to_string());
        for text in [&report.created, &report.tool.version, &report.settings.profile] {
            add(text);
        }
        add(&report.settings.seed.to_string());
        let (platform, frequency) = (&report.platform, &report.frequency);
        for text in [&platform.cpu.model, &platform.cpu.microcode, &platform.kernel.release] {
            add(text.as_deref().unwrap_or_default());
        }
        let load = platform.load.map(|load| load.one_minute);
        for number in
            [frequency.tsc_hz, frequency.effective_hz, frequency.cycles_hz, load, platform.steal_share]
        {
            add(&figure(number));
        }
        for row in &report.timers {
            add(&row.id);
            add(row.status.name());
            let (cost, step) = (row.cost.as_ref(), row.accuracy.as_ref());
            for number in
                [cost.and_then(|cost| cost.median_ns), step.and_then(|step| step.ns), row.spread, row.quality]
            {
                add(&figure(number));
            }
        }
        for row in &report.waits {
            add(&row.id);
            add(row.status.name());
            for late in row.figures.iter().flat_map(|figures| &figures.lateness) {
                add(&late.max_ns.to_string());
            }
        }
        for row in &report.periods {
            add(&row.id);
            add(row.status.name());
            add(&figure(row.figures.as_ref().and_then(|figures| figures.max_ns)));
        }
        Self(XxHash3_128::oneshot(&content))
    }

    /// One that was written down.
    pub fn parse(text: &str) -> Option<Self> {
        u128::from_str_radix(text, 16).ok().map(Self)
    }

    /// That of some of them together, whatever their order.
    pub fn of_all(mut all: Vec<Self>) -> Self {
        all.sort_unstable();
        let bytes: Vec<u8> = all.iter().flat_map(|one| one.0.to_le_bytes()).collect();
        Self(XxHash3_128::oneshot(&bytes))
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
