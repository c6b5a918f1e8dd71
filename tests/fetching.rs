//! `data fetch` from a venue in its own process: stored candles, resumption and failures.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::excerpt::{MINUTE, MONDAY};
use crate::relay::Relay;
use crate::seconds;
use crate::serving::Served;
use crate::sweep_killed::stop_when;
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::{Value, json};
use std::fmt::Write as _;

const THREE_DAYS: [&str; 4] = ["--from", "2026-01-05", "--to", "2026-01-08"];

fn minutes(minutes: impl Iterator<Item = i64>) -> String {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for minute in minutes {
        let price = 100 + minute * minute % 11;
        let time = MONDAY + minute * MINUTE;
        let _ = writeln!(text, "{time},{price},{},{},{price}.5,{minute}", price + 1, price - 1);
    }
    text
}

/// A venue whose clock starts at the end of the fifth day, and a folder whose commands use it.
pub(crate) struct Fixture {
    pub(crate) folder: Folder,
    served: Served,
}

impl Fixture {
    pub(crate) fn new(files: &[(&str, &str)], faults: &str) -> Self {
        Self::at(files, &["--start", "2026-01-10", "--faults", faults])
    }

    fn with_minutes(candles: &str) -> Self {
        Self::new(&[("BTCUSDT_1m.csv", candles)], "none")
    }

    fn at(files: &[(&str, &str)], how: &[&str]) -> Self {
        let folder = files.iter().fold(Folder::new(), |folder, (name, text)| folder.with(name, text));
        let paths = files.iter().map(|(name, _)| folder.path(name).to_string_lossy().into_owned());
        let data: Vec<String> = paths.flat_map(|path| ["--data".to_owned(), path]).collect();
        let data: Vec<&str> = data.iter().map(String::as_str).collect();
        let served = Served::start(&[&["--speed", "1"], how, &data].concat());
        let folder = served.known_to(folder).with_variable("CANDLEWICK_BROKER__REQUESTS_PER_SECOND", "0");
        Self { folder, served }
    }

    fn fetch_all(&self, arguments: &[&str]) -> Value {
        self.folder.run(&fetch(arguments)).json()
    }

    fn fetch(&self, series: &str, arguments: &[&str]) -> Value {
        self.fetch_all(&[&[series], arguments].concat())["series"][0].clone()
    }

    pub(crate) fn export(&self, series: &str, catalog: &str) -> String {
        let export = ["data", "export", series, "--catalog", catalog, "--out", "out.csv", "--force"];
        let run = self.folder.run(&export);
        assert_eq!(run.code, 0, "{}", run.stderr);
        self.folder.read("out.csv")
    }

    fn exported(&self) -> String {
        self.export("BTCUSDT@1m", "candles")
    }
}

fn fetch<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["data", "fetch", "--catalog", "candles", "--rate", "0", "--json"], arguments].concat()
}

pub(crate) fn with_relay(fixture: Fixture) -> (Fixture, Relay) {
    let Fixture { folder, served } = fixture;
    let relay = Relay::to(served.text("base_url"));
    let folder = folder.with_variable("CANDLEWICK_BROKER__PRICE_URL", &relay.url);
    (Fixture { folder, served }, relay)
}

fn counts(series: &Value) -> [u64; 4] {
    ["new", "same", "revised", "missing"].map(|key| series[key].as_u64().unwrap())
}

#[test]
fn fetches_what_the_venue_has_and_resumes_at_the_end_of_the_stored_candles() {
    // Closed from noon of the second day to noon of the third day.
    let is_open = |minute: &i64| !(2_160..3_600).contains(minute);
    let fixture = Fixture::with_minutes(&minutes((0..8_000).filter(is_open)));
    let fetch = |arguments: &[&str]| fixture.fetch("BTCUSDT@1m", arguments);
    let first = fetch(&THREE_DAYS);
    assert_eq!(counts(&first), [2_880, 0, 0, 1_440], "{first}");
    assert_eq!(fixture.exported(), minutes((0..4_320).filter(is_open)));
    let second = fetch(&[]);
    assert_eq!(counts(&second), [2_880, 100, 0, 1_440], "the last hundred come again: {second}");
    assert_eq!(second["end"], MONDAY + 7_200 * MINUTE);
    let third = fetch(&["--from", "2026-01-05", "--again"]);
    assert_eq!(counts(&third), [0, 5_760, 0, 1_440], "{third}");
    assert_eq!(third["data_hash"], second["data_hash"]);
    // Only the closed day is requested again.
    let fourth = fetch(&["--from", "2026-01-05", "--to", "2026-01-09"]);
    assert_eq!((counts(&fourth), &fourth["requests"]), ([0, 0, 0, 1_440], &json!(2)), "{fourth}");
    let empty = ["data", "fetch", "BTCUSDT@1m", "--catalog", "empty", "--rate", "0", "--json"];
    let empty = [&empty[..], &["--from", "2025-06-01", "--to", "2026-01-01"]].concat();
    let empty = fixture.folder.run(&empty).json()["series"][0].clone();
    assert_eq!((&empty["candles"], &empty["data_hash"]), (&json!(0), &Value::Null), "{empty}");
    assert!(empty["requests"].as_u64() < Some(60), "{empty}");
}

