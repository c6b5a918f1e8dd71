//! The trades of a journal as a list.

use crate::contents::JournalContents;
use crate::count::counted;
use crate::error::RecordsError;
use crate::moment::utc;
use crate::table::table;
use crate::trade::TradeLine;
use candlewick_sdk::{Millis, Symbol, price_text};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Which trades of a journal are asked for; all where nothing is named.
#[derive(Clone, Debug, Default)]
pub struct TradeFilter {
    /// Only this bot's.
    pub bot: Option<String>,
    /// Only on this symbol.
    pub symbol: Option<Symbol>,
    /// Only in this state, one of [`TradeLine::STATES`].
    pub state: Option<String>,
    /// Only decided at this time or later.
    pub since: Option<Millis>,
    /// Only decided before this time.
    pub until: Option<Millis>,
    /// Only so many of the last ones that are asked for.
    pub last: Option<usize>,
}

/// Trades of a journal, in the order of their decisions.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct TradeList(Vec<TradeLine>);

impl TradeFilter {
    /// The trades that are asked for.
    ///
    /// # Errors
    /// The journal knows no such bot, or no bot on this symbol: a slip of the keyboard is not an empty list.
    pub fn apply(&self, contents: &JournalContents) -> Result<TradeList, RecordsError> {
        self.check_names(contents)?;
        let lines = contents.intents().map(|one| TradeLine::of(&contents.book, one));
        let mut lines: Vec<TradeLine> = lines.filter(|line| self.admits(line)).collect();
        if let Some(most) = self.last {
            lines.drain(..lines.len().saturating_sub(most));
        }
        Ok(TradeList(lines))
    }

    fn check_names(&self, contents: &JournalContents) -> Result<(), RecordsError> {
        let bots = || contents.runs.iter().flat_map(|run| &run.settings.bots);
        let names: BTreeSet<&str> = bots().map(|bot| bot.name.as_str()).collect();
        let symbols: BTreeSet<&str> = bots().map(|bot| bot.symbol.as_str()).collect();
        let asked = [
            ("bot", self.bot.as_deref(), names),
            ("bot on the symbol", self.symbol.as_ref().map(Symbol::as_str), symbols),
        ];
        for (what, name, known) in asked {
            if let Some(name) = name.filter(|name| !known.contains(name)) {
                let known = known.into_iter().map(str::to_owned).collect();
                return Err(RecordsError::UnknownName { what, name: name.to_owned(), known });
            }
        }
        Ok(())
    }

    fn admits(&self, line: &TradeLine) -> bool {
        self.bot.as_ref().is_none_or(|bot| *bot == line.bot)
            && self.symbol.is_none_or(|symbol| symbol == line.symbol)
            && self.state.as_ref().is_none_or(|state| state == line.state)
            && self.since.is_none_or(|since| line.decision_time >= since)
            && self.until.is_none_or(|until| line.decision_time < until)
    }
}

impl TradeList {
    /// One by one.
    pub fn lines(&self) -> &[TradeLine] {
        &self.0
    }
}

impl fmt::Display for TradeList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header =
            ["intent", "bot", "symbol", "", "amount", "decided", "open", "close", "state", "result", "pnl"];
        let mut rows = table(header);
        let price = |price: Option<f64>| price.map_or("-".to_owned(), price_text);
        for line in &self.0 {
            rows.add_row([
                line.intent_id.to_string(),
                line.bot.clone(),
                line.symbol.to_string(),
                line.direction.to_string(),
                line.stake_text(),
                utc(line.decision_time),
                price(line.open_price),
                price(line.close_price),
                line.state.to_owned(),
                line.result_text().unwrap_or_else(|| "-".to_owned()),
                line.pnl_text().unwrap_or_else(|| "-".to_owned()),
            ]);
        }
        write!(f, "{}\n\n{}", rows.trim_fmt(), counted(self.0.len(), "intent", "intents"))
    }
}
