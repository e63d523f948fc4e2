//! The list of all sleep primitives and periodic timers. A new one is a type and a row in the file
//! of its family.

use std::sync::LazyLock;

use super::{WaitEntry, spinning, standard, tokio_time};
use crate::os;

/// Every sleep primitive and periodic timer which this build knows, usable here or not.
#[must_use]
pub fn catalogue() -> &'static [WaitEntry] {
    static ALL: LazyLock<Vec<WaitEntry>> = LazyLock::new(|| {
        let windows = os::windows_waits::ALL;
        let others = [windows, standard::ALL, spinning::ALL, tokio_time::ALL];
        [os::linux_waits::ALL.concat(), others.concat()].concat()
    });
    &ALL
}

/// The one that does not wait, for what the loop around a wait takes. It is not in the
/// [`catalogue`]: it is never picked.
#[must_use]
pub fn floor() -> WaitEntry {
    standard::FLOOR
}

/// The timer of that id, the floor included.
#[must_use]
pub fn find(id: &str) -> Option<WaitEntry> {
    let mut all = catalogue().iter().copied().chain([floor()]);
    all.find(|entry| entry.info.id == id)
}
