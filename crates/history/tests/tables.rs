//! Tables as charting sites, scripts and spreadsheets write them: read as rows that were worked out by hand, or refused with
//! the option that settles them.
#![allow(clippy::unwrap_used, reason = "what cannot be read fails its test")]

mod common;

use candlewick_history::{ImportFormat, TableSettings};
use common::{DAY, HOUR, MINUTE, Row, TEN_PM, import, rows_of, settings};

/// 2024-01-02 00:00 UTC.
const SECOND_OF_JANUARY: i64 = TEN_PM - 22 * HOUR;

/// The name says the symbol and the interval, unless options do.
fn check(name: &str, content: &str, options: &str, series: &str, expected: &[Row]) {
    let imported =
        import(name, content, options).unwrap_or_else(|error| panic!("{name}: {error}\n{content}"));
    assert_eq!(rows_of(&imported), expected, "{content}");
    let found = imported.candles.series().to_string();
    assert_eq!((found.as_str(), imported.format), (series, ImportFormat::Table), "{content}");
    assert!(imported.reading.is_some(), "{content}");
}

fn check_refused(content: &str, options: &str, expected: &str) {
    let options = format!("symbol=EURUSD interval=1m {options}");
    let error = import("file.csv", content, &options).map(|_| ()).unwrap_err();
    assert!(error.contains(expected), "{error}\n{content}");
}

/// Three minutes with a volume in the first only.
const EURO: [Row; 3] = [
    (TEN_PM, [1.0942, 1.09431, 1.09418, 1.09425, 43.0]),
    (TEN_PM + MINUTE, [1.09425, 1.09425, 1.09402, 1.09405, 0.0]),
    (TEN_PM + 2 * MINUTE, [1.09405, 1.09412, 1.09405, 1.0941, 0.0]),
];

fn no_volume() -> [Row; 3] {
    EURO.map(|(time, [open, high, low, close, _])| (time, [open, high, low, close, 0.0]))
}

#[test]
fn charting_sites() {
    let with_seconds = "time,open,high,low,close,Volume,MA\n1704232800,1.0942,1.09431,1.09418,1.09425,43,1.1\n\
                        1704232860,1.09425,1.09425,1.09402,1.09405,0,1.1\n1704232920,1.09405,1.09412,1.09405,1.0941,,NaN\n";
    check("FX_EURUSD, 1.csv", with_seconds, "", "EURUSD 1m", &EURO);
    let reading = import("FX_EURUSD, 1.csv", with_seconds, "").unwrap().reading.unwrap();
    let expected = "time \"time\", open \"open\", high \"high\", low \"low\", close \"close\", volume \"Volume\"; left out \"MA\"; \
                    between commas, decimal points; times in seconds since 1970";
    assert_eq!(reading, expected);
    let with_zone = "time,open,high,low,close\n2024-01-02T23:00:00+01:00,1.0942,1.09431,1.09418,1.09425\n\
                     2024-01-02T23:01:00+01:00,1.09425,1.09425,1.09402,1.09405\n\
                     2024-01-02T22:02:00Z,1.09405,1.09412,1.09405,1.0941\n";
    check("FX_EURUSD, 1_a1b2c.csv", with_zone, "", "EURUSD 1m", &no_volume());
    let as_ours = "time,open,high,low,close,volume\n2024-01-02T22:00:00Z,1.0942,1.09431,1.09418,1.09425,43\n\
                   2024-01-02T22:01:00Z,1.09425,1.09425,1.09402,1.09405,0\n2024-01-02T22:02:00Z,1.09405,1.09412,1.09405,1.0941,0\n";
    check("EURUSD_1m.csv", as_ours, "", "EURUSD 1m", &EURO);
    // A last price instead of a close, the newest first, a volume in thousands, quoted, months first.
    let quoted = "\u{feff}\"Date\",\"Price\",\"Open\",\"High\",\"Low\",\"Vol.\",\"Change %\"\n\
                  \"01/13/2024\",\"1,020.50\",\"1,010.25\",\"1,030.00\",\"1,000.00\",\"1.25K\",\"0.9%\"\n\
                  \"01/12/2024\",\"1,010.25\",\"1,005.00\",\"1,015.00\",\"1,001.00\",\"-\",\"0.5%\"\n";
    let days = [
        (SECOND_OF_JANUARY + 10 * DAY, [1005.0, 1015.0, 1001.0, 1010.25, 0.0]),
        (SECOND_OF_JANUARY + 11 * DAY, [1010.25, 1030.0, 1000.0, 1020.5, 1250.0]),
    ];
    check("file.csv", quoted, "symbol=GOLD interval=1d", "GOLD 1d", &days);
    let nasdaq = "Date,Close/Last,Volume,Open,High,Low\n01/13/2024,1020.5,1250,1010.25,1030,1000\n\
                  01/12/2024,1010.25,0,1005,1015,1001\n";
    check("AAPL.csv", nasdaq, "interval=1d", "AAPL 1d", &days);
}

