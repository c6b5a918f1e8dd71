//! Files that contain rows of several series.
#![allow(clippy::unwrap_used, reason = "what cannot be read fails its test")]

mod fixture;

use candlewick_history::{
    CheckSettings, CheckedSeries, ConflictChoice, FindingKind, ImportedSeries, check_bytes,
};
use fixture::{DAY, HOUR, MINUTE, import, settings};
use std::fmt::Write as _;
use std::path::Path;

/// 2026-01-05 09:00 UTC, a Monday.
const NINE: i64 = 1_767_603_600_000;

fn check(name: &str, content: &str, options: &str) -> Result<CheckedSeries, String> {
    check_bytes(content.as_bytes(), Path::new(name), &settings(options), &CheckSettings::default())
        .map_err(|error| error.to_string())
}

fn check_refused(name: &str, content: &str, options: &str, expected: &str) {
    let imported = import(name, content, options).map(|imported| imported.candles.candles().len());
    let error = imported.expect_err(&format!("{name} is refused"));
    assert!(error.contains(expected), "{error}\n{expected}");
    assert_eq!(check(name, content, options).map(|_| ()).unwrap_err(), error, "{name}");
}

fn times(imported: &ImportedSeries) -> Vec<i64> {
    imported.candles.candles().iter().map(|candle| candle.time().get()).collect()
}

fn minutes(imported: &ImportedSeries) -> Vec<i64> {
    times(imported).into_iter().map(|time| (time - NINE) / MINUTE).collect()
}

fn lines(times: impl IntoIterator<Item = i64>, line: impl Fn(i64, &str) -> String) -> String {
    times.into_iter().enumerate().fold(String::new(), |mut text, (index, time)| {
        let price = 1.17 + index as f64 / 1e4;
        let cells = format!("{price:.4},{:.4},{:.4},{price:.4}", price + 0.001, price - 0.001);
        let _ = writeln!(text, "{}", line(time, &cells));
        text
    })
}

fn ours(times: impl IntoIterator<Item = i64>) -> String {
    format!("time,open,high,low,close,volume\n{}", lines(times, |time, cells| format!("{time},{cells},5")))
}

fn every(step: i64, from: i64, count: i64) -> impl Iterator<Item = i64> + Clone {
    (0..count).map(move |number| from + number * step)
}

#[test]
fn rejects_two_symbols_unless_only_selects_one() {
    let row = |name: &'static str| move |time: i64, cells: &str| format!("{name},5,{cells},{time}");
    let rows = |from: i64, name: &'static str| lines(every(MINUTE, NINE + from * MINUTE, 6), row(name));
    let rows = rows(0, "C:EURUSD") + &rows(6, "C:GBPUSD");
    let text = format!("ticker,volume,open,high,low,close,timestamp\n{rows}");
    let expected =
        "holds 2 symbols: C:EURUSD (6 rows, the first in line 2), C:GBPUSD (6 rows, the first in line 8)";
    check_refused("2026-01-05.csv", &text, "symbol=EURUSD", expected);
    check_refused("2026-01-05.csv", &text, "symbol=EURUSD", "such as --only C:EURUSD");
    check_refused("2026-01-05.csv", &text, "symbol=GBPUSD", "such as --only C:GBPUSD");
    let euro = import("2026-01-05.csv", &text, "symbol=EURUSD only=EURUSD").unwrap();
    assert_eq!((minutes(&euro), euro.excluded_rows), ((0..6).collect(), 6));
    let pound = import("2026-01-05.csv", &text, "symbol=GBPUSD only=c:gbpusd").unwrap();
    assert_eq!(minutes(&pound), (6..12).collect::<Vec<_>>());
    let nothing = "no row matches NZDUSD; the file holds C:EURUSD (6 rows, the first in line 2)";
    check_refused("2026-01-05.csv", &text, "symbol=NZDUSD only=NZDUSD", nothing);
    let days = "Date,Open,High,Low,Close,Volume,Name\n2026-01-05,1,2,1,2,5,AAL\n2026-01-06,1,2,1,2,5,AAL\n2026-01-05,1,2,1,2,5,AAPL\n";
    check_refused("AAL.csv", days, "", "holds 2 symbols: AAL (2 rows, the first in line 2), AAPL (1 rows");
    let bare = ours(every(MINUTE, NINE, 3));
    check_refused("EURUSD_1m.csv", &bare, "only=EURUSD", "has no column for a symbol");
}

