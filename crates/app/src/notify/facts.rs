//! Conversion of run events to alerts.

use super::channels::event_name;
use crate::configuration::{AlertEvent as Kind, NotifySettings};
use candlewick_engine::{EdgeVerdict, IntentId, Rule};
use candlewick_notify::{Alert, Severity};
use candlewick_runtime::Funds;
use candlewick_runtime::events::{OrderFacts, RunEvent, TradeFacts};
use candlewick_sdk::{Millis, MoneyScale, escape_hidden, format_price};
use std::collections::{BTreeMap, BTreeSet};

/// Rules whose rejections cause an alert, because the user set the limit or has to act.
const ALERTED_RULES: [Rule; 10] = [
    Rule::DailyLossLimit,
    Rule::DailyProfitTarget,
    Rule::SessionLossLimit,
    Rule::SessionProfitTarget,
    Rule::MaxTradesPerDay,
    Rule::MaxDrawdown,
    Rule::LossStreak,
    Rule::InsufficientBalance,
    Rule::EdgeRejected,
    Rule::RefusedByVenue,
];

pub(super) struct AlertBuilder {
    scale: MoneyScale,
    doubt_after: Millis,
    balance_below: f64,
    doubts: BTreeMap<IntentId, OrderInDoubt>,
    limits: BTreeSet<(String, &'static str)>,
    is_low: bool,
}

struct OrderInDoubt {
    since: Millis,
    order: OrderFacts,
    is_reported: bool,
}

impl AlertBuilder {
    pub(super) fn new(settings: &NotifySettings, scale: MoneyScale) -> Self {
        Self {
            scale,
            doubt_after: Millis::from_seconds(i64::from(settings.doubt_after_s)),
            balance_below: settings.balance_below,
            doubts: BTreeMap::new(),
            limits: BTreeSet::new(),
            is_low: false,
        }
    }

    pub(super) fn alert_for(&mut self, at: Millis, event: RunEvent) -> Option<Alert> {
        match event {
            RunEvent::InDoubt { order } => {
                self.record_order_in_doubt(at, order);
                None
            }
            RunEvent::Opened { trade, is_adopted } => {
                let adopted = if is_adopted { ", confirmed late" } else { "" };
                let text = format!("opened {}{adopted}", describe_trade(&trade));
                Some(with_order(alert(at, Kind::Opened, &text), &trade.order))
            }
            RunEvent::Settled { trade, outcome, pnl, balance, open_stakes, .. } => {
                let money = format!("balance {balance:.2}, open stakes {open_stakes:.2}");
                let text = format!("{outcome} {pnl:+.2}: {}; {money}", describe_trade(&trade));
                Some(with_order(alert(at, Kind::Settled, &text), &trade.order))
            }
            RunEvent::Rejected { order, reason } => {
                let text = format!("the venue declined {}: {reason}", describe_order(&order));
                let key = format!("rejected {} {reason}", order.bot);
                Some(with_repeat_key(with_order(alert(at, Kind::Rejected, &text), &order), key))
            }
            RunEvent::Resolved { intent, how } => {
                let doubt = self.doubts.remove(&intent).filter(|doubt| doubt.is_reported)?;
                let text = format!("trade #{intent} is resolved: {}", how.replace('_', " "));
                Some(with_order(alert(at, Kind::Resolved, &text), &doubt.order))
            }
            RunEvent::Refused { bot, rule, .. } => {
                let is_limit = ALERTED_RULES.iter().any(|limit| limit.as_str() == rule);
                let is_new = is_limit && self.limits.insert((bot.clone(), rule));
                let text = format!("signals are rejected by {rule} (reported once a day)");
                is_new.then(|| Alert { bot: Some(bot), ..alert(at, Kind::Limit, &text) })
            }
            RunEvent::Day { .. } => {
                self.limits.clear();
                None
            }
            event => convert_plain_event(at, event),
        }
    }

    pub(super) fn record_order_in_doubt(&mut self, since: Millis, order: OrderFacts) {
        self.doubts.insert(order.intent, OrderInDoubt { since, order, is_reported: false });
    }

