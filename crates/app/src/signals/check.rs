//! Dry run of a signal list: reports how each line would be interpreted.

use super::collect_entries;
use super::list::{EntryTime, LineOutcome, ListEntry, ListOptions, ParsedLine, SignalList, zone_label};
use super::refusals::ListRejections;
use crate::configuration::LoadedConfig;
use crate::error::AppError;
use candlewick_engine::{BotSettings, missing_dst_note};
use candlewick_history::{AssetType, expected_asset_type, is_currency_pair};
use candlewick_sdk::{Millis, Symbol};
use chrono::{DateTime, Datelike as _, Timelike as _, Weekday};
use chrono_tz::Tz;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// UTC hour at which currency markets open on Sunday in summer. In winter, they open one hour later.
const SUNDAY_OPEN_HOUR_UTC: u32 = 21;
const MARTINGALE_NOTE: &str = "martingale steps (gales) are ignored: the bot sets the stake";

pub struct CheckedLine {
    pub line: u64,
    pub text: String,
    pub usage: LineUsage,
}

pub enum LineUsage {
    Entry(CheckedEntry),
    Date,
    Remark(String),
    Repeats(u64),
    /// The line contradicts an earlier entry. The whole list is therefore rejected.
    Contradicts(String),
    Unknown(String),
}

