//! Records the circumstances of a run of measurements for its report: the start time, the CPU
//! frequency before and after it, and the machine.

use std::time::Duration;

use timers::KernelEntry;

use super::{FinishedRun, RunError};
use crate::platform::frequency::{self, CyclesFrom, KnownFrequencies, TscWatch};
use crate::platform::{self, CpuUse, LibraryWatch, Root};
use crate::recording::{self, Observation, TraceFile};
use estimators::model::{Estimate, Platform, Settings, TimerRow, Tool};
use judgement::trust::ReadPathBaselines;
use reporting::text::date_time;

/// The circumstances of a run in progress, recorded at its start.
pub(super) struct RunContext {
    created: String,
    cpu: Option<u32>,
    cycles: CyclesFrom,
    frequencies: KnownFrequencies,
    tsc: Option<TscWatch>,
    kernel_entry: Option<KernelEntry>,
    cpu_use: Option<CpuUse>,
    library: LibraryWatch,
}

impl RunContext {
    /// Begins a run on `cpu`; `None` if it is not bound to a CPU.
    pub fn begin(cpu: Option<u32>, cycles: CyclesFrom) -> Self {
        Self {
            created: date_time(timers::date()),
            cpu,
            cycles,
            frequencies: KnownFrequencies {
                nominal: frequency::nominal(),
                before: frequency::measure_effective(cpu),
                ..KnownFrequencies::default()
            },
            tsc: TscWatch::begin(timers::RATE_SOURCES[0]),
            kernel_entry: timers::measure_kernel_entry(cpu),
            cpu_use: CpuUse::now(&Root::system()),
            library: LibraryWatch::begin(),
        }
    }

    /// Ends the run and returns its recording, without a name of the machine. `during` is the
    /// frequency of the core during the run in hertz; `unmeasured` are the rows of timers that could
    /// not be measured.
    pub fn end(
        self,
        during: Option<Estimate>,
        settings: Settings,
        timers: Vec<Observation>,
        unmeasured: Vec<TimerRow>,
    ) -> TraceFile {
        let now = CpuUse::now(&Root::system());
        let cpus_of_others = now.zip(self.cpu_use);
        let mut platform = Platform {
            cpus_of_others: cpus_of_others.and_then(|(now, before)| now.others_since(&before)),
            ..platform::identify(self.cpu)
        };
        self.library.end(&mut platform);
        // The cost of a kernel entry is measured twice and the smaller value counts, because the
        // core may have been slow during one of them.
        let entry = self
            .kernel_entry
            .into_iter()
            .chain(timers::measure_kernel_entry(self.cpu))
            .reduce(KernelEntry::min);
        TraceFile {
            schema: recording::SCHEMA.into(),
            tool: Tool::this(),
            created: self.created,
            node: None,
            frequency: KnownFrequencies {
                after: frequency::measure_effective(self.cpu),
                during,
                tsc: self.tsc.and_then(TscWatch::end),
                ..self.frequencies
            },
            baselines: reference_costs(&platform, entry),
            platform,
            cycles_from: self.cycles,
            settings,
            timers,
            unmeasured,
            waits: Vec::new(),
            periods: Vec::new(),
        }
    }
}

/// Watches the machine for this time, and measures no timers.
///
/// # Errors
/// When the requested CPU cannot be used.
pub fn watch_machine(cpu: Option<u32>, span: Duration) -> Result<FinishedRun, RunError> {
    let context = RunContext::begin(choose_cpu(cpu)?, CyclesFrom::Effective);
    timers::pause(span);
    Ok(FinishedRun {
        recording: context.end(None, Settings::default(), Vec::new(), Vec::new()),
        is_complete: true,
    })
}

/// The CPU to measure on: the requested one, or the quietest. `None` if the system does not
/// report the usable CPUs, or refuses to bind to one: binding only makes figures more precise.
///
/// # Errors
/// When the requested CPU cannot be used.
pub fn choose_cpu(requested: Option<u32>) -> Result<Option<u32>, RunError> {
    let allowed = timers::allowed_cpus().unwrap_or_default();
    let Some(cpu) = requested else {
        return Ok(platform::quietest_cpu(&allowed).filter(|&cpu| check_cpu(cpu).is_ok()));
    };
    check_cpu(cpu).map(|()| Some(cpu))
}

/// Checks that this process can run on a CPU. A separate thread tries it, so that the calling
/// thread is not bound to the CPU.
fn check_cpu(cpu: u32) -> Result<(), RunError> {
    let thread = std::thread::Builder::new().spawn(move || timers::pin_to(cpu));
    let result = thread.ok().and_then(|thread| thread.join().ok());
    result
        .ok_or(RunError::Untested(cpu))?
        .map_err(|why| RunError::Cpu { cpu, why })
}

/// The CPUs on which a run may measure that begins on the `chosen` one: all with cores of its kind,
/// that one first. Only that one if it was requested.
pub(super) fn measuring_cpus(requested: Option<u32>, chosen: Option<u32>) -> Vec<u32> {
    let mut cpus: Vec<u32> = chosen.into_iter().collect();
    if requested.is_none() {
        let allowed = timers::allowed_cpus().unwrap_or_default();
        let capable = platform::capable_cpus(&Root::system(), &allowed).into_iter();
        cpus.extend(capable.filter(|cpu| chosen.is_some_and(|chosen| *cpu != chosen)));
    }
    cpus
}

/// Costs of calls into the kernel and the hypervisor, with which read costs are compared to find
/// the read path.
fn reference_costs(platform: &Platform, entry: Option<KernelEntry>) -> ReadPathBaselines {
    ReadPathBaselines {
        system_call_ns: entry.map(|entry| entry.system_call_ns),
        clock_call_ns: entry.and_then(|entry| entry.clock_call_ns),
        trap_ns: entry.and_then(|entry| entry.trap_ns),
        clock_source: platform.clocksource.current.clone(),
        vdso: platform.clocksource.vdso,
    }
}
