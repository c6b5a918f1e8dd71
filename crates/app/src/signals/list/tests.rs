//! Lists in common notations, large lists across clock changes, and rejected lists.

mod channels;
mod chats;
mod contradictions;
mod hints;

use super::entry::EntryTime;
use super::*;
use candlewick_sandbox::parse_time;
use candlewick_sdk::CloseType;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::Range;

const ZONES: [&str; 3] = ["Europe/Berlin", "America/New_York", "UTC"];

fn bots() -> Vec<BotSettings> {
    let bot = |name: &str, symbol: &str| {
        let section = serde_json::json!({
            "name": name, "symbol": symbol, "interval": "1m", "strategy": "coin", "close_type": "01:00"
        });
        serde_json::from_value(section).unwrap()
    };
    vec![bot("btc", "BTCUSDT"), bot("eur", "EURUSD"), bot("eur2", "EURUSD")]
}

fn terms(zone: &str) -> ListOptions {
    ListOptions { zone: zone.parse().unwrap(), date_order: None, skip_unknown: false }
}

fn list(text: &str) -> Result<SignalList, String> {
    SignalList::parse(text, &bots(), terms("Europe/Berlin"))
}

fn at(text: &str) -> Millis {
    parse_time(text).unwrap()
}

#[test]
fn rejects_the_whole_file_and_names_the_invalid_line() {
    for (rows, expected) in [
        ("10:30,unlisted,,BUY,,,", "line 2: unknown bot \"unlisted\"; the bots are btc, eur, eur2"),
        ("10:30,,EURUSD,BUY,,,", "line 2: several bots trade \"EURUSD\""),
        ("10:30,,XRPUSDT,BUY,,,", "line 2: no bot trades \"XRPUSDT\""),
        ("10:30,btc,EURUSD,BUY,,,", "line 2: bot btc trades BTCUSDT, not \"EURUSD\""),
        ("10:30,,,BUY,,,", "line 2: neither bot nor symbol is named"),
        ("10:30,btc,,HOLD,,,", "line 2: \"HOLD\" is not a direction: use BUY, CALL or UP"),
        ("10:30,btc,,BUY,M90,,", "line 2: \"M90\" is not a duration code"),
        ("25:30,btc,,BUY,,,", "line 2: \"25:30\" is not a time"),
        ("1767609060,btc,,BUY,,,", "line 2: 1767609060 is not a time: numbers are milliseconds"),
        ("2026-01-05,btc,,BUY,,,", "line 2: \"2026-01-05\" is not a time"),
        ("2026-03-29 02:30,btc,,BUY,,,", "line 2: 2026-03-29 02:30 does not exist in Europe/Berlin"),
        ("10:30,btc,,BUY,,someday,", "line 2: \"someday\" is not a day"),
        ("2026-01-05 10:30,btc,,BUY,,mon,", "line 2: days apply to a time of day"),
        ("10:30,btc,,BUY,,,Berlin", "line 2: unknown time zone \"Berlin\""),
        ("10:30,btc,,BUY,1:00,,", "line 2: "),
        ("10:30,btc,,BUY,,,,,", "line 2: more columns than in the header"),
        ("10:30,btc,,BUY,,,\n10:31,btc,,BUY,,,\n10:30,btc,,SELL,,sun,", "line 4: line 2 asks btc for a diff"),
        ("2026-01-05 11:30,btc,,BUY,,,\n2026-01-05T10:30:00Z,btc,,SELL,,,", "line 3: line 2 asks btc"),
    ] {
        let problem = list(&format!("time,bot,symbol,direction,close_type,days,zone\n{rows}\n")).unwrap_err();
        assert!(problem.starts_with(expected), "{rows}: {problem}");
    }
    assert!(list("").unwrap_err().starts_with("the list is empty"));
    for header in ["time,bot", "time,bot,direction,stake", "symbol;10:00"] {
        let problem = list(&format!("{header}\n")).unwrap_err();
        assert!(problem.starts_with("the first line must name the columns"), "{problem}");
    }
    let twice = "time,bot,direction,days\n10:30,btc,BUY,mon\n10:30,btc,SELL,tue\n10:30,eur,BUY,\n";
    assert_eq!(list(twice).unwrap().len(), 3, "other days, and other bots");
}

