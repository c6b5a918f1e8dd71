//! Alerts from a live run, and test messages to each channel.

#[cfg(feature = "notify")]
mod channels;
#[cfg(feature = "notify")]
mod facts;
#[cfg_attr(not(feature = "notify"), path = "without.rs")]
mod run;

pub(crate) use run::Alerts;
pub use run::send_test_messages;

#[cfg(feature = "notify")]
use crate::configuration::Problems;
use crate::configuration::{LoadedConfig, Problem, notify_section_problems};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct ChannelTest {
    pub channel: String,
    pub kind: &'static str,
    pub problem: Option<String>,
    pub took_ms: u64,
}

pub fn notify_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let problems = notify_section_problems(loaded);
    #[cfg(feature = "notify")]
    let problems = if problems.is_empty() {
        channels::open_all(loaded).err().map(Problems::into_list).unwrap_or_default()
    } else {
        problems
    };
    problems
}
