//! Lists as people write them, lists of 300 entries over the nights when clocks are changed, and what is refused.

use super::entry::When;
use super::*;
use candlewick_sandbox::parse_time;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

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

fn list(text: &str) -> Result<SignalList, String> {
    SignalList::parse(text, &bots(), "Europe/Berlin".parse().unwrap())
}

fn at(text: &str) -> Millis {
    parse_time(text).unwrap()
}

#[test]
fn an_entry_is_a_moment_or_comes_again_and_is_named_by_its_moment() {
    let text = "\u{feff}time,bot,symbol,direction,close_type,days,zone,reason\n\
                2026-01-05T10:30:00Z,btc,,buy,,,,\n\
                1767609060000,,BTCUSDT,SELL,05:00,,,\"news, maybe\"\n\
                2026-01-05 11:32,eur,EURUSD,BUY,,,,\n\
                05:33,eur,,SELL,,mon-fri,America/New_York,open\n";
    let list = list(text).unwrap();
    let due = list.due(at("2026-01-05T10:00"), at("2026-01-05T11:00"));
    let words: Vec<String> = due
        .iter()
        .map(|due| {
            format!(
                "{} {} {} {}",
                due.id.as_str(),
                due.entry.bot.index(),
                due.entry.direction,
                due.entry.reason
            )
        })
        .collect();
    let expected = [
        "2026-01-05T10:30:00Z 0 BUY ",
        "2026-01-05T10:31:00Z 0 SELL news, maybe",
        "2026-01-05T10:32:00Z 1 BUY ",
        "2026-01-05T10:33:00Z 1 SELL open",
    ];
    assert_eq!(words, expected);
    assert_eq!(due[1].entry.close_type.unwrap().duration(), Millis::MINUTE * 5);
    assert_eq!(list.next_after(at("2026-01-05T10:33")), Some(at("2026-01-06T10:33")));
}

#[test]
fn what_is_wrong_is_said_with_its_line_and_nothing_of_the_file_is_taken() {
    for (rows, expected) in [
        ("10:30,nobody,,BUY,,,", "line 2: there is no bot \"nobody\": there are btc, eur, eur2"),
        ("10:30,,EURUSD,BUY,,,", "line 2: several bots trade \"EURUSD\""),
        ("10:30,,XRPUSDT,BUY,,,", "line 2: no bot trades \"XRPUSDT\""),
        ("10:30,btc,EURUSD,BUY,,,", "line 2: bot btc does not trade \"EURUSD\""),
        ("10:30,,,BUY,,,", "line 2: it names neither a bot nor a symbol"),
        ("10:30,btc,,UP,,,", "line 2: \"UP\" is not a direction"),
        ("25:30,btc,,BUY,,,", "line 2: \"25:30\" is no time"),
        ("1767609060,btc,,BUY,,,", "line 2: 1767609060 is no time: a number is milliseconds"),
        ("2026-01-05,btc,,BUY,,,", "line 2: \"2026-01-05\" is no time"),
        ("2026-03-29 02:30,btc,,BUY,,,", "line 2: there is no 2026-03-29 02:30 in Europe/Berlin"),
        ("10:30,btc,,BUY,,someday,", "line 2: \"someday\" is no day"),
        ("2026-01-05 10:30,btc,,BUY,,mon,", "line 2: days belong to a time of day"),
        ("10:30,btc,,BUY,,,Berlin", "line 2: \"Berlin\" is no time zone"),
        ("10:30,btc,,BUY,1:00,,", "line 2: "),
        ("10:30,btc,,BUY,,,,,", "line 2: it has more columns"),
        (
            "10:30,btc,,BUY,,,\n10:31,btc,,BUY,,,\n10:30,btc,,SELL,,sun,",
            "line 4: line 2 asks btc for a trade at that time already",
        ),
        ("2026-01-05 11:30,btc,,BUY,,,\n2026-01-05T10:30:00Z,btc,,BUY,,,", "line 3: line 2 asks btc"),
    ] {
        let problem = list(&format!("time,bot,symbol,direction,close_type,days,zone\n{rows}\n")).unwrap_err();
        assert!(problem.starts_with(expected), "{rows}: {problem}");
    }
    for header in ["", "10:30,btc,BUY", "time,bot", "time,bot,direction,stake"] {
        let problem = list(&format!("{header}\n")).unwrap_err();
        assert!(problem.starts_with("the first line names the columns"), "{problem}");
    }
    let twice = "time,bot,direction,days\n10:30,btc,BUY,mon\n10:30,btc,SELL,tue\n10:30,eur,BUY,\n";
    assert_eq!(list(twice).unwrap().len(), 3, "other days, and other bots");
}

