//! A run as a person watches it: one line for the candles of an instant, one for each signal, open and settlement.

use anstyle::{AnsiColor, Style};
use candlewick_engine::{
    Action, Approved, Edge, Event, EventKind, IntentId, Judgement, Ledger, Opened, Refused, Settled,
    TradeBook, VenueId,
};
use candlewick_runtime::{Notice, Observer};
use candlewick_sdk::{ExpirationType, Millis, Money, MoneyScale, Outcome, Series, Symbol};
use chrono::DateTime;
use std::io::Write as _;

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Nothing.
    Quiet,
    /// Trades, without candles and refusals.
    Trades,
    /// Everything.
    All,
}

/// Where lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// To stdout.
    Out,
    /// To stderr, because stdout belongs to a JSON document.
    Error,
}

/// Prints what happens, line by line.
pub(crate) struct Screen {
    detail: Detail,
    stream: Stream,
    scale: MoneyScale,
    bots: Vec<String>,
    symbols: Vec<Symbol>,
    series: Vec<Series>,
    /// Closes of an instant that are not printed yet.
    closes: Vec<String>,
    instant: Millis,
    /// When anything was last told.
    latest: Millis,
}

const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();
const NOTE: Style = AnsiColor::Yellow.on_default();
const BOLD: Style = Style::new().bold();

impl Screen {
    pub(crate) fn new(
        (detail, stream): (Detail, Stream),
        scale: MoneyScale,
        bots: &[candlewick_engine::BotSettings],
    ) -> Self {
        let mut symbols = Vec::new();
        let mut series = Vec::new();
        for bot in bots {
            if !symbols.contains(&bot.symbol) {
                symbols.push(bot.symbol);
            }
            if !series.contains(&bot.series()) {
                series.push(bot.series());
            }
        }
        Self {
            detail,
            stream,
            scale,
            bots: bots.iter().map(|bot| bot.name.clone()).collect(),
            symbols,
            series,
            closes: Vec::new(),
            instant: Millis::ZERO,
            latest: Millis::ZERO,
        }
    }

    fn line(&self, at: Millis, style: Style, label: &str, text: &str) {
        let time = DateTime::from_timestamp_millis(at.get()).unwrap_or_default().format("%m-%d %H:%M:%S");
        let line = format!("{DIM}{time}{DIM:#}  {style}{label:<8}{style:#} {text}");
        // A reader that went away is no reason to stop trading.
        let _ = match self.stream {
            Stream::Out => writeln!(anstream::stdout(), "{line}"),
            Stream::Error => writeln!(anstream::stderr(), "{line}"),
        };
    }

    fn see_candle(&mut self, event: &Event, series: Series, close: f64) {
        if self.detail != Detail::All {
            return;
        }
        if event.at != self.instant {
            self.print_closes();
            self.instant = event.at;
        }
        self.closes.push(format!("{series} {BOLD}{close}{BOLD:#}"));
    }

    fn print_closes(&mut self) {
        if !self.closes.is_empty() {
            let closes = std::mem::take(&mut self.closes).join("   ");
            self.line(self.instant, DIM, "candle", &closes);
        }
    }

    fn see_event(&mut self, event: &Event, ledger: &Ledger, book: &TradeBook) {
        match &event.kind {
            EventKind::Candle { series, candle, origin } => {
                if let (candlewick_engine::Origin::Live, Some(series)) =
                    (origin, self.series.get(series.index()))
                {
                    self.see_candle(event, *series, candle.close());
                }
            }
            EventKind::Opened(opened) | EventKind::Adopted(opened) => self.see_opened(event.at, opened),
            EventKind::Settled(settled) => self.see_settled(event.at, settled, (ledger, book)),
            EventKind::Rejected { intent, .. } => self.see_end(event.at, "rejected", *intent),
            EventKind::NotSent { intent } => self.see_end(event.at, "not sent", *intent),
            EventKind::InDoubt { intent } => {
                self.line(
                    event.at,
                    BAD,
                    "in doubt",
                    &format!("#{intent}: its symbol is blocked until that is resolved"),
                );
            }
            EventKind::NotOpened { intent, .. } => {
                self.line(event.at, NOTE, "not open", &format!("#{intent}: the venue has no trade of it"));
            }
            EventKind::Deposit { amount } => {
                let text = format!("{} that no trade explains", self.signed(*amount));
                self.line(event.at, NOTE, "wallet", &text);
            }
            EventKind::Skew { offset } => {
                self.line(
                    event.at,
                    NOTE,
                    "clock",
                    &format!("differs from the venue's by {offset} ms at least"),
                );
            }
            EventKind::Price { .. } | EventKind::Balance { .. } | EventKind::Control { .. } => {}
        }
    }

    fn see_end(&self, at: Millis, label: &str, intent: IntentId) {
        self.line(at, NOTE, label, &format!("#{intent}: its stake is free again"));
    }

    fn see_opened(&self, at: Millis, opened: &Opened) {
        let price =
            opened.open_price.map_or_else(|| "a price not known yet".to_owned(), |price| price.to_string());
        let until = opened.close_time.map_or_else(|| "an end not known yet".to_owned(), clock_time);
        let payout = opened.payout.map(|payout| format!(", pays {payout} %")).unwrap_or_default();
        let id = opened.venue_id.as_ref().map(VenueId::as_str).unwrap_or_default();
        let text = format!("#{} at {price} until {until}{payout} {DIM}{id}{DIM:#}", opened.intent);
        self.line(at, Style::new(), "opened", &text);
    }

