//! Request budget: compares the request rate that the bots need with the venue's rate limit.
//! Checks the average rate, and the burst of requests when all candles close at once. Requests queue during a burst.
//! An order that waits longer than its limit is not sent.

use crate::RuntimeSettings;
use candlewick_engine::{BotSettings, RiskSettings};
use candlewick_sdk::{ExpirationType, Millis, Series, Symbol};
use std::collections::BTreeSet;

/// Usual delay between a candle's close and its publication, as described in `observed: prices and candles`.
const USUAL_LAG: Millis = Millis::new(300);
const USUAL_ROUND_TRIP: Millis = Millis::new(100);
/// Number of requests per ended trade: one for the trade, and one for the trade list if the result is still missing.
const REQUESTS_PER_ENDED_TRADE: usize = 2;
const REQUESTS_PER_AUDIT: f64 = 2.0;
const MAX_SUGGESTED_RATE: u32 = 10_000;

/// Requests per second that the bots need if every candle has a signal and every signal opens a trade.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestDemand {
    candles: f64,
    prices: f64,
    trades: f64,
    accounts: f64,
    display: f64,
    shown: usize,
    price_every: Millis,
    close: CloseBurst,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct CloseBurst {
    series: usize,
    prices: usize,
    opens: usize,
    endings: usize,
    first_ask: Millis,
    /// Maximum delay between a candle's close and the order that opens a trade, `None` if unlimited.
    window: Option<Millis>,
    interval: Millis,
}

impl RequestDemand {
    pub fn new(
        settings: &RuntimeSettings,
        risk: &RiskSettings,
        bots: &[BotSettings],
        wants_prices: &[bool],
    ) -> Self {
        let series: BTreeSet<Series> = bots.iter().map(BotSettings::series).collect();
        let symbols: BTreeSet<Symbol> = bots.iter().map(|bot| bot.symbol).collect();
        let wanting = bots.iter().zip(wants_prices).filter(|(_, wants)| **wants);
        let wanted: BTreeSet<Symbol> = wanting.map(|(bot, _)| bot.symbol).collect();
        let price_every = Millis::new(i64::from(settings.price_every_ms.max(100)));
        let shown = if settings.watch_prices { symbols.len() - wanted.len() } else { 0 };
        let most_open = if risk.max_open_trades == 0 { usize::MAX } else { risk.max_open_trades as usize };
        let opens = bots.len().min(most_open);
        let audited = if settings.audit_settlement_prices { REQUESTS_PER_AUDIT } else { 0.0 };
        let per_trade = 1.0 + REQUESTS_PER_ENDED_TRADE as f64 + audited;
        let shortest = bots.iter().map(|bot| bot.expiry().close_type.duration()).min();
        let trades_a_second = (bots.iter().map(|bot| rate(1, bot.interval.length())).sum::<f64>())
            .min(shortest.map_or(0.0, |duration| rate(opens, duration)));
        let every = |seconds: u32| if seconds == 0 { 0.0 } else { 1.0 / f64::from(seconds) };
        Self {
            candles: series.iter().map(|series| rate(1, series.interval.length())).sum(),
            prices: rate(wanted.len(), price_every),
            trades: trades_a_second * per_trade,
            accounts: every(settings.wallet_every_s) + 2.0 * every(settings.list_every_s),
            display: rate(shown, price_every),
            shown,
            price_every,
            close: CloseBurst {
                series: series.len(),
                prices: wanted.len(),
                opens,
                endings: requests_per_ended_trade(settings, risk, bots) * opens,
                first_ask: Millis::new(i64::from(settings.first_ask_ms)),
                window: bots.iter().filter_map(|bot| signal_window(risk, bot)).min(),
                interval: series.iter().map(|one| one.interval.length()).min().unwrap_or(Millis::MINUTE),
            },
        }
    }

    #[must_use]
    pub fn with_stream(self, streams: bool) -> Self {
        if !streams {
            return self;
        }
        Self { prices: 0.0, close: CloseBurst { prices: 0, ..self.close }, ..self }
    }