    /// Returns an alert when the funds fall below the limit. Alerts again only after the funds have recovered.
    pub(super) fn check_funds(&mut self, at: Millis, funds: Funds) -> Option<Alert> {
        let sum = self.scale.to_f64(funds.free) + self.scale.to_f64(funds.open_stakes);
        let limit = self.balance_below;
        let was_low = std::mem::replace(&mut self.is_low, sum < limit);
        let text = || format!("free balance and open stakes total {sum:.2}, below the limit of {limit:.2}");
        (self.is_low && !was_low).then(|| alert(at, Kind::Balance, &text()))
    }

    pub(super) fn alerts_for_orders_in_doubt(&mut self, now: Millis) -> Vec<Alert> {
        let after = self.doubt_after;
        let lasting = self.doubts.iter_mut().filter(|(_, one)| !one.is_reported && now - one.since >= after);
        let alerts = lasting.map(|(intent, doubt)| {
            doubt.is_reported = true;
            let (seconds, order) = ((now - doubt.since).get() / 1_000, describe_order(&doubt.order));
            let text =
                format!("trade #{intent} ({order}): unknown status for {seconds} s; its symbol is blocked");
            with_order(alert(now, Kind::Doubt, &text), &doubt.order)
        });
        alerts.collect()
    }
}

/// Converts an event whose alert does not depend on orders or earlier events.
fn convert_plain_event(at: Millis, event: RunEvent) -> Option<Alert> {
    let plain = |kind, text: String| Some(alert(at, kind, &text));
    match event {
        RunEvent::SecondTrade { intent, venue_id, stake } => {
            let trade = format!("{venue_id}, stake {stake:.2}");
            let text = format!("trade #{intent} was ordered once, but the venue has a second trade: {trade}");
            plain(Kind::SecondTrade, text)
        }
        RunEvent::Halted { reason } => {
            let why = format_reason(reason);
            plain(Kind::Halted, format!("trading is halted until you run `candlewick resume`{why}"))
        }
        RunEvent::Suspended { reason } => {
            plain(Kind::Suspended, format!("trading is suspended{}", format_reason(reason)))
        }
        RunEvent::Resumed => plain(Kind::Resumed, "trading has resumed".to_owned()),
        RunEvent::Reloaded => plain(Kind::Reloaded, "the reloaded settings are in effect".to_owned()),
        RunEvent::VenueSilent { heard, api } => {
            let ago = heard.map(|heard| format!(" for {} s", (at - heard).get() / 1_000)).unwrap_or_default();
            let text = format!("{} has not answered{ago}; requests fail", api.label());
            plain(Kind::VenueSilent, text)
        }
        RunEvent::VenueHeard { api } => plain(Kind::VenueHeard, format!("{} answers again", api.label())),
        RunEvent::SeriesLate { symbol, interval, since, is_unanswered } => {
            let seconds = (at - since).get() / 1_000;
            let why = if is_unanswered { "requests fail" } else { "the price API sends no new candles" };
            let text =
                format!("{symbol} {interval} has had no candle for {seconds} s: {why}; no new trades on it");
            Some(series_alert(at, Kind::SeriesLate, symbol, &text))
        }
        RunEvent::SeriesRecovered { symbol, interval, .. } => {
            let text = format!("candles of {symbol} {interval} are arriving again");
            Some(series_alert(at, Kind::SeriesRecovered, symbol, &text))
        }
        RunEvent::Deposit { amount } => {
            plain(Kind::Deposit, format!("the wallet changed by {amount:+.2}, which no trade explains"))
        }
        RunEvent::WalletDifference { amount } if amount != 0.0 => {
            plain(Kind::Deposit, format!("the wallet differs by {amount:+.2} from the computed balance"))
        }
        RunEvent::Verdict { bot, edge, trades } => Some(verdict_alert(at, bot, edge, trades)),
        RunEvent::Alarm { text } => {
            let key = format!("alarm {}", without_numbers(&text));
            Some(with_repeat_key(alert(at, Kind::Alarm, &text), key))
        }
        RunEvent::Warning { text } => {
            Some(with_repeat_key(alert(at, Kind::Warning, &text), without_numbers(&text)))
        }
        RunEvent::Dropped { count } => {
            let text = format!("{count} events arrived too fast and were not checked for alerts");
            Some(with_repeat_key(alert(at, Kind::Missed, &text), "missed".to_owned()))
        }
        RunEvent::Stopping { unfinished, .. } => {
            let waits = format!("waiting for {unfinished} open trades and orders of unknown status");
            plain(Kind::Stopping, format!("no new trades are opened; {waits}"))
        }
        _ => None,
    }
}

pub(super) fn alert(at: Millis, kind: Kind, text: &str) -> Alert {
    let severity = match kind {
        Kind::Opened | Kind::Settled => Severity::Info,
        Kind::Rejected
        | Kind::Doubt
        | Kind::Limit
        | Kind::Balance
        | Kind::Deposit
        | Kind::Warning
        | Kind::Missed => Severity::Warning,
        Kind::SecondTrade
        | Kind::Halted
        | Kind::Suspended
        | Kind::VenueSilent
        | Kind::SeriesLate
        | Kind::Alarm => Severity::Critical,
        _ => Severity::Notice,
    };
    // Text from the venue is escaped, so that it is a single line without hidden characters.
    Alert::new(at.get(), severity, &event_name(kind), escape_hidden(text))
}

fn verdict_alert(at: Millis, bot: String, edge: EdgeVerdict, trades: u64) -> Alert {
    let (words, severity) = match edge {
        EdgeVerdict::Open => ("not enough trades yet", Severity::Notice),
        EdgeVerdict::Shown => ("an edge is shown", Severity::Notice),
        EdgeVerdict::Rejected => ("an edge is ruled out", Severity::Warning),
        EdgeVerdict::NoLongerHeld => ("the edge no longer holds", Severity::Warning),
    };
    let text = format!("verdict after {trades} trades: {words}");
    Alert { bot: Some(bot), severity, ..alert(at, Kind::Verdict, &text) }
}

fn series_alert(at: Millis, kind: Kind, symbol: String, text: &str) -> Alert {
    let alert = Alert { symbol: Some(symbol), ..alert(at, kind, text) };
    with_repeat_key(alert, event_name(kind))
}

fn format_reason(reason: Option<String>) -> String {
    reason.map_or(String::new(), |reason| format!(": {reason}"))
}

fn without_numbers(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

fn with_order(alert: Alert, order: &OrderFacts) -> Alert {
    Alert { bot: Some(order.bot.clone()), symbol: Some(order.symbol.clone()), ..alert }
}

fn with_repeat_key(alert: Alert, key: String) -> Alert {
    Alert { repeat_key: Some(key), ..alert }
}

fn describe_order(order: &OrderFacts) -> String {
    let OrderFacts { symbol, direction, stake, .. } = order;
    format!("{direction} {symbol} for {stake:.2}")
}

fn describe_trade(trade: &TradeFacts) -> String {
    let at = trade.open_price.map_or(String::new(), |price| format!(" at {}", format_price(price)));
    format!("{}{at}", describe_order(&trade.order))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_runtime::control::VenueApi;
    use candlewick_sdk::{Direction, Money, Outcome};

    fn facts() -> AlertBuilder {
        let settings = NotifySettings { balance_below: 100.0, ..NotifySettings::default() };
        AlertBuilder::new(&settings, MoneyScale::default())
    }

    fn order(intent: u64) -> OrderFacts {
        let (bot, symbol) = ("btc".to_owned(), "BTCUSDT".to_owned());
        OrderFacts { intent: IntentId::new(intent), bot, symbol, direction: Direction::Buy, stake: 10.0 }
    }

    fn trade() -> TradeFacts {
        let (order, open_price) = (order(7), Some(1.5));
        TradeFacts { order, venue_id: None, open_time: None, open_price, close_time: None, payout: None }
    }

    fn refused(rule: &'static str) -> RunEvent {
        let (bot, reason) = ("btc".to_owned(), String::new());
        RunEvent::Refused { bot, direction: Direction::Buy, decision_time: Millis::ZERO, rule, reason }
    }

    fn late_series(is_unanswered: bool) -> RunEvent {
        let (symbol, interval) = ("EURUSD".to_owned(), "1m".to_owned());
        RunEvent::SeriesLate { symbol, interval, since: at(120), is_unanswered }
    }

    const fn at(seconds: i64) -> Millis {
        Millis::from_seconds(seconds)
    }

    /// Returns the alert as `event severity bot`, together with its text.
    fn describe(event: RunEvent) -> Option<(String, String)> {
        let Alert { at: time, severity, event, bot, text, .. } = facts().alert_for(at(300), event)?;
        assert_eq!(time, 300_000);
        Some((format!("{event} {} {}", severity.as_str(), bot.as_deref().unwrap_or("-")), text))
    }

    #[test]
    fn converts_events_to_alerts() {
        let settled = RunEvent::Settled {
            trade: trade(),
            outcome: Outcome::Lost,
            pnl: -10.0,
            close_price: None,
            is_by_operator: false,
            balance: 990.0,
            open_stakes: 20.0,
        };
        let lost = "LOST -10.00: BUY BTCUSDT for 10.00 at 1.5; balance 990.00, open stakes 20.00";
        let (intent, venue_id) = (IntentId::new(7), "01J".to_owned());
        let second = RunEvent::SecondTrade { intent, venue_id, stake: 10.0 };
        let refused = Some("the venue refuses the token".to_owned());
        let opened = RunEvent::Opened { trade: trade(), is_adopted: true };
        let silent = RunEvent::VenueSilent { heard: Some(at(100)), api: VenueApi::Prices };
        let verdict = |edge| RunEvent::Verdict { bot: "btc".to_owned(), edge, trades: 900 };
        for (event, head, part) in [
            (opened, "opened info btc", "opened BUY BTCUSDT for 10.00 at 1.5, confirmed late"),
            (settled, "settled info btc", lost),
            (RunEvent::Halted { reason: Some("news".to_owned()) }, "halted critical -", "resume`: news"),
            (RunEvent::Suspended { reason: refused }, "suspended critical -", "the venue refuses the token"),
            (RunEvent::Resumed, "resumed notice -", "trading has resumed"),
            (silent, "venue_silent critical -", "the price API has not answered for 200 s;"),
            (RunEvent::VenueHeard { api: VenueApi::Trading }, "venue_heard notice -", "the trading API"),
            (late_series(true), "series_late critical -", "EURUSD 1m has had no candle for 180 s: requests"),
            (late_series(false), "series_late critical -", "for 180 s: the price API sends no new candles"),
            (RunEvent::Alarm { text: "it differs".to_owned() }, "alarm critical -", "it differs"),
            (
                verdict(EdgeVerdict::NoLongerHeld),
                "verdict warning btc",
                "after 900 trades: the edge no longer holds",
            ),
            (verdict(EdgeVerdict::Shown), "verdict notice btc", "after 900 trades: an edge is shown"),
            (second, "second_trade critical -", "trade #7 was ordered once"),
            (RunEvent::Deposit { amount: -3.5 }, "deposit warning -", "wallet changed by -3.50,"),
        ] {
            let (found, text) = describe(event).unwrap();
            assert!(found == head && text.contains(part), "{found}: {text}");
        }
        assert_eq!(describe(RunEvent::Wallet { amount: 1.0 }), None);
    }

    #[test]
    fn escapes_texts_of_the_venue() {
        let rejected = RunEvent::Rejected { order: order(7), reason: "no\n[critical] halted\u{202e}".into() };
        let text = facts().alert_for(at(1), rejected).unwrap().text;
        assert_eq!(text, "the venue declined BUY BTCUSDT for 10.00: no\\n[critical] halted\\u{202e}");
    }

    #[test]
    fn reports_lasting_doubts_and_their_end() {
        let mut facts = facts();
        let doubt = |intent| RunEvent::InDoubt { order: order(intent) };
        let end = |intent| RunEvent::Resolved { intent: IntentId::new(intent), how: "not_opened" };
        assert_eq!((facts.alert_for(at(0), doubt(7)), facts.alert_for(at(1), doubt(8))), (None, None));
        assert_eq!(facts.alert_for(at(30), end(8)), None, "it was short");
        assert_eq!(facts.alerts_for_orders_in_doubt(at(59)), []);
        let lasting = facts.alerts_for_orders_in_doubt(at(60));
        let [Alert { severity: Severity::Warning, symbol: Some(s), text, .. }] = lasting.as_slice() else {
            panic!("{lasting:?}")
        };
        assert!(s == "BTCUSDT" && text.contains("trade #7") && text.contains("60 s"), "{text}");
        assert_eq!(facts.alerts_for_orders_in_doubt(at(600)), [], "alerts only once");
        let Alert { event, text, .. } = facts.alert_for(at(601), end(7)).unwrap();
        assert_eq!((event.as_str(), text.as_str()), ("resolved", "trade #7 is resolved: not opened"));
    }

    #[test]
    fn reports_doubts_of_an_earlier_run() {
        let mut facts = facts();
        facts.record_order_in_doubt(at(-3_600), order(7));
        facts.record_order_in_doubt(at(50), order(8));
        let alerts = facts.alerts_for_orders_in_doubt(at(60));
        assert_eq!(alerts.len(), 1);
        assert!(alerts[0].text.starts_with("trade #7 (BUY BTCUSDT for 10.00): unknown status for 3660 s"));
        let end = RunEvent::Resolved { intent: IntentId::new(7), how: "not_opened" };
        assert!(facts.alert_for(at(62), end).is_some());
    }

    #[test]
    fn reports_limits_once_a_day_per_bot() {
        let mut facts = facts();
        let mut is_reported = |event| facts.alert_for(at(0), event).is_some();
        for rule in ALERTED_RULES.map(Rule::as_str) {
            assert!(is_reported(refused(rule)) && !is_reported(refused(rule)), "{rule}");
        }
        assert!(!is_reported(refused("Cooldown")));
        assert!(!is_reported(RunEvent::Day { balance: 1.0 }));
        assert!(is_reported(refused("DailyLossLimit")), "the next day");
    }

    #[test]
    fn reports_low_funds_once_until_recovery() {
        let (mut facts, scale) = (facts(), MoneyScale::default());
        let funds = |free: i64, staked: i64| {
            let money = |amount: i64| scale.convert_exact(amount.into()).unwrap();
            Funds { free: money(free), open_stakes: money(staked), peak: Money::ZERO, first_wallet: None }
        };
        let alerts: Vec<bool> = [(120, 0), (60, 40), (60, 39), (10, 0), (100, 0), (99, 0)]
            .map(|(free, staked)| facts.check_funds(at(0), funds(free, staked)).is_some())
            .to_vec();
        assert_eq!(alerts, [false, false, true, false, false, true]);
    }

    #[test]
    fn repeat_keys_ignore_numbers_in_warnings() {
        let key = |event| facts().alert_for(at(0), event).and_then(|alert| alert.repeat_key);
        let warning = |text: &str| RunEvent::Warning { text: text.to_owned() };
        assert_eq!(key(warning("late by 7 ms")), key(warning("late by 31 ms")));
        assert_ne!(key(warning("late by 7 ms")), key(warning("early by 7 ms")));
        let alarm = |text: &str| RunEvent::Alarm { text: text.to_owned() };
        assert_eq!(key(alarm("the wallet differs by 7.00")), key(alarm("the wallet differs by 31.00")));
        assert_ne!(key(alarm("late by 7 ms")), key(warning("late by 7 ms")));
        assert_eq!(key(RunEvent::Opened { trade: trade(), is_adopted: false }), None);
        assert_eq!(key(RunEvent::Halted { reason: None }), None);
    }
}