/// 300 daily entries about five minutes apart, alternating between three zones and two bots.
fn build_300_entries() -> String {
    let mut text = "time,bot,direction,zone\n".to_owned();
    for number in 0..300 {
        let minute = number * 24 * 60 / 300 + number % 3;
        let (bot, direction) = (["btc", "eur"][number % 2], ["BUY", "SELL"][number % 5 % 2]);
        let zone = ZONES[number % 3];
        writeln!(text, "{:02}:{:02},{bot},{direction},{zone}", minute / 60, minute % 60).unwrap();
    }
    text
}

/// Returns the expected times of the entries, derived from the published UTC offsets of the zones.
fn by_minutes(list: &SignalList, from: Millis, to: Millis) -> BTreeSet<(Millis, u64)> {
    let mut expected = BTreeSet::new();
    for zone in ZONES {
        let (mut first_of, mut moment) = (BTreeMap::new(), from - Millis::DAY * 2);
        let summer = summer_time(zone);
        while moment <= to {
            let hours = if summer.1.contains(&moment) { summer.0 + 1 } else { summer.0 };
            let local = moment + Millis::from_seconds(hours * 3_600);
            first_of.entry(local).or_insert(moment);
            moment += Millis::MINUTE;
        }
        for (local, moment) in first_of.into_iter().filter(|(_, moment)| *moment > from) {
            let time = DateTime::from_timestamp_millis(local.get()).unwrap().time();
            let is_due = |entry: &&ListEntry| matches!(entry.time, EntryTime::Daily(daily) if (daily.time, daily.zone.name()) == (time, zone));
            expected.extend(list.entries.iter().filter(is_due).map(|entry| (moment, entry.line)));
        }
    }
    expected
}

/// Returns a zone's winter UTC offset in hours, and its summer time in 2026 (one hour more).
fn summer_time(zone: &str) -> (i64, Range<Millis>) {
    match zone {
        "Europe/Berlin" => (1, at("2026-03-29T01:00")..at("2026-10-25T01:00")),
        "America/New_York" => (-5, at("2026-03-08T07:00")..at("2026-11-01T06:00")),
        _ => (0, Millis::ZERO..Millis::ZERO),
    }
}

#[test]
fn entries_are_due_in_their_zones_across_clock_changes() {
    let list = list(&build_300_entries()).unwrap();
    assert_eq!(list.len(), 300);
    for (from, to, count) in [
        ("2026-03-07T00:00", "2026-03-10T00:00", 899),
        ("2026-03-28T00:00", "2026-03-31T00:00", 900),
        ("2026-10-24T00:00", "2026-10-27T00:00", 896),
        ("2026-10-31T00:00", "2026-11-03T00:00", 896),
        ("2026-07-01T00:00", "2026-07-03T00:00", 600),
    ] {
        let due = list.due_entries(at(from), at(to));
        let found: BTreeSet<(Millis, u64)> = due.iter().map(|due| (due.at, due.entry.line)).collect();
        assert_eq!(found.len(), due.len(), "none twice");
        assert_eq!(found, by_minutes(&list, at(from), at(to)), "{from}");
        // By hand: 300 per day, plus or minus the entries of one hour in one zone at a clock change.
        assert_eq!(due.len(), count, "{from}");
        assert!(due.is_sorted_by_key(|due| (due.at, due.entry.line)));
    }
}

fn traders_bots() -> Vec<BotSettings> {
    bots().into_iter().filter(|bot| bot.name != "eur2").collect()
}

fn traders(text: &str) -> Result<SignalList, String> {
    SignalList::parse(text, &traders_bots(), terms("America/Sao_Paulo"))
}

