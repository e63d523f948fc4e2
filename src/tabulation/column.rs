//! The columns a table of reports can have: what each is called, in which unit, and what stands in it.

mod waits;

use clap::ValueEnum;

use crate::model::{Accuracy, AccuracyKind, Answers, BriefReport, BriefRow, CommonTime, Warning};
use crate::table::{Cell, Column as Heading, Notation};
use crate::text::numbers::half_interval;

pub(super) use waits::in_a_line;
pub use waits::{Ticked, Waited};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Column {
    /// The machine, by a name made of its CPU and the generation of that, hypervisor and OS
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
    /// System clock less the common time, in ns: positive where it is ahead
    TimeOffset,
    /// The system clock is no farther from the common time, in ns
    TimeBound,
    /// Who says so, and whose time it is
    TimeSource,
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
    /// Of timers that wait: the conditions by which rows of a report differ
    Conditions,
    /// Of timers that wait: the timer slack of the thread
    Slack,
    /// Of timers that wait: the scheduling policy of the thread
    Policy,
    /// Of timers that wait: what else ran
    Load,
    /// Of timers that wait: the CPU
    OnCpu,
    /// Of timers that wait: the length asked for, or the period
    Request,
    /// Of timers that wait: how many waits, or wake-ups
    Waits,
    /// Of timers that wait: to what short requests are rounded
    Rounding,
    /// Of timers that wait: the grid of absolute time that they wake on
    Grid,
    /// Of timers that wait: the shortest wait
    Floor,
    /// Of timers that wait: median lateness
    LateP50,
    /// Of timers that wait: 90th percentile of lateness
    LateP90,
    /// Of timers that wait: 99th percentile of lateness
    LateP99,
    /// Of timers that wait: 99.9th percentile of lateness
    LateP999,
    /// Of timers that wait: the latest
    LateMax,
    /// Of timers that wait: share of waits that returned early
    Early,
    /// Of timers that wait: CPU time a wait
    CpuTime,
    /// Of timers that wait: CPU time a wait, in cycles
    CpuTimeCycles,
    /// Of timers that wait: Formula (1), not to be compared with the Quality of clocks
    WaitQuality,
    /// Of periodic timers: by how much the period is too long
    Rate,
    /// Of periodic timers: median of |interval − period|
    JitterP50,
    /// Of periodic timers: 99th percentile of |interval − period|
    JitterP99,
    /// Of periodic timers: expirations that were missed
    Missed,
    /// Of periodic timers: those that the timer reports
    MissedReported,
    /// Of periodic timers: what they do after a stall
    AfterStall,
}

/// What rows are of. They are never in one table: what clocks and waits cost has nothing in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Timers that are read
    #[default]
    Clocks,
    /// Timers that wait, a row a length and set of conditions
    Waits,
    /// Periodic timers
    Periods,
}

impl Kind {
    /// What its rows are called.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Clocks => "clocks",
            Self::Waits => "timers that wait",
            Self::Periods => "periodic timers",
        }
    }
}

/// Where its cells come from.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// What is the same for all timers of a report.
    Report(fn(&BriefReport) -> Cell),
    /// What differs from timer to timer, of those kinds that have it.
    Row {
        clock: Option<fn(&BriefRow) -> Cell>,
        wait: Option<fn(&Waited) -> Cell>,
        period: Option<fn(&Ticked) -> Cell>,
    },
}

use Source::Report;

/// Of clocks only.
#[allow(non_snake_case, reason = "it stands beside `Report`")]
fn Timer(clock: fn(&BriefRow) -> Cell) -> Source {
    Source::Row { clock: Some(clock), wait: None, period: None }
}

/// What rows of each kind have.
macro_rules! each {
    (|$row:ident| $cell:expr) => {
        Source::Row {
            clock: Some(|$row| $cell),
            wait: Some(|Waited { row: $row, .. }| $cell),
            period: Some(|Ticked { row: $row, .. }| $cell),
        }
    };
}

