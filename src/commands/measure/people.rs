//! What was measured, for people: columns, and remarks below them.

use super::shown::{ShownMeasurements, whole};
use crate::commands::measurement::{Measurement, MeasurementOutcome};
use crate::measure::campaigns::Ratio;
use crate::measure::worker::MeasuredRow;
use crate::table::{Notation, Style, Table, TableColumn, Value};
use crate::text::hang;
use crate::text::numbers::significant;

impl ShownMeasurements<'_> {
    /// The columns that the terminal has room for.
    pub(super) fn table(&self, style: Style) -> Table<'static> {
        let wide = self.columns(true);
        if wide.fits(style) { wide } else { self.columns(false) }
    }

    /// Without some of them, where they are not to be `all`.
    pub(super) fn columns(&self, all: bool) -> Table<'static> {
        if self.measurements.iter().any(|one| one.command.is_some()) {
            self.of_commands(all)
        } else {
            self.of_operations(all)
        }
    }

    fn of_operations(&self, all: bool) -> Table<'static> {
        let mut columns = vec![
            TableColumn::left("operation"),
            TableColumn::left("size"),
            TableColumn::left("way"),
            TableColumn::written("calls"),
            TableColumn::right("mean", Notation::Time),
            TableColumn::right("±%", Notation::Fixed(2)),
            TableColumn::right("SD", Notation::Time),
            TableColumn::right("median", Notation::Time),
            TableColumn::right("a second", Notation::Count),
        ];
        columns.truncate(if all { columns.len() } else { columns.len() - 1 });
        let mut table = Table::new(columns);
        for measurement in self.measurements {
            let mut row = vec![measurement.operation.as_str().into(), whole(measurement.size)];
            match &measurement.outcome {
                MeasurementOutcome::Measured(found) => {
                    let summary = &found.summary;
                    row.extend([found.way.as_str().into(), whole(Some(found.calls))]);
                    row.extend([
                        summary.mean_ns.into(),
                        Value::from(100.0 * summary.error),
                        summary.deviation_ns.into(),
                        summary.median_ns.into(),
                        (1e9 / summary.mean_ns).into(),
                    ]);
                }
                MeasurementOutcome::Allocated { instances, bytes } => {
                    row.push(format!("{instances} allocations, {bytes} bytes a call").into());
                }
                MeasurementOutcome::Failed { .. } => {}
            }
            row.truncate(table.columns.len());
            table.push(row);
        }
        table
    }

    fn of_commands(&self, all: bool) -> Table<'static> {
        let mut columns = vec![TableColumn { folds: true, ..TableColumn::left("command") }];
        let headings = ["mean", "SD", "min", "max", "user", "system"];
        columns.extend(headings.map(|heading| TableColumn::right(heading, Notation::Time)));
        columns.insert(2, TableColumn::right("±%", Notation::Fixed(2)));
        let relative = all && self.measurements.iter().any(|one| one.relative().is_some());
        if all {
            columns.push(TableColumn::right("median", Notation::Time));
        }
        if relative {
            columns.push(TableColumn::written("relative"));
        }
        let mut table = Table::new(columns);
        for measurement in self.measurements {
            let mut row = vec![measurement.operation.as_str().into()];
            if let Some(MeasuredRow { summary, .. }) = measurement.row() {
                let runs = measurement.command.as_ref();
                row.extend([summary.mean_ns.into(), Value::from(100.0 * summary.error)]);
                row.extend([summary.deviation_ns.into(), summary.min_ns.into(), summary.max_ns.into()]);
                row.push(runs.and_then(|runs| runs.user_ns).into());
                row.push(runs.and_then(|runs| runs.system_ns).into());
                row.push(summary.median_ns.into());
                row.push(measurement.relative().map_or(Value::Nothing, |ratio| times(&ratio).into()));
            }
            row.truncate(table.columns.len());
            table.push(row);
        }
        table
    }

    /// Which is the fastest, what is not stable, and why something could not be measured.
    pub(super) fn remarks(&self, style: Style) -> String {
        let mut out = String::new();
        let mut say = |first: &str, text: &str| hang(&mut out, first, "  ", text, style.columns());
        let measured: Vec<(&Measurement, &MeasuredRow)> =
            self.measurements.iter().filter_map(|one| Some((one, one.row()?))).collect();
        let fastest = measured.iter().find(|(one, _)| one.relative() == Some(Ratio::ONE));
        for (one, _) in &measured {
            let Some((ratio, (fastest, _))) = one.relative().zip(fastest) else { continue };
            if ratio == Ratio::ONE {
                continue;
            }
            let factor = times(&ratio);
            let (fast, slow) = (&fastest.operation, &one.operation);
            if ratio.differs() {
                say("", &format!("`{fast}` ran {factor} times faster than `{slow}`"));
            } else {
                say("", &format!("`{fast}` and `{slow}` cannot be told apart: {factor} times"));
            }
        }
        for (one, row) in &measured {
            let codes = one.command.iter().flat_map(|runs| &runs.exit_codes);
            let failed = codes.filter(|code| **code != Some(0)).count();
            if failed > 0 {
                say("", &format!("{}: {failed} of {} runs failed", named(one), row.summary.samples));
            }
            if let Some(text) = self.remark(row) {
                say("", &format!("{}: {text}", named(one)));
            }
        }
        for one in self.measurements {
            if let MeasurementOutcome::Failed { reason } = &one.outcome {
                say("", &format!("{}: {reason}", named(one)));
            }
        }
        if out.is_empty() { out } else { format!("\n{out}") }
    }

    /// What keeps a measurement from being as good as was asked for.
    fn remark(&self, row: &MeasuredRow) -> Option<String> {
        let (stability, summary) = (&row.stability, &row.summary);
        let mut parts = Vec::new();
        if let Some(share) = stability.deviation.filter(|_| !stability.stable) {
            parts.push(format!("not stable, the SD is {} % of the mean", significant(share * 100.0, 2)));
        }
        // In thousands of runs some always do.
        if 20 * stability.outliers > summary.samples {
            parts.push(format!("{} of {} lie far off", stability.outliers, summary.samples));
        }
        if stability.slow_start {
            parts.push("the first was slow (more --warmup?)".into());
        }
        let goal = self.args.error * 100.0;
        if let Some(needed) = stability.samples_needed.filter(|needed| *needed > summary.samples) {
            parts.push(format!(
                "known to ±{} %; some {} {} would make it ±{goal} %",
                significant(summary.error * 100.0, 2),
                roughly(needed),
                if self.args.campaigns.is_some() { "--campaigns" } else { "--samples" }
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn named(one: &Measurement) -> String {
    match (one.size, one.command.is_some()) {
        (_, true) => format!("`{}`", one.operation),
        (Some(size), false) => format!("{} {size}", one.operation),
        (None, false) => one.operation.clone(),
    }
}

/// With two digits.
fn roughly(number: usize) -> usize {
    let unit = 10_usize.pow((number as f64).log10() as u32).div_ceil(10).max(1);
    number.div_ceil(unit) * unit
}

/// A factor with its uncertainty, which has two digits: `1.32 ± 0.04`; or between which it lies, where that is far apart.
fn times(Ratio { ratio, low, high }: &Ratio) -> String {
    /// An uncertainty of this share is the same on either side, nearly.
    const SMALL: f64 = 0.3;
    let half = (high - low) / 2.0;
    if half <= 0.0 {
        "1".to_owned()
    } else if half > SMALL * ratio {
        format!("{} ({} to {})", significant(*ratio, 2), significant(*low, 2), significant(*high, 2))
    } else {
        let decimals = (1 - half.log10().floor() as i64).clamp(0, 4) as usize;
        format!("{ratio:.decimals$} ± {half:.decimals$}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncertainties_have_two_digits() {
        let factor = |ratio, low, high| times(&Ratio { ratio, low, high });
        assert_eq!(factor(1.3214, 1.2814, 1.3625), "1.321 ± 0.041");
        assert_eq!(factor(120.0, 107.0, 134.0), "120 ± 14");
        assert_eq!(factor(5.7, 1.1, 30.0), "5.7 (1.1 to 30)");
        assert_eq!(times(&Ratio::ONE), "1");
        assert_eq!([2, 99, 104, 8_575, 100_000].map(roughly), [2, 99, 110, 8_600, 100_000]);
    }
}
