//! Clocks on devices of their own, which Linux offers as `/dev/ptp0`, `/dev/ptp1`, … (dynamic POSIX clocks). The calls that read
//! them stand in `os/linux/`.
//!
//! What ticks: an oscillator on a network card (IEEE 1588, hence the name), on a card with a GPS receiver, or the clock of the host
//! of a virtual machine (`ptp_kvm`, Hyper-V). `/sys/class/ptp/ptp0/clock_name` says which. At what rate: nanoseconds, by an
//! oscillator other than that of the system clock, which `ptp4l`, `phc2sys` or the host trims.
//!
//! Who may read them: a process that may open the device, mostly root alone. A read is a system call that asks the device: a register
//! behind PCI Express, a microsecond and more, or a call of the hypervisor.
//!
//! How they lie: the device may be gone while it is open; the reading is 0 then. Most cards count TAI once `ptp4l` runs, and from
//! any epoch before. A process that writes to the device may set it. Only the first four are timers; of others the offset is reported, too.
//! Sources: [Documentation/driver-api/ptp.rst] of Linux, clock_getres(2) ("Dynamic clocks").
//!
//! [Documentation/driver-api/ptp.rst]: https://docs.kernel.org/driver-api/ptp.html

use crate::properties::infos;
use crate::{Counts, Family, Info, Properties, ReadsBy};

const NANOSECOND: Option<f64> = Some(1.0);

const DEVICE: Properties = Properties {
    family: Some(Family::DeviceClock),
    counts: Some(Counts::Wall),
    settable: Some(true),
    slewed: Some(true),
    // It has its own power.
    runs_in_suspend: None,
    needs_fence: Some(false),
    reads_by: Some(ReadsBy::SystemCall),
    syscall_variant: None,
};

infos! {
    PTP0, "ptp0", "clock_gettime(/dev/ptp0)", NANOSECOND, DEVICE;
    PTP1, "ptp1", "clock_gettime(/dev/ptp1)", NANOSECOND, DEVICE;
    PTP2, "ptp2", "clock_gettime(/dev/ptp2)", NANOSECOND, DEVICE;
    PTP3, "ptp3", "clock_gettime(/dev/ptp3)", NANOSECOND, DEVICE;
}