/// 300 entries: a time of day each, five minutes apart, by turns in three zones and for two bots.
fn three_hundred() -> String {
    let mut text = "time,bot,direction,zone\n".to_owned();
    for number in 0..300 {
        let minute = number * 24 * 60 / 300 + number % 3;
        let (bot, direction) = (["btc", "eur"][number % 2], ["BUY", "SELL"][number % 5 % 2]);
        let zone = ZONES[number % 3];
        writeln!(text, "{:02}:{:02},{bot},{direction},{zone}", minute / 60, minute % 60).unwrap();
    }
    text
}

/// Each minute of the span whose local time in the zone is that of an entry, the second time of a night left out: worked out the
/// other way round, from moments to local times by the zones' published offsets.
fn by_minutes(list: &SignalList, from: Millis, to: Millis) -> BTreeSet<(Millis, u64)> {
    let mut expected = BTreeSet::new();
    for zone in ZONES {
        let (mut first_of, mut moment) = (BTreeMap::new(), from - Millis::DAY * 2);
        let summer = summer_of(zone);
        while moment <= to {
            let hours = if summer.1.contains(&moment) { summer.0 + 1 } else { summer.0 };
            let local = moment + Millis::from_seconds(hours * 3_600);
            first_of.entry(local).or_insert(moment);
            moment += Millis::MINUTE;
        }
        for (local, moment) in first_of.into_iter().filter(|(_, moment)| *moment > from) {
            let time = DateTime::from_timestamp_millis(local.get()).unwrap().time();
            let is_due = |entry: &&ListEntry| matches!(entry.when, When::Daily(daily) if (daily.time, daily.zone.name()) == (time, zone));
            expected.extend(list.entries.iter().filter(is_due).map(|entry| (moment, entry.line)));
        }
    }
    expected
}

/// How many hours a zone is ahead of UTC in winter, and its summer of 2026, in which it is one more.
fn summer_of(zone: &str) -> (i64, Range<Millis>) {
    match zone {
        "Europe/Berlin" => (1, at("2026-03-29T01:00")..at("2026-10-25T01:00")),
        "America/New_York" => (-5, at("2026-03-08T07:00")..at("2026-11-01T06:00")),
        _ => (0, Millis::ZERO..Millis::ZERO),
    }
}

#[test]
fn three_hundred_entries_over_the_nights_of_a_year_are_due_when_the_zones_say() {
    let list = list(&three_hundred()).unwrap();
    assert_eq!(list.len(), 300);
    for (from, to, count) in [
        ("2026-03-07T00:00", "2026-03-10T00:00", 899),
        ("2026-03-28T00:00", "2026-03-31T00:00", 900),
        ("2026-10-24T00:00", "2026-10-27T00:00", 896),
        ("2026-10-31T00:00", "2026-11-03T00:00", 896),
        ("2026-07-01T00:00", "2026-07-03T00:00", 600),
    ] {
        let due = list.due(at(from), at(to));
        let found: BTreeSet<(Millis, u64)> = due.iter().map(|due| (due.at, due.entry.line)).collect();
        assert_eq!(found.len(), due.len(), "none twice");
        assert_eq!(found, by_minutes(&list, at(from), at(to)), "{from}");
        // By hand: 300 a day; less those of the hour that a night leaves out, more or less those of the hour by which the span is
        // longer or shorter on the clocks of that zone.
        assert_eq!(due.len(), count, "{from}");
        assert!(due.is_sorted_by_key(|due| (due.at, due.entry.line)));
    }
}

#[test]
fn steps_of_any_length_find_what_one_look_finds() {
    let list = list(&three_hundred()).unwrap();
    let (from, to) = (at("2026-10-24T12:00"), at("2026-10-26T12:00"));
    let (mut found, mut now, mut step) = (Vec::new(), from, 1);
    while now < to {
        step = step * 7 % 3_607;
        let next = (now + Millis::from_seconds(step)).min(to);
        found.extend(list.due(now, next));
        now = next;
    }
    assert_eq!(found, list.due(from, to));
    let mut by_next = BTreeSet::new();
    let mut moment = from;
    while let Some(next) = list.next_after(moment).filter(|next| *next <= to) {
        by_next.insert(next);
        moment = next;
    }
    assert_eq!(by_next, found.iter().map(|due| due.at).collect());
}

#[test]
fn what_changed_between_two_readings_is_counted_by_content() {
    let before = list("time,bot,direction\n10:30,btc,BUY\n10:31,btc,BUY\n").unwrap();
    let after = list("time,bot,direction\n10:31,btc,BUY\n10:30,btc,SELL\n10:32,btc,BUY\n").unwrap();
    assert_eq!((after.lacking_in(&before), before.lacking_in(&after)), (2, 1));
}