#[test]
fn does_not_request_an_empty_weekend_again() {
    // Closed from Friday to Sunday, 22:00 UTC, and for an hour of Tuesday.
    let is_open = |minute: &i64| !(7_080..9_960).contains(minute) && !(2_000..2_060).contains(minute);
    let all = minutes((0..12_000).filter(is_open));
    let fixture = Fixture::at(&[("EURUSD_1m.csv", &all)], &["--start", "2026-01-13"]);
    let fetch = || fixture.fetch("EURUSD@1m", &["--from", "2026-01-05"]);
    assert_eq!(counts(&fetch()), [11_520 - 2_940, 0, 0, 60], "only the hour is missing");
    // The closed hour, and the latest candles.
    let second = fetch();
    assert_eq!((counts(&second), &second["requests"]), ([0, 100, 0, 60], &json!(2)), "{second}");
}

#[test]
fn does_not_fetch_candles_removed_by_a_repair() {
    let spiked = minutes(0..8_000).replace("1767631200000,101,102,", "1767631200000,101,902,");
    let fixture = Fixture::with_minutes(&spiked);
    let fetch = |arguments: &[&str]| fixture.fetch("BTCUSDT@1m", &[&THREE_DAYS, arguments].concat());
    assert_eq!(counts(&fetch(&[])), [4_320, 0, 0, 0]);
    let fix = ["data", "check", "--catalog", "candles", "--fix", "--also", "spike", "--ignore", "gap"];
    assert_eq!(fixture.folder.run(&fix).code, 0);
    let repaired = fixture.exported();
    assert_eq!(repaired.lines().count(), 4_320);
    let next = fetch(&[]);
    assert_eq!((counts(&next), &next["requests"]), ([0, 100, 0, 1], &json!(1)), "{next}");
    assert_eq!(counts(&fetch(&["--again"])), [0, 4_320, 0, 1]);
    assert_eq!(fixture.exported(), repaired);
}

#[test]
fn fetches_several_series_completely_despite_every_venue_fault() {
    let (bitcoin, ether) = (minutes(0..8_000), minutes(500..6_000));
    let files = [("BTCUSDT_1m.csv", bitcoin.as_str()), ("ETHUSDT_1m.csv", ether.as_str())];
    let faults = "errors:0.1,errors-after:0.05,drop-before:0.05,drop-after:0.05,shuffle:0.5,latency:0.3:20ms";
    let fixture = Fixture::new(&files, faults);
    let many = "[broker]\nretry_pause_ms = 10\nread_attempts = 10\ntimeout_ms = 1000\n";
    std::fs::write(fixture.folder.path("many.toml"), many).unwrap();
    let series = ["BTCUSDT@1m", "ETHUSDT@5m", "ETHUSDT@1m", "--config", "many.toml", "--limit", "300"];
    let printed = fixture.fetch_all(&[&series[..], &THREE_DAYS].concat());
    let candles: Vec<u64> =
        printed["series"].as_array().unwrap().iter().map(|one| one["candles"].as_u64().unwrap()).collect();
    assert_eq!(candles, [4_320, 764, 3_820], "{printed}");
    assert_eq!(fixture.exported(), minutes(0..4_320));
    assert_eq!(fixture.export("ETHUSDT@1m", "candles"), minutes(500..4_320));
}

