//! The list of timers that wait. A new one is a file of its own and one line here, or in the folder of its system.

use std::sync::LazyLock;

use super::{WaitInfo, WaitSubject, linux, nothing, spinning, standard, tokio_time};
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
        let linux = linux::ALL.iter().map(|&(info, answers)| {
            let own = os::waits::OWN.iter().find(|entry| entry.info.id == info.id).copied();
            own.unwrap_or(WaitEntry {
                info,
                answers,
                availability: || Err(Unavailable::elsewhere("Linux only")),
                open: || Err(Unavailable::elsewhere("Linux only")),
            })
        });
        linux.chain(PORTABLE.iter().copied()).chain(tokio_time::ALL.iter().copied()).collect()
    });
    &ALL
}

/// The one that does not wait, for what the loop around a wait takes. It is not in the [`catalogue`]: nobody picks it.
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