#[test]
fn decimal_commas_between_commas_are_named() {
    let words = "its decimals seem to stand behind commas";
    let rows = "2024-01-02 22:00:00,1,0942,1,0943,1,0941,1,0942,43\n2024-01-02 22:01:00,1,0942,1,0943,1,0941,1,0942,43\n";
    let table = format!("Datetime,Open,High,Low,Close,Volume\n{rows}");
    check_refused(&table, "timezone=UTC", &format!("10 columns where 6 belong: {words}"));
    let dukascopy =
        "Gmt time,Open,High,Low,Close,Volume\n02.01.2024 22:00:00.000,1,0942,1,0943,1,0941,1,0942,43\n";
    check_refused(dukascopy, "", words);
}

#[test]
fn scripts() {
    let pandas = "Datetime,Open,High,Low,Close,Adj Close,Volume\n2024-01-02 22:00:00+00:00,1.0942,1.09431,1.09418,1.09425,1.09425,43\n\
                  2024-01-02 22:01:00+00:00,1.09425,1.09425,1.09402,1.09405,1.09405,0\n\
                  2024-01-02 22:02:00+00:00,1.09405,1.09412,1.09405,1.0941,1.0941,0\n";
    check("EURUSD_1m.csv", pandas, "", "EURUSD 1m", &EURO);
    // An index without a name, in New York; and the same as counted from 0 beside the times.
    let index = ",open,high,low,close,volume\n2024-01-02 17:00:00,1.0942,1.09431,1.09418,1.09425,43.0\n\
                 2024-01-02 17:01:00,1.09425,1.09425,1.09402,1.09405,0.0\n2024-01-02 17:02:00,1.09405,1.09412,1.09405,1.0941,0.0\n";
    check("EURUSD_1m.csv", index, "timezone=America/New_York", "EURUSD 1m", &EURO);
    let counted = ",timestamp,open,high,low,close,volume\n0,1704232800.0,1.0942,1.09431,1.09418,1.09425,43.0\n\
                   1,1704232860.0,1.09425,1.09425,1.09402,1.09405,0.0\n2,1704232920.0,1.09405,1.09412,1.09405,1.0941,0.0\n";
    check("EURUSD_1m.csv", counted, "", "EURUSD 1m", &EURO);
    let numbered = "timestamp,1. open,2. high,3. low,4. close,5. volume\n1704232800000,1.0942,1.09431,1.09418,1.09425,43\n\
                    1704232860000,1.09425,1.09425,1.09402,1.09405,0\n1704232920000,1.09405,1.09412,1.09405,1.0941,0\n";
    check("EURUSD_1m.csv", numbered, "", "EURUSD 1m", &EURO);
    // Columns in another order, between tabs, in nanoseconds; a line without its volume.
    let tabs = "close\tlow\thigh\topen\tts\tvolume\n1.09425\t1.09418\t1.09431\t1.0942\t1704232800000000000\t43\n\
                1.09405\t1.09402\t1.09425\t1.09425\t1704232860000000000\t0\n1.0941\t1.09405\t1.09412\t1.09405\t1704232920000000000\n";
    check("EURUSD_1m.tsv", tabs, "symbol=EURUSD interval=1m", "EURUSD 1m", &EURO);
    let bare = "1704232800,1.0942,1.09431,1.09418,1.09425,43\n1704232860,1.09425,1.09425,1.09402,1.09405,0\n\
                1704232920,1.09405,1.09412,1.09405,1.0941,0\n";
    let foreign = "Data;Hora;Abertura;Maxima;Minima;Fechamento;Volume\n31/01/2012;21:00;1,57597;1,57606;1,57576;1,57576;0\n";
    check_refused(foreign, "", "--columns, such as --columns date,clock,open,high,low,close,volume");
    check_refused(bare, "", "--columns, such as --columns time,open,high,low,close,volume");
    check("EURUSD_1m.csv", bare, "columns=time,open,high,low,close,volume", "EURUSD 1m", &EURO);
}

