//! Trades as text and as JSON with fixed keys: single trades, pages and filtered lists.

use crate::RecordsError;
use crate::contents::JournalContents;
use crate::lines::{build_decoder, decode, parse};
use crate::moment::{count_text, format_utc};
use crate::run::{NO_RUN, RecordedRun};
use crate::table::table_text;
use candlewick_engine::{IntentRow, IntentState, JournalDecoder, RecordedEntry, TradeBook};
use candlewick_journal::{JournalError, LineKind, Reader, StoredLine};
use candlewick_sdk::{Direction, Millis, MoneyScale, Outcome, Payout, Symbol, format_price, group_thousands};
use serde::{Deserialize, Serialize};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const MAX_INTENTS_PER_PAGE: u64 = 500;
/// Maximum number of trades to read backward from the journal's end. Longer lists require the whole journal.
const MAX_LAST_TRADES: usize = 100;
const MAX_SCANNED_INTENTS: u64 = 1_000;
const LINES_PER_PAGE: u32 = 5_000;

#[derive(Clone, Debug, PartialEq)]
pub struct IntentOrigin {
    pub run: u64,
    pub seq: u64,
    pub bot: String,
    pub symbol: Symbol,
    pub request_time: Millis,
    pub scale: MoneyScale,
}

impl IntentOrigin {
    pub fn from_stored(stored: &StoredLine, run: &RecordedRun) -> Result<Self, RecordsError> {
        #[derive(Deserialize)]
        struct BotRef {
            bot: usize,
        }
        let BotRef { bot } = parse(stored)?;
        let origin = Self::new(run, bot, stored.seq, stored.line.received);
        origin.ok_or_else(|| RecordsError::unreadable_entry(stored, "unknown bot index"))
    }

    pub fn new(run: &RecordedRun, bot: usize, seq: u64, request_time: Millis) -> Option<Self> {
        let (own, scale) = (run.settings.bots.get(bot)?, run.settings.money_scale);
        let (bot, symbol) = (own.name.clone(), own.symbol);
        Some(Self { run: run.number, seq, bot, symbol, request_time, scale })
    }
}

/// An intent with stable JSON keys. Times are in milliseconds. Unknown values are `None`.
#[derive(Debug, Serialize)]
pub struct TradeLine {
    /// 1-based number of the intent, unique across the whole journal.
    pub intent_id: u64,
    pub venue_id: Option<String>,
    pub bot: String,
    pub symbol: Symbol,
    pub direction: Direction,
    /// Stake in the wallet's currency.
    pub amount: f64,
    pub state: &'static str,
    pub result: Option<Outcome>,
    /// Profit in the wallet's currency; `None` before settlement.
    pub pnl: Option<f64>,
    pub decision_time: Millis,
    pub request_time: Option<Millis>,
    pub open_time: Option<Millis>,
    pub open_price: Option<f64>,
    /// Time at which the trade closed. For an open trade, the scheduled close.
    pub close_time: Option<Millis>,
    pub close_price: Option<f64>,
    /// Profit of a win, in percent of the stake.
    pub payout: Option<Payout>,
    /// Duration of the trade as `HH:MM`.
    pub close_type: String,
    pub expiration_type: String,
    pub reason: String,
    pub run: u64,
    /// Symbol in the order, if the venue opened a different trade. The fields above describe the opened trade.
    pub ordered_symbol: Option<Symbol>,
    pub ordered_direction: Option<Direction>,
    /// Stake in the order, in the wallet's currency, if the venue opened a different trade.
    pub ordered_amount: Option<f64>,
    /// Whether an operator entered the result because the venue had already deleted the trade.
    pub settled_by_person: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected_from: Option<Outcome>,
    #[serde(skip)]
    scale: MoneyScale,
}

