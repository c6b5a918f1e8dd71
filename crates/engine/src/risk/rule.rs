//! Names of the risk rules, and descriptions of the settings behind them.

use super::{BotLimitSettings, RiskSettings};
use candlewick_sdk::rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A risk rule that can reject a signal. Rules are checked in the order of [`Rule::ALL`].
/// The hash of a rejection contains the rule's number ([`Self::number_in_hash`]), so the number must never change. A new
/// rule gets the next free number, whatever its position in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// The kill switch is on.
    Halted = 0,
    /// The signal is too old, or its candle was backfilled.
    LateSignal = 1,
    /// The bot's last candle is too old.
    StaleData = 2,
    /// The local clock differs too much from the venue's clock.
    ClockSkew = 3,
    /// An order on the symbol has no reply yet.
    InFlight = 4,
    /// The status of an order on the symbol is unknown.
    InDoubt = 5,
    /// The time is outside the trading hours.
    OutsideHours = 6,
    /// The cooldown after a loss is running.
    Cooldown = 7,
    /// A trade in the opposite direction is open on the symbol.
    OppositeOpen = 8,
    /// A trade with the same direction and close time is open on the symbol.
    DuplicateOpen = 9,
    /// Too many trades are open.
    /// In journals from versions without [`Self::MaxOpenTradesPerSymbol`], this rule covers the per-symbol limit too.
    MaxOpenTrades = 10,
    /// Too many trades were opened in the last 60 minutes.
    MaxTradesPerHour = 11,
    /// Too many trades were opened today.
    MaxTradesPerDay = 12,
    /// Today's loss would exceed the daily loss limit if all open trades were lost.
    DailyLossLimit = 13,
    /// The daily profit target is reached.
    DailyProfitTarget = 14,
    /// The drawdown would exceed the drawdown limit if all open trades were lost.
    MaxDrawdown = 15,
    /// The maximum number of consecutive losses is reached.
    LossStreak = 16,
    /// The payout is too low, or it is unknown and another trade is already probing it.
    MinPayout = 17,
    /// The stake is below the minimum or above the maximum.
    StakeBounds = 18,
    /// The free balance does not cover the stake.
    InsufficientBalance = 19,
    /// The bot's verdict on live trades has ruled out an edge.
    EdgeRejected = 20,
    /// The time is within a blackout, a configured period without new trades.
    Blackout = 21,
    /// The bot has too many open trades.
    BotMaxOpenTrades = 22,
    /// The bot opened too many trades today.
    BotMaxTradesPerDay = 23,
    /// The bot's daily loss would exceed the bot's limit if all open trades of the bot were lost.
    BotDailyLossLimit = 24,
    /// The bot's daily profit target is reached.
    BotDailyProfitTarget = 25,
    /// The bot's maximum number of consecutive losses is reached.
    BotLossStreak = 26,
    /// A configured pause after wins, losses or trades is running.
    Pause = 27,
    /// The session loss would exceed the session loss limit if all open trades were lost.
    SessionLossLimit = 28,
    /// The session profit target is reached.
    SessionProfitTarget = 29,
    /// The signal is virtual (recorded but not traded), because the strategy's trade gate is closed.
    GateClosed = 30,
    /// The bot's session loss would exceed the bot's limit if all open trades of the bot were lost.
    BotSessionLossLimit = 31,
    /// The bot's session profit target is reached.
    BotSessionProfitTarget = 32,
    /// Another symbol of `best_payout_of` pays more, or pays the same and has a trade with the same decision time.
    /// The rule also applies if the symbol's own payout is unknown and a trade is already probing it.
    BestPayout = 33,
    /// Too many trades are open on the symbol.
    MaxOpenTradesPerSymbol = 34,
    /// The venue recently declined an order on this symbol, or on any symbol for an account-wide reason.
    RefusedByVenue = 35,
}

impl Rule {
    /// Returns the number that stands for the rule in the hash of a rejection. The per-symbol limit has the number of
    /// [`Self::MaxOpenTrades`], which covered both limits in earlier versions. Hashes of earlier runs thus stay valid.
    #[inline]
    pub(crate) const fn number_in_hash(self) -> u8 {
        match self {
            Self::MaxOpenTradesPerSymbol => Self::MaxOpenTrades as u8,
            rule => rule as u8,
        }
    }

