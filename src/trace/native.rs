//! What the timers of this program declare, in the words of reports.

use crate::model::{Counted, Family, Properties, ReadsBy};

impl From<timers::Counts> for Counted {
    fn from(counts: timers::Counts) -> Self {
        match counts {
            timers::Counts::Wall => Self::Wall,
            timers::Counts::ProcessCpu => Self::ProcessCpu,
            timers::Counts::ThreadCpu => Self::ThreadCpu,
            timers::Counts::ThreadCycles => Self::ThreadCycles,
            timers::Counts::SomethingElse => Self::SomethingElse,
        }
    }
}

impl From<timers::Family> for Family {
    fn from(family: timers::Family) -> Self {
        match family {
            timers::Family::CpuCounter => Self::CpuCounter,
            timers::Family::SystemClock => Self::SystemClock,
            timers::Family::CpuTime => Self::CpuTime,
            timers::Family::PerfEvent => Self::PerfEvent,
            timers::Family::DeviceClock => Self::DeviceClock,
        }
    }
}

impl From<timers::ReadsBy> for ReadsBy {
    fn from(way: timers::ReadsBy) -> Self {
        match way {
            timers::ReadsBy::Instruction => Self::Instruction,
            timers::ReadsBy::Vdso => Self::Vdso,
            timers::ReadsBy::SystemCall => Self::SystemCall,
        }
    }
}

impl From<timers::Properties> for Properties {
    fn from(declared: timers::Properties) -> Self {
        Self {
            family: declared.family.map(Into::into),
            counts: declared.counts.map(Into::into),
            settable: declared.settable,
            slewed: declared.slewed,
            runs_in_suspend: declared.runs_in_suspend,
            needs_fence: declared.needs_fence,
            reads_by: declared.reads_by.map(Into::into),
            syscall_variant: declared.syscall_variant.map(Into::into),
        }
    }
}