#[test]
fn spreadsheets() {
    let german = "Datum;Eröffnung;Hoch;Tief;Schluss;Volumen\n02.01.2024 22:00;1,0942;1,09431;1,09418;1,09425;43\n\
                  02.01.2024 22:01;1,09425;1,09425;1,09402;1,09405;0\n02.01.2024 22:02;1,09405;1,09412;1,09405;1,0941;0\n";
    check_refused(german, "", "named for open, high, low, close, time among \"Datum\", \"Eröffnung\"");
    let said = "columns=time,open,high,low,close,volume timezone=UTC";
    check_refused(german, said, "can begin with the day or with the month; settle it with --date-order");
    let said = format!("{said} date-order=day-first");
    check("EURUSD_1m.csv", german, &said, "EURUSD 1m", &EURO);
    let english =
        german.replace("Datum;Eröffnung;Hoch;Tief;Schluss;Volumen", "Date;Open;High;Low;Close;Volume");
    let english = english.replace("02.01.2024", "2024-01-02");
    check("EURUSD_1m.csv", &english, "timezone=UTC", "EURUSD 1m", &EURO);
    let reading = import("EURUSD_1m.csv", &english, "timezone=UTC").unwrap().reading.unwrap();
    assert!(reading.ends_with("between semicolons, decimal commas; times without a zone"), "{reading}");
    let two =
        "Date,Time,Open,High,Low,Close,Volume\n1/13/2024,10:00 PM,1,2,1,2,5\n1/13/2024,10:01 PM,2,2,1,1,5\n";
    let rows = [
        (TEN_PM + 11 * DAY, [1.0, 2.0, 1.0, 2.0, 5.0]),
        (TEN_PM + 11 * DAY + MINUTE, [2.0, 2.0, 1.0, 1.0, 5.0]),
    ];
    check("EURUSD_1m.csv", two, "timezone=UTC", "EURUSD 1m", &rows);
    let bars = two.replace(',', "|");
    check("EURUSD_1m.csv", &bars, "timezone=UTC", "EURUSD 1m", &rows);
    let utc = two.replace("Date,Time", "day,time (UTC)").replace("1/13/2024,", "1,1/13/2024 ");
    let utc = utc.replace("day,", "number,");
    check("EURUSD_1m.csv", &utc, "", "EURUSD 1m", &rows);
}