    /// Returns whether a rejection by the rule ends a live run.
    pub const fn ends_run(self) -> bool {
        matches!(self, Self::MaxDrawdown | Self::LossStreak)
    }

    /// Returns whether the rule stays in force until an operator lifts it.
    pub const fn needs_operator(self) -> bool {
        matches!(self, Self::Halted | Self::MaxDrawdown | Self::LossStreak | Self::BotLossStreak)
    }

    /// Returns whether the rule usually lasts only until a trade ends, a reply arrives or a candle closes.
    pub const fn is_usually_brief(self) -> bool {
        matches!(
            self,
            Self::GateClosed
                | Self::LateSignal
                | Self::StaleData
                | Self::InFlight
                | Self::Cooldown
                | Self::OppositeOpen
                | Self::DuplicateOpen
                | Self::MaxOpenTrades
                | Self::MaxOpenTradesPerSymbol
                | Self::BotMaxOpenTrades
                | Self::BestPayout
        )
    }

    pub(crate) const fn ends_by_event(self) -> bool {
        let is_state = matches!(
            self,
            Self::ClockSkew
                | Self::InDoubt
                | Self::StakeBounds
                | Self::InsufficientBalance
                | Self::EdgeRejected
        );
        is_state || self.needs_operator() || (self.is_usually_brief() && !matches!(self, Self::Cooldown))
    }

    /// Returns the rule's label and name, such as `late signal (LateSignal)`.
    pub fn describe(self) -> String {
        format!("{} ({self})", self.label())
    }

