//! What a watch of this machine saw.

use super::Finding;

/// What a watch saw, in words of others.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// When it began, as RFC 3339.
    pub date: String,
    /// How long it lasted, as in `8h`; none where it did not end by itself.
    pub lasted: Option<String>,
    /// How many events of each kind; none where there were none.
    pub events: Option<String>,
}

/// Whether something happened.
#[must_use]
pub fn watched(saw: &Watched) -> Finding {
    let Watched { date, lasted, events } = saw;
    let lasted = lasted.as_deref().unwrap_or("a watch that was not ended or goes on");
    match events {
        None => Finding::ok("watched", format!("nothing happened to the clocks in {lasted} from {date} on")),
        Some(events) => Finding::note("watched", format!("in {lasted} from {date} on: {events}"))
            .advice("`timermeter watch 8h --save` watches again; what it appends to tells each event, with whose doing it was"),
    }
}
