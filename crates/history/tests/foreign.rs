//! Exports from terminals, sites, APIs and spreadsheets give the expected rows or an error with a hint.
#![allow(clippy::unwrap_used, reason = "what cannot be read fails its test")]

mod fixture;

use candlewick_history::{ImportFormat, ImportedSeries, TableSettings};
use fixture::{DAY, HOUR, MINUTE, Row, TEN_PM, collect_rows, import, settings, zip};

/// 2024-01-02 00:00 UTC.
const SECOND_OF_JANUARY: i64 = TEN_PM - 22 * HOUR;

const ROWS: [Row; 3] = [
    (TEN_PM, [1.0942, 1.09431, 1.09418, 1.09425, 43.0]),
    (TEN_PM + MINUTE, [1.09425, 1.09425, 1.09402, 1.09405, 12.0]),
    (TEN_PM + 2 * MINUTE, [1.09405, 1.09412, 1.09405, 1.0941, 7.0]),
];

fn no_volume() -> [Row; 3] {
    ROWS.map(|(time, [open, high, low, close, _])| (time, [open, high, low, close, 0.0]))
}

/// Formats each row with `line(seconds, time of day at UTC + hours, numbers)`.
fn lines(hours: i64, line: impl Fn(i64, &str, &[f64; 5]) -> String) -> String {
    let row = |(minute, (time, numbers)): (usize, &Row)| {
        line(time / 1_000, &format!("{:02}:0{minute}", (22 + hours) % 24), numbers)
    };
    ROWS.iter().enumerate().map(row).collect()
}

fn table(head: &str, hours: i64, line: impl Fn(i64, &str, &[f64; 5]) -> String) -> String {
    format!("{head}\n{}", lines(hours, line))
}

fn utf16(text: &str) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

