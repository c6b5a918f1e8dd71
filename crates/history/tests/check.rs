//! Findings of files with one defect each, and repairs, which leave the original unchanged.
#![allow(clippy::unwrap_used, reason = "what cannot be read fails its test")]

use candlewick_history::{
    Catalog, CheckSettings, CheckedSeries, FindingKind, GenerateSettings, HistoryError, ImportSettings,
    MarketHours, Origin, check_file, check_series, generate, ignore_progress, known_market, read_csv,
    write_csv,
};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Series, Symbol};
use std::fmt::Write as _;
use std::path::Path;

/// 2026-01-05 00:00 UTC, a Monday.
const MONDAY: i64 = 1_767_571_200_000;
const MINUTE: i64 = 60_000;

/// Returns forty minutes between 99.9 and 100.1 from line 2 on, with `lines` replaced or left out.
fn file(lines: &[(usize, &str)]) -> String {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for minute in 0..40 {
        let time = MONDAY + minute as i64 * MINUTE;
        let line = match lines.iter().find(|(line, _)| *line == minute + 2) {
            Some((_, "")) => continue,
            Some((_, other)) => other.replace("TIME", &time.to_string()),
            None => format!("{time},100,100.1,99.9,100,1"),
        };
        text += &line;
        text.push('\n');
    }
    text
}

fn checked(text: &str, symbol: &str, settings: &CheckSettings) -> CheckedSeries {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{symbol}_1m.csv"));
    std::fs::write(&path, text).unwrap();
    let checked = check_file(&path, &ImportSettings::default(), settings, &mut ignore_progress).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "a check changes nothing");
    checked
}

type Row<'a> = (FindingKind, Option<u64>, Option<i64>, u64, &'a str);

