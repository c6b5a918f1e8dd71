//! Active limits with their values, for the header of a run.

use candlewick_engine::{BotLimitSettings, PauseSettings, RiskSettings};
use candlewick_records::counted;
use candlewick_sdk::rust_decimal::Decimal;

pub(super) fn limit_words(risk: &RiskSettings) -> String {
    let session = &risk.session;
    let hours: Vec<String> = risk.hours.iter().map(ToString::to_string).collect();
    let spans = u32::try_from(risk.blackouts.spans.len()).unwrap_or(u32::MAX);
    let is_usual_day = risk.day_start == "00:00" && risk.day_timezone == "UTC";
    let one_by_one = [
        count(risk.max_open_trades, "open together"),
        count(risk.max_open_trades_per_symbol, "on a symbol"),
        count(risk.max_trades_per_hour, "an hour"),
        count(risk.max_trades_per_day, "a day"),
        money(risk.daily_loss_limit, "a day's loss"),
        percent(risk.daily_loss_limit_percent, "a day's loss"),
        money(risk.daily_profit_target, "a day's profit"),
        percent(risk.daily_profit_target_percent, "a day's profit"),
        (!is_usual_day).then(|| format!("days from {} {}", risk.day_start, risk.day_timezone)),
        money(session.loss_limit, "a session's loss"),
        percent(session.loss_limit_percent, "a session's loss"),
        money(session.profit_target, "a session's profit"),
        percent(session.profit_target_percent, "a session's profit"),
        percent(risk.max_drawdown_percent, "drawdown"),
        count(risk.max_loss_streak, "losses in a row"),
        count(risk.cooldown_after_loss_s, "s of rest after a loss"),
        (risk.cooldown_after_losses > 0).then(|| {
            let losses = counted(risk.cooldown_after_losses, "loss", "losses");
            format!("{} s of rest after {losses} in a row", risk.cooldown_after_losses_s)
        }),
    ];
    let pauses = risk.pauses.iter().map(PauseSettings::words);
    let of_symbols = risk
        .min_payout_percent_by_symbol
        .iter()
        .map(|(name, least)| format!("payout of {name} at least {least} %"));
    let rest = [
        (!risk.best_payout_of.is_empty())
            .then(|| format!("the best payout of {}", risk.best_payout_of.join(", "))),
        money(risk.max_stake, "stake at most"),
        percent(risk.max_stake_percent, "stake at most"),
        (!hours.is_empty()).then(|| format!("trades {}", hours.join(" and "))),
        count(spans, if spans == 1 { "blackout" } else { "blackouts" }),
        risk.enforce_verdict.then(|| "no trades without an edge".to_owned()),
    ];
    let bots = risk.bots.iter().filter_map(|(name, own)| bot_words(name, own));
    let all = one_by_one.into_iter().flatten().chain(pauses);
    let all = all.chain(percent(risk.min_payout_percent, "payout at least")).chain(of_symbols);
    let on: Vec<String> = all.chain(rest.into_iter().flatten()).chain(bots).collect();
    if on.is_empty() { "none: all are off".to_owned() } else { on.join(", ") }
}

fn bot_words(name: &str, own: &BotLimitSettings) -> Option<String> {
    let all = [
        count(own.max_open_trades, "open"),
        count(own.max_trades_per_day, "a day"),
        money(own.daily_loss_limit, "a day's loss"),
        percent(own.daily_loss_limit_percent, "a day's loss"),
        money(own.daily_profit_target, "a day's profit"),
        percent(own.daily_profit_target_percent, "a day's profit"),
        money(own.session_loss_limit, "a session's loss"),
        percent(own.session_loss_limit_percent, "a session's loss"),
        money(own.session_profit_target, "a session's profit"),
        percent(own.session_profit_target_percent, "a session's profit"),
        count(own.max_loss_streak, "losses in a row"),
    ];
    let on: Vec<String> = all.into_iter().flatten().collect();
    (!on.is_empty()).then(|| format!("{name} alone: {}", on.join(" and ")))
}

fn count(most: u32, what: &str) -> Option<String> {
    (most > 0).then(|| format!("{most} {what}"))
}

fn money(most: Decimal, what: &str) -> Option<String> {
    (!most.is_zero()).then(|| format!("{what} {most}"))
}

