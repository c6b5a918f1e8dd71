//! The Session as a whole: events in, actions out, as rows of data.

#![allow(clippy::unwrap_used, reason = "the parts of a test are tests")]

mod alpha_budget;
mod answers;
mod book;
mod changed_settings;
mod corrections;
mod departures;
mod event;
mod fold;
mod given_up;
mod journal;
mod limits;
mod openings;
mod outside;
mod partial_books;
mod properties;
mod script;
mod snapshots;
mod staking;
mod stretches;
mod test_session;
mod trial;
mod venue_refusals;
mod verdicts;
mod wallet;
mod watch;
