//! Lists from chats: date headings, repeated lines and other notations.

use super::*;
use crate::configuration::DateOrder;

pub(super) fn entries(text: &str, terms: ListOptions) -> Vec<(String, usize, String, u64)> {
    let list = SignalList::parse(text, &traders_bots(), terms);
    let list = list.unwrap_or_else(|problem| panic!("{text}: {problem}"));
    let due = list.due_entries(at("2026-01-01T00:00"), at("2027-01-01T00:00"));
    let words = due.iter().map(|due| {
        (due.id.to_string(), due.entry.bot.index(), due.entry.direction.to_string(), due.entry.line)
    });
    words.collect()
}

pub(super) fn row(when: &str, bot: usize, direction: &str, line: u64) -> (String, usize, String, u64) {
    (when.to_owned(), bot, direction.to_owned(), line)
}

pub(super) fn uses(text: &str, terms: ListOptions) -> Vec<String> {
    let (lines, _) = super::super::entry::read_lines(text, &traders_bots(), terms).unwrap();
    let word = |line: &ParsedLine| match &line.outcome {
        LineOutcome::Entry(entry, _) => entry.time.describe(),
        LineOutcome::Date => "date".to_owned(),
        LineOutcome::Expiry => "expiry".to_owned(),
        LineOutcome::Zones(zones) => format!("zones {zones:?}"),
        LineOutcome::Gale => "gale".to_owned(),
        LineOutcome::Comment => "comment".to_owned(),
        LineOutcome::Repeats(line) => format!("repeats {line}"),
        LineOutcome::Contradicts(problem) => format!("contradicts: {problem}"),
        LineOutcome::Unknown(problem) => format!("unknown: {problem}"),
    };
    lines.iter().map(word).collect()
}

pub(super) fn skipping(zone: &str) -> ListOptions {
    ListOptions { skip_unknown: true, ..terms(zone) }
}

#[test]
fn date_line_applies_to_the_lines_below() {
    let text = "\u{1f525} 27/11/2026 \u{1f525}\nM5;EURUSD;10:00;CALL\nM5;BTCUSDT;10:05;PUT\n\n**28/11/2026:**\nM5;EURUSD;10:00;PUT\n\
                M5;EURUSD;11:00;PUT\n29/11/2026;M5;EURUSD;10:00;PUT\n";
    // Sao Paulo is 3 h behind UTC.
    let expected = [
        row("2026-11-27T13:00:00Z", 1, "BUY", 2),
        row("2026-11-27T13:05:00Z", 0, "SELL", 3),
        row("2026-11-28T13:00:00Z", 1, "SELL", 6),
        row("2026-11-28T14:00:00Z", 1, "SELL", 7),
        row("2026-11-29T13:00:00Z", 1, "SELL", 8),
    ];
    assert_eq!(entries(text, terms("America/Sao_Paulo")), expected);
    let words = traders(text).unwrap().describe();
    assert!(words.ends_with("date (day first); expiry; symbol; time; direction"), "{words}");
    // Without a year, the entry recurs yearly, as if the date were in the line itself.
    let yearly = entries("27/11\nEURUSD;10:00;CALL\n", terms("UTC"));
    assert_eq!(yearly, [row("2026-11-27T10:00:00Z", 1, "BUY", 2)]);
}