fn assert_found(checked: &CheckedSeries, expected: &[Row<'_>]) {
    let found = checked.findings.list();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (finding, (kind, row, minute, count, part)) in found.iter().zip(expected) {
        let start = finding.start.map(|start| (start.get() - MONDAY) / MINUTE);
        assert_eq!((finding.kind, finding.row, start, finding.count), (*kind, *row, *minute, *count));
        assert!(finding.detail.contains(*part), "{}", finding.detail);
    }
}

fn check(lines: &[(usize, &str)], expected: &[Row<'_>]) {
    assert_found(&checked(&file(lines), "X", &CheckSettings::default()), expected);
}

#[test]
fn reports_each_kind_of_problem_with_its_line() {
    use FindingKind::{
        Conflict, Duplicate, Flat, Gap, Jump, Misaligned, NotFinite, Price, Range, Spike, Unreadable,
        Unsorted, Volume,
    };
    check(&[], &[]);
    // An invalid row leaves a gap.
    let gap = (Gap, None, Some(3), 1, "1 missing");
    for (line, kind, part) in [
        ("TIME,100,100.1,99.9", Unreadable, "4 columns instead of 6"),
        ("TIME,100,100.1,99.9,x,1", Unreadable, "close \"x\" is not a number"),
        ("TIME,100,NaN,99.9,100,1", NotFinite, "high"),
        ("TIME,100,100.1,0,100,1", Price, "low 0 "),
        ("TIME,-100,100.1,99.9,100,1", Price, "open -100 "),
        ("TIME,100,100.1,99.9,100,-1", Volume, "volume -1 "),
        ("TIME,100,99.9,100.1,100,1", Range, "low 100.1 and high 99.9"),
        ("TIME,100,100.1,99.9,100.2,1", Range, "close 100.2"),
        ("1767571380001,100,100.1,99.9,100,1", Misaligned, "1767571380001"),
    ] {
        let minute = if kind == Unreadable { None } else { Some(3) };
        check(&[(5, line)], &[(kind, Some(5), minute, 1, part), gap]);
    }
    // In the last case, the first row can be an unfinished state of the second.
    for (second, kind, line, part) in [
        ("100,100.1,99.9,100,1", Duplicate, 6, "the same values"),
        ("100.05,100.1,99.9,100,2", Conflict, 6, "open 100.05 instead of 100, volume 2 instead of 1"),
        ("100,100.1,99.9,100.05,2", Duplicate, 5, "close 100 instead of 100.05, volume 1 instead of 2"),
    ] {
        let both = format!("TIME,100,100.1,99.9,100,1\nTIME,{second}");
        check(&[(5, &both)], &[(kind, Some(line), Some(3), 1, part)]);
    }
    let swapped = "TIME,100,100.1,99.9,100,1\n1767571380000,100,100.1,99.9,100,1";
    check(&[(5, ""), (6, swapped)], &[(Unsorted, Some(6), Some(3), 1, "is before 1767571440000 in a")]);
    let gaps = [(Gap, None, Some(3), 2, "2 missing"), (Gap, None, Some(7), 1, "1 missing")];
    check(&[(5, ""), (6, ""), (9, "")], &gaps);
    // Candles have a range of 0.2002 %: 104 is 19 and 96 is 20 times that beyond its neighbours. A candle
    // entirely elsewhere is one spike, not two jumps. 102 is not a spike: only ten times the range away.
    for (line, part) in [
        ("TIME,100,104,99.9,100,1", "high 104 differs from the adjacent high 100.1 by 3.90 %, 19 times"),
        ("TIME,100,100.1,96,100,1", "low 96 differs from the adjacent low 99.9 by 4.06 %, 20 times"),
        ("TIME,200,200.1,199.9,200,1", "the adjacent high 100.1 by 99.90 %, 499 times"),
    ] {
        check(&[(5, line)], &[(Spike, None, Some(3), 1, part)]);
    }
    check(&[(5, "TIME,100,102,99.9,100,1")], &[]);
    let flat: Vec<(usize, &str)> = (5..20).map(|line| (line, "TIME,100,100,100,100,0")).collect();
    check(&flat, &[(Flat, None, Some(3), 15, "stays at 100 for 15 candles")]);
    check(&flat[1..], &[]);
    let less: Vec<(usize, &str)> = (22..42).map(|line| (line, "TIME,80,80.08,79.92,80,1")).collect();
    check(&less, &[(Jump, None, Some(20), 1, "the previous close 100 by 25.00 %, 125 times")]);
}

fn generated(symbol: &str, days: u32) -> CandleSeries {
    let symbol = Symbol::new(symbol).unwrap();
    let market = known_market(symbol).unwrap();
    generate(&GenerateSettings::for_market(symbol, market, Millis::new(MONDAY), days)).unwrap()
}

fn kept(series: &CandleSeries, keep: impl Fn(i64) -> bool) -> CandleSeries {
    let is_kept = |candle: &&Candle| keep((candle.time().get() - MONDAY) / MINUTE);
    let candles: Vec<Candle> = series.candles().iter().filter(is_kept).copied().collect();
    CandleSeries::new(series.series(), candles).unwrap()
}

#[test]
fn weekend_is_a_gap_except_for_forex() {
    let euro = generated("EURUSD", 9);
    let quiet = check_series(&euro, &[], &CheckSettings::default());
    assert_eq!((quiet.findings.total(), quiet.missing, quiet.coverage()), (0, 0, 1.0));
    let always = CheckSettings { session: Some(MarketHours::Always), ..CheckSettings::default() };
    let expected = check_series(&euro, &[], &always);
    // The weekend starts on Friday 22:00, minute 7080 of the week, and lasts 48 hours.
    assert_found(&expected, &[(FindingKind::Gap, None, Some(7_080), 2_880, "2880 missing")]);
    let (there, all) = (9.0 * 1_440.0 - 2_880.0, 9.0 * 1_440.0);
    assert_eq!(expected.coverage(), there / all);
    // If a gap starts an hour before the weekend, only that hour counts. On a holiday, nothing counts.
    let early = kept(&euro, |minute| !(7_020..9_960).contains(&minute));
    let expected = check_series(&early, &[], &CheckSettings::default());
    assert_found(
        &expected,
        &[(FindingKind::Gap, None, Some(7_020), 60, "60 missing, plus 2880 outside market hours")],
    );
    let friday = CheckSettings { holidays: vec!["2026-01-09".parse().unwrap()], ..CheckSettings::default() };
    let expected = check_series(&kept(&euro, |minute| !(5_760..9_960).contains(&minute)), &[], &friday);
    assert_eq!(expected.findings.total(), 0);
    let bitcoin = generated("BTCUSDT", 9);
    let closed = CheckSettings { session: Some(MarketHours::Currencies), ..CheckSettings::default() };
    let found = check_series(&bitcoin, &[], &closed);
    assert_found(&found, &[(FindingKind::Closed, None, Some(7_080), 2_880, "outside market hours")]);
}

#[test]
fn repair_removes_certain_errors_and_requested_kinds() {
    let bad = [
        (5, "TIME,100,100.1,99.9"),
        (7, "TIME,100,100.1,0,100,1"),
        (9, "TIME,100,104,99.9,100,1"),
        (12, "TIME,100,100.1,99.9,100,1\nTIME,100,100.1,99.9,100.05,2"),
        (14, ""),
        (15, "TIME,100,100.1,99.9,100,1\n1767571920000,100,100.1,99.9,100,1"),
    ];
    let checked = checked(&file(&bad), "X", &CheckSettings::default());
    let times = |keep: &dyn Fn(i64) -> bool| -> Vec<i64> {
        (0..40).filter(|minute| keep(*minute)).map(|minute| MONDAY + minute * MINUTE).collect()
    };
    let fixed = checked.fix(&[]);
    assert_eq!((fixed.removed, fixed.replaced, fixed.was_unsorted), (3, 0, true));
    let candles = fixed.candles.clone().unwrap();
    let found: Vec<i64> = candles.candles().iter().map(|candle| candle.time().get()).collect();
    assert_eq!(found, times(&|minute| minute != 3 && minute != 5));
    assert_eq!(candles.candles()[8].close(), 100.05, "of a candle and its stub the candle stays");
    let left = checked.check_again(&fixed, &[]).unwrap();
    let kinds: Vec<FindingKind> = left.findings.list().iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Gap, FindingKind::Gap, FindingKind::Spike]);
    let mut text = Vec::new();
    write_csv(&candles, &mut text).unwrap();
    let again = read_csv(text.as_slice(), Path::new("x"), candles.series()).unwrap();
    assert_eq!(again.candles(), candles.candles());

    let also = checked.fix(&[FindingKind::Spike]);
    assert_eq!(also.removed, 4);
    let found: Vec<i64> = also.candles.unwrap().candles().iter().map(|candle| candle.time().get()).collect();
    assert_eq!(found, times(&|minute| ![3, 5, 7].contains(&minute)));
    assert!(!check_series(&candles, &[], &CheckSettings::default()).fix(&[]).has_changes());
}

