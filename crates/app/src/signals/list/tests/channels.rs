//! Unedited lines from signal channels.

use super::chats::{below, entries, row, skipping, uses};
use super::*;

/// Each row has a line, UTC time, direction and minutes, on 26 November in Sao Paulo (UTC-3).
#[test]
fn parses_unedited_lines_of_channels() {
    for (line, when, direction, minutes) in [
        ("14:35 BUY EURUSD 5 min", "17:35", "BUY", Some(5)),
        ("14:45 BUY EURUSD 1 min GALE 1", "17:45", "BUY", Some(1)),
        ("Ativo: EURUSD Hora: 15:45 Direção: CALL Expiração: M5", "18:45", "BUY", Some(5)),
        ("PAIR:EURUSD TIME:15:55 Direction: PUT EXP: 15", "18:55", "SELL", Some(15)),
        ("EURUSD 15:50:00 CALL EXP 5", "18:50", "BUY", Some(5)),
        ("EURUSD 15:50 CALL EXPIRAÇÃO 5", "18:50", "BUY", Some(5)),
        ("EURUSD 15:50 CALL EXPIRAÇÃO: 15 min", "18:50", "BUY", Some(15)),
        ("EURUSD CALL EXP 5 HORA às 14:45", "17:45", "BUY", Some(5)),
        ("ATIVO: EURUSD | HORA: 14:40 | VENDA | EXPIRAÇÃO: 5 MIN", "17:40", "SELL", Some(5)),
        ("\u{1f7e2} EURUSD - 14:35 - EXP 5", "17:35", "BUY", Some(5)),
        ("EUR USD 15:50 CALL M5", "18:50", "BUY", Some(5)),
        ("Par: EUR - USD 15:50 PUT", "18:50", "SELL", None),
        ("EURUSD @16:00 CALL", "19:00", "BUY", None),
        ("EURUSD às 10:46 PUT M5", "13:46", "SELL", Some(5)),
        ("1) 16:05 EURUSD PUT M5", "19:05", "SELL", Some(5)),
        ("10:41 EURUSD ACIMA M5", "13:41", "BUY", Some(5)),
        ("EURUSD 16:30 \u{1f7e2}", "19:30", "BUY", None),
        ("EURUSD 16:35 \u{1f534}", "19:35", "SELL", None),
        ("\u{1f534} 15:30 EURUSD SELL 1MIN", "18:30", "SELL", Some(1)),
        ("EURUSD 16:55 \u{2197}\u{fe0f}", "19:55", "BUY", None),
        ("EURUSD 16:55 \u{2198}", "19:55", "SELL", None),
        ("EURUSD 16:55 \u{2934}\u{fe0f}", "19:55", "BUY", None),
        ("EURUSD 16:55 \u{2935}", "19:55", "SELL", None),
        ("\u{1f4c8} EURUSD 16:55 PUT", "19:55", "SELL", None),
        ("EURUSD;16:40;CALL;M5;GALE 1", "19:40", "BUY", Some(5)),
        ("EURUSD 17:00 CALL (COMPRA) M5 até 2 gales", "20:00", "BUY", Some(5)),
        ("EURUSD 17:00 CALL 1 hora", "20:00", "BUY", Some(60)),
        ("EURUSD 10:00 CALL M5 1 gale", "13:00", "BUY", Some(5)),
        ("EURUSD 10:00 CALL - sem gale", "13:00", "BUY", None),
        ("EURUSD 10:00 CALL (up to 2 gales max)", "13:00", "BUY", None),
        ("EURUSD 10:00 UP GALE 1", "13:00", "BUY", None),
        ("EURUSD 10:00 UP 1 gale", "13:00", "BUY", None),
        ("15:00 UTC EURUSD CALL 5M", "15:00", "BUY", Some(5)),
        ("15:00 EURUSD 5min \u{2b07}\u{fe0f}", "18:00", "SELL", Some(5)),
        ("15:00 EURUSD \u{1f53c}", "18:00", "BUY", None),
        ("15:00 EURUSD PUT \u{2193}", "18:00", "SELL", None),
    ] {
        let text = format!("26/11/2026\n{line}\n");
        let when = format!("2026-11-26T{when}:00Z");
        assert_eq!(entries(&text, terms("America/Sao_Paulo")), [row(&when, 1, direction, 2)], "{line}");
        let list = traders(&text).unwrap();
        let length = list.entries[0].close_type.map(CloseType::duration);
        assert_eq!(length, minutes.map(|minutes| Millis::MINUTE * minutes), "{line}");
    }
}