#[test]
fn stores_candles_out_of_step_with_earlier_ones_and_fails() {
    let fixture = Fixture::with_minutes(&minutes(0..8_000));
    // Five-minute candles that end a minute early.
    let mut early = String::from("time,open,high,low,close,volume\n");
    for minute in (0..4_000).step_by(5) {
        let close = 100 + (minute + 3) * (minute + 3) % 11;
        let _ = writeln!(early, "{},100,112,99,{close}.5,1", MONDAY + minute * MINUTE);
    }
    std::fs::write(fixture.folder.path("BTCUSDT_5m.csv"), early).unwrap();
    let import = ["data", "import", "BTCUSDT_5m.csv", "--catalog", "candles", "--source", "other"];
    assert_eq!(fixture.folder.run(&import).code, 0);
    let run = fixture.folder.run(&fetch(&[&["BTCUSDT@1m"], &THREE_DAYS[..]].concat()));
    assert!(run.code == 3 && run.stderr.contains("1 min ahead of 5m"), "{}", run.stderr);
    assert_eq!(fixture.exported(), minutes(0..4_320));
}

#[test]
fn reports_revised_candles_and_keeps_the_first_values() {
    let first = minutes(0..8_000);
    let fixture = Fixture::with_minutes(&first);
    fixture.fetch("BTCUSDT@1m", &THREE_DAYS);
    // Another venue with other values of one candle.
    let line = first.lines().nth(1_001).unwrap();
    assert_eq!(line, "1767631200000,101,102,100,101.5,1000");
    let other = Fixture::with_minutes(&first.replace(line, "1767631200000,101,102.5,100,101.25,1000"));
    let folder = fixture.folder.with_variable("CANDLEWICK_BROKER__PRICE_URL", other.served.text("base_url"));
    let fixture = Fixture { folder, served: fixture.served };
    let again = [&["BTCUSDT@1m", "--again"], &THREE_DAYS[..]].concat();
    fixture.folder.run(&fetch(&again)).fails(2, &["BTCUSDT 1m", "http://127.0.0.1:", "--mix"]);
    let mixed = fixture.fetch_all(&[&again[..], &["--mix"]].concat())["series"][0].clone();
    assert_eq!(counts(&mixed), [0, 4_319, 1, 0], "{mixed}");
    let revision = &mixed["revisions"][0];
    assert_eq!((&revision["first"]["close"], &revision["later"]["close"]), (&json!(101.5), &json!(101.25)));
    // The source and the revision are known now.
    assert_eq!(fixture.fetch_all(&again)["series"][0]["revisions"], json!([]));
    assert_eq!(fixture.exported(), minutes(0..4_320));
}

#[test]
fn names_each_error_and_fetches_the_other_series() {
    let fixture = Fixture::with_minutes(&minutes(0..8_000));
    for (arguments, code, parts) in [
        ("btc/usdt@1m", 4, &["btc/usdt 1m", "\"BTCUSDT\""][..]),
        ("NOPE@1m", 4, &["NOPE"]),
        ("BTCUSDT@1m --asset-type forex", 4, &["BTCUSDT", "--asset-type"]),
        ("BTCUSDT@7s", 4, &["HTTP 400", "5s 30s 1m"]),
        ("BTCUSDT", 2, &["\"BTCUSDT\"", "BTCUSDT@1m"]),
        ("", 2, &["[[bots]]"]),
        ("BTCUSDT@1m --from 2026-01-07 --to 2026-01-06", 2, &["--from", "--to"]),
        ("BTCUSDT@1m --rate NaN", 2, &["--rate"]),
        ("BTCUSDT@1m --record --from 2026-01-07", 2, &["--record"]),
        ("NOPE@1m BTCUSDT@1m --from 2026-01-05 --rate 0", 4, &["NOPE"]),
    ] {
        let words: Vec<&str> = ["data", "fetch"].into_iter().chain(arguments.split_whitespace()).collect();
        fixture.folder.run(&words).fails(code, parts);
    }
    assert_eq!(fixture.export("BTCUSDT@1m", "data"), minutes(0..7_200));
    let Fixture { folder, served: _served } = fixture;
    let wrong = folder.with_variable("CANDLEWICK_BROKER__API_KEY", "not-this-one");
    let run = wrong.run(&["data", "fetch", "BTCUSDT@1m", "ETHUSDT@1m"]);
    run.fails(4, &["CANDLEWICK_BROKER__API_KEY"]);
    assert_eq!(run.stderr.matches("error:").count(), 1, "one cause, reported once: {}", run.stderr);
    assert!(!run.stderr.contains("not-this-one"), "{}", run.stderr);
    let away = wrong.with_variable("CANDLEWICK_BROKER__PRICE_URL", "http://127.0.0.1:9");
    away.run(&["data", "fetch", "ETHUSDT@1m"]).fails(4, &["broker.price_url"]);
}

