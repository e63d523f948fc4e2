//! A clock that is read now and then, by its id: what is read is a number, and each read costs a dynamic call more than the clock.

use crate::{Timer, Unavailable, Visitor, visit};

/// What reads a clock: the ticks that it is at.
pub type Reader = Box<dyn Fn() -> u64>;

/// What reads the clock of that id; `None` when no clock is called so.
///
/// # Errors
/// Says why this machine does not let it be read.
pub fn reader(id: &str) -> Option<Result<Reader, Unavailable>> {
    visit(id, Opening)
}

struct Opening;

impl Visitor for Opening {
    type Output = Reader;

    fn visit<T: Timer>(self, timer: T) -> Reader {
        Box::new(move || timer.ticks(timer.read()).0)
    }
}

#[cfg(test)]
mod tests {
    use super::reader;

    #[test]
    fn what_is_read_goes_on() {
        let read = reader("monotonic").expect("it is one").expect("it can be read");
        let before = read();
        assert!(read() >= before);
        assert!(reader("sundial").is_none());
    }
}
