//! `data import` as a user runs it: files of other programs into the catalog, or into a file of ours.

use crate::candlewick::{Folder, candles, repository};

fn fixtures(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in names {
        let from = repository().join("crates/history/tests/fixtures").join(name);
        std::fs::copy(from, folder.path(name)).unwrap();
    }
    folder
}

#[test]
fn files_of_one_series_join_in_the_catalog_which_remembers_where_they_came_from() {
    let archive = "DAT_ASCII_EURUSD_M1_2024.zip";
    let folder = fixtures(&[archive, "EURUSD1.csv"]);
    let source = ["--source", "histdata.com", "--licence", "theirs"];
    let printed = folder.run(&[&["data", "import", archive], &source[..]].concat());
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    for expected in [
        "4 candles of EURUSD 1m, 2024-01-02T22:00:00.000Z to 2024-01-02T22:05:00.000Z",
        "format histdata, symbol by the file's name, interval by the content, times of -05:00",
        "4 new, 0 there already, 0 revised",
    ] {
        assert!(printed.stdout.contains(expected), "{}", printed.stdout);
    }
    // The same candles with other volumes: the values that were there first stay.
    let again = ["data", "import", "EURUSD1.csv", "--timezone", "Europe/Athens", "--json"];
    let other_source =
        ["EURUSD 1m in the catalog data came from histdata.com, these from mt4", "--mix", "--source"];
    folder.run(&again).fails(2, &other_source);
    let again = folder.run(&[&again[..], &["--mix"]].concat()).json();
    assert_eq!((&again[0]["new"], &again[0]["revised"]), (&0.into(), &4.into()));
    let listed = folder.run(&["data", "list", "--json"]).json();
    assert_eq!((&listed[0]["symbol"], &listed[0]["candles"]), (&"EURUSD".into(), &4.into()));
    let origin = &listed[0]["origins"][0];
    assert_eq!((&origin["source"], &origin["licence"]), (&"histdata.com".into(), &"theirs".into()));
    assert_eq!(origin["files"][0], archive);
}

#[test]
fn a_file_is_written_in_our_formats_and_reads_back() {
    let folder = fixtures(&["ETH_BTC-5m.feather"]);
    let import = ["data", "import", "ETH_BTC-5m.feather", "--out", "ETHBTC_5m.csv", "--json"];
    let imported = folder.run(&import).json();
    let expected = "time,open,high,low,close,volume\n1704232800000,0.0523,0.05231,0.05229,0.0523,10.5\n\
                    1704233100000,0.0523,0.0524,0.0523,0.05235,7\n1704233400000,0.05235,0.05235,0.0521,0.0522,0\n";
    assert_eq!(folder.read("ETHBTC_5m.csv"), expected);
    folder.run(&import).fails(2, &["ETHBTC_5m.csv: the file is there already", "--force"]);
    let export = ["data", "export", "ETHBTC_5m.csv", "--out", "ETHBTC_5m.parquet", "--json"];
    assert_eq!(folder.run(&export).json()["data_hash"], imported[0]["data_hash"]);
}

/// Ten points of five decimals: by the last that is no zero they would be a pip.
#[test]
fn the_price_step_is_that_of_the_decimals_which_a_terminal_writes() {
    let rows = "2024.01.02,22:00,1.17100,1.17150,1.17100,1.17150,5\n2024.01.02,22:01,1.17150,1.17150,1.17100,1.17100,7\n";
    let folder = Folder::new().with("EURUSD1.csv", rows);
    let import = ["data", "import", "EURUSD1.csv", "--timezone", "UTC"];
    let printed = folder.run(&import);
    assert!(printed.stdout.contains("EURUSD = 0.00001, which is the last decimal"), "{}", printed.stdout);
    assert_eq!(folder.run(&[&import[..], &["--json"]].concat()).json()[0]["price_step"], 0.00001);
    // Of many candles some need the last decimal that there is: the zeros behind it are the program's that wrote them.
    let row = |at: u32| {
        format!(
            "2024.01.02,{:02}:{:02},150.12300,150.12{}00,150.12300,150.12300,5\n",
            at / 60,
            at % 60,
            3 + at % 7
        )
    };
    let folder = Folder::new().with("USDJPY1.csv", &(0..120).map(row).collect::<String>());
    let import = ["data", "import", "USDJPY1.csv", "--timezone", "UTC", "--json"];
    assert_eq!(folder.run(&import).json()[0]["price_step"], 0.001);
}

