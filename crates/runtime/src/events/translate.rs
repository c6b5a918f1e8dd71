//! Converts the notices of a run into events.

use super::document::{OrderFacts, RunEvent, TradeFacts};
use crate::control::{LateSeries, Phase};
use crate::notice::{Funds, Notice, may_settle};
use candlewick_engine::{
    Action, ApprovedTrade, BotId, BotSettings, Control, Event, EventKind, IntentRow, IntentState,
    OpenedTrade, OrderTerms, Origin, SeriesId, SymbolId, VenueId,
};
use candlewick_sdk::{Candle, Millis, MoneyScale, Payout, Series, Symbol};

#[derive(Clone, Debug)]
pub struct EventNames {
    bots: Vec<String>,
    symbols: Vec<Symbol>,
    series: Vec<Series>,
    scale: MoneyScale,
}

impl EventNames {
    pub fn new(bots: &[BotSettings], scale: MoneyScale) -> Self {
        let mut names = Self { bots: Vec::new(), symbols: Vec::new(), series: Vec::new(), scale };
        for bot in bots {
            names.bots.push(bot.name.clone());
            if !names.symbols.contains(&bot.symbol) {
                names.symbols.push(bot.symbol);
            }
            if !names.series.contains(&bot.series()) {
                names.series.push(bot.series());
            }
        }
        names
    }

    pub fn bots(&self) -> &[String] {
        &self.bots
    }

    pub fn series(&self) -> &[Series] {
        &self.series
    }

    pub const fn scale(&self) -> MoneyScale {
        self.scale
    }

    /// Returns the name of a bot, or an empty name if the bot is not part of this run.
    pub fn bot(&self, bot: BotId) -> &str {
        self.bots.get(bot.index()).map_or("", String::as_str)
    }

    fn symbol(&self, symbol: SymbolId) -> &str {
        self.symbols.get(symbol.index()).map_or("", Symbol::as_str)
    }

    pub fn row_order_facts(&self, row: &IntentRow) -> OrderFacts {
        self.order_facts(&row.approved)
    }

    fn order_facts(&self, terms: &OrderTerms) -> OrderFacts {
        OrderFacts {
            intent: terms.intent(),
            bot: self.bot(terms.bot()).to_owned(),
            symbol: self.symbol(terms.symbol()).to_owned(),
            direction: terms.direction(),
            stake: self.scale.to_f64(terms.stake()),
        }
    }

    fn trade_facts(&self, row: &IntentRow, venue_id: Option<&VenueId>) -> TradeFacts {
        TradeFacts {
            order: self.order_facts(&row.approved),
            venue_id: venue_id.map(|id| id.as_str().to_owned()),
            open_time: row.open_time,
            open_price: row.open_price,
            close_time: row.close_time,
            payout: row.payout.map(Payout::to_percent),
        }
    }

    pub fn translate(&self, notice: Notice, now: Millis, mut take: impl FnMut(Millis, RunEvent)) {
        match notice {
            Notice::Handled { event, actions, funds, intent, before } => {
                let before = before.map(|row| row.state);
                self.on_event(&event, (funds, intent.as_ref(), before), &mut |translated| {
                    take(event.received, translated);
                });
                for action in &actions {
                    self.on_action(action, &mut |translated| take(event.received, translated));
                }
            }
            Notice::Phase { phase, reason } => match phase {
                Phase::Trading => take(now, RunEvent::Resumed),
                Phase::Halted => take(now, RunEvent::Halted { reason }),
                Phase::Suspended => take(now, RunEvent::Suspended { reason }),
                // The notice `Notice::Stopping` reports this change with more details.
                Phase::Stopping => {}
            },
            Notice::Venue { api, is_silent: true, heard } => take(now, RunEvent::VenueSilent { heard, api }),
            Notice::Venue { api, .. } => take(now, RunEvent::VenueHeard { api }),
            Notice::Candles { series: LateSeries { symbol, interval, since, is_unanswered }, is_late } => {
                let (symbol, interval) = (symbol.to_string(), interval.to_string());
                take(
                    now,
                    if is_late {
                        RunEvent::SeriesLate { symbol, interval, since, is_unanswered }
                    } else {
                        RunEvent::SeriesRecovered { symbol, interval, since }
                    },
                );
            }
            Notice::Note { text, .. } => take(now, RunEvent::Note { text }),
            Notice::Warning(text) | Notice::Logged { text, is_alarm: false } => {
                take(now, RunEvent::Warning { text });
            }
            Notice::Alarm(text) | Notice::Logged { text, is_alarm: true } => {
                take(now, RunEvent::Alarm { text });
            }
            Notice::Stopping { unfinished, waits_until, .. } => {
                take(now, RunEvent::Stopping { unfinished, waits_until });
            }
            // The caller publishes the start with more details.
            Notice::Begins(_)
            | Notice::LeftInDoubt(_)
            | Notice::Blocked(_)
            | Notice::Overview(_)
            | Notice::Price(..)
            | Notice::Evidence(_) => {}
        }
    }