#[test]
fn rejects_ambiguous_lines_of_channels() {
    for (line, part) in [
        ("EURUSD CALL Expiry: 15:45", "\"15:45\" follows \"Expiry:\" but is not an expiry"),
        ("EURUSD TIME: M5 CALL", "\"M5\" follows \"TIME:\" but is not a time"),
        ("EURUSD 15:45 CALL Exp:", "nothing follows \"Exp:\""),
        ("GALE 1 10:05 EURUSD CALL", "the time follows a gale (martingale step)"),
        ("EURUSD CALL 1 gale 10:05", "the time follows a gale (martingale step)"),
        ("EURUSD 10:05 CALL 5 GALE", "\"5\" is not part of an entry"),
        ("EURUSD 16:35 \u{1f534} CALL", "the circle is red (down), but the text says CALL"),
        ("EURUSD 16:35 \u{1f7e2} \u{2b07}", "the circle is green (up), but the text says SELL"),
        ("\u{1f534} EURUSD 16:35 UP 1 GALE", "the circle is red (down), but the text says UP"),
        ("EURUSD CALL M5 UTC\u{2013}03:00", "time"),
        ("EURUSD CALL M5 UTC - 03:00", "time"),
        ("EURUSD 16:35 CALL \u{274c}", "\u{274c} marks the line as cancelled"),
        ("\u{26d4} EURUSD 16:35 CALL", "\u{26d4} marks the line as cancelled"),
        ("EURUSD 16:35 \u{1f7e2}\u{1f534}", "the line has both a green and a red circle"),
        ("EURUSD 17:10 CALL PUT", "are both a direction"),
        ("EURUSD 17:10 CALL 00:30", "are both a time: remove one column; write an expiry in the form M5"),
        ("31/11/2026 EURUSD 10:35 PUT", "\"31/11/2026\" is not a date: November has 30 days"),
        ("11/31/2026 EURUSD 10:35 PUT", "\"11/31/2026\" is not a date: November has 30 days"),
        ("30/02 EURUSD 10:35 PUT", "\"30/02\" is not a date: February has 29 days"),
        ("29/02/2026 EURUSD 10:35 PUT", "\"29/02/2026\" is not a date: February 2026 has 28 days"),
        ("2026-13-01 EURUSD 10:35 PUT", "\"2026-13-01\" is not a date: the month must be 1 to 12"),
        ("EURUSD 1650 PUT", "\"1650\" is not a time: did you mean 16:50?"),
        ("EURUSD 16:50 \u{1f4c8}", "no direction: add CALL or PUT, because \u{1f4c8} may be decoration"),
        ("EUR;USD;16:50;PUT", "\"EUR\" is not part of an entry"),
        ("EURUSD 16:50 PUT EXPIRAÇÃO 16:55", "\"16:55\" follows \"EXPIRAÇÃO\" but is not an expiry"),
        ("EURUSD 13:30 PM CALL", "did you mean 13:30?"),
        ("EURUSD 10:30 CALL M90", "\"M90\" is not an expiry: write M1 to M59 for minutes"),
        ("EURUSD 10:30 CALL S30", "\"S30\" is not an expiry"),
        ("EURUSD 10:05 CALL 1 GALE 2", "\"1\" is not part of an entry"),
        ("15:00 EURUSD PUT \u{2b06}\u{fe0f}", "the arrow points up, but the text says PUT: keep only one"),
        ("15:00 EURUSD \u{2b06}\u{2b07}", "the line has both an up and a down arrow"),
        ("15:00 EURUSD-OTC CALL", "\"EURUSD-OTC\" is a different market from EURUSD"),
        ("14.37 EURUSD CALL", "\"14.37\" is not a time: did you mean 14:37?"),
        ("15:00 EURUSD CALL 1H", "\"1H\" is neither an expiry nor a time: did you mean H1, or 01:00?"),
        ("15:00 UTC+3:30 EURUSD CALL", "\"UTC+3:30\" is not a known time zone: write UTC-3, UTC+5:30"),
        ("15:00 UTC-3 EURUSD CALL\n15:05 EURUSD CALL", "no time zone given, but line 1 has one"),
    ] {
        let problem = traders(line).unwrap_err();
        assert!(problem.contains(part), "{line}: {problem}");
    }
    let one = &traders_bots()[..1];
    assert!(SignalList::parse("\u{1f534} 10:00", one, terms("UTC")).unwrap_err().contains("no direction"));
}

