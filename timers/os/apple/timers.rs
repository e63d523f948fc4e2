//! The clocks that only macOS has; they are the references there.
//!
//! What ticks: `mach_absolute_time` returns the counter of the CPU (CNTVCT on Arm at 24 MHz, the
//! TSC on x86-64 scaled to nanoseconds), in a unit that `mach_timebase_info` reports at run time;
//! it stops while the machine is suspended. CLOCK_UPTIME_RAW is the same clock in nanoseconds.
//!
//! At what rate: that of the hardware. Who may read them: any process, in user mode.
//!
//! How they lie: unknown, because this code is only type-checked and was never run on a Mac.
//! Sources: clock_gettime(3) of macOS, [Mach absolute time units].
//!
//! [Mach absolute time units]:
//! https://developer.apple.com/documentation/kernel/1462446-mach_absolute_time

use crate::Properties;
use crate::entry::clocks;

const UPTIME: Properties = Properties {
    slewed: Some(false),
    ..Properties::MONOTONIC
};

clocks! { "macOS", target_os = "macos";
    MachAbsolute, "mach-absolute", "mach_absolute_time()", None, UPTIME;
    UptimeRaw, "uptime-raw", "clock_gettime(CLOCK_UPTIME_RAW)", Some(1.0), UPTIME;
}

#[cfg(target_os = "macos")]
pub use here::*;
#[cfg(target_os = "macos")]
mod here {
    use crate::os::clocks::Libc;
    use crate::os::posix::PosixClock;
    use crate::{Available, Ticks, Timer};

    /// `clock_gettime(CLOCK_UPTIME_RAW)`.
    pub type UptimeRaw = PosixClock<Libc, { libc::CLOCK_UPTIME_RAW }>;

    /// The result of `mach_timebase_info`: a tick is `numerator` / `denominator` nanoseconds.
    #[repr(C)]
    struct Timebase {
        numerator: u32,
        denominator: u32,
    }

    unsafe extern "C" {
        // The function has no arguments and no preconditions.
        safe fn mach_absolute_time() -> u64;
        fn mach_timebase_info(info: *mut Timebase) -> i32;
    }

    /// `mach_absolute_time`.
    pub struct MachAbsolute;

    impl Timer for MachAbsolute {
        type Reading = u64;

        fn ns_per_tick() -> Option<f64> {
            let mut info = Timebase {
                numerator: 0,
                denominator: 0,
            };
            // SAFETY: the pointer is valid for one `Timebase`, which has the layout of the C
            // structure.
            let status = unsafe { mach_timebase_info(&raw mut info) };
            (status == 0 && info.numerator > 0 && info.denominator > 0)
                .then(|| f64::from(info.numerator) / f64::from(info.denominator))
        }

        fn open() -> Available<Self> {
            Ok(Self)
        }

        #[inline(always)]
        fn read(&self) -> u64 {
            mach_absolute_time()
        }

        fn ticks(&self, reading: u64) -> Ticks {
            Ticks(reading)
        }
    }
}
