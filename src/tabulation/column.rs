//! The columns a table of reports can have: what each is called, in which unit, and what stands in it.

use clap::ValueEnum;

use super::Cell;
use crate::model::AccuracyKind;
use crate::report::{Answers, Outline, OutlineRow};
use crate::text::numbers::{self, NOTHING, significant};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Column {
    /// The machine, by a name made of its CPU, hypervisor and OS
    Platform,
    /// The day of the measurement
    Date,
    /// The file of the report
    File,
    /// Brand string of the CPU
    Cpu,
    /// Hypervisor
    Hypervisor,
    /// Distribution
    Os,
    /// Release of the kernel
    Kernel,
    /// Clock source of the kernel
    ClockSource,
    /// Frequency that turned time into cycles, in GHz
    Frequency,
    /// Id of the timer
    Timer,
    /// The call
    Label,
    /// Its runtime
    Runtime,
    /// How its characterisation ended
    Status,
    /// Why, when it is not ok or its Quality is 0
    Reason,
    /// Whether it is monotonic, thread-safe and stable
    Trust,
    /// One step, in ns
    Accuracy,
    /// One step, in cycles
    AccuracyCycles,
    /// What a call costs alone: the median of single invocations, in ns
    Cost,
    /// Lower end of its 95 % interval
    CostLow,
    /// Upper end of its 95 % interval
    CostHigh,
    /// What a call costs alone, in cycles
    CostCycles,
    /// What a call costs in a row of many, in ns
    Amortised,
    /// 99th percentile of single invocations, in ns
    P99,
    /// Share of single invocations within one step of the median
    Spread,
    /// Lower end of its 95 % interval
    SpreadLow,
    /// Upper end of its 95 % interval
    SpreadHigh,
    /// Quality, in percent
    Quality,
    /// Half the 95 % interval of Quality, in points: its longer side
    Interval,
    /// Lower end of the interval of Quality
    QualityLow,
    /// Upper end of the interval of Quality
    QualityHigh,
    /// Quality as a publication prints it
    Printed,
    /// Codes of the warnings
    Warnings,
}

/// How figures of a column are written for people.
enum Digits {
    Significant,
    Fixed(usize),
}