#[test]
fn names_the_line_that_ended_a_date() {
    let text = "26/11/2026\nEURUSD 10:00 CALL\nEURUSD-OTC\nEURUSD 10:05 CALL\nGALE 1\n27/11/2026\nUp to 2 gale\nEURUSD 10:05 CALL\n";
    let uses = uses(text, skipping("UTC"));
    let ended = "unknown: no date given: the date of line 1 applies only before line 3;";
    assert!(uses[3].starts_with(ended), "{uses:?}");
    assert_eq!((uses[4].as_str(), uses[6].as_str()), ("gale", "gale"));
    assert_eq!(uses[7], "2026-11-27T10:05:00Z", "a remark on gales ends no date");
    assert_eq!(entries(&text.replace("EURUSD-OTC", "EURUSD-OTC\n26/11/2026"), skipping("UTC")).len(), 3);
}

#[test]
fn reports_comments_like_entries_and_accepted_zones() {
    let text = "TIMEZONE: UTC -3\n26/11/2026\n#3 16:15 EURUSD CALL M5\n# good luck\nEURUSD 16:20 PUT\n";
    let zone = terms("America/Sao_Paulo");
    let uses = uses(text, zone);
    assert!(uses[0].starts_with("zones ["), "{uses:?}");
    assert_eq!(uses[1..], ["date", "comment", "2026-11-26T19:20:00Z"]);
    let words = traders(text).unwrap().describe();
    assert!(words.ends_with(", 1 comment that looks like an entry (3)"), "{words}");
    assert_eq!(below("TIMEZONE: UTC -3", "UTC"), Vec::<String>::new());
}

#[test]
fn expiry_line_is_the_default_of_the_lines_below() {
    for (text, expected) in [
        ("26/11/2026\nM5\nEURUSD 10:00 CALL\nEURUSD 10:05 PUT", vec![(3, 5), (4, 5)]),
        ("EXP 5\n26/11/2026\nEURUSD 10:00 CALL", vec![(3, 5)]),
        ("26/11/2026\nExpiração: 15 min\nEURUSD 10:00 CALL\nM1\nEURUSD 10:05 PUT", vec![(3, 15), (5, 1)]),
        ("26/11/2026\nM5\nEURUSD 10:00 CALL\n# luck\nGALE 1\nUTC\nEURUSD 10:05 PUT", vec![(3, 5), (7, 5)]),
        ("26/11/2026\nM5\nEURUSD 10:00 CALL M1\nEURUSD 10:05 PUT", vec![(3, 1)]),
        ("26/11/2026\nM5\nXAUUSD 10:00 CALL M1\nEURUSD 10:05 PUT", vec![]),
        ("26/11/2026\nM5\n# M15\nEURUSD 10:05 PUT", vec![]),
        ("26/11/2026\nM5\n\u{274c} M15\nEURUSD 10:05 PUT", vec![]),
        ("26/11/2026\nM5 VIP\nEURUSD 10:05 PUT", vec![]),
        ("26/11/2026\nTIME: M5\nEURUSD 10:05 PUT", vec![]),
        ("26/11/2026\nEURUSD 10:00 CALL\nM5\nEURUSD 10:05 PUT", vec![(4, 5)]),
        // One of two expiries may be the chart's timeframe.
        ("26/11/2026\nExp: 5 min\nM1\nEURUSD 10:05 PUT", vec![]),
        ("26/11/2026\nM1\nM5\nM1\nEURUSD 10:05 PUT\nM5\nEURUSD 10:10 PUT", vec![(7, 5)]),
        ("26/11/2026\nM5\nEXP 5\nEURUSD 10:05 PUT", vec![(4, 5)]),
        // An expiry may not apply to another day.
        ("26/11/2026\nM5\nEURUSD 10:00 CALL\n27/11/2026\nEURUSD 10:05 PUT", vec![(3, 5)]),
        ("26/11/2026\nM5\nVIP ROOM\n26/11/2026\nEURUSD 10:05 PUT", vec![]),
    ] {
        let list = SignalList::parse(text, &traders_bots(), skipping("UTC")).unwrap();
        let minutes = |entry: &ListEntry| entry.close_type.map_or(0, |own| own.duration().get() / 60_000);
        let found: Vec<_> = list.entries.iter().map(|entry| (entry.line, minutes(entry))).collect();
        assert_eq!(found, expected, "{text}");
    }
    let text = "26/11/2026\nEURUSD 10:00 CALL\nM5\nEURUSD 10:05 PUT\n";
    let problem = traders(text).unwrap_err();
    assert!(problem.starts_with("line 2: no expiry given, but line 3 has one"), "{problem}");
    assert_eq!(uses(text, skipping("UTC"))[2], "expiry");
}

