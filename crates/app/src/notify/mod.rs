//! Alerts of a live run, and the way of a test to each channel.

#[cfg(feature = "notify")]
mod channels;
#[cfg(feature = "notify")]
mod chat;
#[cfg(feature = "notify")]
mod facts;
#[cfg(feature = "notify")]
mod run;
#[cfg(feature = "notify")]
mod test;
#[cfg(not(feature = "notify"))]
mod without;

#[cfg(feature = "notify")]
pub use test::test;
#[cfg(not(feature = "notify"))]
pub use without::test;

#[cfg(feature = "notify")]
pub(crate) use run::Alerts;
#[cfg(not(feature = "notify"))]
pub(crate) use without::Alerts;

use crate::configuration::{Loaded, Problem, section_problems};
use serde::Serialize;

/// What came of a test of a channel.
#[derive(Clone, Debug, Serialize)]
pub struct Tested {
    /// Its name.
    pub channel: String,
    /// How it is spoken to.
    pub kind: &'static str,
    /// Why the message was not taken; none: it was.
    pub problem: Option<String>,
    /// How long that took, in ms.
    pub took_ms: u64,
}

/// What is wrong with the settings of alerts and with their secrets. Nothing is asked of any receiver.
pub fn notify_problems(loaded: &Loaded) -> Vec<Problem> {
    let problems = section_problems(loaded);
    #[cfg(feature = "notify")]
    let problems = if problems.is_empty() { channels::problems(loaded) } else { problems };
    problems
}