#[test]
fn fetches_the_series_of_the_bots_by_default() {
    let bot = |name: &str, interval: &str| {
        format!(
            "[[bots]]\nname = \"{name}\"\nsymbol = \"BTCUSDT\"\ninterval = \"{interval}\"\nasset_type = \"otc\"\n\
             strategy = \"rsi-reversal\"\nclose_type = \"05:00\"\n"
        )
    };
    let bots = [bot("a", "1m"), bot("b", "1m"), bot("c", "5m")].concat();
    let venue = Folder::new().with("bots.toml", &format!("[sandbox.asset_types]\nBTCUSDT = \"otc\"\n{bots}"));
    let path = venue.path("bots.toml").to_string_lossy().into_owned();
    let how = ["--start", "2026-01-10", "--config", &path];
    let fixture = Fixture::at(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], &how);
    let printed = fixture.fetch_all(&[&["--config", &path], &THREE_DAYS[..]].concat());
    let series = printed["series"].as_array().unwrap().iter();
    let found: Vec<_> = series.map(|one| (one["interval"].as_str(), one["candles"].as_u64())).collect();
    assert_eq!(found, [(Some("1m"), Some(4_320)), (Some("5m"), Some(864))], "{printed}");
    let named = [&["BTCUSDT@1m"], &THREE_DAYS[..]].concat();
    fixture.folder.run(&fetch(&named)).fails(4, &["--asset-type"]);
    fixture.fetch_all(&[&named[..], &["--asset-type", "otc"]].concat());
}

#[test]
fn interrupted_fetch_keeps_its_candles_and_resumes() {
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], "latency:1:20ms");
    let (fixture, relay) = with_relay(fixture);
    let five_days = ["BTCUSDT@1m", "--from", "2026-01-05", "--to", "2026-01-10", "--limit", "20"];
    let mut so_far = 0;
    for name in ["INT", "TERM"] {
        // The tenth request proves that nine pages of twenty candles have arrived, of hundreds.
        relay.forget();
        let run = stop_when(&fixture.folder, &fetch(&five_days), name, || {
            relay.wait_for(10, |_| true);
            true
        });
        let printed: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(run.code, 130, "{printed}");
        let series = &printed["series"][0];
        assert_eq!(printed["interrupted"], true, "{printed}");
        so_far += series["new"].as_u64().filter(|new| *new > 0).expect("something came");
        assert_eq!((&series["candles"], &series["missing"]), (&so_far.into(), &0.into()), "{printed}");
    }
    assert_eq!(fixture.fetch_all(&five_days)["series"][0]["new"], 7_200 - so_far);
    assert_eq!(fixture.exported(), minutes(0..7_200));
}

#[test]
fn records_prices_until_the_end_of_the_span_or_a_signal() {
    let now = SystemClock::new().now().get() / 1_000 * 1_000;
    let seconds = seconds::candles(now, (600, 600));
    let start = (now + 2_000).to_string();
    let (fixture, relay) = with_relay(Fixture::at(&[("BTCUSDT_1s.csv", &seconds)], &["--start", &start]));
    let record = ["data", "fetch", "BTCUSDT", "--record", "--catalog", "prices", "--json"];
    let printed = fixture.folder.run(&[&record[..], &["--for", "4s"]].concat()).json();
    let (series, is_interrupted) = (&printed["series"][0], &printed["interrupted"]);
    assert!((3..=6).contains(&series["new"].as_u64().unwrap()), "{printed}");
    assert_eq!((&series["missing"], is_interrupted), (&json!(0), &json!(false)), "{printed}");
    for (name, expected) in [("INT", 130), ("TERM", 0)] {
        // Requests with a time are for missed records.
        relay.forget();
        let run = stop_when(&fixture.folder, &record, name, || {
            relay.wait_for(4, |line| !line.contains("limitTime="));
            true
        });
        let printed: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((run.code, &printed["interrupted"]), (expected, &json!(expected != 0)), "{printed}");
    }
    let recorded = fixture.export("BTCUSDT@1s", "prices");
    let lines = || recorded.lines().skip(1);
    assert!(lines().count() > 6 && lines().all(|line| seconds.contains(line)), "{recorded}");
}