impl Column {
    /// What it is called, with its unit.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Date => "date",
            Self::File => "report",
            Self::Cpu => "CPU",
            Self::Hypervisor => "hypervisor",
            Self::Os => "OS",
            Self::Kernel => "kernel",
            Self::ClockSource => "clock source",
            Self::Frequency => "frequency (GHz)",
            Self::Timer => "timer",
            Self::Label => "call",
            Self::Runtime => "runtime",
            Self::Status => "status",
            Self::Reason => "reason",
            Self::Trust => "trust",
            Self::Accuracy => "accuracy (ns)",
            Self::AccuracyCycles => "accuracy (cycles)",
            Self::Cost => "cost (ns)",
            Self::CostLow => "cost, low (ns)",
            Self::CostHigh => "cost, high (ns)",
            Self::CostCycles => "cost (cycles)",
            Self::Amortised => "cost in a row (ns)",
            Self::P99 => "cost, p99 (ns)",
            Self::Spread => "spread",
            Self::SpreadLow => "spread, low",
            Self::SpreadHigh => "spread, high",
            Self::Quality => "Quality (%)",
            Self::Interval => "± (points)",
            Self::QualityLow => "Quality, low (%)",
            Self::QualityHigh => "Quality, high (%)",
            Self::Printed => "Quality, printed (%)",
            Self::Warnings => "warnings",
        }
    }

    /// What it is called where scripts read it.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::ClockSource => "clock_source",
            Self::Frequency => "frequency_ghz",
            Self::Label => "label",
            Self::Accuracy => "accuracy_ns",
            Self::AccuracyCycles => "accuracy_cycles",
            Self::Cost => "cost_ns",
            Self::CostLow => "cost_low_ns",
            Self::CostHigh => "cost_high_ns",
            Self::CostCycles => "cost_cycles",
            Self::Amortised => "cost_amortised_ns",
            Self::P99 => "cost_p99_ns",
            Self::SpreadLow => "spread_low",
            Self::SpreadHigh => "spread_high",
            Self::Quality => "quality_percent",
            Self::Interval => "quality_half_interval_points",
            Self::QualityLow => "quality_low_percent",
            Self::QualityHigh => "quality_high_percent",
            Self::Printed => "quality_printed_percent",
            Self::Cpu => "cpu",
            Self::Os => "os",
            other => other.heading(),
        }
    }

    /// Whether figures stand in it.
    #[must_use]
    pub fn is_figure(self) -> bool {
        let names_timer = matches!(
            self,
            Self::Timer
                | Self::Label
                | Self::Runtime
                | Self::Status
                | Self::Reason
                | Self::Trust
                | Self::Warnings
        );
        self == Self::Frequency || !(names_timer || self.is_of_report())
    }

    /// Whether it is the same for all timers of a report.
    #[must_use]
    pub fn is_of_report(self) -> bool {
        matches!(
            self,
            Self::Platform
                | Self::Date
                | Self::File
                | Self::Cpu
                | Self::Hypervisor
                | Self::Os
                | Self::Kernel
                | Self::ClockSource
                | Self::Frequency
        )
    }

    /// Whether more is better, so that the largest come first.
    #[must_use]
    pub fn largest_first(self) -> bool {
        matches!(
            self,
            Self::Quality
                | Self::QualityLow
                | Self::QualityHigh
                | Self::Printed
                | Self::Spread
                | Self::SpreadLow
                | Self::SpreadHigh
                | Self::Date
        )
    }

    /// What a report says in a column that is the same for all of its timers. Platform and file are known to whoever read it.
    #[must_use]
    pub fn of_report(self, report: &Outline<'_>) -> Cell {
        let platform = &report.platform;
        let told = |text: &Option<String>| text.as_deref().map_or(Cell::Nothing, Cell::text);
        match self {
            Self::Date => Cell::text(report.created.get(..10).unwrap_or(&report.created)),
            Self::Cpu => told(&platform.cpu.model),
            Self::Hypervisor => told(&platform.hypervisor),
            Self::Os => told(&platform.os.name),
            Self::Kernel => told(&platform.kernel.release),
            Self::ClockSource => told(&platform.clocksource.current),
            Self::Frequency => Cell::number(report.frequency.cycles_hz.map(|hz| hz * 1e-9)),
            _ => Cell::Nothing,
        }
    }

    /// What a row says in a column that differs from timer to timer.
    #[must_use]
    pub fn of_row(self, row: &OutlineRow<'_>) -> Cell {
        let accuracy = row.accuracy.as_ref();
        let cost = row.cost.as_ref();
        let percent = |share: Option<f64>| Cell::number(share.map(|share| share * 100.0));
        let bound = |figure: Option<f64>| match (Cell::number(figure), accuracy.map(|a| a.kind)) {
            (Cell::Number(bound), Some(AccuracyKind::AtMost)) => Cell::AtMost(bound),
            (cell, _) => cell,
        };
        match self {
            Self::Timer => Cell::text(&row.id),
            Self::Label => Cell::text(&row.label),
            Self::Runtime => Cell::text(&row.runtime),
            Self::Status => Cell::text(row.status.name()),
            Self::Reason => reason(row),
            Self::Trust => {
                row.verdicts.as_ref().map_or(Cell::Nothing, |answers| Cell::text(answers.in_short()))
            }
            Self::Accuracy => bound(accuracy.and_then(|accuracy| accuracy.ns)),
            Self::AccuracyCycles => bound(accuracy.and_then(|accuracy| accuracy.cycles)),
            Self::Cost => Cell::number(cost.and_then(|cost| cost.median_ns)),
            Self::CostLow => Cell::number(cost.and_then(|cost| cost.low_ns)),
            Self::CostHigh => Cell::number(cost.and_then(|cost| cost.high_ns)),
            Self::CostCycles => Cell::number(cost.and_then(|cost| cost.median_cycles)),
            Self::Amortised => Cell::number(cost.and_then(|cost| cost.amortised_ns)),
            Self::P99 => Cell::number(cost.and_then(|cost| cost.p99_ns)),
            Self::Spread => Cell::number(row.spread),
            Self::SpreadLow => Cell::number(row.spread_low),
            Self::SpreadHigh => Cell::number(row.spread_high),
            Self::Quality => percent(row.quality),
            Self::Interval => {
                // As the other tables print it: rounded up, so that the interval holds the one that was found.
                Cell::number(numbers::half_interval(row.quality, row.quality_low, row.quality_high))
            }
            Self::QualityLow => percent(row.quality_low),
            Self::QualityHigh => percent(row.quality_high),
            Self::Printed => percent(row.printed_quality),
            Self::Warnings => warnings(row),
            _ => Cell::Nothing,
        }
    }

    /// A cell of this column for people. Text is as it was found.
    #[must_use]
    pub fn shown(self, cell: &Cell) -> String {
        match cell {
            Cell::Nothing => NOTHING.to_owned(),
            Cell::Number(figure) => self.figure(*figure),
            Cell::AtMost(bound) => format!("≤ {}", self.figure(*bound)),
            Cell::Text(text) => (**text).to_owned(),
        }
    }

    fn figure(self, figure: f64) -> String {
        match self.digits() {
            Digits::Significant => significant(figure, 4),
            Digits::Fixed(decimals) => format!("{figure:.decimals$}"),
        }
    }

    fn digits(self) -> Digits {
        match self {
            Self::Quality | Self::QualityLow | Self::QualityHigh | Self::Printed | Self::Interval => {
                Digits::Fixed(2)
            }
            Self::Spread | Self::SpreadLow | Self::SpreadHigh | Self::Frequency => Digits::Fixed(3),
            _ => Digits::Significant,
        }
    }
}

/// Why it has no Quality, or why that is 0.
fn reason(row: &OutlineRow<'_>) -> Cell {
    let condemned = row.verdicts.as_ref().and_then(Answers::condemning);
    let reasons: Vec<&str> = [row.reason.as_deref(), condemned.as_deref()].into_iter().flatten().collect();
    if reasons.is_empty() { Cell::Nothing } else { Cell::text(&reasons.join("; ")) }
}

fn warnings(row: &OutlineRow<'_>) -> Cell {
    if row.warnings.is_empty() {
        return Cell::Nothing;
    }
    let codes: Vec<&str> = row.warnings.iter().map(|warning| warning.code.as_ref()).collect();
    Cell::text(&codes.join(" "))
}
