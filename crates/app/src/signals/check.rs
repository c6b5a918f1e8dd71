//! Dry run of a signal list: how each line would be read.

use super::entries_of;
use super::list::{ListEntry, ListTerms, ReadLine, SignalList, Taken, When, zone_words};
use super::refusals::ListRefusals;
use crate::configuration::Loaded;
use crate::error::AppError;
use candlewick_engine::{BotSettings, without_summer_time};
use candlewick_history::{AssetType, asset_type_of, is_currency_pair};
use candlewick_sdk::{Millis, Symbol};
use chrono::{DateTime, Datelike as _, Timelike as _, Weekday};
use chrono_tz::Tz;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// UTC hour at which markets open on Sunday in summer; in winter it is one hour later.
const SUNDAY_OPENS: u32 = 21;

pub struct CheckedLine {
    /// 1-based.
    pub line: u64,
    pub text: String,
    pub taken: LineUse,
}

pub enum LineUse {
    Entry(TakenEntry),
    Date,
    Remark(String),
    Repeats(u64),
    /// Contradicts an earlier entry, so the whole list is rejected.
    Contradicts(String),
    Unknown(String),
}

#[derive(Debug, Serialize)]
pub struct TakenEntry {
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
    pub refused: Option<String>,
    pub unbound: Vec<String>,
    /// Number of entries neither past nor always rejected; 0 if the list contradicts itself.
    pub would_trade: usize,
    pub past: Option<String>,
}

pub fn check_list(loaded: &Loaded, path: &Path, now: Millis) -> Result<CheckedList, AppError> {
    let bots = &loaded.config.bots;
    let lines = SignalList::lines(path, bots, ListTerms::of(&loaded.config.signals));
    let lines = lines.map_err(|problem| AppError::invalid(format!("{}: {problem}", path.display())))?;
    let entries = entries_of(&lines);
    let refusals = ListRefusals::of(loaded, &entries, now);
    let past = past_words(&entries, now, loaded.config.sandbox.start.map(|start| start.0));
    let is_open = |entry: &ListEntry| {
        entry.when.once().is_none_or(|at| at > now) && !refusals.never.contains(&entry.line)
    };
    let is_taken = !lines.iter().any(|line| matches!(line.taken, Taken::Contradicts(_)));
    let would_trade = entries.iter().filter(|(entry, _)| is_taken && is_open(entry)).count();
    let is_named = |place: usize| entries.iter().any(|(entry, _)| entry.bot.index() == place);
    let named = bots.iter().enumerate().filter(|(place, _)| is_named(*place));
    let unbound = named.filter_map(|(_, bot)| unbound_parts(bot)).collect();
    let (mut zones, mut has_gale) = (Vec::new(), false);
    let checked = lines.into_iter().map(|line| {
        let is_first_gale = line.has_gale && !std::mem::replace(&mut has_gale, true);
        let mut checked = checked(line, bots, &mut zones);
        if let LineUse::Entry(entry) = &mut checked.taken {
            if is_first_gale {
                entry.add_note("its gale is passed over, as all are: the stake is the bot's own");
            }
            if let Some(refused) = refusals.refused.get(&checked.line) {
                entry.add_note(&refused.words);
            }
        }
        checked
    });
    Ok(CheckedList { lines: checked.collect(), refused: refusals.words(), unbound, would_trade, past })
}

fn past_words(entries: &[(ListEntry, Tz)], now: Millis, sandbox: Option<Millis>) -> Option<String> {
    let moments = entries.iter().filter_map(|(entry, _)| entry.when.once());
    let past: Vec<Millis> = moments.filter(|at| *at <= now).collect();
    let (count, last) = (past.len(), *past.iter().max()?);
    let of_sandbox = sandbox.filter(|start| *start < last).map(|start| {
        let met = past.iter().filter(|at| start < **at).count();
        format!(
            "; `live --sandbox` begins at {} (sandbox.start), where {met} of them {} to come",
            When::Once(start).words(),
            if met == 1 { "is" } else { "are" }
        )
    });
    Some(format!(
        "{count} of {} entries are past, the last of {}: a run that begins now trades none of them{}",
        entries.len(),
        When::Once(last).words(),
        of_sandbox.unwrap_or_default()
    ))
}