#[test]
fn never_guesses_a_date() {
    for (text, expected) in [
        ("05/06/2026\nEURUSD;10:00;CALL", "line 1: the date may be 5 June or 6 May"),
        ("EURUSD;09:00;CALL\n27/11/2026\nEURUSD;10:00;CALL", "line 1: no date given, but line 2 has one"),
        ("27/11/2026\nEURUSD;10:00;CALL\n28/11\nEURUSD;10:00;CALL", "line 4: the date of line 3 has no year"),
    ] {
        let problem = traders(text).unwrap_err();
        assert!(problem.starts_with(expected), "{text}: {problem}");
    }
    let set = |order| ListOptions { date_order: Some(order), ..terms("UTC") };
    for (dates, day) in [(DateOrder::DayFirst, "06-05"), (DateOrder::MonthFirst, "05-06")] {
        let when = format!("2026-{day}T10:00:00Z");
        assert_eq!(entries("05/06/2026\nEURUSD;10:00;CALL", set(dates)), [row(&when, 1, "BUY", 2)]);
    }
    let other = SignalList::parse("27/11/2026\nEURUSD;10:00;CALL", &bots(), set(DateOrder::MonthFirst));
    assert!(other.unwrap_err().starts_with("line 1: invalid date if read month first"));
    let headings = "28 November|28.11|#28/11/2026|## 28/11/2026|# 28.11|# tomorrow|Saturday 28/11|Amanhã UTC|28.11 EURUSD;10:30;CALL|\
        28/11/2026;EURUSD;M5;09:00;BUY";
    for heading in headings.split('|') {
        let text = format!("27/11/2026\nEURUSD;M5;10:00;CALL\n{heading}\nEURUSD;M5;11:00;CALL\n");
        let found = entries(&text, skipping("UTC"));
        assert_eq!(found[0], row("2026-11-27T10:00:00Z", 1, "BUY", 2), "{heading}");
        let of_next_day = row("2026-11-28T09:00:00Z", 1, "BUY", 3);
        assert!(found[1..].iter().all(|own| *own == of_next_day), "{heading}: {found:?}");
    }
    for line in "M5;GBPJPY;10:30;CALL|# the rest of the day|-----|Timezone: UTC|UTC|# gale 2.2".split('|') {
        let text = format!("27/11/2026\nEURUSD;M5;10:00;CALL\n{line}\nEURUSD;M5;11:00;CALL\n");
        assert_eq!(entries(&text, skipping("UTC")).len(), 2, "{line}");
    }
}

#[test]
fn repeated_line_trades_once_and_contradicting_lines_never() {
    let text = "27/11/2026;M5;EURUSD;14:35;CALL\n27/11/2026;M5;EURUSD;14:40;PUT\n27/11/2026 EUR/USD 2:35 PM buy M5\n\
                27/11/2026;M5;BTCUSDT;14:35;CALL\n27/11/2026;M5;EURUSD;14:35;CALL\n";
    let list = SignalList::parse(text, &traders_bots(), terms("UTC")).unwrap();
    assert_eq!(list.entries.iter().map(|entry| entry.line).collect::<Vec<_>>(), [1, 2, 4]);
    assert!(list.describe().ends_with(", 2 duplicate lines omitted (3, 5)"), "{}", list.describe());
    for other in ["EURUSD 14:35 PUT", "EURUSD 14:35 CALL M1", "EURUSD 14:35 CALL"] {
        let text = format!("M5 EURUSD 14:35 CALL\nEURUSD 14:40 CALL\n{other}\nEURUSD 14:45 PUT");
        for terms in [terms("UTC"), skipping("UTC")] {
            let error = SignalList::parse(&text, &traders_bots(), terms).unwrap_err();
            assert!(error.starts_with("line 3: line 1 asks eur for a different trade"), "{other}: {error}");
            let uses = uses(&text, terms);
            assert_eq!(uses.len(), 4, "each line is shown");
            assert!(uses[2].starts_with("contradicts: line 1 asks eur"), "{uses:?}");
            assert!(uses[3].starts_with("14:45:00 each day"), "{uses:?}");
        }
    }
    let named = "time,bot,direction,days\n10:30,btc,BUY,mon\n10:30,btc,BUY,mon-fri\n";
    assert!(parse_list(named).unwrap_err().starts_with("line 3: line 2 asks btc"));
    assert_eq!(
        parse_list("time,bot,direction,days\n10:30,btc,BUY,mon\n10:30,btc,BUY,mon\n").unwrap().len(),
        1
    );
}

fn parse_list(text: &str) -> Result<SignalList, String> {
    SignalList::parse(text, &bots(), terms("UTC"))
}

