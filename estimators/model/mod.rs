//! Data types of a report: timer, value with interval, verdict and platform, with their
//! serialisation. This module does not measure, judge or print, and does not depend on other
//! modules of the program.
//!
//! The attributes `wire` (part of a report), `recorded` (part of a trace) and `names` (an enum
//! whose variants have names in documents) are defined in the root of this crate. `#[apply(wire)]`
//! derives `Clone`, `Debug`, `PartialEq`, `Serialize` and `Deserialize`, and `JsonSchema` if the
//! feature `schema` is enabled.

mod assessment;
mod cost;
mod device;
mod figure;
mod finding;
mod machine;
mod microarchitecture;
mod period;
mod platform;
mod plotted;
mod report;
mod row;
mod timer;
mod verdict;
mod wait;

pub use assessment::{Answer, Assessment, Caution, Defect, DefectKind, Fit, Trust, Wrong};
pub use cost::{
    AddedTime, AddedTimes, Core, Cost, Distribution, Following, MIN_ALONE_WIDTH, MIN_PROCESSES,
    Mode, ProcessFigures,
};
pub use device::Device;
pub use figure::{Cycles, Estimate, Hertz, Nanos, value_of};
pub use finding::{Finding, Severity, Unit, Value, Values};
pub use machine::{Frequency, LibraryClock};
pub use period::{PeriodFigures, PeriodRow};
pub use platform::{
    ClockSource, CoreKind, Cpu, CpuQuota, IdleState, InvariantCounter, Kernel, Limits, Load, Ntp,
    Os, Platform, TimeNamespace, Tsc, Waiting,
};
pub use plotted::{CostHistogram, PlotData, Staircase};
pub use report::{Provenance, ProvenanceKind, Report, SCHEMA, Settings, Tool};
pub use row::{RowHead, Status};
pub use timer::{ObservationCounts, Resolution, ResolutionKind, TimerInfo, TimerRow};
pub use timers::waits::WaitActivity;
pub use timers::{Context, Counted, Family, ReadsBy};
pub use verdict::{
    CpuOffset, Declared, Monotonic, Nature, Outcome, Path, Question, ReadPath, Stable, ThreadSafe,
    VerdictAnswer, Verdicts,
};
pub use wait::{
    Granularity, Lateness, MAX_FINE_STEP_NS, MAX_RATE_PPM, Steps, USUAL_WAIT_NS, WaitConditions,
    WaitFigures, WaitRow,
};

/// The largest rate at which the kernel slews a clock, as a share.
/// *Definition*: adjtimex(2).
pub const MAX_SLEW: f64 = 500e-6;

/// The declared properties of a timer, as stored in documents.
pub type Properties = timers::Properties<String>;