#[test]
fn what_can_be_read_in_two_ways_is_asked() {
    let two_times = "unix,date,symbol,open,high,low,close,Volume BTC,Volume USDT\n\
                     1704232800,2024-01-02 22:00:00,BTC/USDT,1,2,1,2,5,10\n";
    let cure = "\"unix\" and \"date\" for time; settle it with --columns, such as --columns time,-,-,open,high,low,close,-,-";
    check_refused(two_times, "", cure);
    let said = "columns=time,-,-,open,high,low,close,volume,- symbol=BTCUSDT interval=1m";
    check("file.csv", two_times, said, "BTCUSDT 1m", &[(TEN_PM, [1.0, 2.0, 1.0, 2.0, 5.0])]);
    let thousands = "time;open;high;low;close\n1704232800;1,234;1,235;1,233;1,234\n";
    check_refused(
        thousands,
        "",
        "1,234 can be a number with decimals or one of thousands; settle it with --d",
    );
    let (comma, point) = ("decimal=comma symbol=X interval=1m", "decimal=point symbol=X interval=1m");
    check("f.csv", thousands, comma, "X 1m", &[(TEN_PM, [1.234, 1.235, 1.233, 1.234, 0.0])]);
    check("f.csv", thousands, point, "X 1m", &[(TEN_PM, [1234.0, 1235.0, 1233.0, 1234.0, 0.0])]);
    let grouped = "time;open;high;low;close\n1704232800;18.250;18.310;18.190;18.300\n";
    check_refused(
        grouped,
        "",
        "18.250 can be a number with decimals or one of thousands; settle it with --d",
    );
    check("f.csv", grouped, comma, "X 1m", &[(TEN_PM, [18_250.0, 18_310.0, 18_190.0, 18_300.0, 0.0])]);
    // A number of the row is no time, whatever the column of times is called.
    let counted = |name: &str| {
        format!(
            ",{name},open,high,low,close\n0,2024-01-02T22:00:00Z,1,2,1,2\n1,2024-01-02T22:01:00Z,1,2,1,2\n"
        )
    };
    check_refused(&counted("of_row"), "", "no time in it can be read; the first is \"0\"");
    let rows = [(TEN_PM, [1.0, 2.0, 1.0, 2.0, 0.0]), (TEN_PM + MINUTE, [1.0, 2.0, 1.0, 2.0, 0.0])];
    check("EURUSD_1m.csv", &counted("candle_time"), "", "EURUSD 1m", &rows);
    let two_closes = "time,open,high,low,close,last\n1704232800,1,2,1,2,2\n";
    check_refused(two_closes, "", "\"close\" and \"last\" for close");
    let no_zone = "time,open,high,low,close\n2024-01-02 22:00,1,2,1,2\n";
    check_refused(no_zone, "", "does not say the time zone of its times; settle it with --timezone");
    let bid_ask =
        "date,bidopen,bidhigh,bidlow,bidclose,askopen,askhigh,asklow,askclose\n2024-01-02,1,2,1,2,1,2,1,2\n";
    check_refused(bid_ask, "", "no column is named for open, high, low, close among \"date\", \"bidopen\"");
}

#[test]
fn what_is_wrong_in_a_row_is_named_with_its_line() {
    let head = "time,open,high,low,close\n1704232800,1,2,1,2\n";
    for (row, problem) in [
        ("1704232860,1,2,1\n", "line 3: 4 columns where 5 belong"),
        ("1704232860,1,2,x,2\n", "line 3: low \"x\" is not a number"),
        ("2024-01-02 22:01,1,2,1,2\n", "line 3: time \"2024-01-02 22:01\" is written in another way"),
        ("1704232860,1,1,1,2\n", "line 3: "),
        ("\n1704232740,1,2,1,2\n", "line 4: time 1704232740000 comes after 1704232800000"),
    ] {
        // Another row, so that the file is not one that begins with the newest candle.
        let content = format!("{head}{row}1704233000,1,2,1,2\n");
        check_refused(&content, "", problem);
    }
    let unsaid = settings("columns=time,open,high,low,close");
    assert_ne!(unsaid.table, TableSettings::default());
    check_refused(head, "format=mt4 decimal=point", "belong to the format table, not to mt4");
    check_refused(head, "columns=time,open,high,low,close,volume", "nothing separates the first line");
}
