//! Declares a field: what follows from its name and unit, and methods that set everything else.

use super::{Detail, Field, FieldUnit, Kind, LabelOf, Metric, Range, Read, Visibility};

/// A word of a heading, as people write it.
fn written(word: &str) -> &str {
    match word {
        "cpu" => "CPU",
        "cpus" => "CPUs",
        "ntp" => "NTP",
        "os" => "OS",
        "smt" => "SMT",
        "tsc" => "TSC",
        word => word,
    }
}

impl Field {
    pub(super) fn new(
        name: &'static str,
        unit: FieldUnit,
        about: &'static str,
        kinds: &'static [Kind],
        read: Read,
    ) -> Self {
        let rules = unit.rules();
        let key: &'static str = [name, rules.suffix].concat().leak();
        let column = match unit {
            FieldUnit::Cycles | FieldUnit::Ticks => key,
            _ => name,
        };
        let words: Vec<&str> = name.split('_').map(written).collect();
        Self {
            column: column.replace('_', "-").leak(),
            heading: [&words.join(" "), rules.heading].concat().leak(),
            key,
            about,
            more: "",
            unit,
            visibility: None,
            by_platform: None,
            detail: Some(Detail::Full),
            derived: false,
            is_of_cpu: false,
            metric: None,
            label: None,
            compared: None,
            range: rules.range,
            kinds,
            keys: vec![key],
            read,
        }
    }

    /// Sets a name and a heading that do not follow from the key.
    pub(super) fn column(self, column: &'static str, heading: &'static str) -> Self {
        Self {
            column,
            heading,
            ..self
        }
    }

    /// Says what the values mean.
    pub(super) fn more(self, more: &'static str) -> Self {
        Self { more, ..self }
    }

    /// Sets a heading that does not follow from the key.
    pub(super) fn titled(self, heading: &'static str) -> Self {
        Self { heading, ..self }
    }

    /// Shows the column by default on these terminals, and what tables of little detail show among the
    /// facts of little detail.
    pub(super) fn in_tables(mut self, visibility: Visibility) -> Self {
        self.visibility = Some(visibility);
        if visibility <= Visibility::Wide {
            return self.in_short();
        }
        self
    }

    /// Shows the value among the facts of little detail.
    pub(super) fn in_short(self) -> Self {
        Self {
            detail: Some(Detail::Short),
            ..self
        }
    }

    /// Omits the value among facts.
    pub(super) fn no_fact(self) -> Self {
        Self {
            detail: None,
            ..self
        }
    }

    /// Marks what says nothing about the processor of a device.
    pub(super) fn of_cpu(self) -> Self {
        Self {
            is_of_cpu: true,
            ..self
        }
    }

    /// Shows the column by default in tables with a row for each platform.
    pub(super) fn by_platform(self, visibility: Visibility) -> Self {
        Self {
            by_platform: Some(visibility),
            ..self
        }
    }

    /// Omits the field in files with all columns.
    pub(super) fn derived(self) -> Self {
        Self {
            derived: true,
            ..self
        }
    }

    /// Adds the ends of the interval in formats for programs.
    pub(super) fn interval(mut self) -> Self {
        let suffix = self.unit.rules().suffix;
        let name = self.key.strip_suffix(suffix).unwrap_or(self.key);
        let ends = ["low", "high"].map(|end| &*format!("{name}_{end}{suffix}").leak());
        self.keys.extend(ends);
        self
    }

    pub(super) fn range(self, range: Range) -> Self {
        Self { range, ..self }
    }

    /// Adds a gauge.
    pub(super) fn metric(self, name: &'static str) -> Self {
        Self {
            metric: Some(Metric {
                name,
                percentile: None,
            }),
            ..self
        }
    }

    /// Adds a gauge with the label `percentile`.
    pub(super) fn quantile(self, name: &'static str, percentile: &'static str) -> Self {
        Self {
            metric: Some(Metric {
                name,
                percentile: Some(percentile),
            }),
            ..self
        }
    }

    /// Adds a label.
    pub(super) fn label(self, of: LabelOf, name: &'static str) -> Self {
        Self {
            label: Some((of, name)),
            ..self
        }
    }

    /// Includes the field in comparisons.
    pub(super) fn compared(self, name: &'static str) -> Self {
        Self {
            compared: Some(name),
            ..self
        }
    }
}