    /// Returns the rule's label, such as `late signal`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Halted => "trading is halted",
            Self::LateSignal => "late signal",
            Self::StaleData => "stale candles",
            Self::ClockSkew => "clock skew",
            Self::InFlight => "order in flight",
            Self::InDoubt => "order in doubt",
            Self::OutsideHours => "outside trading hours",
            Self::Cooldown => "cooldown after a loss",
            Self::OppositeOpen => "opposite trade open",
            Self::DuplicateOpen => "same trade open",
            Self::MaxOpenTrades => "total open-trade limit",
            Self::MaxOpenTradesPerSymbol => "open-trade limit per symbol",
            Self::MaxTradesPerHour => "hourly trade limit",
            Self::MaxTradesPerDay => "daily trade limit",
            Self::DailyLossLimit => "daily loss limit",
            Self::DailyProfitTarget => "daily profit target",
            Self::MaxDrawdown => "drawdown limit",
            Self::LossStreak => "losing-streak limit",
            Self::MinPayout => "minimum payout",
            Self::StakeBounds => "stake limits",
            Self::InsufficientBalance => "insufficient balance",
            Self::EdgeRejected => "no edge",
            Self::Blackout => "blackout",
            Self::BotMaxOpenTrades => "bot's open-trade limit",
            Self::BotMaxTradesPerDay => "bot's daily trade limit",
            Self::BotDailyLossLimit => "bot's daily loss limit",
            Self::BotDailyProfitTarget => "bot's daily profit target",
            Self::BotLossStreak => "bot's losing-streak limit",
            Self::Pause => "pause after wins, losses or trades",
            Self::SessionLossLimit => "session loss limit",
            Self::SessionProfitTarget => "session profit target",
            Self::GateClosed => "gate closed",
            Self::BotSessionLossLimit => "bot's session loss limit",
            Self::BotSessionProfitTarget => "bot's session profit target",
            Self::BestPayout => "another symbol pays more",
            Self::RefusedByVenue => "pause after declined orders",
        }
    }

    /// Returns the rule's label and name, and the bot's setting for the rule if there is one.
    /// An example is `total open-trade limit (MaxOpenTrades: max_open_trades = 3)`.
    pub fn describe_with_setting(self, risk: &RiskSettings, bot: &str) -> String {
        self.add_detail(self.describe(), self.describe_setting(risk, bot).as_deref().unwrap_or_default())
    }

    /// Inserts `detail` into the parentheses of `text`, which was returned by [`Self::describe`].
    /// Returns `text` unchanged if `detail` is empty or `text` describes another rule.
    #[must_use]
    pub fn add_detail(self, text: String, detail: &str) -> String {
        let is_bare = text.ends_with(&format!("({self})"));
        let is_own = is_bare || text.contains(&format!("({self}: "));
        let Some(open) = text.strip_suffix(')').filter(|_| is_own && !detail.is_empty()) else {
            return text;
        };
        let mark = if is_bare { ':' } else { ';' };
        format!("{open}{mark} {detail})")
    }

    fn describe_setting(self, risk: &RiskSettings, bot: &str) -> Option<String> {
        let none = BotLimitSettings::default();
        let own = risk.bots.get(bot).unwrap_or(&none);
        let session = &risk.session;
        let on = match self {
            Self::Pause => {
                return join_parts(risk.pauses.iter().map(|pause| Some(pause.describe())), ", or ");
            }
            Self::OutsideHours => {
                return join_parts(risk.hours.iter().map(|hours| Some(format!("hours {hours}"))), " or ");
            }
            Self::BestPayout => {
                return join_parts(risk.best_payout_of.iter().map(|name| Some(name.clone())), ", ");
            }
            Self::MaxOpenTrades => vec![format_count("max_open_trades", risk.max_open_trades)],
            Self::MaxOpenTradesPerSymbol => {
                vec![format_count("max_open_trades_per_symbol", risk.max_open_trades_per_symbol)]
            }
            Self::MaxTradesPerHour => vec![format_count("max_trades_per_hour", risk.max_trades_per_hour)],
            Self::MaxTradesPerDay => vec![format_count("max_trades_per_day", risk.max_trades_per_day)],
            Self::LossStreak => vec![format_count("max_loss_streak", risk.max_loss_streak)],
            Self::BotMaxOpenTrades => vec![format_count("max_open_trades", own.max_open_trades)],
            Self::BotMaxTradesPerDay => vec![format_count("max_trades_per_day", own.max_trades_per_day)],
            Self::BotLossStreak => vec![format_count("max_loss_streak", own.max_loss_streak)],
            Self::StaleData => vec![format_count("stale_after_intervals", risk.stale_after_intervals)],
            Self::ClockSkew => vec![format_count("max_clock_skew_ms", risk.max_clock_skew_ms)],
            Self::Cooldown => vec![
                format_count("cooldown_after_loss_s", risk.cooldown_after_loss_s),
                format_count("cooldown_after_losses_s", risk.cooldown_after_losses_s),
            ],
            Self::DailyLossLimit => {
                limits("daily_loss_limit", risk.daily_loss_limit, risk.daily_loss_limit_percent)
            }
            Self::DailyProfitTarget => {
                limits("daily_profit_target", risk.daily_profit_target, risk.daily_profit_target_percent)
            }
            Self::SessionLossLimit => {
                limits("session.loss_limit", session.loss_limit, session.loss_limit_percent)
            }
            Self::SessionProfitTarget => {
                limits("session.profit_target", session.profit_target, session.profit_target_percent)
            }
            Self::BotDailyLossLimit => {
                limits("daily_loss_limit", own.daily_loss_limit, own.daily_loss_limit_percent)
            }
            Self::BotDailyProfitTarget => {
                limits("daily_profit_target", own.daily_profit_target, own.daily_profit_target_percent)
            }
            Self::BotSessionLossLimit => {
                limits("session_loss_limit", own.session_loss_limit, own.session_loss_limit_percent)
            }
            Self::BotSessionProfitTarget => {
                limits("session_profit_target", own.session_profit_target, own.session_profit_target_percent)
            }
            Self::RefusedByVenue => {
                let first = format_count("refused_by_venue_pause_s", risk.refused_by_venue_pause_s);
                vec![first.map(|first| format!("{first}, doubled after each further declined order"))]
            }
            Self::MaxDrawdown => vec![format_percent("max_drawdown_percent", risk.max_drawdown_percent)],
            Self::MinPayout => vec![format_percent("min_payout_percent", risk.min_payout_percent)],
            Self::StakeBounds => vec![
                format_amount("min_stake", risk.min_stake),
                format_amount("max_stake", risk.max_stake),
                format_percent("max_stake_percent", risk.max_stake_percent),
            ],
            _ => return None,
        };
        join_parts(on, ", ")
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

fn join_parts(parts: impl IntoIterator<Item = Option<String>>, separator: &str) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(separator))
}