fn percent(most: f64, what: &str) -> Option<String> {
    (most > 0.0).then(|| format!("{what} {most} %"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_engine::{Hours, PauseCause, PauseScope, Weekday};

    #[test]
    fn limits_that_are_off_are_left_out() {
        let defaults = limit_words(&RiskSettings::default());
        assert_eq!(defaults, "3 open together, 1 on a symbol, 200 a day, a day's loss 100, drawdown 20 %");
        assert_eq!(limit_words(&off()), "none: all are off");
    }

    fn off() -> RiskSettings {
        RiskSettings {
            max_open_trades: 0,
            max_open_trades_per_symbol: 0,
            max_trades_per_day: 0,
            daily_loss_limit: Decimal::ZERO,
            max_drawdown_percent: 0.0,
            ..RiskSettings::default()
        }
    }

    type Change<T> = (fn(&mut T), &'static str);

    #[test]
    fn each_limit_alone_is_said_of_all_bots() {
        let rows: [Change<RiskSettings>; 22] = [
            (|risk| risk.max_open_trades = 2, "2 open together"),
            (|risk| risk.max_open_trades_per_symbol = 2, "2 on a symbol"),
            (|risk| risk.max_trades_per_hour = 2, "2 an hour"),
            (|risk| risk.max_trades_per_day = 2, "2 a day"),
            (|risk| risk.daily_loss_limit = Decimal::TWO, "a day's loss 2"),
            (|risk| risk.daily_loss_limit_percent = 2.5, "a day's loss 2.5 %"),
            (|risk| risk.daily_profit_target = Decimal::TWO, "a day's profit 2"),
            (|risk| risk.daily_profit_target_percent = 2.5, "a day's profit 2.5 %"),
            (|risk| risk.session.loss_limit = Decimal::TWO, "a session's loss 2"),
            (|risk| risk.session.loss_limit_percent = 2.5, "a session's loss 2.5 %"),
            (|risk| risk.session.profit_target = Decimal::TWO, "a session's profit 2"),
            (|risk| risk.session.profit_target_percent = 2.5, "a session's profit 2.5 %"),
            (|risk| risk.max_drawdown_percent = 2.5, "drawdown 2.5 %"),
            (|risk| risk.max_loss_streak = 2, "2 losses in a row"),
            (|risk| risk.cooldown_after_loss_s = 2, "2 s of rest after a loss"),
            (
                |risk| (risk.cooldown_after_losses, risk.cooldown_after_losses_s) = (3, 60),
                "60 s of rest after 3 losses in a row",
            ),
            (|risk| risk.min_payout_percent = 80.0, "payout at least 80 %"),
            (|risk| risk.max_stake = Decimal::TWO, "stake at most 2"),
            (|risk| risk.max_stake_percent = 2.5, "stake at most 2.5 %"),
            (|risk| risk.enforce_verdict = true, "no trades without an edge"),
            (|risk| risk.day_start = "08:00".to_owned(), "days from 08:00 UTC"),
            (|_| (), "none: all are off"),
        ];
        for (change, expected) in rows {
            let mut risk = off();
            change(&mut risk);
            assert_eq!(limit_words(&risk), expected);
        }
    }

    #[test]
    fn each_limit_alone_is_said_of_one_bot() {
        let rows: [Change<BotLimitSettings>; 11] = [
            (|own| own.max_open_trades = 2, "2 open"),
            (|own| own.max_trades_per_day = 2, "2 a day"),
            (|own| own.daily_loss_limit = Decimal::TWO, "a day's loss 2"),
            (|own| own.daily_loss_limit_percent = 2.5, "a day's loss 2.5 %"),
            (|own| own.daily_profit_target = Decimal::TWO, "a day's profit 2"),
            (|own| own.daily_profit_target_percent = 2.5, "a day's profit 2.5 %"),
            (|own| own.session_loss_limit = Decimal::TWO, "a session's loss 2"),
            (|own| own.session_loss_limit_percent = 2.5, "a session's loss 2.5 %"),
            (|own| own.session_profit_target = Decimal::TWO, "a session's profit 2"),
            (|own| own.session_profit_target_percent = 2.5, "a session's profit 2.5 %"),
            (|own| own.max_loss_streak = 2, "2 losses in a row"),
        ];
        for (change, expected) in rows {
            let mut own = BotLimitSettings::default();
            change(&mut own);
            assert_eq!(bot_words("btc", &own), Some(format!("btc alone: {expected}")));
        }
        assert_eq!(bot_words("btc", &BotLimitSettings::default()), None);
    }

    #[test]
    fn each_limit_has_its_figure() {
        let pause = |after, of, for_s, scope| PauseSettings { after, of, for_s, scope };
        let hours = Hours {
            days: vec![Weekday::Mon, Weekday::Tue],
            from: "08:00".to_owned(),
            to: "17:00".to_owned(),
            timezone: "Europe/London".to_owned(),
        };
        let own = BotLimitSettings {
            max_trades_per_day: 5,
            daily_loss_limit: Decimal::from(30),
            ..BotLimitSettings::default()
        };
        let risk = RiskSettings {
            pauses: vec![
                pause(3, PauseCause::Losses, 600, PauseScope::Bot),
                pause(1, PauseCause::Wins, 0, PauseScope::All),
            ],
            hours: vec![hours],
            min_payout_percent_by_symbol: [("EURUSD".to_owned(), 80.0)].into(),
            best_payout_of: vec!["EURUSD".to_owned(), "GBPUSD".to_owned()],
            bots: [("btc".to_owned(), own)].into(),
            day_timezone: "Europe/Berlin".to_owned(),
            ..off()
        };
        let expected = "days from 00:00 Europe/Berlin, 600 s of rest after 3 losses in a row of a bot, rest until the day ends after 1 win in \
                        a row, of EURUSD at least 80 %, the best payout of EURUSD, GBPUSD, trades from 08:00 to 17:00 Europe/London mon tue, \
                        btc alone: 5 a day and a day's loss 30";
        assert_eq!(limit_words(&risk), expected.replace(", of EURUSD", ", payout of EURUSD"));
    }
}
