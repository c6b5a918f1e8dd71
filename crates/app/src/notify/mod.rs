//! Alerts from a live run, and test messages to each channel.

#[cfg(feature = "notify")]
mod channels;
#[cfg(feature = "notify")]
mod facts;
#[cfg_attr(not(feature = "notify"), path = "without.rs")]
mod run;

pub(crate) use run::Alerts;
pub use run::test;

#[cfg(feature = "notify")]
use crate::configuration::Problems;
use crate::configuration::{Loaded, Problem, section_problems};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct ChannelTest {
    pub channel: String,
    pub kind: &'static str,
    pub problem: Option<String>,
    pub took_ms: u64,
}

pub fn notify_problems(loaded: &Loaded) -> Vec<Problem> {
    let problems = section_problems(loaded);
    #[cfg(feature = "notify")]
    let problems = if problems.is_empty() {
        channels::open_all(loaded).err().map(Problems::into_list).unwrap_or_default()
    } else {
        problems
    };
    problems
}