#[test]
fn rejects_symbol_column_that_contradicts_name_or_option() {
    let named = |name: &str| {
        let rows = lines(every(MINUTE, NINE, 4), |time, cells| format!("{name},{time},{cells}"));
        format!("symbol,time,open,high,low,close\n{rows}")
    };
    let expected = "the symbol column says GBPUSD, but the file name says EURUSD; use --symbol GBPUSD, or \
                    --only GBPUSD if EURUSD is another name for it";
    check_refused("EURUSD_1m.csv", &named("GBPUSD"), "", expected);
    check_refused("x.csv", &named("GBPUSD"), "symbol=EURUSD", "but the option says EURUSD");
    check_refused("x.csv", &named("GBPUSD"), "", "such as --symbol GBPUSD");
    check_refused("EURUSD_1m.csv", &named("EURUSD-OTC"), "", "says EURUSD-OTC");
    assert!(import("EURUSD_1m.csv", named("BBG0013HJJ31"), "only=BBG0013HJJ31").is_ok());
}

#[test]
fn rejects_interval_column_with_another_interval() {
    let period = |first: &str, then: &str| {
        let head = "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>\n";
        let rows = lines(0..6, |minute, cells| {
            let period = if minute < 3 { first } else { then };
            format!("EURUSD,{period},20260105,09{minute:02}00,{cells}")
        });
        format!("{head}{rows}")
    };
    let options = "symbol=EURUSD timezone=UTC";
    let two = "holds 2 intervals: 1 (3 rows, the first in line 2), 5 (3 rows, the first in line 5)";
    check_refused("x.txt", &period("1", "5"), options, two);
    assert_eq!(minutes(&import("x.txt", period("1", "5"), &format!("{options} only=1")).unwrap()), [0, 1, 2]);
    check_refused("x.txt", &period("5", "5"), options, "column says 5, but the file is read as 1m");
}

#[test]
fn rejects_second_interval_in_every_format() {
    let mixed = || every(MINUTE, NINE, 100).chain(every(5 * MINUTE, NINE + 104 * MINUTE, 100));
    let place = "1m, but 5m between line 101 and line 201 (100 times)";
    check_refused("EURUSD_1m.csv", &ours(mixed()), "", place);
    let json: Vec<String> = mixed().map(|time| format!("[{time},1,2,1,2,5]")).collect();
    let json = format!("[{}]", json.join(","));
    check_refused("EURUSD-1m.json", &json, "symbol=EURUSD", "between row 100 and row 200");
    let longer = lines(every(5 * MINUTE, NINE, 12), |time, cells| format!("{time},{cells},25"));
    let with_longer = ours(every(MINUTE, NINE, 60)) + &longer;
    check_refused("EURUSD_1m.csv", &with_longer, "", "12 timestamps occur twice, at least 5m apart");
}

