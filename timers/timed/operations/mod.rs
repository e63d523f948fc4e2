//! Operations to measure, built in: those of the articles that this project grew from.
//!
//! Arithmetic and the searches follow P. Sestoft, *Microbenchmarks in Java and C#*, the copies H.
//! Kabutz, *The Java Specialists' Newsletter* 124, the chain of logarithms an article on measuring
//! by crossing clock edges.

mod built_in;

use super::window::Calls;

/// A built-in operation.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The sizes it is measured at unless specified otherwise; empty where it has no size.
    pub sizes: &'static [u64],
}

/// The size of the arrays of a table.
const COPIES: &[u64] = &[1, 10, 100, 1_000, 10_000, 100_000];
const SEARCHES: &[u64] = &[100, 1_000, 10_000, 100_000, 1_000_000];
const SORTS: &[u64] = &[100, 1_000, 10_000];

macro_rules! operations {
    ($($name:literal, $about:literal, $sizes:expr, |$size:ident| $operation:expr;)*) => {
        /// All of them.
        pub const ALL: &[Entry] = &[$(Entry { name: $name, about: $about, sizes: $sizes }),*];

        /// The operation of that name; `None` when there is none. Operations without a size do not
        /// look at it.
        #[must_use]
        pub fn of_name(name: &str, size: u64) -> Option<Box<dyn Calls>> {
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
    "chain", "multiplications that wait for each other; the size says how many", &[64, 128, 256, 1_024, 4_096],
        |size| built_in::chain(size);
    "log-chain", "a hundred logarithms, each of the one before", &[], |_size| built_in::log_chain();
    "multiply", "twenty multiplications of small numbers", &[], |_size| built_in::multiply();
    "pow", "10 to the power of 0 to 25.5", &[], |_size| built_in::each_of(|x| 10_f64.powf(0.1 * x));
    "exp", "e to the power of 0 to 25.5", &[], |_size| built_in::each_of(|x| (0.1 * x).exp());
    "log", "natural logarithm of 0.1 to 25.6", &[], |_size| built_in::each_of(|x| (0.1 + 0.1 * x).ln());
    "sin", "sine of 0 to 25.5", &[], |_size| built_in::each_of(|x| (0.1 * x).sin());
    "cos", "cosine of 0 to 25.5", &[], |_size| built_in::each_of(|x| (0.1 * x).cos());
    "tan", "tangent of 0 to 25.5", &[], |_size| built_in::each_of(|x| (0.1 * x).tan());
    "asin", "arc sine of 0 to 1", &[], |_size| built_in::each_of(|x| (x / 256.0).asin());
    "acos", "arc cosine of 0 to 1", &[], |_size| built_in::each_of(|x| (x / 256.0).acos());
    "atan", "arc tangent of 0 to 1", &[], |_size| built_in::each_of(|x| (x / 256.0).atan());
    "clone", "an array of bytes is cloned", COPIES, |size| built_in::clone(size);
    "new-and-copy", "a new array of zeros, into which the bytes are copied", COPIES, |size| built_in::new_and_copy(size);
    "search-same", "binary search for the same item each time", SEARCHES, |size| built_in::search_same(size);
    "search-random", "binary search for another item each time", SEARCHES, |size| built_in::search_random(size);
    "selection-sort", "selection sort of shuffled numbers", &[100, 1_000], |size| built_in::selection_sort(size);
    "quicksort", "quicksort of shuffled numbers", SORTS, |size| built_in::quicksort(size);
    "heapsort", "heap sort of shuffled numbers", SORTS, |size| built_in::heapsort(size);
}

/// The entry of that name.
#[must_use]
pub fn find(name: &str) -> Option<Entry> {
    ALL.iter().copied().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_run_at_any_size() {
        for entry in ALL {
            for size in [0, 1, 2, 3, 100] {
                let mut operation = of_name(entry.name, size).expect(entry.name);
                for _ in 0..20 {
                    operation.put_back();
                    operation.in_a_row(1);
                }
            }
        }
        assert!(of_name("nothing", 1).is_none());
    }
}
