//! Real-world files give the expected rows, and broken ones the expected errors.
#![allow(clippy::unwrap_used, reason = "what cannot be read fails its test")]

mod fixture;

use candlewick_history::{
    ClockChange, ImportFormat, ImportSettings, ImportedSeries, ValueSource, ignore_progress, import_file,
};
use candlewick_sdk::{Candle, Interval};
use fixture::{MINUTE, Row, TEN_PM, collect_rows, gzip, import, settings, zip};
use std::path::PathBuf;

fn euro(volumes: [f64; 4]) -> [Row; 4] {
    [
        (TEN_PM, [1.0942, 1.09431, 1.09418, 1.09425, volumes[0]]),
        (TEN_PM + MINUTE, [1.09425, 1.09425, 1.09402, 1.09405, volumes[1]]),
        (TEN_PM + 2 * MINUTE, [1.09405, 1.09412, 1.09405, 1.0941, volumes[2]]),
        (TEN_PM + 4 * MINUTE, [1.09411, 1.0942, 1.094, 1.094, volumes[3]]),
    ]
}

const ETHER: [Row; 3] = [
    (TEN_PM, [0.0523, 0.05231, 0.05229, 0.0523, 10.5]),
    (TEN_PM + 5 * MINUTE, [0.0523, 0.0524, 0.0523, 0.05235, 7.0]),
    (TEN_PM + 10 * MINUTE, [0.05235, 0.05235, 0.0521, 0.0522, 0.0]),
];

const ATHENS: &str = "timezone=Europe/Athens";

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn read(name: &str, options: &str) -> Result<ImportedSeries, String> {
    import_file(&fixture(name), &settings(options), &mut ignore_progress).map_err(|error| {
        let folder = fixture("").display().to_string();
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        (error.to_string() + &cause).replace(&folder, "")
    })
}