#[test]
fn rejects_truncated_last_row() {
    let head = "Time,Open,High,Low,Close,Volume\n2026-01-05T09:00:00Z,1.17103,1.1712,1.17086,1.17107,10\n";
    let cut = "2026-01-05T09:01:00Z,1.17113,1.17126,1.17089,1.1711";
    let refused = |text: &str, options: &str, expected: &str| {
        let error = import("EURUSD_1m.csv", text, options).map(|_| ()).unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    refused(&format!("{head}{cut}"), "", "line 3: 5 columns instead of 6; is the line cut off?");
    refused(&format!("{head}{cut},"), "", "line 3: the file ends with \"\" without a line break");
    refused(&format!("{head}{cut},1."), "", "line 3: the file ends with \"1.\" without a line break");
    let bare = "1767603600,1.1,1.1,1.1,1.1,7,9\n1767603660,1.1,1.1,1.1,1.1,7,9\n1767603720,1.1,1.1,1.1,1.1,7";
    refused(bare, "columns=time,open,high,low,close,volume,-", "line 3: 6 columns instead of 7");
    refused("[[1767603600000,1,2,1,2,5],[1767603660000,1,2", "", "EOF while parsing");
    // A row that ends with a newline may lack optional columns. The last row may lack them if all rows do.
    assert!(import("EURUSD_1m.csv", format!("{head}{cut}\n"), "interval=1m").is_ok());
    let short = "time,open,high,low,close,volume,remark\n1767603600,1,2,1,2,5\n1767603660,1,2,1,2,5";
    assert_eq!(import("EURUSD_1m.csv", short, "").map(|imported| times(&imported).len()), Ok(2));
    let checked = check("EURUSD_1m.csv", &format!("{head}{cut}"), "");
    assert_eq!(checked.unwrap().findings.counts()[&FindingKind::Unreadable], 1);
}

#[test]
fn omits_and_counts_unfinished_candles() {
    for (name, yes, no) in [
        ("complete", "True", "False"),
        ("isComplete", "true", "false"),
        ("is_closed", "1", "0"),
        ("confirm", "1", "0"),
        ("partial", "no", "yes"),
    ] {
        let row = |time: i64, cells: &str| {
            let flag = [yes, yes, "", yes, yes, no][((time - NINE) / MINUTE) as usize];
            format!("{time},{cells},5,{flag}")
        };
        let rows = lines(every(MINUTE, NINE, 6), row);
        let text = format!("time,open,high,low,close,volume,{name}\n{rows}");
        let imported = import("EURUSD_1m.csv", text, "").unwrap();
        assert_eq!((minutes(&imported), imported.unfinished_rows), (vec![0, 1, 2, 3, 4], 1), "{name}");
    }
    let next = NINE + MINUTE;
    let rows = format!("{NINE},1,1,1,1,false\n{NINE},1,2,1,2,true\n{next},1,2,1,2,true\n");
    let twice = format!("time,open,high,low,close,complete\n{rows}");
    let imported = import("EURUSD_1m.csv", twice, "interval=1m").unwrap();
    assert_eq!((imported.candles.candles()[0].high(), imported.unfinished_rows), (2.0, 1));
}

/// Returns quarter-hours of 2026-10-25 in Berlin time, oldest first. Clocks are set back at 03:00.
fn quarters(order: impl Fn(Vec<(String, usize)>) -> Vec<(String, usize)>) -> String {
    let hours = ["01", "02", "02", "03"];
    let rows = (0..16).map(|i| (format!("2026-10-25 {}:{:02}", hours[i / 4], i % 4 * 15), i)).collect();
    let line = |(time, row): &(String, usize)| format!("{time},{0},{0}.5,{0},{0},5\n", row + 1);
    format!("Time,Open,High,Low,Close,Volume\n{}", order(rows).iter().map(line).collect::<String>())
}

fn paired(mut rows: Vec<(String, usize)>) -> Vec<(String, usize)> {
    rows.sort();
    rows
}

#[test]
fn sorts_local_times_before_applying_the_zone() {
    // From 2026-10-24 23:00 UTC, which is 01:00 in Berlin, without interruption in UTC.
    let expected: Vec<(i64, f64)> =
        (0..16).map(|row| (1_792_882_800_000 + row * 15 * MINUTE, (row + 1) as f64)).collect();
    let found = |text: &str, options: &str| {
        let imported = import("x.csv", text, &format!("symbol=BTCUSDT interval=15m {options}"))?;
        let rows = imported.candles.candles().iter().map(|candle| (candle.time().get(), candle.open()));
        Ok::<_, String>((rows.collect::<Vec<_>>(), imported.was_newest_first))
    };
    let reversed = |mut rows: Vec<(String, usize)>| {
        rows.reverse();
        rows
    };
    let berlin = "timezone=Europe/Berlin";
    assert_eq!(found(&quarters(|rows| rows), berlin), Ok((expected.clone(), false)));
    assert_eq!(found(&quarters(reversed), berlin), Ok((expected.clone(), true)));
    let pairs = "the rows of the two hours alternate; use --clock-change pairs (if the first row of each \
                 pair is the earlier one) or skip";
    let options = "symbol=BTCUSDT interval=15m timezone=Europe/Berlin";
    check_refused("x.csv", &quarters(paired), options, pairs);
    let taken = found(&quarters(paired), &format!("{berlin} clock-change=pairs"));
    assert_eq!(taken, Ok((expected.clone(), false)));
    let skipped = found(&quarters(paired), &format!("{berlin} clock-change=skip")).unwrap().0;
    assert_eq!(skipped, [&expected[..4], &expected[12..]].concat());
    let thrice = |mut rows: Vec<(String, usize)>| {
        rows.insert(6, rows[5].clone());
        rows
    };
    let skip = "the order of the rows does not tell the two hours apart; use --clock-change skip";
    check_refused("x.csv", &quarters(thrice), options, skip);
    // Such rows cannot have a fixed offset, and their repeated times must not be removed as duplicates.
    for zone in ["UTC", "+01:00"] {
        for rows in [quarters(|rows| rows), quarters(reversed), quarters(paired)] {
            let options = format!("symbol=BTCUSDT interval=15m timezone={zone}");
            check_refused("x.csv", &rows, &options, "2026-10-25 02:00 occurs twice with different values");
        }
    }
}

#[test]
fn repair_prefers_complete_candle_and_asks_about_conflicts() {
    let with = |rows: &str| {
        let sound = ours(every(MINUTE, NINE, 4));
        let mut lines: Vec<&str> = sound.lines().collect();
        lines[3] = rows;
        lines.join("\n") + "\n"
    };
    let time = NINE + 2 * MINUTE;
    let (stub, whole) =
        (format!("{time},1.17,1.17,1.17,1.17,0.3"), format!("{time},1.17,1.1714,1.1698,1.1712,12"));
    for rows in
        [format!("{stub}\n{whole}"), format!("{whole}\n{stub}"), format!("{stub}\n{whole}\n{stub}\n{whole}")]
    {
        let checked = check("EURUSD_1m.csv", &with(&rows), "").unwrap();
        assert!(!checked.findings.counts().contains_key(&FindingKind::Conflict), "{rows}");
        let fixed = checked.fix(&[]).candles.unwrap();
        assert_eq!((fixed.candles().len(), fixed.candles()[2].volume()), (4, 12.0), "{rows}");
    }
    let found = check("EURUSD_1m.csv", &with(&format!("{stub}\n{whole}")), "").unwrap();
    let finding = &found.findings.list()[0];
    assert_eq!((finding.kind, finding.row), (FindingKind::Duplicate, Some(4)), "the stub, not the candle");
    let other = format!("{time},1.18,1.1801,1.1799,1.18,40");
    let conflict = check("EURUSD_1m.csv", &with(&format!("{whole}\n{other}\n{whole}")), "").unwrap();
    let counts = conflict.findings.counts();
    assert_eq!((counts[&FindingKind::Conflict], counts[&FindingKind::Duplicate]), (1, 1));
    assert_eq!(conflict.conflict_count(), 1);
    for (choice, volume) in [("first", 12.0), ("last", 12.0), ("larger", 40.0)] {
        let resolved = conflict.resolve_conflicts(choice.parse::<ConflictChoice>().unwrap());
        let fixed = resolved.fix(&[]).candles.unwrap();
        assert_eq!((fixed.candles().len(), fixed.candles()[2].volume()), (4, volume), "{choice}");
    }
    let error = import("EURUSD_1m.csv", with(&format!("{whole}\n{other}")), "").map(|_| ()).unwrap_err();
    assert!(error.contains("occurs twice with different values") && !error.contains("--fix"), "{error}");
}

#[test]
fn rejects_candles_of_another_midnight_with_a_hint() {
    let terminal = |hours: i64, count: i64| {
        lines(every(hours * HOUR, NINE - 9 * HOUR, count), |time, cells| {
            let hour = time / HOUR;
            let day = (time - (NINE - 9 * HOUR)) / DAY + 5;
            format!("2026.01.{day:02},{:02}:00,{cells},5", hour % 24)
        })
    };
    let athens = "timezone=Europe/Athens";
    let india = "timezone=Asia/Kolkata";
    for (hours, options, begin, shorter) in [
        (4, athens, "4h that begin at 22:00 UTC", "and every 4h after it. Import candles of 1h or less"),
        (24, athens, "1d that begin at 22:00 UTC", "only candles that begin at 00:00 UTC."),
        (1, india, "1h that begin at 18:30 UTC", "Import candles of 30m or less"),
    ] {
        for part in [begin, shorter] {
            check_refused(&format!("EURUSD{}.csv", hours * 60), &terminal(hours, 12), options, part);
        }
    }
    assert!(import("EURUSD60.csv", terminal(1, 12), athens).is_ok());
    // UTC times instead of server time: days that end in New York, weeks from Monday, months.
    let days = every(DAY, NINE - 11 * HOUR, 10);
    check_refused("EURUSD_1d.csv", &ours(days), "", "candles of 1d that begin at 22:00 UTC");
    let weeks = every(7 * DAY, NINE - 9 * HOUR, 5);
    let week = "candles of 7d that begin on Monday, 2026-01-05, 00:00 UTC cannot be stored: the program supports only \
                candles that begin every 7d from 1970-01-01 on. Import candles of 1d or less";
    check_refused("x.csv", &ours(weeks), "symbol=BTCUSDT", week);
    let months =
        [1_764_547_200_000_i64, 1_767_225_600_000, 1_769_904_000_000, 1_772_323_200_000, 1_775_001_600_000];
    check_refused("BTCUSDT_x.csv", &ours(months), "symbol=BTCUSDT", "calendar months cannot be stored");
    let klines: String = months.windows(2).fold(String::new(), |mut text, month| {
        let _ = writeln!(text, "{},1,2,.5,1.5,7,{},1,1,1,1,0", month[0], month[1] - 1);
        text
    });
    check_refused("BTCUSDT-1mo-2026-01.csv", &klines, "", "calendar months cannot be stored");
    for advice in ["--timezone", "--stamped"] {
        let error = import("EURUSD240.csv", terminal(4, 12), athens).map(|_| ()).unwrap_err();
        assert!(!error.contains(advice), "{error}");
    }
}

#[test]
fn accepts_bars_stamped_with_their_last_moment() {
    for before in [1, 1_000] {
        let text = ours(every(MINUTE, NINE + MINUTE - before, 5));
        let expected =
            format!("is {before} ms before its candle's end; use --stamped, such as --stamped close");
        check_refused("EURUSD_1m.csv", &text, "", &expected);
        assert_eq!(minutes(&import("EURUSD_1m.csv", &text, "stamped=close").unwrap()), [0, 1, 2, 3, 4]);
    }
}

#[test]
fn suggested_columns_work_when_used() {
    let suggestion = |text: &str, options: &str| {
        let error = import("EURUSD_1m.csv", text, options).map(|_| ()).unwrap_err();
        let columns = error.split("such as --columns ").nth(1).unwrap_or_else(|| panic!("{error}"));
        columns.split([' ', ';']).next().unwrap().to_owned()
    };
    let fxcm = "date,bidopen,bidclose,bidhigh,bidlow,askopen,askclose,askhigh,asklow,tickqty\n\
                2026-01-05 09:00:00,1.1,1.2,1.3,1.0,1.1,1.2,1.3,1.0,5\n2026-01-05 09:01:00,1.1,1.2,1.3,1.0,1.1,1.2,1.3,1.0,5\n";
    assert_eq!(suggestion(fxcm, "timezone=UTC"), "time,open,close,high,low,-,-,-,-,-");
    let option = "id,from,at,to,open,close,min,max,volume\n1,1767603600,1767603660000000000,1767603660,1.1,1.2,1.0,1.3,5\n\
                  2,1767603660,1767603720000000000,1767603720,1.1,1.2,1.0,1.3,5\n";
    assert_eq!(suggestion(option, ""), "-,time,-,-,open,close,low,high,volume");
    let polygon = "ticker,volume,open,close,high,low,window_start,transactions\n\
                   EURUSD,5,1.1,1.2,1.3,1.0,1767603600000000000,4\nEURUSD,5,1.1,1.2,1.3,1.0,1767603660000000000,4\n";
    assert_eq!(minutes(&import("EURUSD_1m.csv", polygon, "").unwrap()), [0, 1]);
    let clock =
        "<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>\n20260105,95900,1,2,1,2\n20260105,100000,1,2,1,2\n";
    assert_eq!(minutes(&import("EURUSD_1m.csv", clock, "timezone=UTC").unwrap()), [59, 60]);
    let spaced = "date        time   open   high   low  close\n2026-01-05  09:00  1.10  1.20  1.00  1.10\n2026-01-05  09:01  1.10  1.20  1.00  1.10\n";
    for options in ["timezone=UTC", "timezone=UTC delimiter=space"] {
        assert_eq!(minutes(&import("EURUSD_1m.csv", spaced, options).unwrap()), [0, 1], "{options}");
    }
}