/// A hundred candles and more, one price of which is 1.0833 - 0.00009 as a program reckons it.
#[test]
fn the_tail_of_a_binary_fraction_is_no_price_step() {
    let row = |at: i64| format!("{},1.0832,1.0833,1.0831,1.0832100000000002,5\n", 1_767_571_200 + 60 * at);
    let rows: String = (0..120).map(row).collect();
    let folder = Folder::new().with("x.csv", &format!("timestamp,open,high,low,close,volume\n{rows}"));
    let import = ["data", "import", "x.csv", "--symbol", "EURUSD"];
    let printed = folder.run(&import).stdout;
    for part in [
        "EURUSD = 0.00001, which is the last decimal of these, digits behind the 15th left out",
        // Anybody's seconds, and no vendor's milliseconds.
        "format table",
        "in seconds since 1970",
    ] {
        assert!(printed.contains(part), "no {part:?} in {printed}");
    }
    assert_eq!(folder.run(&[&import[..], &["--json"]].concat()).json()[0]["price_step"], 0.00001);
}

#[test]
fn a_second_name_of_a_symbol_makes_no_second_series() {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(50));
    let import = ["data", "import", "BTCUSDT_1m.csv"];
    folder.run(&[&import[..], &["--json"]].concat()).json();
    let other = [&import[..], &["--symbol", "BTC/USDT"]].concat();
    folder.run(&other).fails(
        2,
        &[
            "BTC/USDT would be a second series beside BTCUSDT of the catalog data",
            "--symbol BTCUSDT puts them",
        ],
    );
    let apart = folder.run(&[&other[..], &["--catalog", "apart"]].concat());
    assert_eq!(apart.code, 0, "{}", apart.stderr);
    let spelling = "the symbol BTC/USDT: requests use this very name, and most venues spell it BTCUSDT";
    assert!(apart.stdout.contains(spelling), "{}", apart.stdout);
    let again = folder.run(&[&import[..], &["--json"]].concat()).json();
    assert_eq!(again[0]["same"], 50, "{again}");
}