fn read(name: &str, text: impl AsRef<[u8]>, options: &str, series: &str, expected: &[Row]) -> ImportedSeries {
    let imported = import(name, text, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = (collect_rows(&imported), imported.candles.series().to_string());
    assert_eq!(found, (expected.to_vec(), series.to_owned()), "{name}");
    imported
}

fn check(name: &str, content: impl AsRef<[u8]>, options: &str, expected: &[Row]) {
    read(name, content, options, "EURUSD 1m", expected);
}

fn check_table(name: &str, content: &str, options: &str, series: &str, expected: &[Row]) {
    let imported = read(name, content, options, series, expected);
    assert!(imported.format == ImportFormat::Table && imported.table_layout.is_some(), "{content}");
}

fn check_euro(name: &str, content: &str, options: &str) {
    check_table(name, content, options, "EURUSD 1m", &ROWS);
}

fn check_refused(name: &str, content: impl AsRef<[u8]>, options: &str, expected: &str) {
    let error = import(name, content, options).map(|_| ()).unwrap_err();
    assert!(error.contains(expected), "{name}: {error}");
}

fn refuse_table(content: &str, options: &str, expected: &str) {
    check_refused("file.csv", content, &format!("symbol=EURUSD interval=1m {options}"), expected);
}

#[test]
fn archives_of_exchanges() {
    let counted = lines(0, |time, _, [o, h, l, c, v]| format!("{time},{o},{h},{l},{c},{v},9\n"));
    check_refused("EURUSD_1.csv", &counted, "symbol=EURUSD", "--columns time,open,high,low,close,volume,-");
    check("EURUSD_1.csv", &counted, "symbol=EURUSD columns=time,open,high,low,close,volume,-", &ROWS);
    let head = "symbol,interval,start_at,open,high,low,close,volume,turnover";
    let named =
        table(head, 0, |time, _, [o, h, l, c, v]| format!("EURUSD,1,{time},{o},{h},{l},{c},{v},3.2\n"));
    for columns in ["", "columns=-,-,time,open,high,low,close,volume,-"] {
        check("EURUSD_1m.csv", &named, columns, &ROWS);
    }
}

#[test]
fn collections_of_sites() {
    // The URL of the site above the header, two times per row, newest first.
    let rows = lines(0, |time, clock, [o, h, l, c, v]| {
        format!("{time}000,2024-01-02 {clock}:00,EURUSD,{o},{h},{l},{c},{v},47.5,9\n")
    });
    let reversed = rows.lines().rev().fold(String::new(), |all, line| all + line + "\n");
    let head =
        "https://www.example.com\nUnix,Date,Symbol,Open,High,Low,Close,Volume EUR,Volume USDT,tradecount\n";
    let site = format!("{head}{reversed}");
    check("EURUSD_1m.csv", &site, "columns=time,-,-,open,high,low,close,volume,-,-", &ROWS);
    let head = "# exported by a tool\n# zone: UTC\ntime,open,high,low,close,volume";
    let remarks =
        table(head, 0, |_, clock, [o, h, l, c, v]| format!("2024-01-02 {clock}:00,{o},{h},{l},{c},{v}\n"));
    check("EURUSD_1m.csv", remarks + "\nTotal,,,,,62\n", "timezone=UTC", &ROWS);
    let head = "<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>";
    let tickers = table(head, 0, |_, clock, [o, h, l, c, v]| {
        format!("EURUSD,1,20240102,{}00,{o},{h},{l},{c},{v},0\n", clock.replace(':', ""))
    });
    check("eurusd.txt", tickers, "symbol=EURUSD timezone=UTC", &ROWS);
}

#[test]
fn charting_sites() {
    let seconds = lines(0, |time, _, [o, h, l, c, v]| format!("{time},{o},{h},{l},{c},{v},1.1\n"));
    let seconds = format!("time,open,high,low,close,Volume,MA\n{}", seconds.replace("7,1.1", ",NaN"));
    let mut rows = ROWS;
    rows[2].1[4] = 0.0;
    check_table("FX_EURUSD, 1.csv", &seconds, "", "EURUSD 1m", &rows);
    let reading = import("FX_EURUSD, 1.csv", seconds, "").unwrap().table_layout.unwrap();
    let expected = "time \"time\", open \"open\", high \"high\", low \"low\", close \"close\", volume \"Volume\"; ignored \"MA\"; \
                    separated by commas; decimal points; times: seconds since 1970";
    assert_eq!(reading, expected);
    let zone = table("time,open,high,low,close", 1, |_, clock, [o, h, l, c, _]| {
        format!("2024-01-02T{clock}:00+01:00,{o},{h},{l},{c}\n").replace("23:02:00+01:00", "22:02:00Z")
    });
    check_table("FX_EURUSD, 1_a1b2c.csv", &zone, "", "EURUSD 1m", &no_volume());
    let as_ours = table("time,open,high,low,close,volume", 0, |_, clock, [o, h, l, c, v]| {
        format!("2024-01-02T{clock}:00Z,{o},{h},{l},{c},{v}\n")
    });
    check_euro("EURUSD_1m.csv", &as_ours, "");
    // Quoted, newest first, month first, `Price` instead of `Close`, volume in thousands.
    let quoted = "\u{feff}\"Date\",\"Price\",\"Open\",\"High\",\"Low\",\"Vol.\",\"Change %\"\n\
                  \"01/13/2024\",\"1,020.50\",\"1,010.25\",\"1,030.00\",\"1,000.00\",\"1.25K\",\"0.9%\"\n\
                  \"01/12/2024\",\"1,010.25\",\"1,005.00\",\"1,015.00\",\"1,001.00\",\"-\",\"0.5%\"\n";
    let days = [
        (SECOND_OF_JANUARY + 10 * DAY, [1005.0, 1015.0, 1001.0, 1010.25, 0.0]),
        (SECOND_OF_JANUARY + 11 * DAY, [1010.25, 1030.0, 1000.0, 1020.5, 1250.0]),
    ];
    check_table("file.csv", quoted, "symbol=GOLD interval=1d", "GOLD 1d", &days);
    let nasdaq = "Date,Close/Last,Volume,Open,High,Low\n01/13/2024,1020.5,1250,1010.25,1030,1000\n\
                  01/12/2024,1010.25,0,1005,1015,1001\n";
    check_table("AAPL.csv", nasdaq, "interval=1d", "AAPL 1d", &days);
}

#[test]
fn exports_of_terminals() {
    let head = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r";
    let bars = table(head, 2, |_, clock, [o, h, l, c, v]| {
        format!("2024.01.03\t{clock}:00\t{o}\t{h}\t{l}\t{c}\t{v}\t0\t5\r\n")
    });
    check("EURUSD_M1_202401030000_202401030002.csv", utf16(&bars), "timezone=Europe/Athens", &ROWS);
    let last = lines(0, |_, clock, [o, h, l, c, v]| {
        format!("20240102 {}00;{o};{h};{l};{c};{v}\n", clock.replace(':', ""))
    });
    check("EURUSD.Last.txt", last, "symbol=EURUSD timezone=UTC", &ROWS);
    // AM and PM, month first: the error asks for the date order.
    let us = table("Date,Time,Open,High,Low,Close,Volume", -12, |_, clock, [o, h, l, c, v]| {
        format!("01/02/2024,{clock}:00 PM,{o},{h},{l},{c},{v}\n")
    });
    check_refused("EURUSD_1m.csv", &us, "timezone=UTC", "--date-order day-first or --date-order month-first");
    check("EURUSD_1m.csv", &us, "timezone=UTC date-order=month-first", &ROWS);
    // Bid and ask columns: the error asks which to use.
    let head = "Time,BidOpen,BidHigh,BidLow,BidClose,AskOpen,AskHigh,AskLow,AskClose,Volume";
    let both = table(head, 0, |_, clock, [o, h, l, c, v]| {
        format!("2024-01-02 {clock}:00,{o},{h},{l},{c},9,9,9,9,{v}\n")
    });
    check_refused("EURUSD_1m.csv", &both, "timezone=UTC", "--columns");
    check("EURUSD_1m.csv", &both, "timezone=UTC columns=time,open,high,low,close,-,-,-,-,volume", &ROWS);
}

#[test]
fn answers_of_apis() {
    let rows = |line: &dyn Fn(i64, &[f64; 5]) -> String| {
        let rows = lines(0, |time, _, numbers| line(time, numbers) + "\n");
        format!("[{}]", rows.lines().collect::<Vec<_>>().join(","))
    };
    let quoted = rows(&|t, [o, h, l, c, v]| {
        format!(r#"[{t}000,"{o}","{h}","{l}","{c}","{v}",{t}999,"47.1",9,"1.5","1.6","0"]"#)
    });
    check("EURUSD_1m.json", quoted, "", &ROWS);
    // If low and high come before open and close, candles are invalid.
    let other = rows(&|t, [o, h, l, c, v]| format!("[{t},{l},{h},{o},{c},{v}]"));
    check_refused("EURUSD_1m.json", other, "", "do not enclose open");
    let named = rows(&|t, [o, h, l, c, v]| {
        format!(r#"{{"time":{t},"open":{o},"high":{h},"low":{l},"close":{c},"volume":{v}}}"#)
    });
    check_refused("EURUSD_1m.json", &named, "", "jq -r");
    let nanoseconds = table("ts_event,open,high,low,close,volume", 0, |_, clock, [o, h, l, c, v]| {
        format!("2024-01-02T{clock}:00.000000000Z,{o},{h},{l},{c},{v}\n")
    });
    check("EURUSD_1m.csv", &nanoseconds, "", &ROWS);
}

#[test]
fn scripts() {
    let head = "Datetime,Open,High,Low,Close,Adj Close,Volume";
    let pandas = table(head, 0, |_, clock, [o, h, l, c, v]| {
        format!("2024-01-02 {clock}:00+00:00,{o},{h},{l},{c},{c},{v}\n")
    });
    check_euro("EURUSD_1m.csv", &pandas, "");
    // An unnamed index column with New York times, or with row numbers next to a time column.
    let index = table(",open,high,low,close,volume", -5, |_, clock, [o, h, l, c, v]| {
        format!("2024-01-02 {clock}:00,{o},{h},{l},{c},{v}\n")
    });
    check_euro("EURUSD_1m.csv", &index, "timezone=America/New_York");
    let counted = table(",timestamp,open,high,low,close,volume", 0, |time, _, [o, h, l, c, v]| {
        format!("{},{time}.0,{o},{h},{l},{c},{v}\n", (time * 1_000 - TEN_PM) / MINUTE)
    });
    check_euro("EURUSD_1m.csv", &counted, "");
    let head = "timestamp,1. open,2. high,3. low,4. close,5. volume";
    let numbered = table(head, 0, |time, _, [o, h, l, c, v]| format!("{time}000,{o},{h},{l},{c},{v}\n"));
    check_euro("EURUSD_1m.csv", &numbered, "");
    let tabs = table("close\tlow\thigh\topen\tts\tvolume", 0, |time, _, [o, h, l, c, v]| {
        format!("{c}\t{l}\t{h}\t{o}\t{time}000000000\t{v}\n")
    });
    check_euro("EURUSD_1m.tsv", &tabs, "symbol=EURUSD interval=1m");
    let bare = lines(0, |time, _, [o, h, l, c, v]| format!("{time},{o},{h},{l},{c},{v}\n"));
    refuse_table(&bare, "", "--columns, such as --columns time,open,high,low,close,volume");
    check_euro("EURUSD_1m.csv", &bare, "columns=time,open,high,low,close,volume");
    let foreign = "Data;Hora;Abertura;Maxima;Minima;Fechamento;Volume\n31/01/2012;21:00;1,57597;1,57606;1,57576;1,57576;0\n";
    refuse_table(foreign, "", "--columns, such as --columns date,clock,open,high,low,close,volume");
}

#[test]
fn spreadsheets_and_files_named_like_them() {
    let head = "Datum;Eröffnung;Hoch;Tief;Schluss;Volumen";
    let german = table(&format!("{head}\r"), 1, |_, clock, [o, h, l, c, v]| {
        let cells = [o, h, l, c, v].map(|number| number.to_string().replace('.', ","));
        format!("02.01.2024 {clock};{}\r\n", cells.join(";"))
    });
    refuse_table(&german, "", "no column for open, high, low, close, time; found \"Datum\", \"Eröffnung\"");
    let said = "columns=time,open,high,low,close,volume timezone=Europe/Berlin";
    refuse_table(&german, said, "begins with the day or the month; use --date-order");
    let said = format!("{said} date-order=day-first");
    check_euro("EURUSD_1m.csv", &german, &said);
    check("EURUSD_1m.csv", format!("\u{feff}{german}"), &said, &ROWS);
    let english = german.replace(head, "Date;Open;High;Low;Close;Volume").replace("02.01.2024", "2024-01-02");
    check_euro("EURUSD_1m.csv", &english, "timezone=Europe/Berlin");
    let reading = import("EURUSD_1m.csv", &english, "timezone=UTC").unwrap().table_layout.unwrap();
    assert!(reading.ends_with("separated by semicolons; decimal commas; times: without a zone"), "{reading}");
    let one_country: Vec<u8> = german.chars().map(|letter| letter as u8).collect();
    check_refused("EURUSD_1m.csv", one_country, "", "save it as UTF-8");
    let unicode = table("Date\tTime\tOpen\tHigh\tLow\tClose\r", 0, |_, clock, [o, h, l, c, _]| {
        format!("2024-01-02\t{clock}\t{o}\t{h}\t{l}\t{c}\r\n")
    });
    let unicode = utf16(&unicode);
    check("EURUSD_1m.txt", &unicode, "timezone=UTC", &no_volume());
    check_refused("EURUSD_1m.txt", &unicode[..unicode.len() - 1], "", "cut off");
    let workbook = [("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "<workbook/>")];
    check_refused("EURUSD_1m.xlsx", zip(&workbook), "", "save it as CSV");
    check_refused("EURUSD_1m.xls", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", "", "save it as CSV");
    let page = "<html><body><table><tr><th>Time</th><th>Open</th></tr></table></body></html>";
    check_refused("EURUSD_1m.xls", page, "", "save it as CSV");
    let serial = "Date,Open,High,Low,Close\n45293.916667,1.1,1.1,1.1,1.1\n";
    check_refused("EURUSD_1m.csv", serial, "", "day numbers of a spreadsheet (45293.9)");
    let two =
        "Date,Time,Open,High,Low,Close,Volume\n1/13/2024,10:00 PM,1,2,1,2,5\n1/13/2024,10:01 PM,2,2,1,1,5\n";
    let rows = [
        (TEN_PM + 11 * DAY, [1.0, 2.0, 1.0, 2.0, 5.0]),
        (TEN_PM + 11 * DAY + MINUTE, [2.0, 2.0, 1.0, 1.0, 5.0]),
    ];
    let utc = two.replace("Date,Time", "number,time (UTC)").replace("1/13/2024,", "1,1/13/2024 ");
    let bars = two.replace(',', "|");
    for (content, options) in [(two, "timezone=UTC"), (&bars, "timezone=UTC"), (&utc, "")] {
        check_table("EURUSD_1m.csv", content, options, "EURUSD 1m", &rows);
    }
}

#[test]
fn rejects_ticks_and_implausible_times() {
    check_refused("EURUSD.csv", "timestamp,bid,ask\n1704232800000,1.0942,1.0943\n", "", "ticks or trades");
    let minutes = "time,open,high,low,close\n28403880,1.1,1.1,1.1,1.1\n";
    check_refused("EURUSD_1m.csv", minutes, "", "Times must be Unix times");
    let mixed = "time,open,high,low,close\n2024-01-02 22:00:00+00:00,1.1,1.1,1.1,1.1\n\
                 2024-01-02 22:01:00,1.1,1.1,1.1,1.1\n2024-01-02 22:02:00+00:00,1.1,1.1,1.1,1.1\n";
    check_refused("EURUSD_1m.csv", mixed, "interval=1m", "is not in the same format as the first one");
}

#[test]
fn asks_about_ambiguous_numbers_columns_and_zones() {
    let words = "commas seem to be decimal marks as well as separators";
    let rows = "2024-01-02 22:00:00,1,0942,1,0943,1,0941,1,0942,43\n2024-01-02 22:01:00,1,0942,1,0943,1,0941,1,0942,43\n";
    let commas = format!("Datetime,Open,High,Low,Close,Volume\n{rows}");
    refuse_table(&commas, "timezone=UTC", &format!("10 columns instead of 6: {words}"));
    let dukascopy =
        "Gmt time,Open,High,Low,Close,Volume\n02.01.2024 22:00:00.000,1,0942,1,0943,1,0941,1,0942,43\n";
    refuse_table(dukascopy, "", words);
    let two_times = "unix,date,symbol,open,high,low,close,Volume BTC,Volume USDT\n\
                     1704232800,2024-01-02 22:00:00,BTC/USDT,1,2,1,2,5,10\n";
    let hint =
        "\"unix\" and \"date\" for time; use --columns, such as --columns time,-,-,open,high,low,close,-,-";
    refuse_table(two_times, "", hint);
    let (comma, point) = ("decimal=comma symbol=X interval=1m", "decimal=point symbol=X interval=1m");
    let thousands = "time;open;high;low;close\n1704232800;1,234;1,235;1,233;1,234\n";
    refuse_table(thousands, "", "whether 1,234 has decimals or a thousands separator; use --");
    check_table("f.csv", thousands, comma, "X 1m", &[(TEN_PM, [1.234, 1.235, 1.233, 1.234, 0.0])]);
    check_table("f.csv", thousands, point, "X 1m", &[(TEN_PM, [1234.0, 1235.0, 1233.0, 1234.0, 0.0])]);
    let grouped = "time;open;high;low;close\n1704232800;18.250;18.310;18.190;18.300\n";
    refuse_table(grouped, "", "whether 18.250 has decimals or a thousands separator; use --");
    check_table("f.csv", grouped, comma, "X 1m", &[(TEN_PM, [18_250.0, 18_310.0, 18_190.0, 18_300.0, 0.0])]);
    // Row numbers are not times, whatever the name of the column.
    let counted = |name: &str| {
        format!(
            ",{name},open,high,low,close\n0,2024-01-02T22:00:00Z,1,2,1,2\n1,2024-01-02T22:01:00Z,1,2,1,2\n"
        )
    };
    refuse_table(&counted("of_row"), "", "no time is valid; the first value is \"0\"");
    let rows = [TEN_PM, TEN_PM + MINUTE].map(|time| (time, [1.0, 2.0, 1.0, 2.0, 0.0]));
    check_table("EURUSD_1m.csv", &counted("candle_time"), "", "EURUSD 1m", &rows);
    let two_closes = "time,open,high,low,close,last\n1704232800,1,2,1,2,2\n";
    refuse_table(two_closes, "", "\"close\" and \"last\" for close");
    let no_zone = "time,open,high,low,close\n2024-01-02 22:00,1,2,1,2\n";
    refuse_table(no_zone, "", "does not state the time zone of its times; use --timezone");
}

#[test]
fn errors_name_the_line_of_a_bad_row() {
    let head = "time,open,high,low,close\n1704232800,1,2,1,2\n";
    for (row, problem) in [
        ("1704232860,1,2,1\n", "line 3: 4 columns instead of 5"),
        ("1704232860,1,2,x,2\n", "line 3: low \"x\" is not a number"),
        ("2024-01-02 22:01,1,2,1,2\n", "line 3: time \"2024-01-02 22:01\" is not in the same format"),
        ("1704232860,1,1,1,2\n", "line 3: "),
        ("\n1704232740,1,2,1,2\n", "line 4: time 1704232740000 comes after 1704232800000"),
    ] {
        // Adds a row, so that the file does not count as newest first.
        refuse_table(&format!("{head}{row}1704233000,1,2,1,2\n"), "", problem);
    }
    assert_ne!(settings("columns=time,open,high,low,close").table, TableSettings::default());
    refuse_table(head, "format=mt4 decimal=point", "require --format table, not mt4");
    refuse_table(head, "columns=time,open,high,low,close,volume", "no delimiter splits the first line");
}
