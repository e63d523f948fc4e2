//! The list of timers that wait. A new one is a file of its own and one line here, or in the folder of its system.

use std::sync::LazyLock;

use super::{WaitInfo, WaitSubject, linux, nothing, spinning, standard, tokio_time, windows};
use crate::{Unavailable, os};

/// A timer that waits as the catalogue knows it.
#[derive(Clone, Copy)]
pub struct WaitEntry {
    /// Name, label, and what it is.
    pub info: WaitInfo,
    /// Which questions it answers.
    pub answers: Answers,
    /// Whether it can be used on this machine, and if not, why.
    pub availability: fn() -> Result<(), Unavailable>,
    /// Opens it for the calling thread.
    pub open: fn() -> Result<Box<dyn WaitSubject>, Unavailable>,
}

/// Which questions a timer answers that waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// [`WaitSubject::waits`].
    pub waits: bool,
    /// [`WaitSubject::arms`].
    pub arms: bool,
    /// [`WaitSubject::periods`].
    pub periods: bool,
}

impl Answers {
    pub(crate) const NONE: Self = Self { waits: false, arms: false, periods: false };
    pub(crate) const WAITS: Self = Self { waits: true, ..Self::NONE };
    pub(crate) const LOOP: Self = Self { periods: true, ..Self::WAITS };
    pub(crate) const ARMED: Self = Self { arms: true, ..Self::WAITS };
    pub(crate) const ALL: Self = Self { arms: true, ..Self::LOOP };
}

/// A list of methods, each with how it answers: `waits`, `arms` and `periods` by the trait of that question, `relative` for
/// periods by a loop of its waits.
macro_rules! methods {
    ($($method:ty: $($how:ident)+;)*) => {
        &[$($crate::waits::WaitEntry {
            info: <$method as $crate::waits::method::Method>::INFO,
            answers: $crate::waits::observe::Ways::<$method> {
                $($how: Some(|method| method),)+ ..$crate::waits::observe::Ways::NONE
            }.answers(),
            availability: || <$method as $crate::waits::method::Method>::open().map(drop),
            open: || Ok(Box::new($crate::waits::observe::Observed {
                method: <$method as $crate::waits::method::Method>::open()?,
                ways: $crate::waits::observe::Ways {
                    $($how: Some(|method| method),)+ ..$crate::waits::observe::Ways::NONE
                },
            })),
        }),*]
    };
}
#[allow(unused_imports, reason = "some systems have no list of their own")]
pub(crate) use methods;

/// What one system has to wait with, as it is known on all of them: name, id, label, unit in nanoseconds, timer slack, answers.
macro_rules! known {
    ($($name:ident, $id:literal, $label:literal, $unit_ns:expr, $slack:ident, $answers:ident;)*) => {
        $(#[allow(dead_code, reason = "other systems than its own know it by the list")]
        pub(crate) const $name: $crate::waits::WaitInfo = $crate::waits::WaitInfo {
            id: $id, label: $label, means: $crate::waits::Means::Blocks, unit_ns: $unit_ns, slack: $slack,
        };)*

        /// All of them, with what they answer.
        pub(crate) const ALL: &[($crate::waits::WaitInfo, $crate::waits::Answers)] =
            &[$(($name, $crate::waits::Answers::$answers)),*];
    };
}
pub(crate) use known;

/// Those of one system alone, which others know and lack.
macro_rules! only {
    ($where:literal, $infos:expr) => {
        $infos.iter().map(|&(info, answers)| {
            os::waits::OWN.iter().find(|entry| entry.info.id == info.id).copied().unwrap_or(WaitEntry {
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
        systems.chain(PORTABLE.iter().chain(tokio_time::ALL).copied()).collect()
    });
    &ALL
}

/// The one that does not wait, for what the loop around a wait takes. It is not in the [`catalogue`]: it is never picked.
#[must_use]
pub fn floor() -> WaitEntry {
    const FLOOR: &[WaitEntry] = methods![nothing::Nothing: waits;];
    FLOOR[0]
}

/// The timer of that id, the floor included.
#[must_use]
pub fn find(id: &str) -> Option<WaitEntry> {
    catalogue().iter().copied().chain([floor()]).find(|entry| entry.info.id == id)
}