#[test]
fn a_table_is_imported_with_what_each_column_was_taken_for() {
    let columns = "Date;Open;High;Low;Close;Shares\n";
    let rows =
        "31.01.2024 17:00;1,0942;1,0944;1,0941;1,0943;5\n31.01.2024 17:01;1,0943;1,0945;1,0942;1,0944;7\n";
    let folder = Folder::new().with("EURUSD_1m.csv", &(columns.to_owned() + rows)).with("bare_1m.csv", rows);
    let import = ["data", "import", "EURUSD_1m.csv", "--timezone", "UTC"];
    let printed = folder.run(&import);
    let taken = "time \"Date\", open \"Open\", high \"High\", low \"Low\", close \"Close\", no volume; left out \"Shares\"; \
                 between semicolons, decimal commas; times day first";
    assert!(printed.stdout.contains(taken), "{}{}", printed.stdout, printed.stderr);
    let document = folder.run(&[&import[..], &["--json"]].concat()).json();
    assert_eq!((&document[0]["format"], &document[0]["reading"]), (&"table".into(), &taken.into()));
    let bare = ["data", "import", "bare_1m.csv", "--symbol", "EURUSD", "--timezone", "UTC"];
    folder.run(&bare).fails(2, &["--columns, such as --columns time,open,high,low,close,volume"]);
    let columns = ["--columns", "time,open,high,low,close,volume", "--catalog", "other"];
    let said = folder.run(&[&bare[..], &columns].concat());
    assert!(
        said.stdout.contains("2 candles of EURUSD 1m, 2024-01-31T17:00:00.000Z"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    folder.run(&[&bare[..], &["--columns", "time,open"]].concat()).fails(2, &["names no column for high"]);
}

#[test]
fn a_broken_file_leaves_the_catalog_as_it_was_and_the_exit_code_distinguishes_data_from_arguments() {
    let folder = fixtures(&["EURUSD_1m.csv", "malformed_csv.csv", "EURUSD1.csv"]);
    let run = |files: &[&str]| folder.run(&[&["data", "import"], files].concat());
    run(&["EURUSD_1m.csv", "malformed_csv.csv", "--symbol", "EURUSD", "--interval", "1m"]).fails(
        3,
        &[
            "malformed_csv.csv, line 3: low 1.0943 and high 1.09425",
            "help: `candlewick data check malformed_csv.csv` lists all that is wrong with it; with --fix",
        ],
    );
    assert!(folder.run(&["data", "list", "--json"]).json().as_array().unwrap().is_empty());
    run(&["EURUSD1.csv"]).fails(2, &["does not say the time zone", "--timezone Europe/Athens"]);
    run(&["EURUSD1.csv", "--timezone", "Mars"]).fails(2, &["\"Mars\" is not a time zone"]);
    run(&["nowhere.csv"]).fails(3, &["nowhere.csv: cannot read the file", "No such file"]);
}

#[test]
fn a_file_that_contradicts_most_of_what_is_there_is_refused() {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(50));
    let import =
        |more: &[&str]| folder.run(&[&["data", "import", "BTCUSDT_1m.csv", "--json"], more].concat());
    assert_eq!(import(&[]).json()[0]["new"], 50);
    let what = [
        "of the 49 candles of BTCUSDT 1m that are in the catalog data already have other values",
        "--stamped",
    ];
    import(&["--stamped", "close"]).fails(2, &what);
    let listed = folder.run(&["data", "list", "--json"]).json();
    assert_eq!((&listed[0]["candles"], &listed[0]["revised"]), (&50.into(), &0.into()), "nothing is stored");
    let revised = import(&["--stamped", "close", "--mix"]).json()[0]["revised"].as_u64().unwrap();
    assert!(revised > 40, "{revised}");
    // What is known is no contradiction.
    assert_eq!(import(&["--stamped", "close"]).json()[0]["revised"], 0);
}

/// Minutes from 2026-01-05 09:00 UTC, with a symbol in front of each row.
fn named_minutes(symbols: &[&str]) -> String {
    let row = |(minute, symbol): (i64, &&str)| {
        format!("{symbol},{},1.17{minute:02},1.18,1.16,1.17,5\n", 1_767_603_600_000 + minute * 60_000)
    };
    let rows: String = (0..).zip(symbols).map(row).collect();
    format!("symbol,time,open,high,low,close,volume\n{rows}")
}

#[test]
fn a_file_of_two_symbols_is_refused_until_one_is_chosen() {
    let two = named_minutes(&["EURUSD", "EURUSD", "EURUSD", "GBPUSD", "GBPUSD"]);
    let folder = Folder::new().with("day.csv", &two).with("EURUSD_1m.csv", &named_minutes(&["GBPUSD"; 4]));
    let import = ["data", "import", "day.csv", "--symbol", "EURUSD", "--json"];
    folder.run(&import).fails(2, &["holds 2 symbols: EURUSD (3 rows", "GBPUSD (2 rows", "--only EURUSD"]);
    let chosen = folder.run(&[&import[..], &["--only", "EURUSD"]].concat()).json();
    assert_eq!((&chosen[0]["candles"], &chosen[0]["excluded_rows"]), (&3.into(), &2.into()));
    let contradicted = ["its symbol column says GBPUSD, but the file name says EURUSD", "--symbol GBPUSD"];
    folder.run(&["data", "import", "EURUSD_1m.csv"]).fails(2, &contradicted);
    folder.run(&["data", "check", "EURUSD_1m.csv", "--fix"]).fails(2, &contradicted);
}

#[test]
fn a_file_of_two_intervals_is_refused_by_an_import_and_by_a_backtest() {
    let times = (0..60).chain((1..40).map(|number| 59 + number * 5));
    let row = |minute: i64| format!("{},1.17,1.18,1.16,1.17,5\n", 1_767_603_600_000 + minute * 60_000);
    let rows: String = times.map(row).collect();
    let text = format!("time,open,high,low,close,volume\n{rows}");
    let folder = Folder::new().with("EURUSD_1m.csv", &text);
    folder
        .run(&["data", "import", "EURUSD_1m.csv"])
        .fails(2, &["39 times", "5m apart: the file holds two intervals"]);
    folder
        .run(&["data", "export", "EURUSD_1m.csv", "--out", "x.csv"])
        .fails(2, &["39 times, from candle 60 on"]);
}

/// A program that stores a forming candle, and the finished one in a later file.
#[test]
fn a_revised_last_candle_is_named_with_what_takes_it() {
    let file = |last: &str| {
        format!(
            "time,open,high,low,close,volume\n1767603600000,1.17,1.18,1.16,1.17,5\n1767603660000,{last}\n"
        )
    };
    let folder = Folder::new().with("EURUSD_1m.csv", &file("1.17,1.17,1.17,1.17,0.3")).with(
        "later_EURUSD_1m.csv",
        &(file("1.17,1.18,1.16,1.175,12") + "1767603720000,1.17,1.18,1.16,1.17,5\n"),
    );
    folder.run(&["data", "import", "EURUSD_1m.csv", "--json"]).json();
    let later = folder.run(&["data", "import", "later_EURUSD_1m.csv"]).stdout;
    for part in [
        "1 new, 1 there already, 1 revised",
        "warning: the last stored candle, of 2026-01-05T09:01:00.000Z, has other values here",
        "the stored values stay in force; `candlewick data check EURUSD@1m --fix --also revised` takes the later ones",
    ] {
        assert!(later.contains(part), "no {part:?} in {later}");
    }
    assert_eq!(folder.run(&["data", "check", "EURUSD@1m", "--fix", "--also", "revised"]).code, 0);
    folder.run(&["data", "export", "EURUSD@1m", "--out", "x.csv"]);
    assert!(
        folder.read("x.csv").contains("1767603660000,1.17,1.18,1.16,1.175,12\n"),
        "{}",
        folder.read("x.csv")
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_an_import_with_130() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    let pipe = folder.path("BTCUSDT_1m.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut command = folder.command(&["data", "import", "BTCUSDT_1m.csv"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // The pipe opens when the import does, and then never brings a line.
        let _writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        assert!(
            Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap().success()
        );
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{signal}");
        let printed = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(printed.contains("no file is half written"), "{signal}: {printed}");
    }
}
