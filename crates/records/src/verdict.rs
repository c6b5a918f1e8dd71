//! The verdict on one bot, as machines and people read it.

use crate::{EdgeIntervals, counted, utc};
use candlewick_engine::{BotVerdict, IntentRow, TradeBook, edge_sequence};
use candlewick_sdk::Millis;
use candlewick_statistics::{EdgeTest, Verdict};
use serde::Serialize;

/// A verdict as it stands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictLine {
    /// Whose verdict it is.
    pub bot: String,
    /// `edge_shown`, `edge_rejected`, `edge_no_longer_held` or `not_enough_trades`.
    pub verdict: &'static str,
    /// Trades it rests on.
    pub trades: u64,
    /// Trades whose end a person said: they are no evidence, and left out.
    pub settled_by_person: u64,
    /// About so many more show an edge of `delta`, if there is one.
    pub about_more_trades: Option<u64>,
    /// What the account that bets on an edge has become, from 1.
    pub account_for: f64,
    /// The same of the account that bets against one.
    pub account_against: f64,
    /// What shows an edge: `1 / (alpha x weight)`, since all bots of the journal share one alpha; null where nothing can.
    pub threshold_for: Option<f64>,
    /// What rules one out: `1 / beta`.
    pub threshold_against: f64,
    /// The first intent of the bot with these parameters and this code.
    pub since_intent: u64,
    /// Since which decision a shown edge of `delta` or more is not supported any more: it ended, or was smaller all along.
    /// Null while it is, or was not shown.
    pub no_longer_held_since: Option<Millis>,
    /// Where its edge and its win rate lie.
    #[serde(flatten)]
    pub intervals: EdgeIntervals,
}

impl VerdictLine {
    /// The verdict on the bot of this name and place, whose trades are in this book.
    pub fn of((bot, place): (&str, usize), verdict: &BotVerdict, book: &TradeBook) -> Self {
        let is_own = |row: &&IntentRow| {
            let terms = &row.approved;
            terms.bot().index() == place && terms.intent() >= verdict.first_intent()
        };
        let own: Vec<&IntentRow> = book.rows().iter().filter(is_own).collect();
        let said = own.iter().filter(|row| book.is_settled_by_person(row.approved.intent()));
        let intervals = EdgeIntervals::of(&edge_sequence(own.iter().copied()));
        Self::with(bot, verdict, (said.count() as u64, intervals))
    }

    /// The verdict on the bot of this name, by what is known of its trades: of how many a person said how they ended, and where edge and win
    /// rate lie.
    pub fn with(bot: &str, verdict: &BotVerdict, (said, intervals): (u64, EdgeIntervals)) -> Self {
        let test = verdict.edge_test();
        let no_longer_held_since = verdict.judge().no_longer_held_since();
        let (mut name, about_more_trades) = verdict_name(test);
        if no_longer_held_since.is_some() {
            name = NO_LONGER_HELD;
        }
        Self {
            bot: bot.to_owned(),
            verdict: name,
            trades: test.settled(),
            settled_by_person: said,
            about_more_trades,
            account_for: test.edge_account(),
            account_against: test.mirror_account(),
            threshold_for: threshold(test),
            threshold_against: test.plan().beta().recip(),
            since_intent: verdict.first_intent().number(),
            no_longer_held_since,
            intervals,
        }
    }

    /// The verdict in a sentence.
    pub fn words(&self) -> String {
        let Self { bot, trades, account_for, account_against, threshold_for, threshold_against, .. } = self;
        let trades = counted(*trades, "trade", "trades");
        let (needed, against) = (threshold_words(*threshold_for), threshold_words(Some(*threshold_against)));
        let verdict = self.no_longer_held_since.map_or_else(
            || verdict_words(self.verdict, self.about_more_trades),
            |since| no_longer_held_words(&utc(since)),
        );
        let interval = self.intervals.edge_words();
        let interval = interval.map(|interval| format!(", edge {interval} of the stake")).unwrap_or_default();
        let said = match self.settled_by_person {
            0 => String::new(),
            1 => " (1 whose end a person said is left out)".to_owned(),
            more => format!(" ({more} whose ends a person said are left out)"),
        };
        format!(
            "{bot}: {verdict}; {trades}{said}{interval}, evidence for an edge {account_for:.3} of {needed}, against one {account_against:.3} of {against}"
        )
    }
}

/// The account that shows an edge; none where no account can, because nothing of alpha is left for it.
pub fn threshold(test: &EdgeTest) -> Option<f64> {
    Some(test.goal()).filter(|goal| goal.is_finite())
}

/// The same in words.
pub fn threshold_words(threshold: Option<f64>) -> String {
    match threshold {
        None => "none".to_owned(),
        Some(threshold) if (threshold - threshold.round()).abs() < 1e-6 => format!("{threshold:.0}"),
        Some(threshold) => format!("{threshold:.1}"),
    }
}

/// The name by which machines know an edge that was shown and no longer holds.
pub const NO_LONGER_HELD: &str = "edge_no_longer_held";

/// Describes an edge that no longer holds; `since` is a date or a trade.
pub fn no_longer_held_words(since: &str) -> String {
    format!("edge no longer held since {since} (it ended, or was smaller all along)")
}

/// An edge that was shown and is not said to have been, for these reasons, in words.
pub fn withheld_words(reasons: &[String], no_longer_held_since: Option<&str>) -> String {
    let since = no_longer_held_since.map(|since| format!("; besides, {}", no_longer_held_words(since)));
    format!("edge shown, but withheld: {}{}", reasons.join("; "), since.unwrap_or_default())
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
        ("edge_shown", _) => "edge shown, at some time on these trades".to_owned(),
        ("edge_rejected", _) => "no edge".to_owned(),
        (_, Some(more)) => format!("not enough trades yet (about {more} more)"),
        (_, None) => "not enough trades yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_is_withheld_and_no_longer_held_is_said_to_be_both() {
        let reasons = ["prices are coarse".to_owned(), "of 3 variants".to_owned()];
        assert_eq!(
            withheld_words(&reasons, None),
            "edge shown, but withheld: prices are coarse; of 3 variants"
        );
        let both = withheld_words(&reasons, Some(&utc(Millis::ZERO)));
        assert!(both.contains("withheld: prices are coarse; of 3 variants"), "{both}");
        assert!(
            both.contains("no longer held since 1970-01-01") && both.contains("smaller all along"),
            "{both}"
        );
    }
}