#[test]
fn parses_columns_in_any_order() {
    // 10:00 in Sao Paulo is 13:00 UTC.
    for (text, columns) in [
        ("M5;EURUSD;10:00;CALL\nM1;BTCUSDT;10:02;PUT\n", "expiry; symbol; *; direction"),
        ("\u{feff}EURUSD;10:00;call;M5\r\nBTCUSDT;10:02;put;M1\r\n", "symbol; *; direction; expiry"),
        (
            "2026-01-05;10:00;EURUSD;BUY;m5\n\n2026-01-05;10:02;BTCUSDT;Sell;M1\n",
            "date; time; symbol; direction; expiry",
        ),
        ("10:00:00, eur, CALL, M5\n10:02:00, btc, PUT, M1\n", "*; bot; direction; expiry"),
        (
            " M5 ; EUR/USD ; 05/01/2026 ; 10:00 ; UP \nM1;BTC/USDT;05/01/2026;10:02;DOWN;\nM1;EUR/USD;27/11/2026;10:02;UP",
            "expiry; symbol; date (day first); time; direction",
        ),
        (
            "01/05 10:00 EUR-USD UP M5\n01/05 10:02 btcusdt DOWN M1\n11/27 10:02 EURUSD UP M1",
            "date (yearly: no year given, month first); time; symbol; direction; expiry",
        ),
        ("10:00 - EUR/USD - CALL - M5\n10:02 - BTC/USDT - PUT - M1\n", "*; symbol; direction; expiry"),
        ("time;symbol;direction;close_type\n10:00;EURUSD;CALL;M5\n10:02;BTCUSDT;PUT;01:00\n", ""),
    ] {
        let list = traders(text).unwrap_or_else(|problem| panic!("{text:?}: {problem}"));
        let columns = columns.replace('*', "time (daily: no date given)");
        assert_eq!(list.columns.clone().unwrap_or_default(), columns);
        let due = list.due_entries(at("2026-01-05T12:00"), at("2026-01-05T14:00"));
        let row = |due: &DueEntry| {
            let length = due.entry.close_type.map(CloseType::duration);
            (due.at, due.entry.bot.index(), due.entry.direction.to_string(), length)
        };
        let expected = [
            (at("2026-01-05T13:00"), 1, "BUY".to_owned(), Some(Millis::MINUTE * 5)),
            (at("2026-01-05T13:02"), 0, "SELL".to_owned(), Some(Millis::MINUTE)),
        ];
        assert_eq!(due.iter().map(row).collect::<Vec<_>>(), expected, "{text:?}");
        let tomorrow = list.due_entries(at("2026-01-06T12:00"), at("2026-01-06T14:00")).len();
        let is_dated = columns.contains("date;") || columns.contains("date (");
        assert_eq!(tomorrow, if is_dated { 0 } else { 2 }, "{text:?}");
    }
}

#[test]
fn rejects_ambiguous_lines_with_a_hint() {
    for (text, expected) in [
        ("M5;EURUSD;05/01;10:00;CALL", "line 1: the date may be 5 January or 1 May, and no other date"),
        ("M5;EURUSD;27/11;10:00;CALL\nM5;EURUSD;11/28;10:00;CALL", "line 2: the date has the month first"),
        ("M5;EURUDS;10:00;CALL", "line 1: \"EURUDS\" is neither a symbol nor a bot: did you mean EURUSD"),
        ("M5;GOLD;10:00;CALL", "line 1: \"GOLD\" is neither a symbol nor a bot: the names are BTCUSDT, btc,"),
        (
            "M5;EURUSD;10:00;CALL\nM5;EURUSD;10:05",
            "line 2: the entry has no direction such as CALL (\"M5;EURUSD;10:05\"). Put # before the line",
        ),
        (
            "M5;EURUSD;10:00;CALL\nM5;EURUSD;;PUT",
            "line 2: the entry has no time such as 10:00 (\"M5;EURUSD;;",
        ),
        ("M5;EURUSD;10:00;CALL\nEURUSD", "line 2: the entry has no time and no direction (\"EURUSD\")"),
        ("M5;EURUSD;10:00;CALL\nM5;EURUSD;10h5x;PUT", "line 2: \"10h5x\" is not part of an entry"),
        ("M5;EURUSD;10:00;PUTT", "line 1: \"PUTT\" is not a direction: did you mean PUT? (\"M5;EURUSD;10:"),
        ("27/11/2026;EURUSD;10:00;CALL\nEURUSD;10:05;PUT", "line 2: no date given, but line 1 has one"),
        ("SINAIS VIP \u{1f525}\nM5;EURUSD;10:00;CALL", "line 1: \"SINAIS\" is neither a symbol nor a bot"),
        ("M0;EURUSD;10:00;CALL", "line 1: \"M0\" is not an expiry: write M1 to M59"),
        ("M5;10:00;CALL", "line 1: neither bot nor symbol is named"),
        ("M5;EURUSD;10:00;CALL\nM5;EURUSD;10:00;PUT", "line 2: line 1 asks eur for a different trade"),
        ("M5;10:00;CALL;\"\nEURUSD", "line 1: \"\\\"\" is not part of an entry"),
    ] {
        let problem = traders(text).unwrap_err();
        assert!(problem.starts_with(expected), "{text}: {problem}");
    }
    let mut bots = traders_bots();
    bots[0].name = "M5".to_owned();
    bots[1].name = "EURUSD".to_owned();
    let problem = SignalList::parse("M5;EURUSD;10:00;CALL", &bots, terms("UTC")).unwrap_err();
    assert!(problem.starts_with("line 1: \"M5\" may be a bot or an expiry: name the columns"), "{problem}");
    assert_eq!(SignalList::parse("H1;EURUSD;10:00;CALL", &bots, terms("UTC")).unwrap().len(), 1);
}

