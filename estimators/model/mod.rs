//! What a report, a timer, a figure with its interval, a verdict and a platform *are*: the words of the domain, and how they
//! are written down. Nothing here measures, judges or prints, and nothing of this program is imported.

mod accuracy;
mod adds;
mod bulk;
mod common_time;
mod cost;
mod counted;
mod counter;
mod distribution;
mod estimate;
mod figure;
mod frequency;
mod microarchitecture;
mod period;
mod platform;
mod plot_data;
mod properties;
mod report;
mod settings;
mod timer;
mod units;
mod verdict;
mod wait;
mod warning;

pub use accuracy::{Accuracy, AccuracyKind};
pub use adds::{Added, Adds, Context};
pub use bulk::Bulk;
pub use common_time::{CommonTime, ComparedClock};
pub use cost::{Cost, Following};
pub use counted::Counted;
pub use counter::{CounterFacts, CounterPromise, KernelLog};
pub use distribution::{Distribution, Mode};
pub use estimate::Estimate;
pub use figure::Figure;
pub use frequency::Frequency;
pub use period::{MissedPolicy, PeriodFigures, PeriodRow};
pub use platform::{
    ClockSource, CoreKind, Cpu, CpuQuota, IdleState, Kernel, Limits, Load, MemoryLimit, Ntp, Os, Platform,
    Tickless, TimeNamespace, Tsc, Waiting,
};
pub use plot_data::{CostHistogram, Figures, IntervalHistogram, Staircase};
pub use properties::{Family, Properties, ReadsBy};
pub use report::{Provenance, ProvenanceKind, Report, SCHEMA, Tool};
pub use settings::Settings;
pub use timer::{Observations, Status, TimerRow};
pub use units::{Cycles, Hertz, Nanos};
pub use verdict::{
    AllanPoint, Answer, CpuOffset, Declared, Monotonic, Nature, Outcome, Path, Paths, PathsBeside, Question,
    ReadPath, Stable, ThreadSafe, Verdicts,
};
pub use wait::{
    BackgroundLoad, Granularity, Lateness, LatenessHistogram, Means, Steps, USUAL_WAIT_NS, WaitConditions,
    WaitFigures, WaitRow, beats,
};
pub use warning::Warning;
