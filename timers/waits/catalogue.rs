//! The list of timers that wait. A new one is a file of its own and one line here, or in the folder
//! of its system.

use std::sync::LazyLock;

use super::observe::methods;
use super::{WaitEntry, linux, spinning, standard, tokio_time, windows};
use crate::{Unavailable, os};

/// Those of one system alone, which others know and lack.
macro_rules! only {
    ($where:literal, $infos:expr) => {
        $infos.iter().map(|&(info, answers)| {
            os::waits::OWN
                .iter()
                .find(|entry| entry.info.id == info.id)
                .copied()
                .unwrap_or(WaitEntry {
                    info,
                    answers,
                    availability: || Err(Unavailable::elsewhere(concat!($where, " only"))),
                    open: || Err(Unavailable::elsewhere(concat!($where, " only"))),
                })
        })
    };
}

const PORTABLE: &[WaitEntry] = methods![
    standard::Sleep: waits relative;
    standard::ParkTimeout: waits;
    standard::CondvarWaitTimeout: waits;
    standard::RecvTimeout: waits;
    spinning::Spin: waits periods;
    spinning::Yield: waits;
    spinning::Hybrid: waits periods;
    spinning::SpinSleep: waits;
];

/// Every timer that waits which this build knows, usable here or not.
#[must_use]
pub fn catalogue() -> &'static [WaitEntry] {
    static ALL: LazyLock<Vec<WaitEntry>> = LazyLock::new(|| {
        let systems = only!("Linux", linux::ALL).chain(only!("Windows", windows::ALL));
        systems
            .chain(PORTABLE.iter().chain(tokio_time::ALL).copied())
            .collect()
    });
    &ALL
}

/// The one that does not wait, for what the loop around a wait takes. It is not in the
/// [`catalogue`]: it is never picked.
#[must_use]
pub fn floor() -> WaitEntry {
    const FLOOR: &[WaitEntry] = methods![standard::Nothing: waits;];
    FLOOR[0]
}

/// The timer of that id, the floor included.
#[must_use]
pub fn find(id: &str) -> Option<WaitEntry> {
    catalogue()
        .iter()
        .copied()
        .chain([floor()])
        .find(|entry| entry.info.id == id)
}