const CHAT: &str = "\u{1f525} SINAIS VIP \u{1f525}\n# of today\n\nM5\n\u{2796}\u{2796}\u{2796}\n-----\n\
                    M5;EURUSD;14h35;COMPRA \u{2705}\n2:40 PM BTC/USDT VENDA M5\nM1 | **EUR/USD** | 14:45 | put | \u{2b07}\u{fe0f}\n\
                    M5;GBPJPY;15:00;CALL\nM5;EURUSD;15:05;PUTT\n";

#[test]
fn skips_or_rejects_lines_copied_from_a_chat() {
    assert!(traders(CHAT).unwrap_err().starts_with("line 1: \"SINAIS\" is neither a symbol"));
    let skipping = ListOptions { skip_unknown: true, ..terms("America/Sao_Paulo") };
    let list = SignalList::parse(CHAT, &traders_bots(), skipping).unwrap();
    let words = list.describe();
    assert!(words.starts_with("3 entries") && words.ends_with("3 lines skipped (1, 10, 11)"), "{words}");
    let due = list.due_entries(at("2026-01-05T12:00"), at("2026-01-06T12:00"));
    let found: Vec<_> = due
        .iter()
        .map(|due| (due.at, due.entry.bot.index(), due.entry.direction.to_string(), due.entry.line))
        .collect();
    // Sao Paulo is 3 h behind UTC.
    let expected = [
        (at("2026-01-05T17:35"), 1, "BUY".to_owned(), 7),
        (at("2026-01-05T17:40"), 0, "SELL".to_owned(), 8),
        (at("2026-01-05T17:45"), 1, "SELL".to_owned(), 9),
    ];
    assert_eq!(found, expected);
    let named = "# of today\ntime,symbol,direction\n\n10:00,EURUSD,CALL\n# later\n2:35 PM,BTCUSDT,VENDA\n10:05,GBPJPY,PUT\n";
    assert!(traders(named).unwrap_err().starts_with("line 7: no bot trades \"GBPJPY\""));
    let list = SignalList::parse(named, &traders_bots(), skipping).unwrap();
    assert_eq!(list.describe(), "2 entries, 1 line skipped (7)");
    let edited =
        |text: &str| SignalList::parse(text, &traders_bots(), skipping).unwrap().describe_new_skips(&list);
    assert_eq!(edited(named), None);
    assert_eq!(edited(&format!("# moved\n{named}")), None);
    let again = edited(&format!("{named}10:10,GBPJPY,CALL\n")).unwrap();
    assert!(again.starts_with("line 8 is now skipped: no bot trades \"GBPJPY\""), "{again}");
    let before = edited(&named.replace("# later\n", "later\n")).unwrap();
    assert!(before.starts_with("line 5 is now skipped: "), "{before}");
}