#[test]
fn zone_heading_must_match_the_settings() {
    let text = "Timezone: UTC+1\n27/11/2026;EURUSD;14:48;PUT\n01/07/2026;EURUSD;14:50;PUT\n";
    // Berlin is 1 h ahead of UTC in winter, and 2 h in summer.
    assert_eq!(entries(text, skipping("Europe/Berlin")), [row("2026-11-27T13:48:00Z", 1, "SELL", 2)]);
    assert!(entries(text, skipping("UTC")).is_empty());
    let uses = uses(text, skipping("Europe/Berlin"));
    assert!(uses[2].contains("line 1 names the zone UTC+1, but signals.timezone gives"), "{uses:?}");
}

#[test]
fn list_past_midnight_requires_the_next_date() {
    let text = "27/11/2026\nEURUSD 23:30 CALL\nEURUSD 00:15 PUT\nEURUSD 00:30 PUT\nEURUSD 23:45 PUT\n28/11/2026\nEURUSD 00:45 CALL\n";
    let expected = [row("2026-11-27T23:30:00Z", 1, "BUY", 2), row("2026-11-28T00:45:00Z", 1, "BUY", 7)];
    assert_eq!(entries(text, skipping("UTC")), expected);
    // The time steps back by less than 12 h, but into the night. The first symbol below is untraded.
    let into_the_night = "27/11/2026\nEURUSD 13:00 CALL\nEURUSD 01:30 PUT\n";
    assert_eq!(entries(into_the_night, skipping("UTC")), [row("2026-11-27T13:00:00Z", 1, "BUY", 2)]);
    let of_others = "27/11/2026\nXAUUSD 22:00 CALL\nEURUSD 01:00 PUT\n";
    assert!(entries(of_others, skipping("UTC")).is_empty());
    let problem = traders(text).unwrap_err();
    assert!(problem.starts_with("line 3: the time is long before the time in line 2"), "{problem}");
    assert_eq!(entries("27/11/2026\nEURUSD 16:00 CALL\nBTCUSDT 08:00 PUT\n", terms("UTC")).len(), 2);
}

#[test]
fn unparsed_day_heading_makes_no_daily_entries() {
    for heading in
        "27 nov|AMANHÃ|Signals of 27.11.|01 DEZ|28 / 11 / 2026|# SINAIS 28/11/2026|#amanhã".split('|')
    {
        let text = format!("{heading}\nEURUSD 10:00 CALL\n");
        assert!(entries(&text, skipping("UTC")).is_empty(), "{heading}");
    }
    assert!(entries("time,bot,direction\nSignals,tomorrow,\n10:30,btc,BUY\n", skipping("UTC")).is_empty());
    for heading in ["VIP room 24h", "gale 2.2", "# it may lose"] {
        let text = format!("{heading}\nEURUSD 10:00 CALL\n");
        assert_eq!(entries(&text, skipping("UTC")).len(), 365, "{heading}");
    }
    for terms in [terms("UTC"), skipping("UTC")] {
        let named = "time,bot,direction\n27/11/2026,,\n10:30,btc,BUY\n";
        let problem = SignalList::parse(named, &bots(), terms).unwrap_err();
        let expected = "line 2: when the first line is a header, a line with only a date does not apply";
        assert!(problem.starts_with(expected), "{problem}");
    }
}

pub(super) fn below(heading: &str, zone: &str) -> Vec<String> {
    let text = format!("{heading}\n26/11/2026\nEURUSD 10:15 CALL M5\n");
    entries(&text, skipping(zone)).into_iter().map(|entry| entry.0).collect()
}

