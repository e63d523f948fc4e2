//! The counters that instructions read, a module an instruction set: what each is on every machine.
//! The instructions stand in `arch/`.

pub(crate) mod arm {
    //! The counters of Arm that user mode may be let read: the generic timer's virtual counter, and
    //! the cycle counter.
    //!
    //! What ticks: CNTVCT, a counter of 56 bits or more that all CPUs share, less an offset that a
    //! hypervisor sets. At what rate: a constant one, 1 to 100 MHz on most, 1 GHz from Armv8.6 on.
    //! CNTFRQ says which, but that is a register that the firmware writes, or forgets to: it is
    //! believed where the kernel's clock agrees. PMCCNTR counts cycles of the core, at whatever
    //! frequency that has.
    //!
    //! Who may read them: CNTVCT any process, as the vDSO does, unless the kernel traps it to work
    //! around an erratum of the counter, or `prctl(PR_SET_TSC)` forbade it (64-bit, since Linux
    //! 6.12); in 32-bit programs on some kernels none. CNTVCTSS is there with FEAT_ECV (Armv8.6).
    //! PMCCNTR where a kernel module or a debugger switched it on for user mode (PMUSERENR), which
    //! Linux by itself does not. Only an attempt tells.
    //!
    //! How they lie: a read of CNTVCT waits for nothing before it and may be done early (Arm ARM,
    //! D12.1); `isb` before it, or CNTVCTSS, holds it back. The counter moves in steps of the
    //! timer's clock, or of a slower one by more than one tick. A CPU that sleeps may stop PMCCNTR,
    //! and each CPU has its own. Sources: *Arm Architecture Reference Manual for A-profile*, D12
    //! (Generic Timer) and D13 (PMU); Linux Documentation/arch/arm64/cpu-feature-registers.rst and
    //! perf.rst.

    use crate::properties::infos;
    use crate::{Counted, Family, Info, Properties};

    const FENCED: Properties = Properties {
        needs_fence: Some(false),
        ..Properties::COUNTER
    };
    /// Cycles of one core, which are no time.
    pub(crate) const CYCLES: Properties = Properties {
        family: Some(Family::PerfEvent),
        counts: Some(Counted::ThreadCycles),
        ..Properties::COUNTER
    };

    infos! {
        CNTVCT, "cntvct", "mrs CNTVCT_EL0", None, Properties::COUNTER;
        CNTVCT_ISB, "cntvct-isb", "isb; mrs CNTVCT_EL0", None, FENCED;
        CNTVCTSS, "cntvctss", "mrs CNTVCTSS_EL0", None, FENCED;
        PMCCNTR, "pmccntr", "mrs PMCCNTR_EL0", None, CYCLES;
    }
}

pub(crate) mod riscv {
    //! The counters of RISC-V (Zicntr): time, cycles, instructions.
    //!
    //! What ticks: `time` is a clock that all harts share, at the constant rate that the device
    //! tree declares (`timebase-frequency`), 1 to 25 MHz on most boards; `cycle` the cycles of the
    //! hart and `instret` the instructions that it completed. Who may read them: `time` any
    //! process, by an instruction that some CPUs hand to their firmware, which takes as long as a
    //! system call; `cycle` and `instret` where the kernel permits it (mcounteren, scounteren),
    //! which Linux has not done by itself since 6.6 (`kernel.perf_user_access`). Only an attempt
    //! tells.
    //!
    //! How they lie: none of them waits for what stands before it, and `fence` makes it wait for
    //! loads and stores only. Instructions are no time. Sources: *The RISC-V Instruction Set
    //! Manual*, vol. I, "Zicntr"; Linux Documentation/admin-guide/sysctl/kernel.rst.

    use crate::properties::infos;
    use crate::{Counted, Info, Properties, arm};

    const INSTRUCTIONS: Properties = Properties {
        counts: Some(Counted::SomethingElse),
        ..arm::CYCLES
    };

    infos! {
        RDTIME, "rdtime", "rdtime", None, Properties::COUNTER;
        RDTIME_FENCE, "rdtime-fence", "fence; rdtime", None, Properties::COUNTER;
        RDCYCLE, "rdcycle", "rdcycle", None, arm::CYCLES;
        RDINSTRET, "rdinstret", "rdinstret", None, INSTRUCTIONS;
    }
}

pub(crate) mod x86 {
    //! The time-stamp counter of x86, read by its own instructions.
    //!
    //! What ticks: a 64-bit counter of each logical CPU, zero at reset. At what rate: on CPUs with
    //! an *invariant* TSC (CPUID 8000_0007H, EDX bit 8) a constant one, whatever the frequency of
    //! the core; it is near the nominal frequency but not declared, hence no `ns_per_tick`. Before
    //! about 2008 it counted core cycles. A hypervisor may scale and offset it. Some CPUs advance
    //! it in strides (the product of base clock and multiplier) rather than by one.
    //!
    //! Who may read it: any process, unless the process gave that up or lost it:
    //! `prctl(PR_SET_TSC, PR_TSC_SIGSEGV)` (`PR_SET_TSC(2const)`), and seccomp's strict mode, make
    //! the instructions fault, and with them whatever uses them: the vDSO too crashes then, which
    //! is why the clocks that go through it ask
    //! [`vdso_permitted`](crate::os::clocks::vdso_permitted).
    //!
    //! How it lies: `rdtsc` waits for nothing, so work that stands before it may still be under way
    //! when it reads, and work behind it may have begun. Between threads it may run before the very
    //! load that brought the other thread's message, and so seem to go backwards. Where the counter
    //! strides, a second bare `rdtsc` within one stride was seen (Zen 4, strides of 26) to return
    //! one tick more than the first: the smallest difference is then not the stride.
    //! `lfence; rdtsc` reads only once all instructions before it have completed (on AMD where
    //! LFENCE is dispatch-serialising, which Linux switches on); `rdtscp` waits, too, for what
    //! stands before it; neither holds back what stands behind. Counters of different sockets, or a
    //! guest moved to another host, may disagree. Sources: Intel, *Software Developer's Manual*,
    //! vol. 3B, "Time-Stamp Counter", and vol. 2B, RDTSC and RDTSCP; AMD, *Architecture
    //! Programmer's Manual*, vol. 3, RDTSC, RDTSCP, and vol. 2, MSR C001_1029.

    use crate::properties::infos;
    use crate::{Info, Properties};

    /// It waits for what stands before it by itself.
    const FENCED: Properties = Properties {
        needs_fence: Some(false),
        ..Properties::COUNTER
    };

    infos! {
        RDTSC, "rdtsc", "rdtsc", None, Properties::COUNTER;
        RDTSC_LFENCE, "rdtsc-lfence", "lfence; rdtsc", None, FENCED;
        RDTSCP, "rdtscp", "rdtscp", None, FENCED;
    }
}