#[test]
fn names_the_line_that_ended_an_expiry() {
    for (text, by, heading) in [
        ("26/11/2026\nM5\nEURUSD 10:00 CALL M1", "3 (\"EURUSD 10:00 CALL M1\")", 2),
        ("26/11/2026\nM5\n# M15", "3 (\"# M15\")", 2),
        ("M5 \n26/11/2026\nEURUSD 10:00 CALL\n27/11/2026", "4 (\"27/11/2026\")", 1),
        ("26/11/2026\nM5\nVIP ROOM\n26/11/2026\nM1\nXAUUSD M15\n26/11/2026", "6 (\"XAUUSD M15\")", 5),
    ] {
        let text = format!("{text}\nEURUSD 10:05 PUT");
        let list = SignalList::parse(&text, &traders_bots(), skipping("UTC")).unwrap();
        let (line, why) = list.skipped.last().unwrap();
        assert_eq!(*line, text.lines().count() as u64, "{text}");
        let ended = format!("no expiry given: the expiry of line {heading} applies only before line {by};");
        assert!(why.starts_with(&ended), "{text}: {why}");
    }
}

#[test]
fn repeated_zone_headings_cost_as_much_as_one() {
    let mut text = "26/11/2026\n".to_owned();
    for number in 0..4_000 {
        let (hour, minute, second) = (number / 3_600, number / 60 % 60, number % 60);
        writeln!(text, "UTC-3\nEURUSD {hour:02}:{minute:02}:{second:02} CALL").unwrap();
    }
    assert_eq!(entries(&text, skipping("America/Sao_Paulo")).len(), 4_000);
}

#[test]
fn modifier_lines_reject_the_entries_below() {
    for (text, expected) in [
        ("26/11/2026\nPM\nEURUSD 02:50 CALL\nEURUSD 14:50 CALL", 0),
        ("PM\n26/11/2026 EURUSD 02:50 CALL\n26/11/2026 EURUSD 14:50 CALL", 1),
        ("NÃO OPERAR\n26/11/2026 EURUSD 14:50 CALL", 0),
        ("26/11/2026 EURUSD 14:50 CALL\nRESULTADOS\n26/11/2026 EURUSD 15:50 CALL", 1),
        ("LISTA NY\n26/11/2026 EURUSD 14:50 CALL", 0),
        ("VIP\n26/11/2026 EURUSD 14:50 CALL", 1),
        ("26/11/2026\n~~ EURUSD 14:50 CALL ~~\nEURUSD 14:55 CALL", 1),
        ("26/11/2026\nE\u{336}URUSD 14:50 CALL\nEURUSD 14:55 CALL \u{274e}", 0),
    ] {
        assert_eq!(entries(text, skipping("UTC")).len(), expected, "{text}");
    }
}
