//! Chains of additions for all instruction sets, which differ only in the instructions for an
//! addition and for the end of the loop.

/// Defines the chains. An addition adds the named register to itself, by an instruction of `$operands`
/// operands; `$end` are the instructions that decrement `{left}` and jump back to label 2 unless it is
/// zero. The loop of independent additions repeats an addition to each named
/// register `$times` times, 24 additions in total.
macro_rules! chains {
    (@add $register:literal, 2) => {
        concat!("add {", $register, "}, {", $register, "}")
    };
    (@add $register:literal, 3) => {
        concat!("add {", $register, "}, {", $register, "}, {", $register, "}")
    };
    ($operands:tt operands, $end:tt) => {
        chains!($operands operands, $end, 4 of [a "a", b "b", c "c", d "d", e "e", f "f"]);
    };
    ($operands:tt operands, [$($end:literal),*], $times:literal of [$($register:ident $name:literal),*]) => {
        /// Whether each dependent addition takes one cycle.
        pub(crate) const ADDITION_TAKES_ONE_CYCLE: bool = true;

        /// Does `sixteens` times 16 additions, each of which needs the previous result. The loop is
        /// part of the block, so that an unoptimised build does not keep the sum in memory either.
        #[inline(always)]
        pub(crate) fn dependent_additions(sixteens: usize) {
            // SAFETY: the block only adds registers that are declared as operands and jumps back,
            // so that `nomem` and `nostack` hold. `preserves_flags` is not given, because some
            // instruction sets set flags; `pure` is not given, so that the block is not removed.
            unsafe {
                std::arch::asm!(
                    ".p2align 6",
                    "2:",
                    ".rept 16",
                    chains!(@add "sum", $operands),
                    ".endr",
                    $($end,)*
                    sum = inout(reg) 1_usize => _,
                    left = inout(reg) sixteens => _,
                    options(nomem, nostack)
                );
            }
        }

        /// Does `twenty_fours` times 24 additions, to all registers in turn, which do not depend on
        /// each other.
        #[inline(always)]
        pub(crate) fn independent_additions(twenty_fours: usize) {
            // SAFETY: as in `dependent_additions`.
            unsafe {
                std::arch::asm!(
                    ".p2align 6",
                    "2:",
                    concat!(".rept ", $times),
                    $(chains!(@add $name, $operands),)*
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