impl TradeLine {
    pub const STATES: [&'static str; 6] =
        ["in_doubt", "open", "settled", "rejected", "not_opened", "not_sent"];

    pub fn new(book: &TradeBook, (row, origin): (&IntentRow, &IntentOrigin)) -> Self {
        let trade = &row.approved;
        let departure = book.original_order(trade.intent());
        let taken = departure.and_then(|departure| Symbol::new(departure.symbol?.as_str()).ok());
        Self {
            intent_id: trade.intent().number(),
            venue_id: book.venue_id(row).map(|id| id.as_str().to_owned()),
            bot: origin.bot.clone(),
            symbol: taken.unwrap_or(origin.symbol),
            direction: trade.direction(),
            amount: origin.scale.to_f64(trade.stake()),
            state: row.state.as_str(),
            result: row.outcome,
            pnl: (row.state == IntentState::Settled).then(|| origin.scale.to_f64(row.profit)),
            decision_time: trade.decision_time(),
            request_time: (row.state != IntentState::NotSent).then_some(origin.request_time),
            open_time: row.open_time,
            open_price: row.open_price,
            close_time: row.close_time,
            close_price: row.close_price,
            payout: row.payout,
            close_type: trade.expiry().close_type.to_string(),
            expiration_type: trade.expiry().expiration_type.to_string(),
            reason: book.reason(row).to_string(),
            run: origin.run,
            ordered_symbol: departure.map(|_| origin.symbol),
            ordered_direction: departure.map(|departure| departure.ordered.direction()),
            ordered_amount: departure.map(|departure| origin.scale.to_f64(departure.ordered.stake())),
            settled_by_person: book.is_settled_by_operator(trade.intent()),
            corrected_from: book.original_result(trade.intent()).map(|corrected| corrected.outcome),
            scale: origin.scale,
        }
    }

    pub fn result_text(&self) -> Option<String> {
        let by = if self.settled_by_person { ", entered manually" } else { "" };
        let corrected = self.corrected_from.map(|first| format!(", corrected from {first}"));
        self.result.map(|result| format!("{result}{by}{}", corrected.unwrap_or_default()))
    }

    pub fn stake_text(&self) -> String {
        group_thousands(&format!("{:.*}", self.scale.decimals() as usize, self.amount))
    }

    pub fn ordered_text(&self) -> Option<String> {
        let (symbol, direction) = (self.ordered_symbol?, self.ordered_direction?);
        let amount = self.ordered_amount?;
        Some(format!("{direction} {amount:.*} on {symbol}", self.scale.decimals() as usize))
    }

    pub fn pnl_text(&self) -> Option<String> {
        self.pnl.map(|pnl| group_thousands(&format!("{pnl:+.*}", self.scale.decimals() as usize)))
    }
}

#[derive(Debug)]
pub struct TradePage {
    pub trades: Vec<TradeLine>,
    /// Value of `before` for reading the next page; `None` on the last page.
    pub next_cursor: Option<u64>,
}

impl TradePage {
    /// Reads up to `most` trades before an intent number. Returns fewer if the scan limit is reached first.
    pub async fn read(
        reader: &mut Reader,
        before: u64,
        (most, bot): (usize, Option<&str>),
    ) -> Result<Self, RecordsError> {
        let (mut runs, mut trades) = (BTreeMap::new(), Vec::new());
        let (mut next, end) = (before, before.saturating_sub(MAX_INTENTS_PER_PAGE).max(1));
        while next > end && trades.len() < most {
            next -= 1;
            let lines = reader.verified_lines_of_intent(next).await?;
            if let Some(trade) = Box::pin(find_trade(reader, &mut runs, &lines)).await? {
                trades.extend(Some(trade).filter(|trade| bot.is_none_or(|bot| trade.bot == bot)));
            }
        }
        Ok(Self { trades, next_cursor: Some(next).filter(|next| *next > 1) })
    }
}

async fn find_trade(
    reader: &mut Reader,
    runs: &mut BTreeMap<u64, (RecordedRun, JournalDecoder)>,
    lines: &[StoredLine],
) -> Result<Option<TradeLine>, RecordsError> {
    let (mut book, mut origin, mut number) = (TradeBook::default(), None, NO_RUN);
    for stored in lines.iter().filter(|stored| stored.line.kind != LineKind::Note) {
        number = Some(stored.line.run).filter(|run| *run != NO_RUN).unwrap_or(number);
        let (run, decoder) = match runs.entry(number) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let Some(header) = reader.run_header(number).await? else { continue };
                let run = RecordedRun::from_stored(&header)?;
                let decoder = build_decoder(&header, &mut run.session_without_strategies()?)?;
                vacant.insert((run, decoder))
            }
        };
        let recorded = decode(decoder, stored)?;
        if let RecordedEntry::Open(_) = &recorded {
            origin = Some(IntentOrigin::from_stored(stored, run)?);
        }
        book.recall(&recorded);
    }
    let row = book.rows().first().zip(origin.as_ref());
    Ok(row.map(|row| TradeLine::new(&book, row)))
}

