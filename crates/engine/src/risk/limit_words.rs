//! Setting and value behind a refusal.

use super::{BotLimitSettings, RiskSettings, Rule};
use candlewick_sdk::rust_decimal::Decimal;

impl Rule {
    /// Returns the label and name of the rule with the setting that refuses this bot.
    ///
    /// For example `open-trade limit of all (MaxOpenTrades: max_open_trades = 3)`. A rule without a
    /// setting returns label and name only.
    pub fn words_within(self, risk: &RiskSettings, bot: &str) -> String {
        self.with_detail(self.words(), self.setting(risk, bot).as_deref().unwrap_or_default())
    }

    /// Adds a detail inside the brackets of the text of this rule.
    ///
    /// An empty detail changes nothing, and neither does the text of another rule.
    #[must_use]
    pub fn with_detail(self, words: String, detail: &str) -> String {
        let is_bare = words.ends_with(&format!("({self})"));
        let is_own = is_bare || words.contains(&format!("({self}: "));
        let Some(open) = words.strip_suffix(')').filter(|_| is_own && !detail.is_empty()) else {
            return words;
        };
        let mark = if is_bare { ':' } else { ';' };
        format!("{open}{mark} {detail})")
    }

    fn setting(self, risk: &RiskSettings, bot: &str) -> Option<String> {
        let none = BotLimitSettings::default();
        let own = risk.bots.get(bot).unwrap_or(&none);
        let session = &risk.session;
        let on = match self {
            Self::Pause => return joined(risk.pauses.iter().map(|pause| Some(pause.words())), ", or "),
            Self::OutsideHours => {
                return joined(risk.hours.iter().map(|hours| Some(format!("hours {hours}"))), " or ");
            }
            Self::BestPayout => {
                return joined(risk.best_payout_of.iter().map(|name| Some(name.clone())), ", ");
            }
            Self::MaxOpenTrades => vec![count("max_open_trades", risk.max_open_trades)],
            Self::MaxOpenTradesPerSymbol => {
                vec![count("max_open_trades_per_symbol", risk.max_open_trades_per_symbol)]
            }
            Self::MaxTradesPerHour => vec![count("max_trades_per_hour", risk.max_trades_per_hour)],
            Self::MaxTradesPerDay => vec![count("max_trades_per_day", risk.max_trades_per_day)],
            Self::LossStreak => vec![count("max_loss_streak", risk.max_loss_streak)],
            Self::BotMaxOpenTrades => vec![count("max_open_trades", own.max_open_trades)],
            Self::BotMaxTradesPerDay => vec![count("max_trades_per_day", own.max_trades_per_day)],
            Self::BotLossStreak => vec![count("max_loss_streak", own.max_loss_streak)],
            Self::StaleData => vec![count("stale_after_intervals", risk.stale_after_intervals)],
            Self::ClockSkew => vec![count("max_clock_skew_ms", risk.max_clock_skew_ms)],
            Self::Cooldown => vec![
                count("cooldown_after_loss_s", risk.cooldown_after_loss_s),
                count("cooldown_after_losses_s", risk.cooldown_after_losses_s),
            ],
            Self::DailyLossLimit => {
                money("daily_loss_limit", risk.daily_loss_limit, risk.daily_loss_limit_percent)
            }
            Self::DailyProfitTarget => {
                money("daily_profit_target", risk.daily_profit_target, risk.daily_profit_target_percent)
            }
            Self::SessionLossLimit => {
                money("session.loss_limit", session.loss_limit, session.loss_limit_percent)
            }
            Self::SessionProfitTarget => {
                money("session.profit_target", session.profit_target, session.profit_target_percent)
            }
            Self::BotDailyLossLimit => {
                money("daily_loss_limit", own.daily_loss_limit, own.daily_loss_limit_percent)
            }
            Self::BotDailyProfitTarget => {
                money("daily_profit_target", own.daily_profit_target, own.daily_profit_target_percent)
            }
            Self::BotSessionLossLimit => {
                money("session_loss_limit", own.session_loss_limit, own.session_loss_limit_percent)
            }
            Self::BotSessionProfitTarget => {
                money("session_profit_target", own.session_profit_target, own.session_profit_target_percent)
            }
            Self::RefusedByVenue => {
                let first = count("refused_by_venue_pause_s", risk.refused_by_venue_pause_s);
                vec![first.map(|first| format!("{first}, doubled with each refusal"))]
            }
            Self::MaxDrawdown => vec![percent("max_drawdown_percent", risk.max_drawdown_percent)],
            Self::MinPayout => vec![percent("min_payout_percent", risk.min_payout_percent)],
            Self::StakeBounds => vec![
                amount("min_stake", risk.min_stake),
                amount("max_stake", risk.max_stake),
                percent("max_stake_percent", risk.max_stake_percent),
            ],
            _ => return None,
        };
        joined(on, ", ")
    }
}

