//! What happens in a run as a stream of JSON, one object a line, for any number of other programs.
//!
//! The run hands its notices on where somebody follows ([`EventObserver`]), and never waits: a notice for which there is no room is
//! left out and counted. They become lines ([`RunEvent`]) in a task beside it, numbered in one row for all. Each follower reads
//! at its own pace ([`Follower`]); all share one bounded store of lines, and one that falls behind it is told how many it missed.

mod document;
mod feed;
mod translate;

pub use document::{OrderFacts, RunEvent, Totals, TradeFacts, event_schema};
pub use feed::{EventFeed, EventObserver, Followed, Follower};
pub use translate::Names;