#[test]
fn rejects_entries_whose_heading_may_mean_another_hour() {
    // 10:15 by hand, in November: Sao Paulo is UTC-3, New York UTC-5, London UTC, India UTC+5:30 and Karachi UTC+5.
    let zones = [
        ("America/Sao_Paulo", "2026-11-26T13:15:00Z"),
        ("America/New_York", "2026-11-26T15:15:00Z"),
        ("Europe/London", "2026-11-26T10:15:00Z"),
        ("Asia/Kolkata", "2026-11-26T04:45:00Z"),
        ("Asia/Karachi", "2026-11-26T05:15:00Z"),
    ];
    for (headings, own) in [
        ("HORÁRIO DE BRASILIA|\u{1f1e7}\u{1f1f7} São Paulo \u{23f0}|BRT|UTC\u{2011}3", 0),
        ("\u{1d5e8}\u{1d5e7}\u{1d5d6} -\u{1d7ef}", 0),
        ("New York time", 1),
        ("London session", 2),
        ("Kolkata|UTC+5:30|Timezone: UTC+05:30|UTC+0530", 3),
        ("PKT|UTC +5", 4),
    ] {
        for heading in headings.split('|') {
            for (place, (zone, moment)) in zones.iter().enumerate() {
                let expected: &[&str] = if place == own { &[*moment] } else { &[] };
                assert_eq!(below(heading, zone), expected, "{heading} with {zone}");
            }
        }
    }
    let doubted = "EST|Timezone: IST|NY time|Fuso: Brasil|UTC-3 / UTC-4|-3|UTC minus 3|10:20 GBPUSD CALL EST|EURUSD 10:20 CALL (IST)|\
        Timezone: UTC-3\nTimezone: UTC+1";
    for heading in doubted.split('|') {
        for (zone, _) in zones.iter().chain(&[("UTC", "")]) {
            assert!(below(heading, zone).is_empty(), "{heading} with {zone}");
        }
    }
    for heading in ["SINAIS VIP", "TIMEFRAME", "24 horas", "Bom dia", "GET READY"] {
        assert_eq!(below(heading, "Asia/Kolkata"), ["2026-11-26T04:45:00Z"], "{heading}");
    }
    for (line, count) in [("Timezone: UTC-3", 0), ("London session,,", 1), ("EST,,", 0), ("later,,", 1)] {
        let text = format!("time,symbol,direction\n{line}\n2026-11-26 10:15,EURUSD,CALL\n");
        assert_eq!(entries(&text, skipping("Europe/London")).len(), count, "{line}");
    }
}

#[test]
fn parses_zones_as_suggested_by_messages() {
    for (line, when) in [
        // Formats from other programs. By hand: 09:20 at UTC-5 is 14:20 UTC.
        ("2026-11-30T09:20:00-05:00 EURUSD BUY M5", "2026-11-30T14:20:00Z"),
        ("EURUSD 2026-11-30T09:20:00Z CALL", "2026-11-30T09:20:00Z"),
        ("30/11/2026 10:50Z EURUSD CALL", "2026-11-30T10:50:00Z"),
        ("30/11/2026 EURUSD CALL 10:50+05:30", "2026-11-30T05:20:00Z"),
        ("26/11/2026 10:15 EURUSD CALL UTC+5:30", "2026-11-26T04:45:00Z"),
        ("26/11/2026 10:15 EURUSD CALL GMT +5:30", "2026-11-26T04:45:00Z"),
        ("26/11/2026;10:15;EURUSD;CALL;UTC+0530", "2026-11-26T04:45:00Z"),
        ("26/11/2026 10:15 (UTC+5:30) EURUSD CALL", "2026-11-26T04:45:00Z"),
        ("26/11/2026 10:15 EURUSD CALL UTC -3", "2026-11-26T13:15:00Z"),
        ("26/11/2026 10:15 EURUSD CALL UTC-03:00", "2026-11-26T13:15:00Z"),
        ("26/11/2026 10:15 EURUSD CALL BRT", "2026-11-26T13:15:00Z"),
        ("26/11/2026 10:15 EURUSD CALL America/New_York", "2026-11-26T15:15:00Z"),
        ("26/07/2026 10:15 EURUSD CALL America/New_York", "2026-07-26T14:15:00Z"),
    ] {
        assert_eq!(entries(line, terms("Asia/Tokyo")), [row(when, 1, "BUY", 1)], "{line}");
    }
}
