//! The entry point of the program.

use std::process::ExitCode;

use timermeter::program;

fn main() -> ExitCode {
    program::main()
}