    fn on_event(
        &self,
        event: &Event,
        (funds, row, before): (Funds, Option<&IntentRow>, Option<IntentState>),
        take: &mut dyn FnMut(RunEvent),
    ) {
        let doubt = |how: &'static str| {
            let intent = row.filter(|_| before == Some(IntentState::InDoubt))?.approved.intent();
            Some(RunEvent::Resolved { intent, how })
        };
        let order = |row: &IntentRow| self.order_facts(&row.approved);
        let money = |money| self.scale.to_f64(money);
        let resolved = match &event.kind {
            EventKind::Candle { series, candle, origin } => self.candle_event(*series, candle, *origin),
            EventKind::Opened(opened) => {
                self.on_opened(opened, (row, before), false, take);
                None
            }
            EventKind::Adopted(opened) => {
                self.on_opened(opened, (row, before), true, take);
                doubt("adopted")
            }
            EventKind::Settled(_) | EventKind::SettledByPerson { .. } if !may_settle(before) => None,
            EventKind::Settled(settled) => {
                let Some(row) = row else { return };
                let (outcome, pnl) = (settled.outcome, money(settled.profit));
                let close_price = settled.close_price;
                take(self.settled_event(row, (funds, false), (outcome, pnl, close_price)));
                doubt("adopted")
            }
            EventKind::SettledByPerson { outcome, profit, .. } => {
                let Some(row) = row else { return };
                take(self.settled_event(row, (funds, true), (*outcome, money(*profit), None)));
                doubt("settled_by_person")
            }
            EventKind::Rejected { rejection, .. } => {
                let rejected = |row| RunEvent::Rejected { order: order(row), reason: rejection.to_string() };
                row.map(rejected).into_iter().for_each(&mut *take);
                doubt("rejected")
            }
            EventKind::NotSent { .. } => {
                row.map(|row| RunEvent::NotSent { order: order(row) }).into_iter().for_each(&mut *take);
                doubt("not_sent")
            }
            EventKind::InDoubt { .. } | EventKind::Reinstated(_) => {
                row.map(|row| RunEvent::InDoubt { order: order(row) }).into_iter().for_each(&mut *take);
                None
            }
            EventKind::NotOpened { .. } => {
                row.map(|row| RunEvent::NotOpened { order: order(row) }).into_iter().for_each(&mut *take);
                doubt("not_opened")
            }
            EventKind::Correction { .. }
            | EventKind::SecondTrade(_)
            | EventKind::SecondTradeSettled { .. }
            | EventKind::Deposit { .. }
            | EventKind::WalletDifference { .. }
            | EventKind::Balance { .. }
            | EventKind::Skew { .. }
            | EventKind::Control { .. } => self.to_run_event(&event.kind, funds),
            // These events only cause other events, and those are published.
            EventKind::OutsideSignal(_) | EventKind::Price { .. } => None,
        };
        resolved.into_iter().for_each(take);
    }

    fn candle_event(&self, series: SeriesId, candle: &Candle, origin: Origin) -> Option<RunEvent> {
        let series = self.series.get(series.index())?;
        Some(RunEvent::Candle {
            symbol: series.symbol.to_string(),
            interval: series.interval.to_string(),
            time: candle.time(),
            open: candle.open(),
            high: candle.high(),
            low: candle.low(),
            close: candle.close(),
            volume: candle.volume(),
            is_late: origin == Origin::Backfill,
        })
    }

    fn to_run_event(&self, kind: &EventKind, funds: Funds) -> Option<RunEvent> {
        let money = |money| self.scale.to_f64(money);
        match kind {
            EventKind::Correction { intent, outcome, profit } => {
                let (pnl, balance) = (money(*profit), money(funds.free));
                Some(RunEvent::Corrected { intent: *intent, outcome: *outcome, pnl, balance })
            }
            EventKind::SecondTrade(trade) => {
                let (intent, venue_id) = (trade.intent, trade.venue_id.as_str().to_owned());
                Some(RunEvent::SecondTrade { intent, venue_id, stake: money(trade.stake) })
            }
            EventKind::SecondTradeSettled { intent, venue_id, profit } => {
                let (intent, venue_id) = (*intent, venue_id.as_str().to_owned());
                Some(RunEvent::SecondTradeSettled { intent, venue_id, pnl: money(*profit) })
            }
            EventKind::Deposit { amount } => Some(RunEvent::Deposit { amount: money(*amount) }),
            EventKind::WalletDifference { amount } => {
                Some(RunEvent::WalletDifference { amount: money(*amount) })
            }
            EventKind::Balance { amount } => Some(RunEvent::Wallet { amount: money(*amount) }),
            EventKind::Skew { offset } => Some(RunEvent::Skew { offset_ms: offset.get() }),
            EventKind::Control { control: Control::Reload } => Some(RunEvent::Reloaded),
            // The notice about the phase reports the other control events.
            _ => None,
        }
    }

    fn on_opened(
        &self,
        opened: &OpenedTrade,
        (row, before): (Option<&IntentRow>, Option<IntentState>),
        is_adopted: bool,
        take: &mut dyn FnMut(RunEvent),
    ) {
        let Some(row) = row else { return };
        let trade = self.trade_facts(row, opened.venue_id.as_ref());
        let is_known = matches!(before, Some(IntentState::Open | IntentState::Settled));
        take(if is_known { RunEvent::Updated { trade } } else { RunEvent::Opened { trade, is_adopted } });
    }

    fn settled_event(
        &self,
        row: &IntentRow,
        (funds, is_by_operator): (Funds, bool),
        (outcome, pnl, close_price): (candlewick_sdk::Outcome, f64, Option<f64>),
    ) -> RunEvent {
        RunEvent::Settled {
            trade: self.trade_facts(row, None),
            outcome,
            pnl,
            close_price: close_price.or(row.close_price),
            is_by_operator,
            balance: self.scale.to_f64(funds.free),
            open_stakes: self.scale.to_f64(funds.open_stakes),
        }
    }

    fn on_action(&self, action: &Action, take: &mut dyn FnMut(RunEvent)) {
        take(match action {
            Action::Open(approved) => self.signal_event(approved),
            Action::Refuse(refused) => RunEvent::Refused {
                bot: self.bot(refused.bot).to_owned(),
                direction: refused.direction,
                decision_time: refused.decision_time,
                rule: refused.rule.as_str(),
                reason: refused.reason.to_string(),
            },
            Action::DayOpened { equity, .. } => RunEvent::Day { balance: self.scale.to_f64(*equity) },
            Action::Verdict(judgement) => RunEvent::Verdict {
                bot: self.bot(judgement.bot).to_owned(),
                edge: judgement.edge,
                trades: judgement.trades,
            },
        });
    }

    fn signal_event(&self, approved: &ApprovedTrade) -> RunEvent {
        RunEvent::Signal {
            order: self.order_facts(approved.terms()),
            decision_time: approved.decision_time(),
            close_type: approved.expiry().close_type.to_string(),
            reason: approved.reason().to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{
        Header, IntentId, JournalDecoder, Session, SessionSettings, TradeBook, TradeSettlement,
    };
    use candlewick_sdk::{Money, Outcome};
    use serde_json::json;

    /// Creates the names of a test run, and the row of its only intent.
    fn run() -> (EventNames, IntentRow) {
        let bot = json!({"name": "a", "symbol": "BTCUSDT", "interval": "1m", "strategy": "probe", "close_type": "01:00"});
        let settings = json!({"money_scale": 2, "balance": "100", "risk": {}, "bots": [bot]});
        let session: SessionSettings = serde_json::from_value(settings.clone()).unwrap();
        let names = EventNames::new(&session.bots, session.money_scale);
        let header = Header {
            format: Header::FORMAT,
            settings: json!({"session": settings}),
            strategies: vec![("probe".to_owned(), "1.0.0".to_owned())],
            data_hash: None,
        };
        let mut session = Session::without_strategies(&session).unwrap();
        let mut decoder = JournalDecoder::for_run(&header, &mut session).unwrap();
        let open = json!({"action": "open", "intent": 1, "bot": 0, "symbol": 0, "direction": "BUY", "stake": 1_000,
            "expiry": {"close_type": "01:00", "expiration_type": "UNSTATED"}, "decision_time": 60_000, "reason": {"text": "because"}});
        let mut book = TradeBook::default();
        book.recall(&decoder.read_action(&open.to_string()).unwrap());
        (names, *book.row(IntentId::new(1)).unwrap())
    }

    #[test]
    fn publishes_a_settlement_once_and_resolves_its_doubt() {
        let (names, row) = run();
        let (intent, outcome, profit) = (IntentId::new(1), Outcome::Lost, Money::from_minor(-1_000));
        let settled = TradeSettlement::from_operator(intent, outcome, profit);
        let by_person = EventKind::SettledByPerson { intent, outcome, profit };
        let told = |kind, state| {
            let event = Event { at: Millis::ZERO, received: Millis::ZERO, kind };
            let (funds, actions, intent) = (Funds::default(), Vec::new(), Some(row));
            let mut before = row;
            before.state = state;
            let before = Some(before);
            let notice = Notice::Handled { event, actions, funds, intent, before };
            let mut events = Vec::new();
            names.translate(notice, Millis::ZERO, |_, event| {
                events.push(json!(event)["event"].as_str().unwrap().to_owned());
            });
            events
        };
        for kind in [EventKind::Settled(settled), by_person] {
            for before in [IntentState::Open, IntentState::InFlight, IntentState::NotOpened] {
                assert_eq!(told(kind, before), ["settled"], "{before:?}");
            }
            assert_eq!(told(kind, IntentState::InDoubt), ["settled", "resolved"]);
            for before in [IntentState::Settled, IntentState::Rejected, IntentState::NotSent] {
                assert_eq!(told(kind, before), [""; 0], "{before:?}");
            }
        }
    }
}