fn joined(parts: impl IntoIterator<Item = Option<String>>, separator: &str) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(separator))
}

fn count(key: &str, most: u32) -> Option<String> {
    (most > 0).then(|| format!("{key} = {most}"))
}

fn amount(key: &str, amount: Decimal) -> Option<String> {
    (!amount.is_zero()).then(|| format!("{key} = {}", amount.normalize()))
}

fn percent(key: &str, percent: f64) -> Option<String> {
    (percent > 0.0).then(|| format!("{key} = {percent}"))
}

fn money(key: &str, most: Decimal, share: f64) -> Vec<Option<String>> {
    vec![amount(key, most), percent(&format!("{key}_percent"), share)]
}

#[cfg(test)]
mod tests {
    use super::super::{PauseCause, PauseScope, PauseSettings};
    use super::*;

    #[test]
    fn a_refusal_names_the_limit_that_it_comes_from_and_its_figure() {
        let own = BotLimitSettings { max_open_trades: 4, ..BotLimitSettings::default() };
        let risk = RiskSettings {
            max_open_trades: 3,
            max_open_trades_per_symbol: 1,
            daily_loss_limit_percent: 2.5,
            bots: [("btc".to_owned(), own)].into(),
            pauses: vec![
                PauseSettings { after: 2, of: PauseCause::Losses, for_s: 600, scope: PauseScope::Bot },
                PauseSettings { after: 3, of: PauseCause::Wins, for_s: 0, scope: PauseScope::All },
            ],
            ..RiskSettings::default()
        };
        for (rule, bot, expected) in [
            (Rule::MaxOpenTrades, "btc", "open-trade limit of all (MaxOpenTrades: max_open_trades = 3)"),
            (
                Rule::MaxOpenTradesPerSymbol,
                "btc",
                "open-trade limit of the symbol (MaxOpenTradesPerSymbol: max_open_trades_per_symbol = 1)",
            ),
            (
                Rule::BotMaxOpenTrades,
                "btc",
                "the bot's open-trade limit (BotMaxOpenTrades: max_open_trades = 4)",
            ),
            (
                Rule::Pause,
                "btc",
                "pause after wins, losses or trades (Pause: 600 s of rest after 2 losses in a row of a bot, or rest until the day ends \
                 after 3 wins in a row)",
            ),
            (
                Rule::DailyLossLimit,
                "btc",
                "daily loss limit (DailyLossLimit: daily_loss_limit = 100, daily_loss_limit_percent = 2.5)",
            ),
            (Rule::StakeBounds, "btc", "stake limits (StakeBounds: min_stake = 1)"),
            (Rule::ClockSkew, "btc", "clock skew (ClockSkew: max_clock_skew_ms = 2000)"),
            // Not known of this bot, off, and without a setting.
            (Rule::BotMaxOpenTrades, "eur", "the bot's open-trade limit (BotMaxOpenTrades)"),
            (Rule::LossStreak, "btc", "losing-streak limit (LossStreak)"),
            (Rule::InFlight, "btc", "order in flight (InFlight)"),
        ] {
            assert_eq!(rule.words_within(&risk, bot), expected);
        }
    }

    #[test]
    fn a_detail_comes_after_the_name_or_after_the_setting() {
        let rule = Rule::StakeBounds;
        let risk = RiskSettings::default();
        let words = |words: String| rule.with_detail(words, "stake 60.00, at most 50.00 allowed");
        assert_eq!(words(rule.words()), "stake limits (StakeBounds: stake 60.00, at most 50.00 allowed)");
        assert_eq!(
            words(rule.words_within(&risk, "btc")),
            "stake limits (StakeBounds: min_stake = 1; stake 60.00, at most 50.00 allowed)"
        );
        assert_eq!(rule.with_detail(rule.words(), ""), rule.words());
        let other = Rule::MaxOpenTradesPerSymbol.words();
        assert_eq!(Rule::MaxOpenTrades.with_detail(other.clone(), "1 of 2"), other);
    }
}
