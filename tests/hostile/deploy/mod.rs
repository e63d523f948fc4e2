//! The scripts of `deploy/` with malicious names of nodes, malicious output, and signals.

mod gate;
mod names;
mod replies;
mod sandbox;
mod stopping;
