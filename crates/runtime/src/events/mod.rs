//! The events of a run as a stream of JSON lines, for any number of other programs.
//! The run forwards notices while there are followers ([`EventObserver`]) and never blocks: if the queue is
//! full, a notice is dropped and counted. A separate task converts notices to lines ([`RunEvent`]) with
//! consecutive numbers. Followers ([`Follower`]) read at their own pace from one bounded buffer. One that
//! falls behind learns how many events it missed.

mod document;
mod feed;
mod translate;

pub use document::{OrderFacts, RunEvent, Totals, TradeFacts, event_schema};
pub use feed::{EventFeed, EventObserver, FollowedEvent, Follower};
pub use translate::Names;
