//! Reads the VMClock page, on which a hypervisor publishes the rate of the counter and announces
//! migrations and restored snapshots (Linux, `include/uapi/linux/vmclock-abi.h`, version 1).
//!
//! Linux offers the page as `/dev/vmclock0`. A read of the device is consistent: the driver copies
//! the page again if the hypervisor changed it meanwhile. The sequence count on the page, which is
//! odd during a change, is checked all the same.

use super::Root;
use crate::model::{ClockStatus, ExpectedDisruption, Hertz, VmClock};

const DEVICE: &str = "/dev/vmclock0";
/// Length in bytes of the structure.
/// *Definition*: the end of `vm_generation_counter`.
const PAGE_BYTES: u64 = 112;
/// The first four bytes of the page.
/// *Definition*.
const MAGIC: &[u8] = b"VCLK";

/// Reads the page; `None` if there is none, or none that is consistent and of this version.
pub fn vmclock(root: &Root) -> Option<VmClock> {
    parse(
        &root.read_bytes(DEVICE, PAGE_BYTES)?,
        std::env::consts::ARCH,
    )
}

/// The number of `bytes` bytes at `at`, the lowest byte first.
fn number(page: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let field = page.get(at..at + bytes)?.iter().rev();
    Some(field.fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// Reads the fields of the page. `None` if it is not such a page, or is being changed. The rate is
/// left out if it is that of a counter of another architecture.
fn parse(page: &[u8], architecture: &str) -> Option<VmClock> {
    let size = usize::try_from(number(page, 4, 4)?).ok()?;
    let page = page.get(..size.min(page.len()))?;
    let field = |at, bytes| number(page, at, bytes);
    if !page.starts_with(MAGIC) || field(8, 2)? != 1 || field(12, 4)? % 2 == 1 {
        return None;
    }
    let flags = field(24, 8)?;
    let has = |bit: u32| flags >> bit & 1 == 1;
    let is_own_counter = matches!(
        (field(10, 1)?, architecture),
        (0, "aarch64") | (1, "x86_64" | "x86")
    );
    // A tick takes `period` times 2 to the power of −(64 + shift) seconds.
    let period = field(48, 8).filter(|period| *period > 0 && is_own_counter);
    let hz = |period: u64| Some(2_f64.powi(64 + field(39, 1)? as i32) / period as f64);
    let max_error = period.zip(field(64, 8).filter(|_| has(4)));
    Some(VmClock {
        disruption_marker: field(16, 8)?,
        generation: field(104, 8).filter(|_| has(8)),
        hz: period.and_then(hz).filter(|hz| Hertz::RANGE.contains(hz)),
        max_error_ppm: max_error.map(|(period, error)| 1e6 * error as f64 / period as f64),
        status: match field(34, 1) {
            Some(1) => ClockStatus::Initializing,
            Some(2) => ClockStatus::Synchronized,
            Some(3) => ClockStatus::FreeRunning,
            Some(4) => ClockStatus::Unreliable,
            _ => ClockStatus::Unknown,
        },
        expected: match (has(2), has(1)) {
            (true, _) => Some(ExpectedDisruption::WithinHour),
            (false, true) => Some(ExpectedDisruption::WithinDay),
            (false, false) => None,
        },
        disrupted: None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Bit 3, 4, 8: the errors of the period are valid, and there is a generation counter.
    const FLAGS: u64 = 1 << 3 | 1 << 4 | 1 << 8;

    /// A page of a host with a counter of 2.5 GHz ± 2 ppm.
    fn page(sequence: u32, flags: u64) -> Vec<u8> {
        let mut page = vec![0; 4096];
        let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"VCLK");
        put(4, &4096_u32.to_le_bytes());
        put(8, &1_u16.to_le_bytes());
        put(10, &[1]);
        put(12, &sequence.to_le_bytes());
        put(16, &0xdead_beef_0000_0007_u64.to_le_bytes());
        put(24, &flags.to_le_bytes());
        put(34, &[2]);
        put(39, &[20]);
        // The period in units of 2 to the power of −84 seconds.
        let period = (2_f64.powi(84) / 2.5e9) as u64;
        put(48, &period.to_le_bytes());
        put(56, &(period / 1_000_000).to_le_bytes());
        put(64, &(period / 500_000).to_le_bytes());
        put(104, &9_u64.to_le_bytes());
        page
    }

    #[test]
    fn reads_all_fields() {
        let content = parse(&page(4, FLAGS), "x86_64").expect("a page");
        assert_eq!(content.disruption_marker, 0xdead_beef_0000_0007);
        assert_eq!(
            (content.generation, content.status),
            (Some(9), ClockStatus::Synchronized)
        );
        let (hz, ppm) = (content.hz.unwrap(), content.max_error_ppm.unwrap());
        assert!((hz / 2.5e9 - 1.0).abs() < 1e-12, "{hz}");
        assert!((ppm - 2.0).abs() < 1e-6, "{ppm}");
        assert_eq!(content.expected, None);
    }

    #[test]
    fn fields_that_are_not_valid_are_unknown() {
        let read = parse;
        let bare = read(&page(4, 1 << 1), "x86_64").expect("a page");
        assert_eq!((bare.generation, bare.max_error_ppm), (None, None));
        assert_eq!(bare.expected, Some(ExpectedDisruption::WithinDay));
        let soon = read(&page(4, 1 << 1 | 1 << 2), "x86_64").expect("a page");
        assert_eq!(soon.expected, Some(ExpectedDisruption::WithinHour));
        let other = read(&page(4, FLAGS), "aarch64").expect("a page");
        assert_eq!((other.hz, other.max_error_ppm), (None, None));
        // An older device, whose structure ends before the period.
        let mut short = page(4, FLAGS);
        short[4..8].copy_from_slice(&40_u32.to_le_bytes());
        let short = read(&short, "x86_64").expect("a page");
        assert_eq!((short.hz, short.generation), (None, None));
    }

    #[test]
    fn other_pages_are_refused() {
        let whole = page(4, FLAGS);
        assert_eq!(
            parse(&page(5, FLAGS), "x86_64"),
            None,
            "it is being changed"
        );
        for (at, byte) in [(0, b'X'), (8, 2), (4, 16)] {
            let mut other = whole.clone();
            other[at] = byte;
            other[5] = if at == 4 { 0 } else { other[5] };
            assert_eq!(parse(&other, "x86_64"), None, "byte {at}");
        }
        assert_eq!(parse(&whole[..31], "x86_64"), None);
    }

    #[test]
    fn reads_page_of_machine() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::at(folder.path());
        assert_eq!(vmclock(&root), None);
        std::fs::create_dir(folder.path().join("dev")).expect("a folder");
        let device = folder.path().join("dev/vmclock0");
        std::fs::write(&device, page(4, FLAGS)).expect("it can be written");
        let before = vmclock(&root).expect("a page");
        assert!(!before.differs_from(&before));
        let mut moved = page(6, FLAGS);
        moved[16] += 1;
        std::fs::write(&device, moved).expect("it can be written");
        assert!(vmclock(&root).expect("a page").differs_from(&before));
        std::fs::write(&device, page(7, FLAGS)).expect("it can be written");
        assert_eq!(vmclock(&root), None);
    }

    proptest! {
        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..112) {
            let _ = parse(&bytes, "x86_64");
            let mut page = page(4, FLAGS);
            page.splice(at.., bytes);
            let _ = parse(&page, "x86_64");
        }
    }
}
