//! Files in the shapes that people have them in: exports of terminals and charting sites, archives of exchanges, answers of
//! their APIs, spreadsheets. Each is read as three rows worked out by hand, or refused with the cure.
#![allow(clippy::unwrap_used, reason = "what cannot be read fails its test")]

mod common;

use common::{MINUTE, Row, TEN_PM, gzip, import, rows_of, zip};

const ROWS: [Row; 3] = [
    (TEN_PM, [1.0942, 1.09431, 1.09418, 1.09425, 43.0]),
    (TEN_PM + MINUTE, [1.09425, 1.09425, 1.09402, 1.09405, 12.0]),
    (TEN_PM + 2 * MINUTE, [1.09405, 1.09412, 1.09405, 1.0941, 7.0]),
];

/// The rows, each written by `line`, which is given the time in seconds, the time of day in a zone hours away, and the prices.
fn lines(hours: i64, line: impl Fn(i64, &str, &[f64; 5]) -> String) -> String {
    let row = |(minute, (time, numbers)): (usize, &Row)| {
        line(time / 1_000, &format!("{:02}:0{minute}", (22 + hours) % 24), numbers)
    };
    ROWS.iter().enumerate().map(row).collect()
}

fn newest_first(text: &str) -> String {
    text.lines().rev().fold(String::new(), |all, line| all + line + "\n")
}

