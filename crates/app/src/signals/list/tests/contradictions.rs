//! Lines that request different trades of one bot at the same time, in different notations.

use super::*;
use candlewick_sdk::{Candle, Ohlcv};

fn parse_named(rows: &str) -> Result<SignalList, String> {
    SignalList::parse(&format!("time,bot,direction,close_type,days,zone\n{rows}\n"), &bots(), terms("UTC"))
}

/// Expected times are from `date -u -d 'TZ="..." ...'`.
#[test]
fn rejects_contradictions_across_notations() {
    for (rows, moment) in [
        ("10:00,btc,BUY,,,\n2022-01-05 10:00,btc,SELL,,,", "2022-01-05T10:00:00Z"),
        ("2022-01-05 10:00,btc,SELL,,,\n10:00,btc,BUY,,,", "2022-01-05T10:00:00Z"),
        ("10:00,btc,BUY,,,\n2022-01-05T11:00:00+01:00,btc,SELL,,,", "2022-01-05T10:00:00Z"),
        ("2022-07-05T10:00:00Z,btc,SELL,,,\n12:00,btc,BUY,,,Europe/Berlin", "2022-07-05T10:00:00Z"),
        // 5 January 2026 is the first Monday of the compared years.
        ("10:00,btc,BUY,,mon,\n11:00,btc,SELL,,,Europe/Berlin", "2026-01-05T10:00:00Z"),
        ("10:00,btc,BUY,,,\n11:00,btc,BUY,05:00,,Europe/Berlin", "2026-01-01T10:00:00Z"),
        // Monday in Berlin is still Sunday in London.
        ("23:30,btc,BUY,,sun,\n00:30,btc,SELL,,mon,Europe/Berlin", "2026-01-04T23:30:00Z"),
        // New York starts DST on 8 March, and London on 29 March.
        ("06:00,btc,BUY,,,America/New_York\n10:00,btc,SELL,,,Europe/London", "2026-03-08T10:00:00Z"),
    ] {
        let problem = parse_named(rows).unwrap_err();
        let expected = format!("line 3: line 2 asks btc for a different trade at {moment} (in");
        assert!(problem.starts_with(&expected), "{rows}: {problem}");
    }
    for rows in [
        "10:00,btc,BUY,,,\n2022-01-05 10:00,btc,BUY,,,",
        "10:00,btc,BUY,,,\n2022-01-05 10:00,eur,SELL,,,",
        "10:00,btc,BUY,,mon,\n2022-01-05 10:00,btc,SELL,,,",
        "10:00,btc,BUY,,,\n10:00,btc,SELL,,,Europe/Berlin",
        "23:30,btc,BUY,,sun,\n00:30,btc,SELL,,tue,Europe/Berlin",
        "05:00,btc,BUY,,,America/New_York\n11:00,btc,SELL,,,Europe/London",
    ] {
        assert_eq!(parse_named(rows).unwrap().len(), 2, "{rows}");
    }
}

#[test]
fn comparison_of_daily_times_stays_within_its_budget() {
    let mut rows = String::new();
    for number in 0..10_000 {
        let (minute, second) = (number / 60 % 60, number % 60);
        let (hour, days) = (number / 3_600, ["mon", "sat"][number % 2]);
        let other = ["thu", "wed"][number % 2];
        writeln!(rows, "{hour:02}:{minute:02}:{second:02},btc,BUY,,{days},UTC").unwrap();
        writeln!(rows, "{:02}:{minute:02}:{second:02},btc,SELL,,{other},Europe/Berlin", hour + 1).unwrap();
    }
    assert_eq!(parse_named(rows.trim_end()).unwrap().len(), 20_000);
}

/// Sao Paulo had DST (UTC-2) until 2019. Only during DST do both lines mean the same time.
#[test]
fn backtest_reports_contradictions_of_other_years() {
    let all = parse_named("10:00,btc,BUY,,,America/Sao_Paulo\n12:00,btc,SELL,,,\n12:01,btc,SELL,,,").unwrap();
    let due = |day: &str| -> Vec<u64> {
        let due = all.due_entries(at(&format!("{day}T11:00")), at(&format!("{day}T14:00")));
        due.iter().map(|due| due.entry.line).collect()
    };
    assert_eq!((due("2018-12-03"), due("2018-07-02")), (vec![4], vec![3, 4, 2]));
    let next = all.next_due_entry(at("2018-12-03T11:00")).unwrap();
    assert_eq!((next.at, next.entry.line), (at("2018-12-03T12:01"), 4));
    let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 1.0 };
    let series = bots()[0].series();
    let candle = |time: &str| Candle::new(at(time), series.interval, numbers).unwrap();
    let over = |end: &str| CandleSeries::new(series, vec![candle("2018-12-03T11:00"), candle(end)]).unwrap();
    let (signals, words) = all.signals(&bots(), &[over("2018-12-04T13:00")]);
    assert_eq!(signals.len(), 2, "12:01 on both days");
    let words = words.unwrap();
    assert!(words.contains("lines 2 and 3 ask btc for different trades at 2018-12-03T12:00:00Z"), "{words}");
    assert!(words.ends_with("(1 more such moment)"), "{words}");
    let (signals, words) = all.signals(&bots(), &[over("2018-12-03T11:30")]);
    assert_eq!((signals.len(), words), (0, None));
    let later =
        CandleSeries::new(series, vec![candle("2018-12-04T13:00"), candle("2018-12-04T13:01")]).unwrap();
    let of_eur = CandleSeries::new(bots()[1].series(), vec![candle("2018-12-03T11:00")]).unwrap();
    let (signals, words) = all.signals(&bots(), &[later, of_eur]);
    assert_eq!((signals.len(), words), (0, None));
}