#[test]
fn reports_revised_candle_and_repairs_it_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::new(folder.path().to_owned());
    let series = Series { symbol: Symbol::new("X").unwrap(), interval: Interval::MINUTE };
    let append = |close: f64, hour: i64| {
        let line = format!("TIME,100,100.1,99.9,{close},1");
        let candles = read_csv(file(&[(5, &line)]).as_bytes(), Path::new("x"), series).unwrap();
        let fetched_at = Millis::new(MONDAY) + Millis::HOUR * hour;
        let origin = Origin { source: "x".to_owned(), licence: None, fetched_at, files: Vec::new() };
        catalog.append(series, candles.candles(), &origin).unwrap();
    };
    append(100.0, 1);
    append(100.05, 2);
    append(99.95, 3);
    let candles = catalog.read(series).unwrap().into_candles();
    let checked = check_series(&candles, &catalog.revisions(series).unwrap(), &CheckSettings::default());
    assert_found(&checked, &[(FindingKind::Revised, None, Some(3), 1, "close 99.95 instead of 100")]);
    assert!(!checked.fix(&[]).has_changes());
    let fixed = checked.fix(&[FindingKind::Revised]);
    assert_eq!((fixed.removed, fixed.replaced), (0, 1));
    let candles = fixed.candles.unwrap();
    assert_eq!(candles.candles()[3].close(), 99.95);
    let again = check_series(&candles, &catalog.revisions(series).unwrap(), &CheckSettings::default());
    assert_eq!(again.findings.total(), 0);
}

#[test]
fn counts_all_findings_of_a_very_bad_file() {
    let series = Series { symbol: Symbol::new("X").unwrap(), interval: Interval::MINUTE };
    let mut text = String::from("time,open,high,low,close,volume\n");
    for minute in 0..20_000_i64 {
        let time = MONDAY + (20_000 - minute / 2) * MINUTE + minute % 2;
        writeln!(text, "{time},1,1,1,1,0").unwrap();
    }
    let checked = checked(&text, "X", &CheckSettings::default());
    assert_eq!(checked.series, series);
    let counts = checked.findings.counts();
    assert_eq!(counts[&FindingKind::Misaligned], 10_000);
    // All rows except the first two, which ascend by a millisecond.
    assert_eq!(counts[&FindingKind::Unsorted], 19_998);
    let listed = |kind| checked.findings.list().iter().filter(|finding| finding.kind == kind).count();
    assert_eq!((listed(FindingKind::Unsorted), listed(FindingKind::Misaligned)), (10_000, 10_000));
    assert_eq!(checked.rows, 20_000);
}

#[test]
fn rejects_files_that_are_not_candles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("X_1m.csv");
    std::fs::write(&path, "time,open,high,low,close,volume\nx\n").unwrap();
    let checked =
        check_file(&path, &ImportSettings::default(), &CheckSettings::default(), &mut ignore_progress);
    assert!(matches!(checked, Err(HistoryError::NoCandles { .. })));
}
