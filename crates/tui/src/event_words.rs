//! Log lines for events and actions.

use crate::view::Facts;
use crate::words::signed;
use candlewick_engine::{Action, Edge, Event, EventKind, IntentRow, Lateness};
use candlewick_sdk::{Millis, Money, price_text, visible};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Dim,
    Good,
    Bad,
    Note,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogLine {
    /// Venue time, `None` if the text contains a time.
    pub(crate) at: Option<Millis>,
    pub(crate) tone: Tone,
    /// Sanitized text without control characters.
    pub(crate) text: String,
}

impl LogLine {
    pub(crate) fn new(at: Millis, tone: Tone, text: &str) -> Self {
        Self { at: Some(at), tone, text: visible(text).into_owned() }
    }
}

pub(crate) fn event_line(event: &Event, intent: Option<&IntentRow>, facts: &Facts) -> Option<LogLine> {
    let scale = facts.scale;
    let (tone, text) = match &event.kind {
        EventKind::Candle { .. }
        | EventKind::Price { .. }
        | EventKind::Balance { .. }
        | EventKind::Control { .. } => return None,
        EventKind::Opened(opened) | EventKind::Adopted(opened) => {
            let price =
                opened.open_price.map(|price| format!(" at {}", price_text(price))).unwrap_or_default();
            (Tone::Plain, format!("#{} opened{price}", opened.intent))
        }
        EventKind::Settled(settled) => {
            let tone = match settled.profit.minor() {
                1.. => Tone::Good,
                0 => Tone::Note,
                _ => Tone::Bad,
            };
            let entry = settled.open_price.or(intent.and_then(|row| row.open_price));
            let prices = entry.zip(settled.close_price);
            let prices = prices
                .map(|(entry, exit)| format!(", {} → {}", price_text(entry), price_text(exit)))
                .unwrap_or_default();
            (
                tone,
                format!("#{} {} {}{prices}", settled.intent, settled.outcome, signed(scale, settled.profit)),
            )
        }
        EventKind::SettledByPerson { intent, outcome, profit } => {
            (Tone::Note, format!("#{intent} {outcome} {}, as a person said", signed(scale, *profit)))
        }
        EventKind::Correction { intent, outcome, profit } => {
            (Tone::Bad, format!("#{intent} corrected to {outcome} {}", signed(scale, *profit)))
        }
        EventKind::Rejected { intent, .. } => {
            (Tone::Note, format!("#{intent} rejected: its stake is free again"))
        }
        EventKind::NotSent { intent } => (Tone::Note, format!("#{intent} not sent: its stake is free again")),
        EventKind::Reinstated(terms) => {
            let text =
                format!("#{} in doubt: the venue lists its trade, which it had not reported", terms.intent());
            (Tone::Bad, text)
        }
        EventKind::InDoubt { intent } => {
            (Tone::Bad, format!("#{intent} in doubt: its symbol is blocked until that is resolved"))
        }
        EventKind::NotOpened { intent, .. } => {
            (Tone::Note, format!("#{intent} not opened: the venue has no trade of it"))
        }
        EventKind::OutsideSignal(signal) => {
            (Tone::Note, format!("{} signal {} from {}", signal.direction, signal.id, signal.source))
        }
        EventKind::Deposit { amount } => {
            (Tone::Note, format!("{} in the wallet that no trade explains", signed(scale, *amount)))
        }
        EventKind::WalletDifference { amount: Money::ZERO } => {
            (Tone::Note, "the wallet holds what the trades explain again".to_owned())
        }
        EventKind::WalletDifference { amount } => {
            (Tone::Bad, format!("the wallet is {} off what the trades explain", signed(scale, *amount)))
        }
        EventKind::Skew { offset } => (Tone::Note, candlewick_runtime::describe_skew(*offset, None)),
        EventKind::SecondTrade(trade) => {
            (Tone::Bad, format!("#{}: the venue has {} as well", trade.intent, trade.venue_id.as_str()))
        }
        EventKind::SecondTradeSettled { intent, venue_id, profit } => {
            (Tone::Note, format!("#{intent}: {} ended, {}", venue_id.as_str(), signed(scale, *profit)))
        }
    };
    Some(LogLine::new(event.at, tone, &text))
}

pub(crate) fn action_line(action: &Action, received: Millis, facts: &Facts) -> Option<LogLine> {
    let bot = |place: usize| facts.bots.get(place).map_or("", |bot| bot.name.as_str());
    match action {
        Action::Open(approved) => {
            let text = format!(
                "#{} {} {} {}: {}",
                approved.intent(),
                bot(approved.bot().index()),
                approved.direction(),
                facts.scale.format(approved.stake()),
                approved.reason()
            );
            Some(LogLine::new(approved.decision_time(), Tone::Plain, &text))
        }
        Action::Refuse(refused) => {
            // Which limits and which candles, the screen does not know.
            let lateness = Lateness::of((refused.decision_time, received), Millis::MAX, None);
            let rule = refused.rule.with_lateness(refused.rule.words(), lateness);
            let bot = bot(refused.bot.index());
            let text = format!("{bot} {} rejected: {rule}", refused.direction);
            Some(LogLine::new(refused.decision_time, Tone::Dim, &text))
        }
        Action::Verdict(judgement) => {
            let (tone, edge) = match judgement.edge {
                Edge::Open => (Tone::Note, "is open"),
                Edge::Shown => (Tone::Good, "is shown"),
                Edge::Rejected => (Tone::Bad, "is ruled out"),
                Edge::NoLongerHeld => (Tone::Bad, "no longer holds"),
            };
            let text =
                format!("{}: its edge {edge} after {} trades", bot(judgement.bot.index()), judgement.trades);
            Some(LogLine::new(judgement.at, tone, &text))
        }
        Action::DayOpened { .. } => None,
    }
}
