//! Chains of additions, alike on all instruction sets but for how an addition and the end of a loop
//! are written.

/// Defines the chains. `$add` makes an instruction that adds a register to itself of the register's
/// name, `$end` are those that count `{left}` down and jump back to label 2 until it is zero. Of
/// twenty-four additions at a time as many stand side by side as registers are named, `$times` in a
/// row.
macro_rules! chains {
    ($add:ident, [$($end:literal),*], $times:literal of [$($register:ident $name:literal),*]) => {
        /// Whether the additions below take a cycle each.
        pub(crate) const COUNTS_CYCLES: bool = true;

        /// Sixteen additions at a time, each of which waits for the one before. The loop is part of
        /// the block, so that not even an unoptimised build keeps the sum in memory.
        #[inline(always)]
        pub(crate) fn dependent_additions(sixteens: usize) {
            // SAFETY: register additions and a jump back; nothing else is touched. `nomem` and
            // `nostack` hold, flags are clobbered where there are some (so `preserves_flags` is not
            // given), and without `pure` the block is not removed.
            unsafe {
                std::arch::asm!(
                    "2:",
                    ".rept 16",
                    $add!("sum"),
                    ".endr",
                    $($end,)*
                    sum = inout(reg) 1_usize => _,
                    left = inout(reg) sixteens => _,
                    options(nomem, nostack)
                );
            }
        }

        /// Twenty-four additions at a time, of which so many in a row do not wait for each other as
        /// there are registers for.
        #[inline(always)]
        pub(crate) fn independent_additions(twenty_fours: usize) {
            // SAFETY: as above.
            unsafe {
                std::arch::asm!(
                    "2:",
                    concat!(".rept ", $times),
                    $($add!($name),)*
                    ".endr",
                    $($end,)*
                    $($register = inout(reg) 1_usize => _,)*
                    left = inout(reg) twenty_fours => _,
                    options(nomem, nostack)
                );
            }
        }
    };
}

pub(super) use chains;
