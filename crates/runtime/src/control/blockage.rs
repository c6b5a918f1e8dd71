//! A risk rule that refuses every signal of some bots at present.

use candlewick_engine::{BotId, Obstacle, Rule, Session};
use candlewick_sdk::{Millis, visible};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A risk rule that refuses every signal of some bots at present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blockage {
    /// Name of the rule.
    pub rule: String,
    /// The rule in words, with its figures and its end.
    pub text: String,
    /// Names of the bots that it stops.
    pub bots: Vec<String>,
    /// Whether those are all bots of the run.
    pub all: bool,
    /// Venue time that lifts it, `None` if only an event or an operator does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
    /// Whether it usually lasts no longer than an open trade, an answer or a candle.
    pub brief: bool,
}

impl Blockage {
    /// Returns what stops bots of a Session at `now`, besides a halt.
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

    /// Like [`Self::all_of`], by what a journal came to.
    ///
    /// A journal does not say how fresh the candles and the clock of the next run will be.
    pub fn all_of_journal(session: &Session, now: Millis) -> Vec<Self> {
        let mut all = Self::all_of(session, now);
        all.retain(|one| [Rule::StaleData, Rule::ClockSkew].iter().all(|rule| rule.as_str() != one.rule));
        all
    }

    /// Returns whether lasting blockages together stop all of so many bots.
    pub fn stop_all(blockages: &[Self], bots: usize) -> bool {
        let lasting = blockages.iter().filter(|blockage| !blockage.brief);
        let stopped: BTreeSet<&String> = lasting.flat_map(|blockage| &blockage.bots).collect();
        bots > 0 && stopped.len() == bots
    }

    /// As people read it: `btc-rsi: daily trade limit (200 of 200) until 00:00 UTC`.
    pub fn describe(&self) -> String {
        if self.all {
            return self.text.clone();
        }
        format!("{}: {}", visible(&self.bots.join(", ")), self.text)
    }
}
