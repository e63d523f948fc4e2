//! The entry point of the program.

use std::process::ExitCode;

use timermeter::program;

#[global_allocator]
static ALLOCATOR: timers::allocations::CountingAllocator = timers::allocations::CountingAllocator;

fn main() -> ExitCode {
    program::main()
}
