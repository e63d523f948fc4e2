//! What is printed besides results: messages and progress, on standard error, in the characters of
//! the user's locale.

mod progress;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

pub use progress::Progress;

use reporting::text::{ascii, plain, shortened};

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Leaves out progress and hints from now on (`--quiet`).
pub fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Whether progress and hints are left out.
pub fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// Prints a message on standard error. All messages go through this function, because it removes
/// control sequences for the terminal that files or agents may have put into the text. Write errors
/// are ignored, because the exit status also reports a failure.
pub fn print_message(message: &dyn std::fmt::Display) {
    let _ = writeln!(
        std::io::stderr(),
        "timermeter: {}",
        in_locale(shortened(&plain(&message.to_string())))
    );
}

/// Whether the user chose the locale C or POSIX, which has ASCII characters only. Where no variable
/// is set, as in most containers, terminals still show UTF-8.
pub fn has_ascii_locale() -> bool {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let mut values = variables.filter_map(|name| std::env::var(name).ok());
    values
        .find(|value| !value.is_empty())
        .is_some_and(|locale| locale == "C" || locale == "POSIX")
}

/// The text in the characters of the user's locale.
pub fn in_locale(text: String) -> String {
    if has_ascii_locale() {
        ascii(&text)
    } else {
        text
    }
}