fn check(name: &str, options: &str, format: ImportFormat, series: &str, expected: &[Row]) {
    let imported = read(name, options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(collect_rows(&imported), expected, "{name}");
    assert_eq!((imported.format, imported.candles.series().to_string().as_str()), (format, series), "{name}");
}

fn check_refused(name: &str, options: &str, expected: &str) {
    let error = read(name, options).map(|_| ()).unwrap_err();
    assert!(error.starts_with(&format!("{name}{expected}")), "{error}");
}

#[test]
fn detects_every_format_and_reads_its_rows() {
    let bitcoin = |start: i64, prices: f64| {
        let [a, b, c] = [0.1, 5.0, -40.0].map(|change| prices + change);
        [
            (start, [a, prices + 10.0, prices - 9.45, b, 12.345]),
            (start + MINUTE, [b, b, prices - 49.99, c, 8.5]),
            (start + 2 * MINUTE, [c, c, c, c, 0.0]),
        ]
    };
    let (parts, whole, none) = (euro([43.5, 12.25, 7.0, 0.5]), euro([43.0, 12.0, 7.0, 1.0]), euro([0.0; 4]));
    let dukascopy = "EURUSD_Candlestick_1_M_BID_02.01.2024-02.01.2024.csv";
    let mt5 = "EURUSD_M1_202401030000_202401030004.csv";
    for (name, options, format, rows) in [
        ("EURUSD_1m.csv", "", ImportFormat::Csv, &parts),
        ("EURUSD_1m.parquet", "", ImportFormat::Parquet, &parts),
        ("DAT_ASCII_EURUSD_M1_2024.csv", "", ImportFormat::HistData, &none),
        ("DAT_ASCII_EURUSD_M1_2024.zip", "", ImportFormat::HistData, &none),
        (dukascopy, "", ImportFormat::Dukascopy, &parts),
        ("EURUSD_Candlestick_1_M_ASK_local.csv", "", ImportFormat::Dukascopy, &parts),
        ("EURUSD1.csv", ATHENS, ImportFormat::MetaTrader4, &whole),
        (mt5, ATHENS, ImportFormat::MetaTrader5, &whole),
    ] {
        check(name, options, format, "EURUSD 1m", rows);
    }
    let klines = bitcoin(1_735_776_000_000, 94_500.0);
    check("BTCUSDT-1m-2024-01-02.csv", "", ImportFormat::Binance, "BTCUSDT 1m", &bitcoin(TEN_PM, 45_000.0));
    check("BTCUSDT-1m-2025-01-02.csv", "", ImportFormat::Binance, "BTCUSDT 1m", &klines);
    for (name, options, format) in [
        ("ETH_BTC-5m.json", "", ImportFormat::FreqtradeJson),
        ("ETH_BTC-5m.json.gz", "", ImportFormat::FreqtradeJson),
        ("ETH_BTC-5m.feather", "", ImportFormat::Feather),
        ("ETH_BTC-5m.parquet", "", ImportFormat::Parquet),
        ("ETHBTC_zstd.feather", "symbol=ETHBTC", ImportFormat::Feather),
        ("ETHBTC_no_zone.feather", "symbol=ETHBTC timezone=UTC", ImportFormat::Feather),
    ] {
        check(name, options, format, "ETHBTC 5m", &ETHER);
    }
}

#[test]
fn daily_candles_open_at_midnight_utc() {
    // Days from 2024-01-02 on. There are no prices for 4 January.
    let day = |number: i64| 1_704_153_600_000 + number * 86_400_000;
    let apple = [
        (day(0), [187.15, 188.44, 183.89, 185.64, 82_488_700.0]),
        (day(1), [184.22, 185.88, 183.43, 184.25, 58_414_500.0]),
        (day(3), [181.99, 182.76, 180.17, 181.18, 62_303_300.0]),
        (day(6), [182.09, 185.6, 181.5, 185.56, 59_144_500.0]),
    ];
    check("AAPL.csv", "", ImportFormat::Yahoo, "AAPL 1d", &apple);
    assert_eq!(read("AAPL.csv", "").unwrap().empty_rows, 1);
    let euro = [
        (day(0), [1.1039, 1.1046, 1.0938, 1.0942, 61_000.0]),
        (day(1), [1.0942, 1.0966, 1.0893, 1.0922, 64_000.0]),
    ];
    check("EURUSD_D1.csv", "", ImportFormat::MetaTrader5, "EURUSD 1d", &euro);
}

#[test]
fn rejects_malformed_files_with_their_line() {
    for (name, expected) in [
        ("malformed_csv.csv", ", line 3: low 1.0943 and high 1.09425 do not enclose open 1.09425 and close"),
        ("malformed_histdata.csv", ", line 2: time \"20240102 1701\" does not match"),
        ("malformed_dukascopy.csv", ", line 4: time \"32.01.2024 22:02:00.000\" does not match"),
        ("malformed_dukascopy_local.csv", ", line 3: time \"03.01.2024 00:01:00.000\" does not end in"),
        ("malformed_yahoo.csv", ", line 3: time \"3 Jan 2024\" does not match"),
        ("malformed_binance.csv", ", line 2: the candle lasts 300000 ms, but the first lasts 60000 ms"),
        ("malformed_binance_microseconds.csv", ", line 4: time 1735776120000001 is not a whole number"),
        ("malformed_freqtrade.json", ": row 2: the row has 5 numbers instead of 6"),
        ("malformed.json.gz", ": cannot read the file: incomplete deflate stream"),
        (
            "malformed.feather",
            ": column volume is missing; the columns are date, open, high, low, close, vol",
        ),
        ("malformed.parquet", ": column open is missing; the columns are date, high, low, close, volume"),
        ("malformed_ours.parquet", ": row 2: low 1.0943 and high 1.09425 do not enclose open 1.09425 and"),
        ("malformed.zip", ": the archive holds EURUSD_1m.csv, EURUSD_5m.csv; use --entry"),
    ] {
        check_refused(name, "symbol=X interval=1m", expected);
    }
    for (name, expected) in [
        ("malformed_mt4.csv", ", line 3: 6 columns instead of 7; is the line cut off?"),
        ("malformed_mt5.csv", ", line 5: open \"1,09411\" is not a number"),
    ] {
        check_refused(name, &format!("symbol=X interval=1m {ATHENS}"), expected);
    }
}

#[test]
fn rejects_ambiguous_files_and_names_the_option_to_use() {
    let ends = |error: Result<ImportedSeries, String>, expected: &str| {
        let error = error.map(|_| ()).unwrap_err();
        assert!(error.ends_with(expected), "{error}");
    };
    let zone = "--timezone, such as --timezone UTC or --timezone Europe/Athens";
    ends(read("EURUSD1.csv", ""), &format!("time zone of its times; use {zone}"));
    let two = format!(
        "{zone}, and --symbol, such as --symbol ETHBTC; a complete example: --timezone UTC --symbol ETHBTC"
    );
    ends(read("ETHBTC_no_zone.feather", ""), &two);
    ends(read("ETHBTC_zstd.feather", ""), "a symbol; use --symbol, such as --symbol ETHBTC");
    let (name, row) = ("my xauusd data.csv", "Datetime,Open,High,Low,Close\n2024-01-02 17:00,1,1,1,1\n");
    let three = format!(
        "{zone}, and --symbol, such as --symbol XAUUSD, and --interval, such as --interval 1m; \
         a complete example: --timezone UTC --symbol XAUUSD --interval 1m"
    );
    ends(import(name, row, ""), &three);
    let one = import(name, row, "timezone=UTC symbol=XAUUSD interval=1m");
    assert_eq!(one.map(|imported| collect_rows(&imported).len()), Ok(1));
    check_refused("AAPL.csv", "timezone=America/New_York", ": the times are calendar days: omit --timezone");
    check_refused("EURUSD_1m.csv", ATHENS, ": the times are in UTC: omit --timezone");
    for utc in ["UTC", "+00:00"] {
        let said = read("EURUSD_1m.csv", &format!("timezone={utc}")).map(|imported| collect_rows(&imported));
        assert_eq!(said, read("EURUSD_1m.csv", "").map(|imported| collect_rows(&imported)), "{utc}");
    }
    let strange = ": the format is not recognized; the first line is \"Every row in here was invented";
    check_refused("README.md", "", strange);
    let formats = "--format, one of csv, parquet, binance, histdata, dukascopy, mt4, mt5, yahoo, freqtrade-json, \
                   feather, table";
    ends(read("README.md", ""), formats);
    let other =
        ", line 1: the first line is \"time,open,high,low,close,volume\"; the format binance expects \"17";
    check_refused("EURUSD_1m.csv", "format=binance", other);
}

#[test]
fn bars_stamped_at_their_close_open_one_interval_earlier() {
    for (name, options) in [
        ("EURUSD_1m.csv", ""),
        ("EURUSD1.csv", "timezone=Europe/Athens"),
        ("ETH_BTC-5m.json", ""),
        ("ETHBTC_no_zone.feather", "symbol=ETHBTC timezone=UTC"),
    ] {
        let begun = read(name, options).unwrap().candles;
        let ended = read(name, &format!("{options} stamped=close")).unwrap().candles;
        let earlier: Vec<_> = begun.candles().iter().map(|c| c.time() - begun.interval().length()).collect();
        let found: Vec<_> = ended.candles().iter().map(Candle::time).collect();
        assert_eq!(found, earlier, "{name}");
    }
    let days = "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-03,1,2,1,2,2,5\n";
    let imported = import("X.csv", days, "stamped=close").unwrap();
    assert_eq!(collect_rows(&imported), [(1_704_153_600_000, [1.0, 2.0, 1.0, 2.0, 5.0])]);
}

/// `MetaTrader` writes prices with the decimals of the pair; other programs pad or trim zeros.
#[test]
fn decimals_are_known_only_if_all_prices_agree() {
    let terminal = |prices: &str| {
        format!("2024.01.02,22:00,{prices},5\n2024.01.02,22:01,1.17100,1.17150,1.17100,1.17150,7\n")
    };
    let zone = "timezone=UTC";
    for (content, decimals) in [
        (terminal("1.17100,1.17150,1.17100,1.17150"), Some(5)),
        (terminal("1.171,1.17150,1.17100,1.17150"), None),
    ] {
        assert_eq!(import("EURUSD1.csv", &content, zone).unwrap().decimals, decimals, "{content}");
    }
    let table = |mark: &str, prices: [&str; 4]| {
        let prices = prices.map(|price| price.replace('.', mark)).join(";");
        format!("Date;Open;High;Low;Close\n2024-01-02 22:00;{prices}\n2024-01-02 22:01;{prices}\n")
    };
    for (prices, decimals) in [
        (["150.10", "150.20", "150.00", "150.10"], Some(2)),
        (["1.10000000", "1.20000000", "1.10000000", "1.20000000"], None),
        (["94000", "94100", "93900", "94000"], Some(0)),
    ] {
        for mark in [".", ","] {
            let imported = import("X_1m.csv", table(mark, prices), zone).unwrap();
            assert_eq!(imported.decimals, decimals, "{prices:?} {mark}");
        }
    }
}

#[test]
fn reads_histdata_in_est_in_both_layouts() {
    let content = "2024.01.02,17:00,1.5,2,1,1.75,0\n2024.01.02,17:01,1.75,1.75,1.75,1.75,0\n";
    let imported = import("DAT_MT_EURUSD_M1_2024.csv", content, "").unwrap();
    let expected = [(TEN_PM, [1.5, 2.0, 1.0, 1.75, 0.0]), (TEN_PM + MINUTE, [1.75, 1.75, 1.75, 1.75, 0.0])];
    assert_eq!(collect_rows(&imported), expected);
    assert_eq!(imported.zone.unwrap().to_string(), "-05:00");
    assert_eq!(imported.candles.interval(), Interval::MINUTE);
}

#[test]
fn reads_dukascopy_files_of_download_tools() {
    let name = "eurusd-m1-bid-2024-01-02-2024-01-03.csv";
    let rows = ["1704232800000,1.5,2,1,1.75", "1704232860000,1.75,1.75,1.75,1.75"];
    let bare = format!("timestamp,open,high,low,close\n{}\n{}\n", rows[0], rows[1]);
    let whole = format!("timestamp,open,high,low,close,volume\n{},12.5\n{},3\n", rows[0], rows[1]);
    for (content, volumes) in [(&bare, [0.0, 0.0]), (&whole, [12.5, 3.0])] {
        let imported = import(name, content, "").unwrap();
        let expected = [
            (TEN_PM, [1.5, 2.0, 1.0, 1.75, volumes[0]]),
            (TEN_PM + MINUTE, [1.75, 1.75, 1.75, 1.75, volumes[1]]),
        ];
        assert_eq!(collect_rows(&imported), expected);
        let series = imported.candles.series().to_string();
        assert_eq!((imported.format, series.as_str()), (ImportFormat::Dukascopy, "EURUSD 1m"));
    }
    let problem = import(name, bare.replace("1704232860000", "02.01.2024 22:01:00.000"), "").unwrap_err();
    assert!(problem.contains(", line 3: time \"02.01.2024 22:01:00.000\" is not a whole"), "{problem}");
}

#[test]
fn reads_gzip_and_zip_like_plain_files() {
    for (name, options) in [
        ("EURUSD_1m.csv", ""),
        ("EURUSD_1m.parquet", ""),
        ("EURUSD1.csv", ATHENS),
        ("ETH_BTC-5m.json", ""),
        ("ETHBTC_no_zone.feather", "timezone=UTC symbol=ETHBTC"),
    ] {
        let (content, plain) = (std::fs::read(fixture(name)).unwrap(), read(name, options).unwrap());
        let zipped = ("archive.zip".to_owned(), zip(&[(name, &content)]));
        for (name, packed) in [(format!("{name}.gz"), gzip(&content)), zipped] {
            let unpacked = import(&name, packed, options).unwrap();
            assert_eq!(collect_rows(&unpacked), collect_rows(&plain), "{name}");
            assert_eq!(unpacked.candles.series(), plain.candles.series(), "{name}");
            assert_eq!(unpacked.format, plain.format, "{name}");
        }
    }
}

fn minutes(minutes: &[i64]) -> String {
    let row = |minute: &i64| format!("{},1,1,1,1,0\n", TEN_PM + minute * MINUTE);
    format!("time,open,high,low,close,volume\n{}", minutes.iter().map(row).collect::<String>())
}

#[test]
fn asks_about_an_unclear_interval() {
    for (name, rows, interval, expected) in [
        ("x.csv", &[0][..], "1m", "a single row does not reveal the candle interval"),
        ("x.csv", &[0, 1], "1m", "rows are 1m (1 times) apart"),
        ("x.csv", &[0, 2, 4, 7], "2m", "rows are 2m (2 times), 3m (1 times) apart"),
        ("x.csv", &[0, 1, 2, 12, 22, 32], "10m", "rows are 1m (2 times), 10m (3 times) apart"),
        ("EURUSD_1m.csv", &[0, 5, 10, 15], "5m", "the file name says 1m, but no two rows are closer than 5m"),
        ("EURUSD_5m.csv", &[0, 1, 2], "1m", "the file name says 5m, but rows are 1m apart"),
    ] {
        let problem = import(name, minutes(rows), "symbol=EURUSD").map(|_| ()).unwrap_err();
        let option = format!("--interval, such as --interval {interval}");
        assert!(problem.ends_with(&format!("{expected}; use {option}")), "{problem}");
    }
    for (name, rows, options, interval) in [
        ("x.csv", &[0, 2, 4, 7][..], "interval=1m", "1m"),
        ("x.csv", &[10, 5, 0], "", "5m"),
        ("x.csv", &[0, 60, 120, 300], "", "1h"),
        ("EURUSD_1m.csv", &[0, 1, 2, 7], "", "1m"),
        ("EURUSD_1m.csv", &[0, 9], "", "1m"),
    ] {
        let read = import(name, minutes(rows), &format!("symbol=EURUSD {options}")).unwrap();
        let found = (collect_rows(&read).len(), read.candles.interval().to_string());
        assert_eq!(found, (rows.len(), interval.to_owned()));
    }
}

#[test]
fn reads_unix_times_of_all_units() {
    let symbol = "symbol=EURUSD";
    let read = |factor: i64, divisor: i64| {
        let row = |minute: i64| format!("{},1,1,1,1,0\n", (TEN_PM + minute * MINUTE) * factor / divisor);
        let rows: String = (0..4).map(row).collect();
        let imported = import("x.csv", format!("time,open,high,low,close,volume\n{rows}"), symbol).unwrap();
        (collect_rows(&imported), imported.was_in_seconds)
    };
    let (milliseconds, in_seconds) = read(1, 1);
    assert_eq!((milliseconds.len(), in_seconds, milliseconds[0].0), (4, false, TEN_PM));
    assert_eq!(read(1_000, 1), (milliseconds.clone(), false));
    assert_eq!(read(1, 1_000), (milliseconds, true));
    let early = "time,open,high,low,close,volume\n60000,1,1,1,1,0\n120000,1,1,1,1,0\n180000,1,1,1,1,0\n";
    assert_eq!(collect_rows(&import("x.csv", early, symbol).unwrap())[0].0, 60_000);
}

#[test]
fn reads_exchange_midnights_as_days_and_hours_as_a_table() {
    let content = |time: &str| {
        format!(
            "Date,Open,High,Low,Close,Volume,Dividends,Stock Splits\n{time},187.15,188.44,183.89,185.64,82488700,0.0,0.0\n"
        )
    };
    let read = import("AAPL.csv", content("2024-01-02 00:00:00-05:00"), "").unwrap();
    assert_eq!(collect_rows(&read), [(1_704_153_600_000, [187.15, 188.44, 183.89, 185.64, 82_488_700.0])]);
    let read = import("AAPL.csv", content("2024-01-02 09:30:00-05:00"), "interval=30m").unwrap();
    assert_eq!(collect_rows(&read)[0].0, 1_704_153_600_000 + 14 * 3_600_000 + 30 * 60_000);
    assert_eq!(read.format, ImportFormat::Table);
}

#[test]
fn reports_where_symbol_and_interval_come_from() {
    for (name, options, expected) in [
        ("EURUSD_1m.csv", "", (ValueSource::Name, ValueSource::Name)),
        ("BTCUSDT-1m-2024-01-02.csv", "", (ValueSource::Name, ValueSource::Content)),
        ("ETHBTC_zstd.feather", "symbol=ETHBTC", (ValueSource::Option, ValueSource::Spacing)),
        ("EURUSD_1m.csv", "interval=1m", (ValueSource::Name, ValueSource::Option)),
    ] {
        let imported = read(name, options).unwrap();
        assert_eq!((imported.symbol_source, imported.interval_source), expected, "{name}");
    }
    assert_eq!(ImportSettings::default().clock_change, ClockChange::Strict);
}

#[test]
fn reverses_newest_first_files_and_rejects_mixed_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("EURUSD_1m.csv");
    let write = |rows: &[i64]| {
        std::fs::write(&path, minutes(rows)).unwrap();
        import_file(&path, &ImportSettings::default(), &mut ignore_progress)
            .map_err(|error| error.to_string())
    };
    let turned = write(&[3, 2, 1]).unwrap();
    assert!(turned.was_newest_first);
    assert_eq!(turned.candles.start().get(), TEN_PM + MINUTE);
    for (rows, problem) in [
        (&[1, 2, 2, 3][..], "line 4: time 1704232920000 occurs twice;"),
        (&[1, 3, 2, 4], "line 4: time 1704232920000 comes after 1704232980000;"),
        (&[3, 2, 2, 1], "line 3: time 1704232920000 occurs twice;"),
    ] {
        let error = write(rows).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
}