impl TakenEntry {
    fn add_note(&mut self, note: &str) {
        let known = self.note.take();
        self.note = Some(known.map_or_else(|| note.to_owned(), |known| format!("{known}; {note}")));
    }
}

fn checked(line: ReadLine, bots: &[BotSettings], zones: &mut Vec<Tz>) -> CheckedLine {
    let taken = match line.taken {
        Taken::Entry(entry, zone) => {
            let mut words = words_of(&entry, zone, bots);
            if !zones.contains(&zone) {
                zones.push(zone);
                if let Some(note) = without_summer_time(zone.name()) {
                    words.add_note(note);
                }
            }
            LineUse::Entry(words)
        }
        Taken::Date => LineUse::Date,
        Taken::Expiry => LineUse::Remark("the expiry of the lines below that have none".to_owned()),
        Taken::Zones(zones) => {
            let zones: Vec<String> = zones.into_iter().map(zone_words).collect();
            LineUse::Remark(format!(
                "a heading, {}: taken is what signals.timezone has at the same moment",
                zones.join(", ")
            ))
        }
        Taken::Gale => LineUse::Remark("gales are passed over: the stake is the bot's own".to_owned()),
        Taken::Comment => {
            LineUse::Remark("a comment, and no entry: without the # it might be one".to_owned())
        }
        Taken::Repeats(earlier) => LineUse::Repeats(earlier),
        Taken::Contradicts(problem) => LineUse::Contradicts(problem),
        Taken::Unknown(problem) => LineUse::Unknown(problem),
    };
    CheckedLine { line: line.line, text: line.text, taken }
}

fn words_of(entry: &ListEntry, zone: Tz, bots: &[BotSettings]) -> TakenEntry {
    let bot = bots.get(entry.bot.index());
    let once = entry.when.once();
    TakenEntry {
        when: entry.when.words(),
        local: once.filter(|_| zone != Tz::UTC).and_then(|at| local_words(at, zone)),
        bot: bot.map_or_else(String::new, |bot| bot.name.clone()),
        direction: entry.direction.to_string(),
        close_type: entry.close_type.map(|own| own.to_string()),
        note: once.zip(bot).and_then(|(at, bot)| closed_note(at, bot.symbol.as_str(), zone)),
    }
}

fn local_words(at: Millis, zone: Tz) -> Option<String> {
    let utc = DateTime::from_timestamp_millis(at.get())?;
    let local = utc.with_timezone(&zone);
    let day = if local.date_naive() == utc.date_naive() { "" } else { "%Y-%m-%d " };
    let seconds = if local.second() == 0 { "" } else { ":%S" };
    let form = format!("{day}%H:%M{seconds}");
    Some(format!("{} {}", local.format(&form), zone_words(zone)))
}

fn closed_note(at: Millis, symbol: &str, zone: Tz) -> Option<String> {
    let name = Symbol::new(symbol).ok()?;
    let is_pair = is_currency_pair(name) && asset_type_of(name) != AssetType::Otc;
    let time = DateTime::from_timestamp_millis(at.get()).filter(|_| is_pair)?;
    let day = match time.weekday() {
        Weekday::Sat => "Saturday",
        Weekday::Sun if time.hour() < SUNDAY_OPENS => "Sunday",
        _ => return None,
    };
    let own = time.with_timezone(&zone);
    if own.weekday() == time.weekday() {
        return Some(format!("a {day}: {symbol} is closed"));
    }
    Some(format!("{}, which is {day} in UTC: {symbol} is closed", own.format("%A")))
}

pub fn unbound_signals(loaded: &Loaded) -> Vec<String> {
    let signals = &loaded.config.signals;
    if signals.list.is_none() && signals.listen.is_none() && !signals.stdin {
        return Vec::new();
    }
    loaded.config.bots.iter().filter_map(unbound_parts).collect()
}

