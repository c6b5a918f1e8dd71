//! The verdict on one bot, as machines and people read it.

use candlewick_engine::BotVerdict;
use candlewick_statistics::{EdgeTest, Verdict};
use serde::Serialize;

/// A verdict as it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictLine {
    /// Whose verdict it is.
    pub bot: String,
    /// `edge_shown`, `edge_rejected` or `not_enough_trades`.
    pub verdict: &'static str,
    /// Trades it rests on.
    pub trades: u64,
    /// About so many more show an edge of `delta`, if there is one.
    pub about_more_trades: Option<u64>,
    /// What the account that bets on an edge has become, from 1.
    pub account_for: f64,
    /// The same of the account that bets against one.
    pub account_against: f64,
    /// The first intent of the bot with these parameters and this code.
    pub since_intent: u64,
}

impl VerdictLine {
    /// The verdict on this bot.
    pub fn of(bot: &str, verdict: &BotVerdict) -> Self {
        let test = verdict.edge_test();
        let (name, about_more_trades) = verdict_name(test);
        Self {
            bot: bot.to_owned(),
            verdict: name,
            trades: test.settled(),
            about_more_trades,
            account_for: test.edge_account(),
            account_against: test.mirror_account(),
            since_intent: verdict.first_intent().number(),
        }
    }

    /// The verdict in a sentence.
    pub fn words(&self) -> String {
        let Self { bot, trades, account_for, account_against, .. } = self;
        let verdict = verdict_words(self.verdict, self.about_more_trades);
        format!(
            "{bot}: {verdict}; {trades} trades, evidence for an edge {account_for:.3}, against one {account_against:.3}"
        )
    }
}

/// The name that machines know it by, and how many more trades it takes where that can be said.
pub fn verdict_name(test: &EdgeTest) -> (&'static str, Option<u64>) {
    match test.verdict() {
        Verdict::EdgeShown => ("edge_shown", None),
        Verdict::EdgeRejected => ("edge_rejected", None),
        Verdict::NotEnoughTrades { about_more } => ("not_enough_trades", about_more),
    }
}

/// The same in words.
pub fn verdict_words(verdict: &str, about_more: Option<u64>) -> String {
    match (verdict, about_more) {
        ("edge_shown", _) => "edge shown".to_owned(),
        ("edge_rejected", _) => "no edge".to_owned(),
        (_, Some(more)) => format!("not enough trades yet (about {more} more)"),
        (_, None) => "not enough trades yet".to_owned(),
    }
}
