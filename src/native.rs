//! What the timers of this program declare, in the words of the protocol and of reports.

use crate::model::{Context, Counted, Family, Means, Properties, ReadsBy};

/// What a timer counts.
fn counted(counts: timers::Counts) -> Counted {
    match counts {
        timers::Counts::Wall => Counted::Wall,
        timers::Counts::ProcessCpu => Counted::ProcessCpu,
        timers::Counts::ThreadCpu => Counted::ThreadCpu,
        timers::Counts::ThreadCycles => Counted::ThreadCycles,
        timers::Counts::SomethingElse => Counted::SomethingElse,
    }
}

/// The code around a read, as timers know it.
#[must_use]
pub fn context(context: Context) -> timers::Context {
    match context {
        Context::Latency => timers::Context::Latency,
        Context::Throughput => timers::Context::Throughput,
        Context::Memory => timers::Context::Memory,
        Context::Ahead => timers::Context::Ahead,
        Context::Cold => timers::Context::Cold,
        Context::Contended => timers::Context::Contended,
    }
}

/// What a timer is.
#[must_use]
pub fn properties(declared: timers::Properties) -> Properties {
    Properties {
        family: declared.family.map(family),
        counts: declared.counts.map(counted),
        settable: declared.settable,
        slewed: declared.slewed,
        runs_in_suspend: declared.runs_in_suspend,
        needs_fence: declared.needs_fence,
        reads_by: declared.reads_by.map(reads_by),
        syscall_variant: declared.syscall_variant.map(Into::into),
    }
}

/// What a thread does while it waits.
#[must_use]
pub fn means(means: timers::waits::Means) -> Means {
    match means {
        timers::waits::Means::Blocks => Means::Blocks,
        timers::waits::Means::Spins => Means::Spins,
        timers::waits::Means::Hybrid => Means::Hybrid,
    }
}

fn family(family: timers::Family) -> Family {
    match family {
        timers::Family::CpuCounter => Family::CpuCounter,
        timers::Family::SystemClock => Family::SystemClock,
        timers::Family::CpuTime => Family::CpuTime,
        timers::Family::PerfEvent => Family::PerfEvent,
        timers::Family::DeviceClock => Family::DeviceClock,
    }
}

fn reads_by(way: timers::ReadsBy) -> ReadsBy {
    match way {
        timers::ReadsBy::Instruction => ReadsBy::Instruction,
        timers::ReadsBy::Vdso => ReadsBy::Vdso,
        timers::ReadsBy::SystemCall => ReadsBy::SystemCall,
    }
}