/// Describes the parts of a combination that external signals bypass: inversion, filters and expiry.
fn unbound_parts(bot: &BotSettings) -> Option<String> {
    if bot.strategy != "combine" {
        return None;
    }
    let params = &bot.params;
    let turns = params.get("invert").and_then(Value::as_bool) == Some(true);
    let has_filters = params.get("filters").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
    let own = bot.close_type.to_string();
    let expiry = params.get("expiry").and_then(Value::as_str).filter(|expiry| *expiry != own);
    let parts = [
        turns.then(|| "are not turned round (invert)".to_owned()),
        has_filters.then(|| "pass its filters unasked".to_owned()),
        expiry.map(|expiry| format!("last {own} (close_type), not {expiry} (expiry)")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let (last, before) = parts.split_last()?;
    let parts = if before.is_empty() { last.clone() } else { format!("{} and {last}", before.join(", ")) };
    Some(format!("bot \"{}\": signals from outside {parts}", bot.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::{Base, Flag};
    use candlewick_sandbox::parse_time;

    const HOURS: &str = "[risk]\nhours = [{ from = \"10:00\", to = \"12:00\" }]\n";

    fn checked_list(settings: &str, list: &str, now: Millis) -> CheckedList {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = (folder.path().join("bot.toml"), folder.path().join("list.txt"));
        let bot = "[[bots]]\nname = \"eur\"\nsymbol = \"EURUSD\"\ninterval = \"1m\"\nstrategy = \"none\"\nclose_type = \"05:00\"\n\
                   stake = { kind = \"fixed\", amount = 1.0 }\n";
        std::fs::write(&file, format!("{bot}{settings}")).unwrap();
        std::fs::write(&path, list).unwrap();
        let loaded = Loaded::read(&[file], Base::Bare, Vec::<Flag>::new()).unwrap();
        check_list(&loaded, &path, now).unwrap()
    }

    #[test]
    fn a_pair_of_currencies_is_closed_from_saturday_to_sunday_evening() {
        // 2026-11-28 is a Saturday.
        for (time, symbol, expected) in [
            ("2026-11-28T14:00", "EURUSD", Some("a Saturday: EURUSD is closed")),
            ("2026-11-28T00:00", "EUR/USD", Some("a Saturday: EUR/USD is closed")),
            ("2026-11-29T20:59", "gbpjpy", Some("a Sunday: gbpjpy is closed")),
            ("2026-11-29T21:00", "EURUSD", None),
            ("2026-11-27T23:59", "EURUSD", None),
            ("2026-11-28T14:00", "EURUSD-OTC", None),
            ("2026-11-28T14:00", "BTCUSD", None),
            ("2026-11-28T14:00", "BTCUSDT", None),
            ("2026-11-28T14:00", "EU", None),
        ] {
            let note = closed_note(parse_time(time).unwrap(), symbol, Tz::UTC);
            assert_eq!(note.as_deref(), expected, "{time} {symbol}");
        }
        // 23:30 of a Friday in Brazil.
        let friday = closed_note(parse_time("2026-11-28T02:30").unwrap(), "EURUSD", Tz::America__Sao_Paulo);
        assert_eq!(friday.as_deref(), Some("Friday, which is Saturday in UTC: EURUSD is closed"));
    }

    #[test]
    fn what_is_past_for_a_run_and_to_come_for_the_embedded_venue_is_told() {
        let list = "2026-01-05\nEURUSD 10:00 CALL\nEURUSD 11:00 PUT\nEURUSD 13:00 PUT\n";
        let now = parse_time("2026-01-05T12:00").unwrap();
        for (start, expected) in [
            ("", "trades none of them"),
            ("[sandbox]\nstart = \"2026-01-05T10:30:00Z\"\n", "(sandbox.start), where 1 of them is to come"),
            ("[sandbox]\nstart = \"2026-01-05T11:30:00Z\"\n", "trades none of them"),
        ] {
            let past = checked_list(start, list, now).past.unwrap();
            assert!(past.starts_with("2 of 3 entries are past") && past.ends_with(expected), "{past}");
        }
    }

    #[test]
    fn a_note_that_holds_for_all_lines_is_said_once() {
        let list = "26/11/2026\nEURUSD 10:00 CALL GALE 1\nEURUSD 10:15 PUT GALE 1\n";
        let (notes, _) = check("[signals]\ntimezone = \"EST\"\n", list);
        let [(2, note)] = notes.as_slice() else { panic!("{notes:?}") };
        assert!(
            note.contains("EST has no summer time") && note.contains("its gale is passed over"),
            "{note}"
        );
    }

    #[test]
    fn a_moment_is_shown_on_the_clock_that_it_was_written_by() {
        for (time, zone, expected) in [
            ("2026-11-27T13:48", "Europe/Berlin", "14:48 Europe/Berlin"),
            ("2026-11-27T23:48", "Europe/Berlin", "2026-11-28 00:48 Europe/Berlin"),
            ("2026-07-01T13:48:05", "Europe/Berlin", "15:48:05 Europe/Berlin"),
            ("2026-11-27T18:00", "Etc/GMT+3", "15:00 UTC-3"),
        ] {
            let words = local_words(parse_time(time).unwrap(), zone.parse().unwrap());
            assert_eq!(words.as_deref(), Some(expected));
        }
    }

    fn check(settings: &str, list: &str) -> (Vec<(u64, String)>, Option<String>) {
        let checked = checked_list(settings, list, Millis::ZERO);
        let notes = checked.lines.into_iter().filter_map(|line| match line.taken {
            LineUse::Entry(entry) => Some((line.line, entry.note?)),
            _ => None,
        });
        (notes.collect(), checked.refused)
    }

    /// 1970-01-01 is a Thursday: of the week ahead two days have no hours.
    #[test]
    fn an_entry_of_each_day_that_some_days_refuse_would_trade_on_the_others() {
        let hours = "[risk]\nhours = [{ days = [\"mon-fri\"], from = \"08:00\", to = \"18:00\" }]\n[signals]\ntimezone = \"UTC\"\n";
        let list = "10:00 EURUSD CALL\n11:00 EURUSD PUT\n20:00 EURUSD CALL\n";
        let checked = checked_list(hours, list, Millis::ZERO);
        assert_eq!(checked.would_trade, 2);
        assert!(checked.refused.unwrap().starts_with("3 of 3 entries would be refused"));
    }

    /// By hand: asked for at 10:00:00, at the venue two seconds later, at the end of that second, for five minutes: 10:05:02.999.
    #[test]
    fn of_entries_five_minutes_apart_every_second_one_meets_the_trade_before_it() {
        let list = "27/11/2026\nEURUSD 09:55 CALL\nEURUSD 10:00 CALL\nEURUSD 10:05 CALL\nEURUSD 10:10 CALL\n\
                    EURUSD 10:12 PUT\nEURUSD 10:16 PUT\nEURUSD 12:00 CALL\n";
        let (notes, all) = check(HOURS, list);
        let one = "(max_open_trades_per_symbol = 1)";
        let expected = [
            (2, "refused: outside of risk.hours".to_owned()),
            (4, format!("refused: the BUY of line 3 runs until 10:05:02 {one}")),
            (6, "refused: the BUY of line 5 runs until 10:15:02 (allow_opposite = false)".to_owned()),
            (8, "refused: outside of risk.hours".to_owned()),
        ];
        assert_eq!(notes, expected);
        let all = all.unwrap();
        assert!(all.starts_with("4 of 7 entries would be refused as the configuration stands: "), "{all}");
        for part in ["2 outside of risk.hours", "1 while a trade of an earlier"] {
            assert!(all.contains(part), "{all}");
        }
        let cure = "; max_open_trades_per_symbol = 2 would let those of one direction be open together";
        assert!(all.ends_with(cure), "{all}");
        let list = "27/11/2026\nEURUSD 10:00 CALL\nEURUSD 10:05 CALL\n";
        assert_eq!(check("[risk]\nmax_open_trades_per_symbol = 2\n", list).0, []);
    }

    #[test]
    fn entries_of_each_day_are_told_on_their_clock() {
        let zone = "[signals]\ntimezone = \"America/Sao_Paulo\"\n";
        let (notes, all) = check(zone, "EURUSD 10:00 CALL\nEURUSD 10:05 CALL\nEURUSD 10:10 CALL M1\n");
        let words = "refused: the BUY of line 1 runs until 10:05:02 (max_open_trades_per_symbol = 1)";
        assert_eq!(notes, [(2, words.to_owned())]);
        assert!(all.unwrap().starts_with("1 of 3 entries"));
        assert_eq!(check(zone, "EURUSD 10:00 CALL M1\nEURUSD 10:05 CALL\n"), (Vec::new(), None));
    }
}