#[derive(Debug, Serialize)]
pub struct CheckedEntry {
    pub when: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    pub bot: String,
    pub direction: String,
    pub close_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

pub struct CheckedList {
    pub lines: Vec<CheckedLine>,
    pub rejection_notice: Option<String>,
    pub bypass_notices: Vec<String>,
    /// Number of entries that can still open a trade. 0 if any two lines contradict each other.
    pub tradable_entries: usize,
    pub past_notice: Option<String>,
}

pub fn check_list(loaded: &LoadedConfig, path: &Path, now: Millis) -> Result<CheckedList, AppError> {
    let bots = &loaded.config.bots;
    let lines = SignalList::read_lines(path, bots, ListOptions::from_settings(&loaded.config.signals));
    let lines = lines.map_err(|problem| AppError::invalid(format!("{}: {problem}", path.display())))?;
    let entries = collect_entries(&lines);
    let refusals = ListRejections::find(loaded, &entries, now);
    let past_notice = describe_past_entries(&entries, now, loaded.config.sandbox.start.map(|start| start.0));
    let is_open = |entry: &ListEntry| {
        entry.time.fixed_time().is_none_or(|at| at > now)
            && !refusals.always_rejected_lines.contains(&entry.line)
    };
    let is_valid = !lines.iter().any(|line| matches!(line.outcome, LineOutcome::Contradicts(_)));
    let would_trade = entries.iter().filter(|(entry, _)| is_valid && is_open(entry)).count();
    let is_named = |place: usize| entries.iter().any(|(entry, _)| entry.bot.index() == place);
    let named = bots.iter().enumerate().filter(|(place, _)| is_named(*place));
    let bypass_notices = named.filter_map(|(_, bot)| describe_bypassed_settings(bot)).collect();
    let (mut zones, mut has_gale) = (Vec::new(), false);
    let lines = lines.into_iter().map(|line| {
        let is_first_gale = line.has_gale && !std::mem::replace(&mut has_gale, true);
        let mut checked = check_line(line, bots, &mut zones);
        if let LineUsage::Entry(entry) = &mut checked.usage {
            if is_first_gale {
                entry.add_note(MARTINGALE_NOTE);
            }
            if let Some(refused) = refusals.rejected_entries.get(&checked.line) {
                entry.add_note(&refused.reason);
            }
        }
        checked
    });
    let (lines, rejection_notice) = (lines.collect(), refusals.describe());
    Ok(CheckedList { lines, rejection_notice, bypass_notices, tradable_entries: would_trade, past_notice })
}

fn describe_past_entries(
    entries: &[(ListEntry, Tz)],
    now: Millis,
    sandbox: Option<Millis>,
) -> Option<String> {
    let moments = entries.iter().filter_map(|(entry, _)| entry.time.fixed_time());
    let past: Vec<Millis> = moments.filter(|at| *at <= now).collect();
    let (count, last) = (past.len(), *past.iter().max()?);
    let of_sandbox = sandbox.filter(|start| *start < last).map(|start| {
        let met = past.iter().filter(|at| start < **at).count();
        format!(
            "; `live --sandbox` starts at {} (sandbox.start), before {met} of these entries",
            EntryTime::Once(start).describe()
        )
    });
    Some(format!(
        "{count} of {} entries are in the past, the last at {}: a run that starts now skips these entries{}",
        entries.len(),
        EntryTime::Once(last).describe(),
        of_sandbox.unwrap_or_default()
    ))
}

impl CheckedEntry {
    fn add_note(&mut self, note: &str) {
        let known = self.note.take();
        self.note = Some(known.map_or_else(|| note.to_owned(), |known| format!("{known}; {note}")));
    }
}

fn check_line(line: ParsedLine, bots: &[BotSettings], zones: &mut Vec<Tz>) -> CheckedLine {
    let taken = match line.outcome {
        LineOutcome::Entry(entry, zone) => {
            let mut words = describe_entry(&entry, zone, bots);
            if !zones.contains(&zone) {
                zones.push(zone);
                if let Some(note) = missing_dst_note(zone.name()) {
                    words.add_note(note);
                }
            }
            LineUsage::Entry(words)
        }
        LineOutcome::Date => LineUsage::Date,
        LineOutcome::Expiry => LineUsage::Remark("default expiry for the lines below".to_owned()),
        LineOutcome::Zones(zones) => {
            let zones: Vec<String> = zones.into_iter().map(zone_label).collect();
            LineUsage::Remark(format!(
                "a time zone heading ({}), which must match signals.timezone at the time of each entry",
                zones.join(", ")
            ))
        }
        LineOutcome::Gale => LineUsage::Remark(MARTINGALE_NOTE.to_owned()),
        LineOutcome::Comment => LineUsage::Remark("a comment: remove the # to trade this entry".to_owned()),
        LineOutcome::Repeats(earlier) => LineUsage::Repeats(earlier),
        LineOutcome::Contradicts(problem) => LineUsage::Contradicts(problem),
        LineOutcome::Unknown(problem) => LineUsage::Unknown(problem),
    };
    CheckedLine { line: line.line, text: line.text, usage: taken }
}

fn describe_entry(entry: &ListEntry, zone: Tz, bots: &[BotSettings]) -> CheckedEntry {
    let bot = bots.get(entry.bot.index());
    let once = entry.time.fixed_time();
    CheckedEntry {
        when: entry.time.describe(),
        local: once.filter(|_| zone != Tz::UTC).and_then(|at| format_local(at, zone)),
        bot: bot.map_or_else(String::new, |bot| bot.name.clone()),
        direction: entry.direction.to_string(),
        close_type: entry.close_type.map(|own| own.to_string()),
        note: once.zip(bot).and_then(|(at, bot)| weekend_note(at, bot.symbol.as_str(), zone)),
    }
}

fn format_local(at: Millis, zone: Tz) -> Option<String> {
    let utc = DateTime::from_timestamp_millis(at.get())?;
    let local = utc.with_timezone(&zone);
    let day = if local.date_naive() == utc.date_naive() { "" } else { "%Y-%m-%d " };
    let seconds = if local.second() == 0 { "" } else { ":%S" };
    let form = format!("{day}%H:%M{seconds}");
    Some(format!("{} {}", local.format(&form), zone_label(zone)))
}

fn weekend_note(at: Millis, symbol: &str, zone: Tz) -> Option<String> {
    let name = Symbol::new(symbol).ok()?;
    let is_pair = is_currency_pair(name) && expected_asset_type(name) != AssetType::Otc;
    let time = DateTime::from_timestamp_millis(at.get()).filter(|_| is_pair)?;
    let day = match time.weekday() {
        Weekday::Sat => "Saturday",
        Weekday::Sun if time.hour() < SUNDAY_OPEN_HOUR_UTC => "Sunday",
        _ => return None,
    };
    let own = time.with_timezone(&zone);
    if own.weekday() == time.weekday() {
        return Some(format!("on {day}, the {symbol} market is closed"));
    }
    Some(format!("on {} ({day} in UTC), the {symbol} market is closed", own.format("%A")))
}

pub fn describe_bypassed_bot_settings(loaded: &LoadedConfig) -> Vec<String> {
    let signals = &loaded.config.signals;
    if signals.list.is_none() && signals.listen.is_none() && !signals.stdin {
        return Vec::new();
    }
    loaded.config.bots.iter().filter_map(describe_bypassed_settings).collect()
}

fn describe_bypassed_settings(bot: &BotSettings) -> Option<String> {
    if bot.strategy != "combine" {
        return None;
    }
    let params = &bot.params;
    let turns = params.get("invert").and_then(Value::as_bool) == Some(true);
    let has_filters = params.get("filters").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let own = bot.close_type.to_string();
    let expiry = params.get("expiry").and_then(Value::as_str).filter(|expiry| *expiry != own);
    let parts = [
        turns.then(|| "are not inverted (invert)".to_owned()),
        has_filters.then(|| "bypass the filters".to_owned()),
        expiry.map(|expiry| format!("use close_type ({own}) as the duration, not expiry ({expiry})")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let (last, before) = parts.split_last()?;
    let parts = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
    Some(format!("bot \"{}\": external signals {parts}", bot.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::{BaseLayer, Flag};
    use candlewick_sandbox::parse_time;

    const HOURS: &str = "[risk]\nhours = [{ from = \"10:00\", to = \"12:00\" }]\n";

    fn checked_list(settings: &str, list: &str, now: Millis) -> CheckedList {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = (folder.path().join("bot.toml"), folder.path().join("list.txt"));
        let bot = "[[bots]]\nname = \"eur\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"none\"\nclose_type = \"05:00\"\n\
                   stake = { kind = \"fixed\", amount = 1.0 }\n";
        std::fs::write(&file, format!("{bot}{settings}")).unwrap();
        std::fs::write(&path, list).unwrap();
        let loaded = LoadedConfig::read(&[file], BaseLayer::Bare, Vec::<Flag>::new()).unwrap();
        check_list(&loaded, &path, now).unwrap()
    }

    #[test]
    fn currency_pairs_are_closed_on_weekends() {
        // 2026-11-28 is a Saturday.
        for (time, symbol, expected) in [
            ("2026-11-28T14:00", "EURUSD", Some("on Saturday, the EURUSD market is closed")),
            ("2026-11-28T00:00", "EUR/USD", Some("on Saturday, the EUR/USD market is closed")),
            ("2026-11-29T20:59", "gbpjpy", Some("on Sunday, the gbpjpy market is closed")),
            ("2026-11-29T21:00", "EURUSD", None),
            ("2026-11-27T23:59", "EURUSD", None),
            ("2026-11-28T14:00", "EURUSD-OTC", None),
            ("2026-11-28T14:00", "BTCUSD", None),
            ("2026-11-28T14:00", "BTCUSDT", None),
            ("2026-11-28T14:00", "EU", None),
        ] {
            let note = weekend_note(parse_time(time).unwrap(), symbol, Tz::UTC);
            assert_eq!(note.as_deref(), expected, "{time} {symbol}");
        }
        // The local time is Friday 23:30 in Brazil.
        let friday = weekend_note(parse_time("2026-11-28T02:30").unwrap(), "EURUSD", Tz::America__Sao_Paulo);
        assert_eq!(friday.as_deref(), Some("on Friday (Saturday in UTC), the EURUSD market is closed"));
    }

    #[test]
    fn counts_past_entries_for_run_and_embedded_venue() {
        let list = "2026-01-05\nEURUSD 10:00 CALL\nEURUSD 11:00 PUT\nEURUSD 13:00 PUT\n";
        let now = parse_time("2026-01-05T12:00").unwrap();
        for (start, expected) in [
            ("", "skips these entries"),
            ("[sandbox]\nstart = \"2026-01-05T10:30:00Z\"\n", "(sandbox.start), before 1 of these entries"),
            ("[sandbox]\nstart = \"2026-01-05T11:30:00Z\"\n", "skips these entries"),
        ] {
            let past = checked_list(start, list, now).past_notice.unwrap();
            assert!(past.starts_with("2 of 3 entries are in the past") && past.ends_with(expected), "{past}");
        }
    }

    #[test]
    fn shows_common_notes_once() {
        let list = "26/11/2026\nEURUSD 10:00 CALL GALE 1\nEURUSD 10:15 PUT GALE 1\n";
        let (notes, _) = check("[signals]\ntimezone = \"EST\"\n", list);
        let [(2, note)] = notes.as_slice() else { panic!("{notes:?}") };
        assert!(note.contains("EST has no daylight") && note.contains("(gales) are ignored"), "{note}");
    }

    #[test]
    fn shows_moments_in_the_zone_of_the_list() {
        for (time, zone, expected) in [
            ("2026-11-27T13:48", "Europe/Berlin", "14:48 Europe/Berlin"),
            ("2026-11-27T23:48", "Europe/Berlin", "2026-11-28 00:48 Europe/Berlin"),
            ("2026-07-01T13:48:05", "Europe/Berlin", "15:48:05 Europe/Berlin"),
            ("2026-11-27T18:00", "Etc/GMT+3", "15:00 UTC-3"),
        ] {
            let words = format_local(parse_time(time).unwrap(), zone.parse().unwrap());
            assert_eq!(words.as_deref(), Some(expected));
        }
    }

    fn check(settings: &str, list: &str) -> (Vec<(u64, String)>, Option<String>) {
        let checked = checked_list(settings, list, Millis::ZERO);
        let notes = checked.lines.into_iter().filter_map(|line| match line.usage {
            LineUsage::Entry(entry) => Some((line.line, entry.note?)),
            _ => None,
        });
        (notes.collect(), checked.rejection_notice)
    }

    /// 1970-01-01 is a Thursday, so two days of the following week have no trading hours.
    #[test]
    fn daily_entry_trades_on_allowed_days() {
        let hours = "[risk]\nhours = [{ days = [\"mon-fri\"], from = \"08:00\", to = \"18:00\" }]\n[signals]\ntimezone = \"UTC\"\n";
        let list = "10:00 EURUSD CALL\n11:00 EURUSD PUT\n20:00 EURUSD CALL\n";
        let checked = checked_list(hours, list, Millis::ZERO);
        assert_eq!(checked.tradable_entries, 2);
        assert!(checked.rejection_notice.unwrap().starts_with("3 of 3 entries would be rejected"));
    }

    /// Calculated by hand: requested at 10:00:00, opened 2 s later, closed 5 min after that second, at 10:05:02.999.
    #[test]
    fn overlapping_entries_are_rejected() {
        let list = "27/11/2026\nEURUSD 09:55 CALL\nEURUSD 10:00 CALL\nEURUSD 10:05 CALL\nEURUSD 10:10 CALL\n\
                    EURUSD 10:12 PUT\nEURUSD 10:16 PUT\nEURUSD 12:00 CALL\n";
        let (notes, all) = check(HOURS, list);
        let [one, opposite] = ["(max_open_trades_per_symbol = 1)", "(allow_opposite = false)"];
        let expected = [
            (2, "rejected: outside risk.hours".to_owned()),
            (4, format!("rejected: the BUY trade of line 3 is open until 10:05:02 {one}")),
            (6, format!("rejected: the BUY trade of line 5 is open until 10:15:02 {opposite}")),
            (8, "rejected: outside risk.hours".to_owned()),
        ];
        assert_eq!(notes, expected);
        let all = all.unwrap();
        assert!(all.starts_with("4 of 7 entries would be rejected by the current configuration: "), "{all}");
        for part in ["2 outside risk.hours", "1 while a trade of an earlier"] {
            assert!(all.contains(part), "{all}");
        }
        let hint = "; max_open_trades_per_symbol = 2 would allow overlaps in the same direction";
        assert!(all.ends_with(hint), "{all}");
        let list = "27/11/2026\nEURUSD 10:00 CALL\nEURUSD 10:05 CALL\n";
        assert_eq!(check("[risk]\nmax_open_trades_per_symbol = 2\n", list).0, []);
    }

    #[test]
    fn daily_entries_are_described_in_their_zone() {
        let zone = "[signals]\ntimezone = \"America/Sao_Paulo\"\n";
        let (notes, all) = check(zone, "EURUSD 10:00 CALL\nEURUSD 10:05 CALL\nEURUSD 10:10 CALL M1\n");
        let one = "rejected: the BUY trade of line 1 is open until 10:05:02 (max_open_trades_per_symbol = 1)";
        assert_eq!(notes, [(2, one.to_owned())]);
        assert!(all.unwrap().starts_with("1 of 3 entries"));
        assert_eq!(check(zone, "EURUSD 10:00 CALL M1\nEURUSD 10:05 CALL\n"), (Vec::new(), None));
    }
}
