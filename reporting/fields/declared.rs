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

    /// Shows the column by default on these terminals, and what tables of little detail show among the
    /// facts of little detail.
    pub(super) fn in_tables(mut self, visibility: Visibility) -> Self {
        self.visibility = Some(visibility);
        if visibility <= Visibility::Wide {
            return self.in_short();
        }
        self
    }

    /// Adds the ends of the interval in formats for programs.
    pub(super) fn interval(mut self) -> Self {
        let suffix = self.unit.rules().suffix;
        let name = self.key.strip_suffix(suffix).unwrap_or(self.key);
        let ends = ["low", "high"].map(|end| &*format!("{name}_{end}{suffix}").leak());
        self.keys.extend(ends);
        self
    }
}

/// Methods that set parts of a field: each with its arguments and what it sets to which value.
macro_rules! options {
    ($($(#[$about:meta])* $name:ident($($argument:ident: $type:ty),*) $($part:ident = $value:expr),*;)*) => {
        impl Field {
            $($(#[$about])*
            pub(super) fn $name(self, $($argument: $type),*) -> Self {
                Self { $($part: $value,)* ..self }
            })*
        }
    };
}

/// A text of the program.
type Text = &'static str;

options! {
    /// Sets a name and a heading that do not follow from the key.
    column(column: Text, heading: Text) column = column, heading = heading;
    /// Says what the values mean.
    more(more: Text) more = more;
    /// Sets a heading that does not follow from the key.
    titled(heading: Text) heading = heading;
    /// Shows the value among the facts of little detail.
    in_short() detail = Some(Detail::Short);
    /// Omits the value among facts.
    no_fact() detail = None;
    /// Marks what says nothing about the processor of a device.
    of_cpu() is_of_cpu = true;
    /// Shows the column by default in tables with a row for each platform.
    by_platform(visibility: Visibility) by_platform = Some(visibility);
    /// Omits the field in files with all columns.
    derived() derived = true;
    /// Limits the values.
    range(range: Range) range = range;
    /// Adds a gauge.
    metric(name: Text) metric = Some(Metric { name, percentile: None });
    /// Adds a gauge with the label `percentile`.
    quantile(name: Text, percentile: Text) metric = Some(Metric { name, percentile: Some(percentile) });
    /// Adds a label.
    label(of: LabelOf, name: Text) label = Some((of, name));
    /// Includes the field in comparisons.
    compared(name: Text) compared = Some(name);
}