    fn see_settled(&self, at: Millis, settled: &Settled, (ledger, book): (&Ledger, &TradeBook)) {
        let (style, label) = match settled.outcome {
            Outcome::Won => (GOOD, "won"),
            Outcome::Lost => (BAD, "lost"),
            Outcome::Draw => (NOTE, "draw"),
            Outcome::Cancelled => (NOTE, "cancelled"),
        };
        let row = book.row(settled.intent);
        let entry = settled.open_price.or(row.and_then(|row| row.open_price));
        let prices = match (entry, settled.close_price) {
            (Some(entry), Some(exit)) => format!("{entry} → {exit}"),
            _ => "without prices".to_owned(),
        };
        let profit = self.signed(settled.profit);
        let (free, open) = (self.scale.format(ledger.free()), self.scale.format(ledger.open_stakes()));
        let balance = format!("balance {BOLD}{free}{BOLD:#}, at stake {open}");
        self.line(
            at,
            style,
            label,
            &format!("#{} {style}{profit}{style:#}  {prices}   {balance}", settled.intent),
        );
    }

    fn see_action(&self, action: &Action) {
        match action {
            Action::Open(approved) => self.see_open(approved),
            Action::Refuse(refused) => self.see_refused(refused),
            Action::Verdict(judgement) => self.see_verdict(judgement),
            Action::DayOpened { start, equity } => {
                if self.detail == Detail::All {
                    self.line(*start, DIM, "day", &format!("begins with {}", self.scale.format(*equity)));
                }
            }
        }
    }

    fn see_open(&self, approved: &Approved) {
        let expiry = approved.expiry();
        let kind = match expiry.expiration_type {
            ExpirationType::Unstated | ExpirationType::TimeFixed => String::new(),
            other => format!(" {other}"),
        };
        let text = format!(
            "#{} {} {BOLD}{} {}{BOLD:#} {} for {}{kind}   {DIM}{}{DIM:#}",
            approved.intent(),
            self.bots.get(approved.bot().index()).map_or("", String::as_str),
            approved.direction(),
            self.symbols.get(approved.symbol().index()).map_or("", Symbol::as_str),
            self.scale.format(approved.stake()),
            expiry.close_type,
            approved.reason(),
        );
        self.line(approved.decision_time(), AnsiColor::Cyan.on_default(), "open", &text);
    }

    fn see_refused(&self, refused: &Refused) {
        if self.detail == Detail::All {
            let bot = self.bots.get(refused.bot.index()).map_or("", String::as_str);
            let text = format!(
                "{DIM}{bot} {} refused by {}: {}{DIM:#}",
                refused.direction, refused.rule, refused.reason
            );
            self.line(refused.decision_time, DIM, "signal", &text);
        }
    }

    fn see_verdict(&self, judgement: &Judgement) {
        let bot = self.bots.get(judgement.bot.index()).map_or("", String::as_str);
        let (style, text) = match judgement.edge {
            Edge::Open => (NOTE, "is open"),
            Edge::Shown => (GOOD, "is shown"),
            Edge::Rejected => (BAD, "is ruled out"),
        };
        let text = format!("{bot}: its edge {style}{text}{style:#} after {} trades", judgement.trades);
        self.line(judgement.at, BOLD, "verdict", &text);
    }

    fn signed(&self, money: Money) -> String {
        let sign = if money.is_positive() { "+" } else { "" };
        format!("{sign}{}", self.scale.format(money))
    }
}

impl Observer for Screen {
    fn see(&mut self, notice: Notice<'_>, ledger: &Ledger, book: &TradeBook) {
        if self.detail == Detail::Quiet {
            return;
        }
        match notice {
            Notice::Told(event, actions) => {
                self.latest = self.latest.max(event.received);
                // Candles of an instant share a line, which stands above what they cause.
                let is_candle = matches!(event.kind, EventKind::Candle { .. });
                if !is_candle {
                    self.print_closes();
                }
                self.see_event(event, ledger, book);
                if !actions.is_empty() {
                    self.print_closes();
                }
                for action in actions {
                    self.see_action(action);
                }
            }
            Notice::Price(..) => {}
            Notice::Warning(text) => {
                self.print_closes();
                self.line(self.latest, NOTE, "warning", text);
            }
            Notice::Stopping(why, open) => {
                self.print_closes();
                self.line(
                    self.latest,
                    BOLD,
                    "stopping",
                    &format!("{why}; {open} open trades are tracked to their end"),
                );
            }
        }
    }
}

fn clock_time(at: Millis) -> String {
    DateTime::from_timestamp_millis(at.get()).unwrap_or_default().format("%H:%M:%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profits_carry_their_sign() {
        let screen = Screen::new((Detail::All, Stream::Error), MoneyScale::default(), &[]);
        for (units, expected) in [(800, "+8.00"), (-1_000, "-10.00"), (0, "0.00")] {
            assert_eq!(screen.signed(Money::from_minor(units)), expected);
        }
    }
}
