//! The Session as a whole: events in, actions out, as rows of data.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

// A Session, its events and journal, and bots that follow a script.
mod event;
mod fold;
mod script;
mod test_session;
// Behaviour.
mod alpha_budget;
mod answers;
mod corrections;
mod departures;
mod given_up;
mod limits;
mod openings;
mod outside;
mod staking;
mod stretches;
mod trial;
mod venue_refusals;
mod verdicts;
mod wallet;
mod watch;
// Stored state.
mod book;
mod changed_settings;
mod journal;
// Properties.
mod partial_books;
mod properties;
mod snapshots;
