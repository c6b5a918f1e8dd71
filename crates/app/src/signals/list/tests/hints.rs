//! Formats from other programs and channels: accepted if unambiguous, otherwise rejected with a hint.

use super::chats::{skipping, uses};
use super::*;

#[test]
fn gale_line_does_not_end_a_date() {
    let text = "26/11/2026\nEURUSD 10:50 CALL M5\n1º GALE → 10:55\n2º GALE → 11:00\nEURUSD 12:00 PUT M5\n";
    let expected = ["date", "2026-11-26T10:50:00Z", "gale", "gale", "2026-11-26T12:00:00Z"];
    assert_eq!(uses(text, terms("UTC")), expected);
}

#[test]
fn zone_under_one_date_rejects_lines_without_zone_under_another() {
    let text =
        "26/11/2026\nEURUSD 10:00 CALL\n27/11/2026\nEURUSD 11:00 PUT UTC\n28/11/2026\nEURUSD 12:00 PUT\n";
    let zone = terms("America/Sao_Paulo");
    let held = "unknown: no time zone given, but line 4 has one: write a zone in each line, or remove all zones and set signals.timezone";
    assert_eq!(uses(text, zone), ["date", held, "date", "2026-11-27T11:00:00Z", "date", held]);
    let together = "27/11/2026\nEURUSD 10:00 CALL\nEURUSD 11:00 PUT UTC\n";
    assert!(uses(together, zone)[1].contains("no time zone given, but line 3 has one"));
    let each = text.replace("10:00 CALL", "10:00 CALL UTC").replace("12:00 PUT", "12:00 PUT UTC-3");
    let expected =
        ["date", "2026-11-26T10:00:00Z", "date", "2026-11-27T11:00:00Z", "date", "2026-11-28T15:00:00Z"];
    assert_eq!(uses(&each, zone), expected);
}

#[test]
fn parses_multi_line_entries_with_each_part_once() {
    let entry = "\u{1f4b0} EURUSD\n\u{23f0} 14:35\n\u{1f7e2} CALL\n\u{23f3} M5\n";
    let taken = |text: &str| uses(&format!("26/11/2026\n\n{text}"), terms("UTC"))[1..].to_vec();
    assert_eq!(taken(entry), ["2026-11-26T14:35:00Z"]);
    let two = format!("{entry}\n{}", entry.replace("14:35", "15:00"));
    assert_eq!(taken(&two), ["2026-11-26T14:35:00Z", "2026-11-26T15:00:00Z"]);
    assert_eq!(taken("Par: EURUSD\nHora: 14:35\nDireção: PUT\nExpiração: M5\n"), ["2026-11-26T14:35:00Z"]);
    let below = format!("{entry}\nEURUSD 16:00 PUT\n");
    let list = SignalList::parse(&format!("26/11/2026\n\n{below}"), &traders_bots(), terms("UTC")).unwrap();
    let expiries: Vec<bool> = list.entries.iter().map(|entry| entry.close_type.is_some()).collect();
    assert_eq!(expiries, [true, false]);
    // Each text has a missing, repeated or contradictory part, an unrelated line, or a missing separator.
    let others = "EURUSD/14:35/CALL|EURUSD/14:35/14:40/CALL/M5|EURUSD/14:35/CALL/PUT/M5|EURUSD/14:35/\u{1f534} CALL/M5|\
        EURUSD/VIP/14:35/CALL/M5|EURUSD/~14:35~/CALL/M5|EURUSD/14:35/CALL/M5/EURUSD/15:35/CALL/M5|EURUSD/14:35//CALL/M5|\
        EURUSD/14:35 CALL/M5";
    // A circle without symbol or direction, two effective arrows or circles, and a time after a martingale step.
    let signs = "\u{1f4b0} EURUSD/\u{1f7e2} 14:35/\u{23f3} M5|\u{1f4b0} EURUSD/\u{23f0} 14:35/\u{1f7e2} M5|EURUSD/14:35/\u{1f534}/M5|\
        EURUSD \u{2b06}/14:35 \u{2b07}/M5|\u{1f7e2} EURUSD/14:35/\u{1f534} PUT/M5|EURUSD/CALL/M5/GALE 1/14:35";
    let words = "EUR/USD/14:35/CALL/M5|EURUSD/CALL/5/min/14:35|EURUSD/CALL/M5/2:35/PM|EURUSD/CALL/M5/14:35 UTC/-03:00";
    for text in [others, signs, words].join("|").split('|') {
        let uses = taken(&(text.replace('/', "\n") + "\n"));
        assert!(uses.iter().all(|one| !one.starts_with("2026")), "{text}: {uses:?}");
    }
}

