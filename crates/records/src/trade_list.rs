//! The trades of a journal as a list.

use crate::contents::JournalContents;
use crate::count::counted;
use crate::error::RecordsError;
use crate::moment::utc;
use crate::table::table;
use crate::trade::TradeLine;
use crate::trade_page::TradePage;
use candlewick_journal::{JournalError, Reader};
use candlewick_sdk::{Millis, Symbol, price_text};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Up to `FEW` trades are each read from their own lines, after scanning up to `LOOKED` intents.
const FEW: usize = 100;
const LOOKED: u64 = 1_000;
const PAGE: u32 = 5_000;

#[derive(Clone, Debug, Default)]
pub struct TradeFilter {
    pub bot: Option<String>,
    pub symbol: Option<Symbol>,
    pub state: Option<String>,
    /// Inclusive, by decision time.
    pub since: Option<Millis>,
    /// Exclusive, by decision time.
    pub until: Option<Millis>,
    pub last: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct TradeList(Vec<TradeLine>);

impl TradeFilter {
    /// Returns the selected trades.
    ///
    /// # Errors
    /// The journal has no such bot or symbol: a typo must not look like an empty list.
    pub fn apply(&self, contents: &JournalContents) -> Result<TradeList, RecordsError> {
        self.check_names(contents)?;
        let lines = contents.intents().map(|one| TradeLine::of(&contents.book, one));
        let mut lines: Vec<TradeLine> = lines.filter(|line| self.admits(line)).collect();
        if let Some(most) = self.last {
            lines.drain(..lines.len().saturating_sub(most));
        }
        Ok(TradeList(lines))
    }

    /// Reads the last trades backward from the journal's end, each from its own lines, so the cost
    /// does not grow with the journal.
    ///
    /// `None` if too many intents would have to be scanned, names have to be checked, or the
    /// journal has no snapshot or is damaged.
    pub async fn read_last(&self, reader: &mut Reader) -> Result<Option<TradeList>, RecordsError> {
        let Some(most) = self.last.filter(|most| *most <= FEW) else { return Ok(None) };
        if self.bot.is_some() || self.symbol.is_some() {
            return Ok(None);
        }
        if !is_whole_since_snapshot(reader).await? {
            return Ok(None);
        }
        let (mut lines, mut before) = (Vec::new(), Some(reader.last_intent().await? + 1));
        let last = before.unwrap_or_default();
        while let Some(next) = before.filter(|_| lines.len() < most) {
            if next + LOOKED <= last {
                return Ok(None);
            }
            let page = TradePage::read(reader, next, (FEW, None)).await?;
            let has_ended = |line: &TradeLine| self.since.is_some_and(|since| line.decision_time < since);
            let is_end = page.trades.iter().any(has_ended);
            lines.extend(page.trades.into_iter().filter(|line| self.admits(line)));
            before = page.before.filter(|_| !is_end);
        }
        lines.truncate(most);
        lines.reverse();
        Ok(Some(TradeList(lines)))
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

async fn is_whole_since_snapshot(reader: &mut Reader) -> Result<bool, RecordsError> {
    let Some(snapshot) = reader.last_snapshot().await? else { return Ok(false) };
    let read = async {
        let mut walk = reader.walk_after(snapshot.head(), PAGE).await?;
        while !walk.next().await?.is_empty() {}
        Ok(())
    };
    match read.await {
        Ok(()) => Ok(true),
        // Read from the first line on, the first that is wrong is named.
        Err(JournalError::BrokenChain { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl TradeList {
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