    pub fn needed_rate(&self, per_second: f64) -> f64 {
        let early = rate(self.close.wasted_requests(per_second), self.close.interval);
        self.candles + early + self.prices + self.trades + self.accounts
    }

    /// Returns whether the rate limit (0 for none) leaves room for prices that are only displayed. Between two rounds,
    /// there must be time to request all of these prices and to refill the burst allowance.
    pub fn has_room_for_display_prices(&self, per_second: f64) -> bool {
        let for_one = per_second * seconds(self.price_every) - burst_size(per_second);
        let is_over_in_time = self.shown as f64 <= for_one;
        per_second == 0.0 || is_over_in_time && self.needed_rate(per_second) + self.display <= per_second
    }

    pub fn describe_shortage(&self, per_second: f64) -> Option<String> {
        let problem = self.find_problem(per_second)?;
        let enough = (1..=MAX_SUGGESTED_RATE).find(|limit| self.find_problem(f64::from(*limit)).is_none());
        let raise = enough.map_or_else(String::new, |enough| {
            format!(", or set broker.requests_per_second to {enough} if the venue allows this rate")
        });
        Some(format!(
            "broker.requests_per_second = {per_second} is too low for these bots: {problem}. Use fewer series or raise \
             risk.max_signal_delay_ms{raise}"
        ))
    }

    fn find_problem(&self, per_second: f64) -> Option<String> {
        if per_second == 0.0 {
            return None;
        }
        let needed = self.needed_rate(per_second);
        if needed > per_second {
            return Some(format!("the bots need up to {needed:.1} requests/s"));
        }
        let (latest, window) = (self.close.max_open_delay(per_second), self.close.window?);
        (latest > window).then(|| {
            format!(
                "when all candles close at once, the last order is sent {:.1} s after the close, but \
                 risk.max_signal_delay_ms allows {:.1} s",
                seconds(latest),
                seconds(window)
            )
        })
    }

    pub fn summary(&self, per_second: f64) -> String {
        let Self { candles, prices, trades, accounts, .. } = self;
        let early = rate(self.close.wasted_requests(per_second), self.close.interval);
        let parts = format!(
            "up to {:.2} requests/s (candles {:.2}, prices {prices:.2}, trades {trades:.2}, wallet and lists {accounts:.2})",
            self.needed_rate(per_second),
            candles + early
        );
        if per_second == 0.0 {
            return format!("{parts}; the rate is not limited");
        }
        let latest = seconds(self.close.max_open_delay(per_second));
        format!(
            "{parts}; the limit is broker.requests_per_second = {per_second}. When all candles close at once, the last \
             order is sent within {latest:.1} s"
        )
    }
}

impl CloseBurst {
    fn wasted_requests(&self, per_second: f64) -> usize {
        let left = seconds(USUAL_LAG - self.first_ask) - seconds(USUAL_ROUND_TRIP) / 2.0;
        if left <= 0.0 || per_second == 0.0 {
            return 0;
        }
        self.series.min((burst_size(per_second) + (per_second * left).floor()) as usize)
    }

    /// Returns the delay between the candle's close and the last order, which is sent after all other requests.
    fn max_open_delay(&self, per_second: f64) -> Millis {
        if per_second == 0.0 {
            return self.first_ask + USUAL_ROUND_TRIP;
        }
        let Self { series, prices, opens, endings, .. } = *self;
        let before = series + self.wasted_requests(per_second) + prices + endings + opens.saturating_sub(1);
        let turns = (before as f64 - burst_size(per_second)).max(0.0);
        self.first_ask + USUAL_ROUND_TRIP + Millis::new((turns / per_second * 1_000.0).ceil() as i64)
    }
}

fn burst_size(per_second: f64) -> f64 {
    per_second.floor().max(1.0)
}

fn signal_window(risk: &RiskSettings, bot: &BotSettings) -> Option<Millis> {
    let limit = Millis::new(i64::from(risk.max_signal_delay_ms));
    let half = Millis::new(bot.interval.length().get() / 2);
    (limit > Millis::ZERO).then(|| limit.min(half))
}

