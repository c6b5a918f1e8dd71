//! What somebody may have meant by a setting that does not exist: other programs have other names for the same things.

use super::KeyPath;
use super::elsewhere::{HOURS_OF_ONE_BOT, LIMIT_OF_ONE_BOT, is_of_one_bot};
use crate::suggestion::suggest;
use candlewick_sdk::{OwnSetting, setting_of_other_programs};

/// Names by which traders know a setting of one section alone, and its own.
const OF_ONE_SECTION: [(&str, &str); 20] = [
    ("stop_loss", "loss_limit"),
    ("stop_win", "profit_target"),
    ("take_profit", "profit_target"),
    ("stop_gain", "profit_target"),
    ("stop_loss_percent", "loss_limit_percent"),
    ("stop_win_percent", "profit_target_percent"),
    ("timezone", "day_timezone"),
    ("expiry", "close_type"),
    ("expiration", "close_type"),
    ("duration", "close_type"),
    ("period", "params"),
    ("length", "params"),
    ("percent", "stake"),
    ("multiplier", "factor"),
    ("steps", "levels"),
    ("gales", "levels"),
    ("balance", "initial_balance"),
    ("type", "mode"),
    ("secret", "secret_file"),
    ("port", "listen"),
];
/// Sections in which keys of other programs that trade may be written.
const OF_TRADING: [&str; 5] = ["account.", "bots[", "broker.", "risk.", "simulation."];
/// As many keys that share a word are named at most.
const MOST_NAMED: usize = 8;
/// All that there are are listed where they are at most so many.
const MOST_LISTED: usize = 24;

/// What is meant by a key that has another name elsewhere, among those that there are here.
pub(super) fn of_another_program(key: &str, known: &[&str]) -> Option<String> {
    let plain = key.to_lowercase().replace('-', "_");
    let is_known = |(other, own): &&(&str, &str)| *other == plain && known.contains(own);
    if let Some((_, own)) = OF_ONE_SECTION.iter().find(is_known) {
        // A window of hours has a zone of its own.
        let of_hours = if plain == "timezone" { ", or the timezone of an entry of hours" } else { "" };
        return Some(format!("did you mean \"{own}\"{of_hours}?"));
    }
    match setting_of_other_programs(key)? {
        OwnSetting::Key { written, .. } => {
            let own = name_in(written);
            known.contains(&own).then(|| format!("did you mean \"{own}\", as {written}?"))
        }
        OwnSetting::None(_) => None,
    }
}

/// What is meant by a key that has another name in another section, or that nothing here stands for.
pub(super) fn of_another_section(path: &KeyPath, key: &str, limits_of_bots: &[&str]) -> Option<String> {
    let place = path.to_string();
    // A channel of alerts has a token and a password of its own.
    if place != key && !OF_TRADING.iter().any(|section| place.starts_with(section)) {
        return None;
    }
    let (section, written) = match setting_of_other_programs(key)? {
        OwnSetting::Key { section, written } => (section, written),
        OwnSetting::None(why) => return Some(why.to_owned()),
    };
    let own = name_in(written);
    let ends = match own {
        "daily_loss_limit" | "daily_profit_target" => "a fixed-time trade ends by its time alone; ",
        _ => "",
    };
    Some(match section {
        "bots" => format!("it stands with each bot, in its section [[bots]]: {written}"),
        "risk" if place.starts_with("bots[") && limits_of_bots.contains(&own) => {
            format!("{ends}{LIMIT_OF_ONE_BOT}: {written}")
        }
        "risk" if own == "hours" && is_of_one_bot(path) => HOURS_OF_ONE_BOT.to_owned(),
        _ => format!("{ends}it stands below [{section}]: {written}"),
    })
}

/// The key of what is written.
fn name_in(written: &str) -> &str {
    written.split(" = ").next().unwrap_or_default()
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
            ("daily_stop", "did you mean \"daily_loss_limit\", as daily_loss_limit = 50.0?"),
            ("Stop-Win", "did you mean \"daily_profit_target\", as daily_profit_target = 50.0?"),
            ("max_losses", "did you mean \"max_loss_streak\", as max_loss_streak = 3?"),
            (
                "pause_after_losses",
                "did you mean \"pauses\", as pauses = [{ after = 3, of = \"losses\", for_s = 3600, scope = \"bot\" }]?",
            ),
            (
                "stop_after_losses",
                "did you mean \"pauses\", as pauses = [{ after = 3, of = \"losses\", for_s = 3600, scope = \"bot\" }]?",
            ),
            (
                "stop_loss_percent",
                "did you mean \"daily_loss_limit_percent\", as daily_loss_limit_percent = 5.0?",
            ),
            ("daily_los_limit", "did you mean \"daily_loss_limit\"?"),
            ("loss", "near are: daily_loss_limit, daily_loss_limit_percent, max_loss_streak"),
            (
                "entry_delay",
                "known are: daily_loss_limit, daily_loss_limit_percent, daily_profit_target, max_loss_streak, pauses, hours",
            ),
        ] {
            assert_eq!(meant_key(key, &risk), expected, "{key}");
        }
        let trades = ["max_open_trades", "max_trades_per_hour", "max_trades_per_day"];
        assert_eq!(
            meant_key("max_daily_trades", &trades),
            "did you mean \"max_trades_per_day\", as max_trades_per_day = 10?"
        );
        assert_eq!(
            meant_key("stop_win", &["loss_limit", "profit_target"]),
            "did you mean \"profit_target\"?"
        );
    }
}
