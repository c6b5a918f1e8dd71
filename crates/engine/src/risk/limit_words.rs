//! Which setting a refusal comes from, and how much it allows.

use super::{BotLimitSettings, PauseSettings, RiskSettings, Rule};

impl Rule {
    /// What people call it, with its name and the setting by which it refuses a bot of this name: `open-trade limit of all
    /// (MaxOpenTrades: max_open_trades = 3)`. Of a rule that does not count trades or losses the words alone.
    pub fn words_within(self, risk: &RiskSettings, bot: &str) -> String {
        let words = self.words();
        match (self.setting(risk, bot), words.strip_suffix(')')) {
            (Some(setting), Some(open)) => format!("{open}: {setting})"),
            _ => words,
        }
    }

    /// The setting of a rule that counts, and its figure; none of a limit that is off. Of pauses, what each is.
    fn setting(self, risk: &RiskSettings, bot: &str) -> Option<String> {
        if self == Self::Pause {
            let pauses: Vec<String> = risk.pauses.iter().map(PauseSettings::words).collect();
            return (!pauses.is_empty()).then(|| pauses.join(", or "));
        }
        if self == Self::RefusedByVenue {
            let first = risk.refused_by_venue_pause_s;
            return (first > 0)
                .then(|| format!("refused_by_venue_pause_s = {first}, doubled with each refusal"));
        }
        let of_bot = |most: fn(&BotLimitSettings) -> u32| Some(most(risk.bots.get(bot)?));
        let (key, most) = match self {
            Self::MaxOpenTrades => ("max_open_trades", Some(risk.max_open_trades)),
            Self::MaxOpenTradesPerSymbol => {
                ("max_open_trades_per_symbol", Some(risk.max_open_trades_per_symbol))
            }
            Self::MaxTradesPerHour => ("max_trades_per_hour", Some(risk.max_trades_per_hour)),
            Self::MaxTradesPerDay => ("max_trades_per_day", Some(risk.max_trades_per_day)),
            Self::LossStreak => ("max_loss_streak", Some(risk.max_loss_streak)),
            Self::BotMaxOpenTrades => ("max_open_trades", of_bot(|own| own.max_open_trades)),
            Self::BotMaxTradesPerDay => ("max_trades_per_day", of_bot(|own| own.max_trades_per_day)),
            Self::BotLossStreak => ("max_loss_streak", of_bot(|own| own.max_loss_streak)),
            _ => return None,
        };
        most.filter(|most| *most > 0).map(|most| format!("{key} = {most}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PauseCause, PauseScope};
    use super::*;

    #[test]
    fn a_refusal_names_the_limit_that_it_comes_from_and_its_figure() {
        let own = BotLimitSettings { max_open_trades: 4, ..BotLimitSettings::default() };
        let risk = RiskSettings {
            max_open_trades: 3,
            max_open_trades_per_symbol: 1,
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
            // Not known of this bot, off, and none that counts.
            (Rule::BotMaxOpenTrades, "eur", "the bot's open-trade limit (BotMaxOpenTrades)"),
            (Rule::LossStreak, "btc", "losing-streak limit (LossStreak)"),
            (Rule::InFlight, "btc", "order in flight (InFlight)"),
        ] {
            assert_eq!(rule.words_within(&risk, bot), expected);
        }
    }
}