fn requests_per_ended_trade(settings: &RuntimeSettings, risk: &RiskSettings, bots: &[BotSettings]) -> usize {
    let is_due = |bot: &BotSettings| {
        let at_close =
            matches!(bot.expiry().expiration_type, ExpirationType::CandleClose | ExpirationType::NextCandle);
        let settled = Millis::new(i64::from(settings.settle_after_ms));
        at_close && signal_window(risk, bot).is_some_and(|window| settled < window)
    };
    if bots.iter().any(is_due) { REQUESTS_PER_ENDED_TRADE } else { 0 }
}

fn rate(count: usize, every: Millis) -> f64 {
    count as f64 / seconds(every)
}

fn seconds(span: Millis) -> f64 {
    span.get() as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bots(count: usize) -> Vec<BotSettings> {
        let bot = |number: usize| {
            let (name, symbol) = (format!("bot-{number}"), format!("S{number}"));
            serde_json::json!({
                "name": name, "symbol": symbol, "interval": "1m", "strategy": "any", "close_type": "01:00",
                "expiration_type": "TIME_FIXED",
            })
        };
        (0..count).map(|number| serde_json::from_value(bot(number)).unwrap()).collect()
    }

    fn unlimited() -> RiskSettings {
        RiskSettings { max_open_trades: 0, ..RiskSettings::default() }
    }

    fn demand(count: usize, risk: &RiskSettings, wants: bool) -> RequestDemand {
        RequestDemand::new(&RuntimeSettings::default(), risk, &bots(count), &vec![wants; count])
    }

    #[test]
    fn average_demand_sums_all_request_rates() {
        // By hand: 12 candles and 6 futile requests per minute; 12 trades per minute, 5 requests each; 1/60 + 2/300.
        let need = demand(12, &unlimited(), false).needed_rate(5.0);
        assert!((need - (18.0 / 60.0 + 1.0 + 1.0 / 60.0 + 2.0 / 300.0)).abs() < 1e-9, "{need}");
        // Prices are requested every five seconds. At most three trades are open, each for a minute.
        let need = demand(12, &RiskSettings::default(), true).needed_rate(5.0);
        assert!((need - (18.0 / 60.0 + 12.0 / 5.0 + 0.25 + 1.0 / 60.0 + 2.0 / 300.0)).abs() < 1e-9, "{need}");
    }

    #[test]
    fn last_open_leaves_after_all_earlier_requests() {
        // 12 candles, 6 futile requests, 11 opens: 29 in total, 5 immediately, the last 4.8 s later, plus its answer.
        assert_eq!(demand(12, &unlimited(), false).close.max_open_delay(5.0), Millis::new(4_900));
        assert_eq!(demand(12, &unlimited(), false).describe_shortage(5.0), None);
        let problem = demand(13, &unlimited(), false).describe_shortage(5.0).unwrap();
        assert!(problem.contains("5.3 s after the close") && problem.contains("to 6 if"), "{problem}");
        // At most three opens: 17 candles and 6 futile requests, then two opens before the last.
        assert_eq!(demand(17, &RiskSettings::default(), false).close.max_open_delay(5.0), Millis::new(4_100));
        assert_eq!(demand(2_000, &unlimited(), false).describe_shortage(0.0), None, "no limit");
        let late = RiskSettings { max_signal_delay_ms: 0, ..unlimited() };
        assert_eq!(demand(13, &late, false).describe_shortage(5.0), None, "no signal is ever late");
    }

    #[test]
    fn display_prices_need_spare_request_budget() {
        assert!(demand(12, &unlimited(), false).has_room_for_display_prices(5.0));
        assert!(!demand(21, &RiskSettings::default(), false).has_room_for_display_prices(5.0));
        assert!(demand(21, &RiskSettings::default(), false).has_room_for_display_prices(0.0));
        assert!(
            demand(200, &RiskSettings::default(), true).has_room_for_display_prices(60.0),
            "none is only shown"
        );
    }
}