#[test]
fn expiry_before_a_time_label_is_in_minutes() {
    let minutes = |text: &str| -> Vec<Option<i64>> {
        let list = SignalList::parse(text, &traders_bots(), skipping("UTC")).unwrap();
        let length = |entry: &ListEntry| entry.close_type.map(|own| own.duration().get() / 60_000);
        list.entries.iter().map(length).collect()
    };
    for (text, expected) in [
        ("EURUSD CALL EXP 5 HORA 14:35", Some(5)),
        ("EURUSD CALL EXP 1 HORA: 14:35", Some(1)),
        ("EURUSD CALL 14:35 EXP 2 HORAS", Some(120)),
        ("EURUSD\nCALL\nEXP 5\nHORA 14:35", Some(5)),
        ("EURUSD\nCALL\nEXP 1\nHORA 14:35", Some(1)),
        ("EURUSD\nCALL\nEXP 1 HORA\n14:35", Some(60)),
        ("\u{1f7e2} EURUSD\n14:35\nM5", Some(5)),
    ] {
        assert_eq!(minutes(text), [expected], "{text}");
    }
    for entry in ["EURUSD 14:35 CALL M5", "EURUSD\n14:35\nCALL\nM5"] {
        let text = format!("M15\n\nEURUSD 14:00 CALL\n\n{entry}\n\nEURUSD 16:00 PUT\n");
        assert_eq!(minutes(&text), [Some(15), Some(5)], "{text}");
    }
}

#[test]
fn rejected_lines_get_a_hint() {
    let gold = serde_json::json!({
        "name": "metal", "symbol": "XAUUSD", "interval": "1m", "strategy": "coin", "close_type": "01:00"
    });
    let bots = [serde_json::from_value(gold).unwrap()];
    let problem = |text: &str| SignalList::parse(text, &bots, terms("UTC")).unwrap_err();
    for (text, part) in [
        ("GOLD 10:20 SELL", "\"GOLD\" is not a symbol: did you mean XAUUSD?"),
        ("XAUUSD 10:20 SELL EST", "\"EST\" may mean several time zones: write a city such as America"),
        ("XAUUSD 10:50-03:00 SELL", "\"10:50-03:00\" may be a time range or a time with a zone: write only"),
        ("M5;XAUUSD;24:00;CALL", "\"24:00\" is not a time: a day ends before 24:00; write 00:00 (and"),
        ("XAUUSD 10:50+1 SELL", "\"10:50+1\" is not part of an entry: use a time such as 10:00"),
        ("XAUUSD SELL EXP 1 HORA 10:50", "\"1 HORA\" may be one hour, or one minute and a time label"),
        ("Time,Pair,Action,Expiry\n10:50,XAUUSD,CALL,M5", "use time,symbol,direction,close_type instead"),
        ("hora;ativo;direção;expiração\n10:50;XAUUSD;CALL;M5", "use time;symbol;direction;close_type inst"),
        ("Date,Time,Pair,Action\n", "use time,symbol,direction instead, with date and time in one"),
        ("time,pair,action\n10:50,XAUUSD,CALL", "line 1: this line seems to name the columns: use time,sym"),
        ("#XAUUSD 10:50 PUT\n# more\n", "all lines are comments"),
        ("\n\n", "the list is empty: an entry looks like"),
    ] {
        assert!(problem(text).contains(part), "{text}: {}", problem(text));
    }
    assert!(!problem("Time Pair\n10:50 XAUUSD CALL").contains("name the columns"));
}
