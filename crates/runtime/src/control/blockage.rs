//! Risk rules that currently block all signals of some bots.

use candlewick_engine::{BotId, Obstacle, Rule, Session};
use candlewick_sdk::{Millis, visible};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blockage {
    pub rule: String,
    pub text: String,
    pub bots: Vec<String>,
    pub all: bool,
    /// Venue time that lifts it, `None` if only an event or the operator does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
    pub brief: bool,
}

impl Blockage {
    pub fn all_of(session: &Session, now: Millis) -> Vec<Self> {
        let obstacles = session.obstacles(now).into_iter();
        let of = |obstacle: Obstacle| {
            let name = |bot: &BotId| session.bots().get(bot.index()).cloned();
            Self {
                all: obstacle.bots.len() == session.bots().len(),
                bots: obstacle.bots.iter().filter_map(name).collect(),
                rule: obstacle.rule.to_string(),
                text: obstacle.text,
                until: obstacle.until,
                brief: obstacle.is_brief,
            }
        };
        obstacles.filter(|obstacle| obstacle.rule != Rule::Halted).map(of).collect()
    }

    /// Like [`Self::all_of`], from a journal, which does not predict stale data or clock skew.
    pub fn all_of_journal(session: &Session, now: Millis) -> Vec<Self> {
        let mut all = Self::all_of(session, now);
        all.retain(|one| [Rule::StaleData, Rule::ClockSkew].iter().all(|rule| rule.as_str() != one.rule));
        all
    }

    pub fn stop_all(blockages: &[Self], bots: usize) -> bool {
        let lasting = blockages.iter().filter(|blockage| !blockage.brief);
        let stopped: BTreeSet<&String> = lasting.flat_map(|blockage| &blockage.bots).collect();
        bots > 0 && stopped.len() == bots
    }

    pub fn describe(&self) -> String {
        if self.all {
            return self.text.clone();
        }
        format!("{}: {}", visible(&self.bots.join(", ")), self.text)
    }
}
