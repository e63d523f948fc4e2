//! The built-in operations that can be measured.
//!
//! Sources: P. Sestoft, *Microbenchmarks in Java and C#* (arithmetic and searches); H. Kabutz, *The
//! Java Specialists' Newsletter* 124 (copies).

mod built_in;

use super::window::BatchedOperation;

/// A built-in operation.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// The name.
    pub name: &'static str,
    /// A description.
    pub about: &'static str,
    /// The sizes that are measured by default; empty for an operation without a size.
    pub sizes: &'static [u64],
}

/// The default sizes of the arrays: bytes to copy, items to search.
const COPY_SIZES: &[u64] = &[1, 10, 100, 1_000, 10_000, 100_000];
const SEARCH_SIZES: &[u64] = &[100, 1_000, 10_000, 100_000, 1_000_000];

macro_rules! operations {
    ($($name:literal, $about:literal, $sizes:expr, |$size:ident| $operation:expr;)*) => {
        /// All built-in operations.
        pub const ALL: &[BuiltIn] = &[$(BuiltIn { name: $name, about: $about, sizes: $sizes }),*];

        /// Creates the operation with the given name; `None` if there is none. `size` is ignored by
        /// operations without a size.
        pub fn create(name: &str, size: u64) -> Option<Box<dyn BatchedOperation>> {
            match name {
                $($name => {
                    let $size = size;
                    Some(Box::new($operation))
                })*
                _ => None,
            }
        }
    };
}

operations! {
    "chain", "a chain of dependent multiplications; the size is their number", &[64, 128, 256, 1_024, 4_096],
        |size| built_in::chain(size);
    "log-chain", "a hundred logarithms, each of the previous result", &[], |_size| built_in::log_chain();
    "multiply", "twenty multiplications of small numbers", &[], |_size| built_in::multiply();
    "pow", "10 to the power of 0 to 25.5", &[], |_size| built_in::apply_to_next_number(|x| 10_f64.powf(0.1 * x));
    "exp", "e to the power of 0 to 25.5", &[], |_size| built_in::apply_to_next_number(|x| (0.1 * x).exp());
    "log", "natural logarithm of 0.1 to 25.6", &[], |_size| built_in::apply_to_next_number(|x| (0.1 + 0.1 * x).ln());
    "clone", "an array of bytes is cloned", COPY_SIZES, |size| built_in::clone(size);
    "new-and-copy", "a new array of zeros, into which the bytes are copied", COPY_SIZES, |size| built_in::new_and_copy(size);
    "search-same", "binary search for the same item each time", SEARCH_SIZES, |size| built_in::search_same(size);
    "search-random", "binary search for another item each time", SEARCH_SIZES, |size| built_in::search_random(size);
    "sort", "sort of shuffled numbers", &[100, 1_000, 10_000], |size| built_in::sort(size);
}

/// The entry with the given name; `None` if there is none.
pub fn find(name: &str) -> Option<BuiltIn> {
    ALL.iter().copied().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_run_at_any_size() {
        for entry in ALL {
            for size in [0, 1, 2, 3, 100] {
                let mut operation = create(entry.name, size).expect(entry.name);
                for _ in 0..20 {
                    operation.prepare();
                    operation.call_repeatedly(1);
                }
            }
        }
        assert!(create("nothing", 1).is_none());
    }
}