/// What a column is.
pub(super) struct Spec {
    /// What it is called, and how its figures are written.
    pub heading: Heading,
    pub source: Source,
    /// Whether more is better, so that the largest come first.
    pub largest_first: bool,
}

const PERCENT: Notation = Notation::Fixed(2);
const SHARE: Notation = Notation::Fixed(3);

fn text(heading: &'static str, key: &'static str, source: Source) -> Spec {
    Spec { heading: Heading { key, ..Heading::left(heading) }, source, largest_first: false }
}

fn figure(heading: &'static str, key: &'static str, notation: Notation, source: Source) -> Spec {
    Spec { heading: Heading { key, ..Heading::right(heading, notation) }, source, largest_first: false }
}

/// A time, or a number of cycles.
fn length(heading: &'static str, key: &'static str, of: fn(&BriefRow) -> Cell) -> Spec {
    figure(heading, key, Notation::Significant, Timer(of))
}

/// What is the better the larger it is.
fn merit(heading: &'static str, key: &'static str, notation: Notation, of: fn(&BriefRow) -> Cell) -> Spec {
    Spec { largest_first: true, ..figure(heading, key, notation, Timer(of)) }
}

macro_rules! cost {
    ($figure:ident) => {
        |row| row.cost.as_ref().and_then(|cost| cost.$figure).into()
    };
}

impl Column {
    /// What it is called, with its unit; what stands in it. Platform and file are known to whoever read the report.
    pub(super) fn spec(self) -> Spec {
        // Names of files and platforms are what reports are told apart by, so they are not cut.
        let whole = |mut spec: Spec| {
            spec.heading.longest = Some(usize::MAX);
            spec
        };
        match self {
            Self::Platform => whole(text("platform", "platform", Report(|_| Cell::Nothing))),
            Self::File => whole(text("report", "file", Report(|_| Cell::Nothing))),
            Self::Date => Spec {
                largest_first: true,
                ..text("date", "date", Report(|r| r.created.get(..10).unwrap_or(&r.created).into()))
            },
            Self::Cpu => text("CPU", "cpu", Report(|r| (&r.platform.cpu.model).into())),
            Self::Hypervisor => text("hypervisor", "hypervisor", Report(|r| (&r.platform.hypervisor).into())),
            Self::Os => text("OS", "os", Report(|r| (&r.platform.os.name).into())),
            Self::Kernel => text("kernel", "kernel", Report(|r| (&r.platform.kernel.release).into())),
            Self::ClockSource => {
                text("clock source", "clock_source", Report(|r| (&r.platform.clocksource.current).into()))
            }
            Self::TimeOffset => {
                let of = Report(|r| r.platform.bounded_time().and_then(|told| told.offset_ns).into());
                figure("time offset (ns)", "time_offset_ns", Notation::Significant, of)
            }
            Self::TimeBound => {
                let of = Report(|r| r.platform.bounded_time().and_then(|told| told.bound_ns).into());
                figure("time bound (ns)", "time_bound_ns", Notation::Significant, of)
            }
            Self::TimeSource => text(
                "time by",
                "time_source",
                Report(|r| (&r.platform.bounded_time().map(CommonTime::origin)).into()),
            ),
            Self::Frequency => {
                let of = Report(|r| r.frequency.cycles_hz.map(|hz| hz * 1e-9).into());
                figure("frequency (GHz)", "frequency_ghz", SHARE, of)
            }
            Self::Timer => text("timer", "timer", each!(|row| row.id.as_str().into())),
            Self::Label => text("call", "label", each!(|row| row.label.as_str().into())),
            Self::Runtime => text("runtime", "runtime", each!(|row| row.runtime.as_str().into())),
            Self::Status => text("status", "status", each!(|row| row.status.name().into())),
            Self::Reason => text(
                "reason",
                "reason",
                Source::Row {
                    clock: Some(reason),
                    wait: Some(|wait| (&wait.row.reason).into()),
                    period: Some(|tick| (&tick.row.reason).into()),
                },
            ),
            Self::Trust => text("trust", "trust", Timer(trust)),
            Self::Accuracy => length("accuracy (ns)", "accuracy_ns", |row| accuracy(row, |a| a.ns)),
            Self::AccuracyCycles => {
                length("accuracy (cycles)", "accuracy_cycles", |row| accuracy(row, |a| a.cycles))
            }
            Self::Cost => length("cost (ns)", "cost_ns", cost!(median_ns)),
            Self::CostLow => length("cost, low (ns)", "cost_low_ns", cost!(low_ns)),
            Self::CostHigh => length("cost, high (ns)", "cost_high_ns", cost!(high_ns)),
            Self::CostCycles => length("cost (cycles)", "cost_cycles", cost!(median_cycles)),
            Self::Amortised => length("cost in a row (ns)", "cost_amortised_ns", cost!(amortised_ns)),
            Self::P99 => length("cost, p99 (ns)", "cost_p99_ns", cost!(p99_ns)),
            Self::Spread => merit("spread", "spread", SHARE, |row| row.spread.into()),
            Self::SpreadLow => merit("spread, low", "spread_low", SHARE, |row| row.spread_low.into()),
            Self::SpreadHigh => merit("spread, high", "spread_high", SHARE, |row| row.spread_high.into()),
            Self::Quality => {
                merit("Quality (%)", "quality_percent", PERCENT, |row| Cell::percent(row.quality))
            }
            // As the other tables print it: rounded up, so that the interval holds the one that was found.
            Self::Interval => figure(
                "± (points)",
                "quality_half_interval_points",
                PERCENT,
                Timer(|row| half_interval(row.quality, row.quality_low, row.quality_high).into()),
            ),
            Self::QualityLow => merit("Quality, low (%)", "quality_low_percent", PERCENT, |row| {
                Cell::percent(row.quality_low)
            }),
            Self::QualityHigh => merit("Quality, high (%)", "quality_high_percent", PERCENT, |row| {
                Cell::percent(row.quality_high)
            }),
            Self::Printed => merit("Quality, printed (%)", "quality_printed_percent", PERCENT, |row| {
                Cell::percent(row.printed_quality)
            }),
            Self::Warnings => text("warnings", "warnings", each!(|row| codes(&row.warnings))),
            other => other.of_waits().unwrap_or_else(|| text("", "", each!(|_row| Cell::Nothing))),
        }
    }

