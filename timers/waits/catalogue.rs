//! The list of all sleep primitives and periodic timers. A new one is a type and a row in the file
//! of its family.

use std::sync::LazyLock;

use super::{WaitEntry, spinning, standard};
use crate::os;

/// Every sleep primitive and periodic timer known to this build, available on this machine or not.
pub fn catalogue() -> &'static [WaitEntry] {
    static ALL: LazyLock<Vec<WaitEntry>> = LazyLock::new(|| {
        let others = [standard::ALL, spinning::ALL];
        [os::linux_waits::ALL.concat(), others.concat()].concat()
    });
    &ALL
}

/// The entry that does not wait, which measures the overhead of the measuring loop. It is not part
/// of the [`catalogue`], so that it is never selected.
pub fn floor() -> WaitEntry {
    standard::FLOOR
}

/// The entry with the given id, [`floor`] included; `None` if there is none.
pub fn find(id: &str) -> Option<WaitEntry> {
    catalogue()
        .iter()
        .copied()
        .chain([floor()])
        .find(|entry| entry.info.id == id)
}
