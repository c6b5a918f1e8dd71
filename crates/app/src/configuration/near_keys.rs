//! What somebody may have meant by a setting that does not exist: other programs have other names for the same things.

use crate::suggestion::suggest;

/// Names by which traders know a setting, and its own. Those of one name are in the order in which they are tried.
const OTHER_NAMES: [(&str, &str); 47] = [
    ("daily_stop", "daily_loss_limit"),
    ("daily_stop_loss", "daily_loss_limit"),
    ("max_daily_loss", "daily_loss_limit"),
    ("stop_loss", "daily_loss_limit"),
    ("stop_loss", "loss_limit"),
    ("daily_stop_win", "daily_profit_target"),
    ("daily_take_profit", "daily_profit_target"),
    ("daily_target", "daily_profit_target"),
    ("stop_win", "daily_profit_target"),
    ("stop_win", "profit_target"),
    ("take_profit", "daily_profit_target"),
    ("take_profit", "profit_target"),
    ("stop_gain", "daily_profit_target"),
    ("stop_gain", "profit_target"),
    ("max_losses", "max_loss_streak"),
    ("max_consecutive_losses", "max_loss_streak"),
    ("max_drawdown", "max_drawdown_percent"),
    ("max_trades", "max_trades_per_day"),
    ("min_payout", "min_payout_percent"),
    ("payout_min", "min_payout_percent"),
    ("timezone", "day_timezone"),
    ("trading_hours", "hours"),
    ("pause", "pauses"),
    ("delay", "entry_delay_s"),
    ("entry_delay", "entry_delay_s"),
    ("expiry", "close_type"),
    ("expiration", "close_type"),
    ("duration", "close_type"),
    ("timeframe", "interval"),
    ("asset", "symbol"),
    ("pair", "symbol"),
    ("ticker", "symbol"),
    ("tf", "interval"),
    ("expiry_time", "close_type"),
    ("inputs", "params"),
    ("settings", "params"),
    ("lot", "stake"),
    ("size", "stake"),
    ("multiplier", "factor"),
    ("steps", "levels"),
    ("gales", "levels"),
    ("parameters", "params"),
    ("gale", "stake"),
    ("martingale", "stake"),
    ("amount", "stake"),
    ("secret", "secret_file"),
    ("port", "listen"),
];
/// As many keys that share a word are named at most.
const MOST_NAMED: usize = 8;
/// All that there are are listed where they are at most so many.
const MOST_LISTED: usize = 24;

/// What is meant by a key that has another name elsewhere.
pub(super) fn of_another_program(key: &str, known: &[&str]) -> Option<String> {
    let plain = key.to_lowercase().replace('-', "_");
    let is_known = |(other, own): &&(&str, &str)| *other == plain && known.contains(own);
    let (_, own) = OTHER_NAMES.iter().find(is_known)?;
    // A window of hours has a zone of its own.
    let of_hours = if plain == "timezone" { ", or the timezone of an entry of hours" } else { "" };
    Some(format!("did you mean \"{own}\"{of_hours}?"))
}

/// What may be meant by a key among those that there are: one that is spelt alike, has another name elsewhere, or shares a word.
pub(super) fn meant_key(key: &str, known: &[&str]) -> String {
    let spelt_alike = suggest(key, known.iter().copied());
    if spelt_alike.ends_with('?') {
        return spelt_alike;
    }
    if let Some(meant) = of_another_program(key, known) {
        return meant;
    }
    let plain = key.to_lowercase().replace('-', "_");
    let words = |name: &str| name.split('_').map(str::to_owned).collect::<Vec<_>>();
    let own = words(&plain);
    let shares = |known: &&&str| words(known).iter().any(|word| word.len() > 2 && own.contains(word));
    let near: Vec<&str> = known.iter().filter(shares).copied().collect();
    if near.is_empty() || near.len() > MOST_NAMED {
        if known.len() > MOST_LISTED {
            return "`candlewick config show` lists those that there are".to_owned();
        }
        return spelt_alike;
    }
    format!("near are: {}", near.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_another_program_is_answered_with_ours() {
        let risk = [
            "daily_loss_limit",
            "daily_loss_limit_percent",
            "daily_profit_target",
            "max_loss_streak",
            "pauses",
            "hours",
        ];
        for (key, expected) in [
            ("daily_stop", "did you mean \"daily_loss_limit\"?"),
            ("Stop-Win", "did you mean \"daily_profit_target\"?"),
            ("max_losses", "did you mean \"max_loss_streak\"?"),
            ("daily_los_limit", "did you mean \"daily_loss_limit\"?"),
            ("loss", "near are: daily_loss_limit, daily_loss_limit_percent, max_loss_streak"),
            (
                "entry_delay",
                "known are: daily_loss_limit, daily_loss_limit_percent, daily_profit_target, max_loss_streak, pauses, hours",
            ),
        ] {
            assert_eq!(meant_key(key, &risk), expected, "{key}");
        }
        assert_eq!(
            meant_key("stop_win", &["loss_limit", "profit_target"]),
            "did you mean \"profit_target\"?"
        );
    }
}