    /// Whether timers of that kind have it.
    #[must_use]
    pub fn is_of(self, kind: Kind) -> bool {
        match (self.spec().source, kind) {
            (Report(_), _) => true,
            (Source::Row { clock, .. }, Kind::Clocks) => clock.is_some(),
            (Source::Row { wait, .. }, Kind::Waits) => wait.is_some(),
            (Source::Row { period, .. }, Kind::Periods) => period.is_some(),
        }
    }

    /// Whether it is the same for all timers of a report.
    pub(super) fn is_of_report(self) -> bool {
        matches!(self.spec().source, Report(_))
    }
}

/// A step, or a bound of it.
fn accuracy(row: &BriefRow, figure: fn(&Accuracy) -> Option<f64>) -> Cell {
    let step = row.accuracy.as_ref();
    Cell::bounded(step.and_then(figure), step.is_some_and(|step| step.kind == AccuracyKind::AtMost))
}

fn trust(row: &BriefRow) -> Cell {
    row.verdicts.as_ref().map_or(Cell::Nothing, |verdicts| verdicts.in_short().into())
}

/// Why it has no Quality, or why that is 0.
fn reason(row: &BriefRow) -> Cell {
    let failed = row.verdicts.iter().flat_map(Answers::disqualifying).map(|(_, finding)| finding);
    joined(row.reason.as_deref().into_iter().chain(failed).collect(), "; ")
}

fn codes(warnings: &[Warning]) -> Cell {
    joined(warnings.iter().map(|warning| warning.code.as_str()).collect(), " ")
}

fn joined(parts: Vec<&str>, between: &str) -> Cell {
    if parts.is_empty() { Cell::Nothing } else { parts.join(between).into() }
}