fn format_count(key: &str, most: u32) -> Option<String> {
    (most > 0).then(|| format!("{key} = {most}"))
}

fn format_amount(key: &str, amount: Decimal) -> Option<String> {
    (!amount.is_zero()).then(|| format!("{key} = {}", amount.normalize()))
}

fn format_percent(key: &str, percent: f64) -> Option<String> {
    (percent > 0.0).then(|| format!("{key} = {percent}"))
}

fn limits(key: &str, most: Decimal, share: f64) -> Vec<Option<String>> {
    vec![format_amount(key, most), format_percent(&format!("{key}_percent"), share)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeSet;

    #[test]
    fn only_drawdown_and_loss_streaks_need_an_operator() {
        let finals: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| rule.ends_run()).collect();
        assert_eq!(finals, [Rule::MaxDrawdown, Rule::LossStreak]);
    }

    #[test]
    fn rule_labels_are_unique() {
        let labels: BTreeSet<&str> = Rule::ALL.into_iter().map(Rule::label).collect();
        assert_eq!(labels.len(), Rule::ALL.len());
    }

    #[test]
    fn refusal_names_its_setting_and_value() {
        let risk: RiskSettings = serde_json::from_value(json!({
            "max_open_trades": 3, "daily_loss_limit_percent": 2.5, "bots": { "btc": { "max_open_trades": 4 } },
            "pauses": [
                { "after": 2, "of": "losses", "for_s": 600, "scope": "bot" },
                { "after": 3, "of": "wins", "for_s": 0 },
            ],
        }))
        .unwrap();
        let pauses = "pause of 600 s after 2 losses in a row by a bot, or pause for the rest of the day after 3 wins \
                      in a row";
        for (rule, bot, expected) in [
            (Rule::MaxOpenTrades, "btc", Some("max_open_trades = 3")),
            (Rule::MaxOpenTradesPerSymbol, "btc", Some("max_open_trades_per_symbol = 1")),
            (Rule::BotMaxOpenTrades, "btc", Some("max_open_trades = 4")),
            (Rule::Pause, "btc", Some(pauses)),
            (Rule::DailyLossLimit, "btc", Some("daily_loss_limit = 100, daily_loss_limit_percent = 2.5")),
            (Rule::StakeBounds, "btc", Some("min_stake = 1")),
            (Rule::ClockSkew, "btc", Some("max_clock_skew_ms = 2000")),
            (Rule::BotMaxOpenTrades, "eur", None),
            (Rule::LossStreak, "btc", None),
            (Rule::InFlight, "btc", None),
        ] {
            assert_eq!(rule.describe_setting(&risk, bot).as_deref(), expected, "{rule}");
            let words = format!("{} ({rule}{}", rule.label(), if expected.is_some() { ": " } else { ")" });
            assert!(rule.describe_with_setting(&risk, bot).starts_with(&words), "{words}");
        }
    }

    #[test]
    fn detail_follows_the_name_or_the_setting() {
        let (rule, risk) = (Rule::StakeBounds, RiskSettings::default());
        for (words, detail, expected) in [
            (rule.describe(), "60.00", "stake limits (StakeBounds: 60.00)"),
            (
                rule.describe_with_setting(&risk, "btc"),
                "60.00",
                "stake limits (StakeBounds: min_stake = 1; 60.00)",
            ),
            (rule.describe(), "", "stake limits (StakeBounds)"),
            ("cold (StaleData)".to_owned(), "60.00", "cold (StaleData)"),
        ] {
            assert_eq!(rule.add_detail(words, detail), expected);
        }
        let other = Rule::MaxOpenTradesPerSymbol.describe();
        assert_eq!(Rule::MaxOpenTrades.add_detail(other.clone(), "1 of 2"), other);
    }
}