fn utf16(text: &str) -> Vec<u8> {
    [0xFF, 0xFE].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

fn check(name: &str, content: impl AsRef<[u8]>, options: &str, volumes: Volumes) {
    let imported = import(name, content, options).unwrap_or_else(|error| panic!("{error}"));
    let expected = ROWS.map(|(time, [open, high, low, close, volume])| {
        (time, [open, high, low, close, if volumes == Volumes::Said { volume } else { 0.0 }])
    });
    assert_eq!(rows_of(&imported), expected, "{name}");
    assert_eq!(imported.candles.interval().to_string(), "1m", "{name}");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Volumes {
    Said,
    Missing,
}
use Volumes::{Missing, Said};

fn check_refused(name: &str, content: impl AsRef<[u8]>, options: &str, cure: &str) {
    let error = import(name, content, options).map(|_| ()).unwrap_err();
    assert!(error.contains(cure), "{name}: {error}");
}

#[test]
fn archives_of_exchanges() {
    let klines = |factor: i64| {
        lines(0, |time, _, [o, h, l, c, v]| {
            let (time, end) = (time * factor, (time + 60) * factor - 1);
            format!("{time},{o},{h},{l},{c},{v},{end},47.1,9,1.5,1.6,0\n")
        })
    };
    check("EURUSDT-1m-2024-01-02.csv", klines(1_000), "", Said);
    check("EURUSDT-1m-2025-01.csv", klines(1_000_000), "", Said);
    check("EURUSDT-1m-2024-01.zip", zip(&[("EURUSDT-1m-2024-01.csv", &klines(1_000))]), "", Said);
    let counted = lines(0, |time, _, [o, h, l, c, v]| format!("{time},{o},{h},{l},{c},{v},9\n"));
    check_refused("XBTUSD_1.csv", &counted, "symbol=XBTUSD", "--columns time,open,high,low,close,volume,-");
    check("XBTUSD_1.csv", &counted, "symbol=XBTUSD columns=time,open,high,low,close,volume,-", Said);
    let named = lines(0, |time, _, [o, h, l, c, v]| format!("EURUSD,1,{time},{o},{h},{l},{c},{v},3.2\n"));
    let named = format!("symbol,interval,start_at,open,high,low,close,volume,turnover\n{named}");
    check("EURUSD_1m.csv", &named, "", Said);
    let columns = "columns=-,-,time,open,high,low,close,volume,-";
    check("EURUSD_1m.csv", &named, columns, Said);
}

#[test]
fn collections_of_sites() {
    // The site's address above the names, two times in each row, the newest first.
    let rows = lines(0, |time, clock, [o, h, l, c, v]| {
        format!("{time}000,2024-01-02 {clock}:00,EURUSDT,{o},{h},{l},{c},{v},47.5,9\n")
    });
    let head =
        "https://www.example.com\nUnix,Date,Symbol,Open,High,Low,Close,Volume EUR,Volume USDT,tradecount\n";
    let site = format!("{head}{}", newest_first(&rows));
    check_refused("EURUSDT_1m.csv", &site, "", "settle it with --columns");
    let columns = "columns=time,-,-,open,high,low,close,volume,-,-";
    check("EURUSDT_1m.csv", &site, columns, Said);
    let rows = lines(0, |_, clock, [o, h, l, c, v]| format!("2024-01-02 {clock}:00,{o},{h},{l},{c},{v}\n"));
    let remarks =
        format!("# exported by a tool\n# zone: UTC\ntime,open,high,low,close,volume\n{rows}\nTotal,,,,,62\n");
    check("EURUSD_1m.csv", remarks, "timezone=UTC", Said);
    let rows = lines(0, |_, clock, [o, h, l, c, v]| {
        format!("EURUSD,1,20240102,{}00,{o},{h},{l},{c},{v},0\n", clock.replace(':', ""))
    });
    let tickers = format!("<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\n{rows}");
    check("eurusd.txt", tickers, "symbol=EURUSD timezone=UTC", Said);
    // Minutes in New York's winter all year.
    let est = lines(-5, |_, clock, [o, h, l, c, _]| {
        format!("20240102 {}00;{o};{h};{l};{c};0\n", clock.replace(':', ""))
    });
    check("DAT_ASCII_EURUSD_M1_202401.csv", est, "", Missing);
}

#[test]
fn exports_of_terminals() {
    let bars = lines(2, |_, clock, [o, h, l, c, v]| {
        format!("2024.01.03\t{clock}:00\t{o}\t{h}\t{l}\t{c}\t{v}\t0\t5\r\n")
    });
    let bars =
        format!("<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n{bars}");
    let name = "EURUSD_M1_202401030000_202401030002.csv";
    check_refused(name, &bars, "", "--timezone");
    check(name, &bars, "timezone=Europe/Athens", Said);
    // The same as the terminal of another version writes it.
    check(name, utf16(&bars), "timezone=Europe/Athens", Said);
    let hst = lines(2, |_, clock, [o, h, l, c, v]| format!("2024.01.03,{clock},{o},{h},{l},{c},{v}\r\n"));
    check("EURUSD1.csv", hst, "timezone=Europe/Athens", Said);
    let rows = |hours: i64, day: &str, zone: &str| {
        lines(hours, |_, clock, [o, h, l, c, v]| format!("{day} {clock}:00.000{zone},{o},{h},{l},{c},{v}\n"))
    };
    let gmt = format!("Gmt time,Open,High,Low,Close,Volume\n{}", rows(0, "02.01.2024", ""));
    check("EURUSD_Candlestick_1_M_BID_02.01.2024-02.01.2024.csv", gmt, "", Said);
    let local = format!("Local time,Open,High,Low,Close,Volume\n{}", rows(1, "02.01.2024", " GMT+0100"));
    check("EURUSD_Candlestick_1_M_BID_02.01.2024-02.01.2024.csv", local, "", Said);
    let last = lines(0, |_, clock, [o, h, l, c, v]| {
        format!("20240102 {}00;{o};{h};{l};{c};{v}\n", clock.replace(':', ""))
    });
    check("EURUSD.Last.txt", last, "symbol=EURUSD timezone=UTC", Said);
    // Half a day and its name, months first: which comes first is asked.
    let us =
        lines(-12, |_, clock, [o, h, l, c, v]| format!("01/02/2024,{clock}:00 PM,{o},{h},{l},{c},{v}\n"));
    let us = format!("Date,Time,Open,High,Low,Close,Volume\n{us}");
    check_refused("EURUSD_1m.csv", &us, "timezone=UTC", "--date-order day-first or --date-order month-first");
    check("EURUSD_1m.csv", &us, "timezone=UTC date-order=month-first", Said);
    // Bids and asks side by side: which of them is asked.
    let both =
        lines(0, |_, clock, [o, h, l, c, v]| format!("2024-01-02 {clock}:00,{o},{h},{l},{c},9,9,9,9,{v}\n"));
    let names = "Time,BidOpen,BidHigh,BidLow,BidClose,AskOpen,AskHigh,AskLow,AskClose,Volume";
    let both = format!("{names}\n{both}");
    check_refused("EURUSD_1m.csv", &both, "timezone=UTC", "--columns");
    let bids = "timezone=UTC columns=time,open,high,low,close,-,-,-,-,volume";
    check("EURUSD_1m.csv", &both, bids, Said);
}

#[test]
fn answers_of_apis() {
    let rows = |line: &dyn Fn(i64, &[f64; 5]) -> String| {
        let rows = lines(0, |time, _, numbers| line(time, numbers) + "\n");
        format!("[{}]", rows.lines().collect::<Vec<_>>().join(","))
    };
    check("EURUSD_1m.json", rows(&|t, [o, h, l, c, v]| format!("[{t}000,{o},{h},{l},{c},{v}]")), "", Said);
    let quoted = rows(&|t, [o, h, l, c, v]| {
        format!(r#"[{t}000,"{o}","{h}","{l}","{c}","{v}",{t}999,"47.1",9,"1.5","1.6","0"]"#)
    });
    check("EURUSD_1m.json", quoted, "", Said);
    // Low and high before open and close: no candle is like that.
    let other = rows(&|t, [o, h, l, c, v]| format!("[{t},{l},{h},{o},{c},{v}]"));
    check_refused("EURUSD_1m.json", other, "", "do not enclose open");
    let named = rows(&|t, [o, h, l, c, v]| {
        format!(r#"{{"time":{t},"open":{o},"high":{h},"low":{l},"close":{c},"volume":{v}}}"#)
    });
    check_refused("EURUSD_1m.json", &named, "", "jq -r");
    check_refused("EURUSD_1m.json", format!(r#"{{"ticker":"EURUSD","results":{named}}}"#), "", "jq -r");
    let nanoseconds = lines(0, |_, clock, [o, h, l, c, v]| {
        format!("2024-01-02T{clock}:00.000000000Z,{o},{h},{l},{c},{v}\n")
    });
    let nanoseconds = format!("ts_event,open,high,low,close,volume\n{nanoseconds}");
    check("EURUSD_1m.csv", &nanoseconds, "", Said);
    check("EURUSD_1m.csv.gz", gzip(&nanoseconds), "interval=1m symbol=EURUSD", Said);
}

#[test]
fn spreadsheets_and_what_is_called_one() {
    let german = lines(1, |_, clock, [o, h, l, c, v]| {
        let cells = [o, h, l, c, v].map(|number| number.to_string().replace('.', ","));
        format!("02.01.2024 {clock};{}\r\n", cells.join(";"))
    });
    let german = format!("Datum;Eröffnung;Hoch;Tief;Schluss;Volumen\r\n{german}");
    let options = "timezone=Europe/Berlin date-order=day-first columns=time,open,high,low,close,volume";
    check("EURUSD_1m.csv", &german, options, Said);
    check("EURUSD_1m.csv", format!("\u{feff}{german}"), options, Said);
    let one_country: Vec<u8> = german.chars().map(|letter| letter as u8).collect();
    check_refused("EURUSD_1m.csv", one_country, "", "save it as UTF-8");
    let unicode =
        lines(0, |_, clock, [o, h, l, c, _]| format!("2024-01-02\t{clock}\t{o}\t{h}\t{l}\t{c}\r\n"));
    let unicode = utf16(&format!("Date\tTime\tOpen\tHigh\tLow\tClose\r\n{unicode}"));
    check("EURUSD_1m.txt", &unicode, "timezone=UTC", Missing);
    check_refused("EURUSD_1m.txt", &unicode[..unicode.len() - 1], "", "cut off");
    let workbook = [("[Content_Types].xml", "<Types/>"), ("xl/workbook.xml", "<workbook/>")];
    check_refused("EURUSD_1m.xlsx", zip(&workbook), "", "save it as CSV");
    check_refused("EURUSD_1m.xls", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", "", "save it as CSV");
    let page = "<html><body><table><tr><th>Time</th><th>Open</th></tr></table></body></html>";
    check_refused("EURUSD_1m.xls", page, "", "save it as CSV");
    let serial = "Date,Open,High,Low,Close\n45293.916667,1.1,1.1,1.1,1.1\n";
    check_refused("EURUSD_1m.csv", serial, "", "days counted by a spreadsheet (45293.9)");
}

#[test]
fn what_is_no_candle() {
    let ticks = "timestamp,bid,ask\n1704232800000,1.0942,1.0943\n";
    check_refused("EURUSD.csv", ticks, "", "ticks or trades");
    let ticks = "20240102 170000123,1.0942,1.0943,0\n";
    check_refused("DAT_ASCII_EURUSD_T_202401.csv", ticks, "", "ticks or trades");
    let trades = "id,price,qty,quoteQty,time,isBuyerMaker\n1,1.0942,1,1,1704232800000,true\n";
    check_refused("EURUSD-trades.csv", trades, "", "ticks or trades");
    let minutes = "time,open,high,low,close\n28403880,1.1,1.1,1.1,1.1\n";
    check_refused("EURUSD_1m.csv", minutes, "", "Times are moments since 1970");
    // One row says its zone, the next does not: the second is no moment.
    let mixed = "time,open,high,low,close\n2024-01-02 22:00:00+00:00,1.1,1.1,1.1,1.1\n\
                 2024-01-02 22:01:00,1.1,1.1,1.1,1.1\n2024-01-02 22:02:00+00:00,1.1,1.1,1.1,1.1\n";
    check_refused("EURUSD_1m.csv", mixed, "interval=1m", "written in another way than the first one");
}
