//! Timing something with a timer of the registry. It stands here, and not where what is asked of it
//! does, so that the timed region and the operations that come with this program are optimised as
//! the other hot loops are, whatever the rest is optimised for.

pub mod clock;
pub mod operations;
pub mod window;