#[derive(Clone, Debug, Default)]
pub struct TradeFilter {
    pub bot: Option<String>,
    pub symbol: Option<Symbol>,
    pub state: Option<String>,
    /// Start of the range of decision times (inclusive).
    pub since: Option<Millis>,
    /// End of the range of decision times (exclusive).
    pub until: Option<Millis>,
    pub last: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct TradeList(Vec<TradeLine>);

impl TradeFilter {
    /// Returns the matching trades. An unknown bot or symbol is an error, because it is probably a typo.
    pub fn apply(&self, contents: &JournalContents) -> Result<TradeList, RecordsError> {
        self.check_names(contents)?;
        let lines = contents.intents().map(|one| TradeLine::new(&contents.book, one));
        let mut lines: Vec<TradeLine> = lines.filter(|line| self.matches(line)).collect();
        if let Some(most) = self.last {
            lines.drain(..lines.len().saturating_sub(most));
        }
        Ok(TradeList(lines))
    }

    /// Reads the last trades backward from the journal's end. Returns `None` if the whole journal must be read instead.
    pub async fn read_last(&self, reader: &mut Reader) -> Result<Option<TradeList>, RecordsError> {
        let Some(most) = self.last.filter(|most| *most <= MAX_LAST_TRADES) else { return Ok(None) };
        if self.bot.is_some() || self.symbol.is_some() || !is_intact_since_snapshot(reader).await? {
            return Ok(None);
        }
        let (mut lines, mut before) = (Vec::new(), Some(reader.last_intent().await? + 1));
        let last = before.unwrap_or_default();
        while let Some(next) = before.filter(|_| lines.len() < most) {
            if next + MAX_SCANNED_INTENTS <= last {
                return Ok(None);
            }
            let page = TradePage::read(reader, next, (MAX_LAST_TRADES, None)).await?;
            let has_ended = |line: &TradeLine| self.since.is_some_and(|since| line.decision_time < since);
            let is_end = page.trades.iter().any(has_ended);
            lines.extend(page.trades.into_iter().filter(|line| self.matches(line)));
            before = page.next_cursor.filter(|_| !is_end);
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

    fn matches(&self, line: &TradeLine) -> bool {
        self.bot.as_ref().is_none_or(|bot| *bot == line.bot)
            && self.symbol.is_none_or(|symbol| symbol == line.symbol)
            && self.state.as_ref().is_none_or(|state| state == line.state)
            && self.since.is_none_or(|since| line.decision_time >= since)
            && self.until.is_none_or(|until| line.decision_time < until)
    }
}

async fn is_intact_since_snapshot(reader: &mut Reader) -> Result<bool, RecordsError> {
    let Some(snapshot) = reader.last_snapshot().await? else { return Ok(false) };
    let read = async {
        let mut walk = reader.walk_after(snapshot.head(), LINES_PER_PAGE).await?;
        while !walk.next().await?.is_empty() {}
        Ok(())
    };
    match read.await {
        Ok(()) => Ok(true),
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
            ["trade", "bot", "symbol", "", "stake", "decided", "open", "close", "state", "result", "profit"];
        let text = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let row = |line: &TradeLine| {
            [
                format!("#{}", line.intent_id),
                line.bot.clone(),
                line.symbol.to_string(),
                line.direction.to_string(),
                line.stake_text(),
                format_utc(line.decision_time),
                text(line.open_price.map(format_price)),
                text(line.close_price.map(format_price)),
                line.state.to_owned(),
                text(line.result_text()),
                text(line.pnl_text()),
            ]
        };
        let rows = table_text(header, self.0.iter().map(row));
        write!(f, "{rows}\n\n{}", count_text(self.0.len(), "trade", "trades"))
    }
}