#[test]
fn skipped_heading_also_skips_the_lines_that_depend_on_it() {
    let skipping = ListOptions { skip_unknown: true, ..terms("UTC") };
    let one = &traders_bots()[..1];
    for (text, bots, problem) in [
        ("VIP 27/11/2026\nEURUSD;10:00;CALL\n", traders_bots(), "no date given, but line 1 has one"),
        (
            "27/11/2026;GBPJPU;09:00;CALL\nEURUSD;10:05;PUT\n",
            traders_bots(),
            "no date given, but line 1 has one",
        ),
        (
            "27/11/2026;10:00;EURUSD;CALL\n28/11;10:05;EURUSD;PUT\n",
            traders_bots(),
            "no year given, but line 1 has",
        ),
        ("M15 VIP\nEURUSD;10:00;CALL\n", traders_bots(), "no expiry given, but line 1 has one"),
        ("GBPJPY\n10:00 CALL\n", one.to_vec(), "no symbol or bot given, but line 1 may"),
    ] {
        let (lines, _) = super::entry::read_lines(text, &bots, skipping).unwrap();
        let LineOutcome::Unknown(refused) = &lines[1].outcome else { panic!("{text}: {lines:?}") };
        assert!(refused.contains(problem), "{text}: {refused}");
        let taken = SignalList::parse(text, &bots, skipping).unwrap();
        assert!(taken.entries.iter().all(|entry| entry.line == 1), "{text}");
    }
    assert_eq!(SignalList::parse("10:00 CALL\n", one, skipping).unwrap().entries.len(), 1);
}

#[test]
fn never_accepts_a_list_partially() {
    let pieces = "M5|H1|EURUSD|BTCUSDT|btc|10:00|25:00|10:00:30|2026-01-05|05/01/2026|CALL|put|BUY|\"|\u{feff}|time|direction|é|-1|";
    let pieces: Vec<&str> = pieces.split('|').collect();
    let (mut state, mut taken) = (20_260_105_u64, 0);
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..20_000 {
        let separator = [";", ",", "; ", " ", " | "][next(5)];
        let lines: Vec<String> = (0..=next(3))
            .map(|_| (0..=next(5)).map(|_| pieces[next(pieces.len())]).collect::<Vec<_>>().join(separator))
            .collect();
        let text = lines.join("\n");
        match traders(&text) {
            Ok(list) => {
                let shown = text.trim_start_matches('\u{feff}');
                let is_row = |line: &&str| line.chars().any(|sign| sign.is_alphanumeric() || sign == '"');
                let rows = shown.lines().filter(is_row).count();
                let header = usize::from(list.columns.is_none());
                let (lines, _) =
                    super::entry::read_lines(&text, &traders_bots(), terms("America/Sao_Paulo")).unwrap();
                let is_heading =
                    |line: &&ParsedLine| matches!(line.outcome, LineOutcome::Date | LineOutcome::Expiry);
                let dates = lines.iter().filter(is_heading).count();
                let more = |line: &ParsedLine| count_lines(&text, line).saturating_sub(1);
                let further: usize = lines.iter().map(more).sum();
                assert_eq!(list.len() + header + dates + list.repeats.len() + further, rows, "{text:?}");
                taken += list.len();
            }
            Err(problem) => assert!(problem.len() > 20, "{text:?}: {problem}"),
        }
    }
    assert!(taken > 5, "{taken} entries were taken");
}

fn count_lines(text: &str, line: &ParsedLine) -> usize {
    let first = usize::try_from(line.line).unwrap() - 1;
    let all: Vec<&str> = text.lines().collect();
    let is_whole = |count: &usize| {
        let joined = all[first..first + count].iter().map(|one| one.trim()).collect::<Vec<_>>().join(" ");
        joined.trim_start_matches('\u{feff}').replace(['\u{fe0e}', '\u{fe0f}', '\u{200d}'], "") == line.text
    };
    (1..=all.len() - first).find(is_whole).unwrap_or(1)
}
