//! `data fetch` against a venue in a process of its own: what arrives, what goes on where, what is reported when it cannot.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::relay::Relay;
use crate::seconds;
use crate::serving::Served;
use candlewick_broker::clock::{Clock, SystemClock};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

/// 2026-01-05 00:00 UTC.
const MONDAY: i64 = 1_767_571_200_000;
const MINUTE: i64 = 60_000;
/// No pause between requests.
const HASTE: [&str; 2] = ["--rate", "0"];
/// The first three days.
const THREE_DAYS: [&str; 4] = ["--from", "2026-01-05", "--to", "2026-01-08"];

/// Candles of these minutes, as CSV.
pub(crate) fn minutes(minutes: impl Iterator<Item = i64>) -> String {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for minute in minutes {
        let price = 100 + minute * minute % 11;
        let time = MONDAY + minute * MINUTE;
        let _ = writeln!(text, "{time},{price},{},{},{price}.5,{minute}", price + 1, price - 1);
    }
    text
}

/// A venue whose clock stands at the end of the fifth day, and a folder whose variables lead to it.
pub(crate) struct Fixture {
    pub(crate) folder: Folder,
    served: Served,
}

impl Fixture {
    /// The venue has these files.
    pub(crate) fn new(files: &[(&str, &str)], faults: &str) -> Self {
        Self::at(files, &["--start", "2026-01-10", "--faults", faults])
    }

    fn at(files: &[(&str, &str)], how: &[&str]) -> Self {
        let folder = files.iter().fold(Folder::new(), |folder, (name, text)| folder.with(name, text));
        let paths = files.iter().map(|(name, _)| folder.path(name).to_string_lossy().into_owned());
        let data: Vec<String> = paths.flat_map(|path| ["--data".to_owned(), path]).collect();
        let data: Vec<&str> = data.iter().map(String::as_str).collect();
        let served = Served::start(&[&["--speed", "1"], how, &data].concat());
        let folder = folder
            .with_variable("CANDLEWICK_BROKER__PRICE_URL", served.text("base_url"))
            .with_variable("CANDLEWICK_BROKER__API_KEY", served.text("api_key"))
            .with_variable("CANDLEWICK_BROKER__REQUESTS_PER_SECOND", "0");
        Self { folder, served }
    }

    /// What a run reports of its first series.
    fn fetch(&self, arguments: &[&str]) -> Value {
        let fetch = ["data", "fetch", "BTCUSDT@1m", "--catalog", "candles", "--json"];
        let printed = self.folder.run(&[&fetch, &HASTE[..], arguments].concat()).json();
        assert_eq!(printed["source"], self.served.text("base_url"));
        printed["series"][0].clone()
    }

    /// The series as CSV.
    pub(crate) fn export(&self, series: &str, catalog: &str) -> String {
        let export = ["data", "export", series, "--catalog", catalog, "--out", "out.csv", "--force"];
        let run = self.folder.run(&export);
        assert_eq!(run.code, 0, "{}", run.stderr);
        self.folder.read("out.csv")
    }
}

/// The fixture behind a relay: what its folder's commands ask the venue is seen.
pub(crate) fn seen(fixture: Fixture) -> (Fixture, Relay) {
    let Fixture { folder, served } = fixture;
    let relay = Relay::to(served.text("base_url"));
    let folder = folder.with_variable("CANDLEWICK_BROKER__PRICE_URL", &relay.url);
    (Fixture { folder, served }, relay)
}

fn counts(printed: &Value) -> [u64; 4] {
    ["new", "same", "revised", "missing"].map(|key| printed[key].as_u64().unwrap())
}

#[test]
fn what_arrives_is_what_the_venue_has_and_the_next_run_goes_on_from_there() {
    // Closed from the second day's noon to the third day's noon.
    let is_open = |minute: &i64| !(2_160..3_600).contains(minute);
    let all = minutes((0..8_000).filter(is_open));
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &all)], "none");
    let first = fixture.fetch(&THREE_DAYS);
    assert_eq!(counts(&first), [2_880, 0, 0, 1_440], "{first}");
    assert_eq!(fixture.export("BTCUSDT@1m", "candles"), minutes((0..4_320).filter(is_open)));
    // The last hundred again, and what closed since; the clock stands shortly after the fifth day.
    let second = fixture.fetch(&[]);
    assert_eq!(counts(&second), [2_880, 100, 0, 1_440], "{second}");
    assert_eq!(second["end"], MONDAY + 7_200 * MINUTE);
    // All of it once more changes nothing.
    let third = fixture.fetch(&["--from", "2026-01-05", "--again"]);
    assert_eq!(counts(&third), [0, 5_760, 0, 1_440], "{third}");
    assert_eq!(third["data_hash"], second["data_hash"]);
    // Only the closed day is asked for again, once.
    let fourth = fixture.fetch(&["--from", "2026-01-05", "--to", "2026-01-09"]);
    assert_eq!((counts(&fourth), &fourth["requests"]), ([0, 0, 0, 1_440], &Value::from(2)), "{fourth}");
}

#[test]
fn a_weekend_in_which_nothing_came_is_not_asked_for_again() {
    // From Friday to Sunday, 22:00 UTC; and an hour of the Tuesday before.
    let is_open = |minute: &i64| !(7_080..9_960).contains(minute) && !(2_000..2_060).contains(minute);
    let all = minutes((0..12_000).filter(is_open));
    let fixture = Fixture::at(&[("EURUSD_1m.csv", &all)], &["--start", "2026-01-13"]);
    let fetch = |arguments: &[&str]| {
        let fetch = ["data", "fetch", "EURUSD@1m", "--catalog", "candles", "--json", "--from", "2026-01-05"];
        fixture.folder.run(&[&fetch[..], &HASTE, arguments].concat()).json()["series"][0].clone()
    };
    // Only the hour is missing: nobody trades on a weekend.
    assert_eq!(counts(&fetch(&[])), [11_520 - 2_940, 0, 0, 60]);
    // The hour in which candles should be, and the latest ones.
    let second = fetch(&[]);
    assert_eq!((counts(&second), &second["requests"]), ([0, 100, 0, 60], &Value::from(2)), "{second}");
    let third = fetch(&["--again"]);
    assert_eq!(counts(&third), [0, 11_520 - 2_940, 0, 60], "{third}");
}

#[test]
fn a_stretch_before_the_stored_candles_and_one_among_them_is_filled() {
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], "none");
    fixture.fetch(&["--from", "2026-01-06", "--to", "2026-01-07"]);
    fixture.fetch(&["--from", "2026-01-08", "--to", "2026-01-09"]);
    let filled = fixture.fetch(&["--from", "2026-01-05", "--to", "2026-01-10", "--limit", "77"]);
    assert_eq!(filled["candles"], 7_200, "{filled}");
    assert_eq!(fixture.export("BTCUSDT@1m", "candles"), minutes(0..7_200));
}

#[test]
fn what_a_repair_left_out_is_not_fetched_again() {
    let spiked = minutes(0..8_000).replace("1767631200000,101,102,", "1767631200000,101,902,");
    assert_ne!(spiked, minutes(0..8_000));
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &spiked)], "none");
    assert_eq!(counts(&fixture.fetch(&THREE_DAYS)), [4_320, 0, 0, 0]);
    let fix = ["data", "check", "--catalog", "candles", "--fix", "--also", "spike", "--ignore", "gap"];
    let fixed = fixture.folder.run(&fix);
    assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
    let repaired = fixture.export("BTCUSDT@1m", "candles");
    assert_eq!(repaired.lines().count(), 4_320);
    let next = fixture.fetch(&THREE_DAYS);
    assert_eq!(
        (counts(&next), &next["requests"]),
        ([0, 100, 0, 1], &1.into()),
        "only the latest are asked for"
    );
    assert_eq!(counts(&fixture.fetch(&[&THREE_DAYS[..], &["--again"]].concat())), [0, 4_320, 0, 1]);
    assert_eq!(fixture.export("BTCUSDT@1m", "candles"), repaired);
}

#[test]
fn several_series_come_at_once_through_every_fault_of_the_venue() {
    let (bitcoin, ether) = (minutes(0..8_000), minutes(500..6_000));
    let files = [("BTCUSDT_1m.csv", bitcoin.as_str()), ("ETHUSDT_1m.csv", ether.as_str())];
    let faults = "errors:0.1,errors-after:0.05,drop-before:0.05,drop-after:0.05,shuffle:0.5,latency:0.3:20ms";
    let fixture = Fixture::new(&files, faults);
    let folder = fixture.folder.path("many.toml");
    std::fs::write(&folder, "[broker]\nretry_pause_ms = 10\nread_attempts = 10\ntimeout_ms = 1000\n")
        .unwrap();
    let arguments = ["data", "fetch", "--config", "many.toml", "BTCUSDT@1m", "ETHUSDT@5m", "ETHUSDT@1m"];
    let more = ["--from", "2026-01-05", "--to", "2026-01-08", "--limit", "300", "--catalog", "candles"];
    let printed = fixture.folder.run(&[&arguments[..], &more, &HASTE, &["--json"]].concat()).json();
    let candles: Vec<u64> =
        printed["series"].as_array().unwrap().iter().map(|one| one["candles"].as_u64().unwrap()).collect();
    assert_eq!(candles, [4_320, 764, 3_820], "{printed}");
    assert_eq!(fixture.export("BTCUSDT@1m", "candles"), minutes(0..4_320));
    assert_eq!(fixture.export("ETHUSDT@1m", "candles"), minutes(500..4_320));
}

#[test]
fn fetched_candles_that_are_out_of_step_with_stored_ones_are_kept_and_reported_with_the_lag() {
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], "none");
    // Candles of five minutes that end a minute early.
    let mut early = String::from("time,open,high,low,close,volume\n");
    for minute in (0..4_000).step_by(5) {
        let close = 100 + (minute + 3) * (minute + 3) % 11;
        let _ = writeln!(early, "{},100,112,99,{close}.5,1", MONDAY + minute * MINUTE);
    }
    std::fs::write(fixture.folder.path("BTCUSDT_5m.csv"), early).unwrap();
    let import = ["data", "import", "BTCUSDT_5m.csv", "--catalog", "candles", "--source", "other"];
    let imported = fixture.folder.run(&import);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let fetch = ["data", "fetch", "BTCUSDT@1m", "--catalog", "candles"];
    let run = fixture.folder.run(&[&fetch, &HASTE[..], &THREE_DAYS].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("BTCUSDT 1m runs 1 min ahead of 5m"), "{}", run.stderr);
    assert_eq!(fixture.export("BTCUSDT@1m", "candles"), minutes(0..4_320));
}

#[test]
fn revised_candles_are_kept_beside_those_that_were_seen_first_and_reported() {
    let first = minutes(0..8_000);
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &first)], "none");
    fixture.fetch(&THREE_DAYS);
    // Another venue that knows one candle better, and one that had no trades.
    let line = first.lines().nth(1_001).unwrap();
    assert_eq!(line, "1767631200000,101,102,100,101.5,1000");
    let revised = first.replace(line, "1767631200000,101,102.5,100,101.25,1000");
    let other = Fixture::new(&[("BTCUSDT_1m.csv", &revised)], "none");
    let folder = fixture.folder.with_variable("CANDLEWICK_BROKER__PRICE_URL", other.served.text("base_url"));
    let fetch = ["data", "fetch", "BTCUSDT@1m", "--catalog", "candles", "--from", "2026-01-05", "--again"];
    let fetch = [&fetch[..], &HASTE, &["--to", "2026-01-08"]].concat();
    folder.run(&fetch).fails(2, &["BTCUSDT 1m in the catalog candles came from http://127.0.0.1:", "--mix"]);
    let mixed = [&fetch[..], &["--mix"]].concat();
    let printed = folder.run(&[&mixed[..], &["--json"]].concat()).json();
    let series = &printed["series"][0];
    assert_eq!(counts(series), [0, 4_319, 1, 0], "{printed}");
    let revision = &series["revisions"][0];
    assert_eq!((&revision["first"]["close"], &revision["later"]["close"]), (&101.5.into(), &101.25.into()));
    // It is known now, and the source too.
    let table = folder.run(&fetch);
    assert!(table.code == 0 && !table.stdout.contains("revised:"), "{}{}", table.stdout, table.stderr);
    let export = ["data", "export", "BTCUSDT@1m", "--catalog", "candles", "--out", "out.csv"];
    assert_eq!(folder.run(&export).code, 0);
    assert_eq!(folder.read("out.csv"), minutes(0..4_320), "the value that was seen first");
}

#[test]
fn a_revision_is_reported_in_words() {
    let first = minutes(0..8_000);
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &first)], "none");
    let revised = first.replace(",101,102,100,101.5,1000\n", ",101,102.5,100,101.25,1000\n");
    let own = fixture.folder.with("BTCUSDT_1m.csv", &revised);
    let import = ["data", "import", "BTCUSDT_1m.csv", "--catalog", "candles"];
    assert_eq!(own.run(&import).code, 0);
    let fetch = ["data", "fetch", "BTCUSDT@1m", "--catalog", "candles", "--mix", "--again"];
    let run = own.run(&[&fetch[..], &HASTE, &THREE_DAYS].concat());
    let expected =
        "revised: BTCUSDT 1m at 2026-01-05T16:40:00.000Z: high 102.5 became 102, close 101.25 became 101.5";
    assert!(run.code == 0 && run.stdout.contains(expected), "{}{}", run.stdout, run.stderr);
}

#[test]
fn what_cannot_be_fetched_is_reported_with_the_way_out() {
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], "none");
    let check = |arguments: &[&str], code: i32, parts: &[&str]| {
        fixture.folder.run(&[&["data", "fetch"], arguments].concat()).fails(code, parts);
    };
    check(
        &["btc/usdt@1m"],
        4,
        &["btc/usdt 1m of http://127.0.0.1", "not found", "did you mean \"BTCUSDT\"?"],
    );
    check(&["NOPE@1m"], 4, &["there is no pair NOPE"]);
    check(&["BTCUSDT@1m", "--asset-type", "forex"], 4, &["has prices of BTCUSDT: check --asset-type"]);
    check(&["BTCUSDT@7s"], 4, &["HTTP 400", "5s 30s 1m"]);
    check(&["BTCUSDT"], 2, &["\"BTCUSDT\" has no interval", "BTCUSDT@1m"]);
    check(&[], 2, &["no series to fetch", "[[bots]]"]);
    check(
        &["BTCUSDT@1m", "--from", "2026-01-07", "--to", "2026-01-06"],
        2,
        &["--from does not lie before --to"],
    );
    check(&["BTCUSDT@1m", "--rate", "NaN"], 2, &["--rate", "0.001 to 10000"]);
    check(&["BTCUSDT@1m", "--record", "--from", "2026-01-07"], 2, &["--record"]);
    // The series that can be fetched is, beside one that cannot.
    check(&["NOPE@1m", "BTCUSDT@1m", "--from", "2026-01-05", "--rate", "0"], 4, &["NOPE"]);
    assert_eq!(fixture.export("BTCUSDT@1m", "data"), minutes(0..7_200));
    let Fixture { folder, served } = fixture;
    let wrong = folder.with_variable("CANDLEWICK_BROKER__API_KEY", "not-this-one");
    let run = wrong.run(&["data", "fetch", "BTCUSDT@1m", "ETHUSDT@1m"]);
    run.fails(4, &["the credentials are not accepted", "CANDLEWICK_BROKER__API_KEY"]);
    assert_eq!(run.stderr.matches("error:").count(), 1, "one cause, printed once: {}", run.stderr);
    assert!(!run.stderr.contains("not-this-one"), "{}", run.stderr);
    let away = wrong.with_variable("CANDLEWICK_BROKER__PRICE_URL", "http://127.0.0.1:9");
    away.run(&["data", "fetch", "ETHUSDT@1m"]).fails(4, &["the venue is not available", "broker.price_url"]);
    drop(served);
}

#[test]
fn nothing_to_fetch_is_no_error_and_says_what_the_venues_clock_said() {
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], "none");
    let run =
        fixture.folder.run(&["data", "fetch", "BTCUSDT@1m", "--from", "2026-02-01", "--to", "2026-03-01"]);
    assert!(run.code == 0 && run.stdout.contains("its clock said 2026-01-10T00:00:"), "{}", run.stdout);
    let empty = fixture.fetch(&["--from", "2025-06-01", "--to", "2026-01-01"]);
    assert_eq!((&empty["candles"], &empty["data_hash"]), (&Value::from(0), &Value::Null), "{empty}");
    // Half a year of nothing, in windows of up to a week.
    assert!(empty["requests"].as_u64() < Some(60), "{empty}");
}

#[test]
fn a_venue_that_sends_the_same_page_whatever_is_asked_for_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let row = |minute: i64| {
        let time = MONDAY + minute * MINUTE;
        format!(r#"{{"time":{time},"openPrice":1,"highPrice":2,"lowPrice":1,"closePrice":2,"volume":0}}"#)
    };
    let body = format!("[{},{},{}]", row(7), row(8), row(9));
    // Ends with the test's process.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4_096]);
            let head =
                format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    let folder = Folder::new()
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", &address)
        .with_variable("CANDLEWICK_BROKER__API_KEY", "key");
    let run = folder.run(&[&["data", "fetch", "BTCUSDT@1m"], &THREE_DAYS[..], &HASTE].concat());
    run.fails(4, &["the same 3 candles come whatever is asked for", "check broker.price_url"]);
}

#[test]
fn without_a_name_the_bots_series_are_fetched_as_what_the_bots_say_they_are() {
    let bot = |name: &str, symbol: &str, interval: &str| {
        format!(
            "[[bots]]\nname = \"{name}\"\nsymbol = \"{symbol}\"\ninterval = \"{interval}\"\nasset_type = \"otc\"\n\
             strategy = \"rsi-reversal\"\nclose_type = \"05:00\"\n"
        )
    };
    let bots = [bot("a", "BTCUSDT", "1m"), bot("b", "BTCUSDT", "1m"), bot("c", "BTCUSDT", "5m")].concat();
    let settings = format!("[sandbox.asset_types]\nBTCUSDT = \"otc\"\n{bots}");
    let config = Folder::new().with("bots.toml", &settings);
    let path = config.path("bots.toml").to_string_lossy().into_owned();
    let how = ["--start", "2026-01-10", "--config", &path];
    let fixture = Fixture::at(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], &how);
    let fetch = |arguments: &[&str]| {
        fixture.folder.run(&[&["data", "fetch", "--json"], arguments, &THREE_DAYS, &HASTE].concat())
    };
    let printed = fetch(&["--config", &path]).json();
    let series = printed["series"].as_array().unwrap().iter();
    let found: Vec<_> = series.map(|one| (one["interval"].as_str(), one["candles"].as_u64())).collect();
    assert_eq!(found, [(Some("1m"), Some(4_320)), (Some("5m"), Some(864))], "{printed}");
    fetch(&["BTCUSDT@1m"]).fails(4, &["check --asset-type (now crypto;"]);
    assert_eq!(fetch(&["BTCUSDT@1m", "--asset-type", "otc"]).code, 0);
}

#[test]
fn a_fetch_that_is_stopped_keeps_what_came_says_so_and_goes_on_with_the_same_command() {
    let fixture = Fixture::new(&[("BTCUSDT_1m.csv", &minutes(0..8_000))], "latency:1:20ms");
    let (fixture, relay) = seen(fixture);
    let fetch = ["data", "fetch", "BTCUSDT@1m", "--from", "2026-01-05", "--to", "2026-01-10", "--json"];
    let fetch = [&fetch[..], &HASTE, &["--limit", "20", "--catalog", "candles"]].concat();
    let mut so_far = 0;
    for name in ["INT", "TERM"] {
        relay.forget();
        let mut child = fixture.folder.command(&fetch).stdout(Stdio::piped()).spawn().unwrap();
        // Nine pages of twenty candles have come, of hundreds, when the tenth is asked for.
        relay.wait_for(10, |_| true);
        signal(&child, name);
        let printed = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{printed}");
        let printed: Value = serde_json::from_str(&printed).unwrap();
        let series = &printed["series"][0];
        assert_eq!(printed["interrupted"], true, "{printed}");
        so_far += series["new"].as_u64().filter(|new| *new > 0).expect("something came");
        assert_eq!((&series["candles"], &series["missing"]), (&so_far.into(), &0.into()), "{printed}");
    }
    let printed = fixture.folder.run(&fetch).json();
    assert_eq!(printed["series"][0]["new"], 7_200 - so_far, "{printed}");
    assert_eq!(fixture.export("BTCUSDT@1m", "candles"), minutes(0..7_200));
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

#[test]
fn prices_are_recorded_until_the_user_has_enough() {
    let now = SystemClock::new().now().get() / 1_000 * 1_000;
    let seconds = seconds::candles(now, (600, 600));
    let start = (now + 2_000).to_string();
    let (fixture, relay) = seen(Fixture::at(&[("BTCUSDT_1s.csv", &seconds)], &["--start", &start]));
    let record = ["data", "fetch", "BTCUSDT", "--record", "--catalog", "prices"];
    let printed = fixture.folder.run(&[&record[..], &["--for", "4s", "--json"]].concat()).json();
    let new = printed["series"][0]["new"].as_u64().unwrap();
    assert!((3..=6).contains(&new), "{printed}");
    assert_eq!(
        (&printed["series"][0]["missing"], &printed["interrupted"]),
        (&0.into(), &false.into()),
        "{printed}"
    );
    for (name, code, words) in [("INT", 130, "Interrupted"), ("TERM", 0, "BTCUSDT")] {
        relay.forget();
        let mut child = fixture.folder.command(&record).stdout(Stdio::piped()).spawn().unwrap();
        // The latest record is asked for every second; those asked for by their time were missed before.
        relay.wait_for(4, |line| !line.contains("limitTime="));
        signal(&child, name);
        let printed = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{printed}");
        assert!(printed.contains(words), "{printed}");
    }
    let recorded = fixture.export("BTCUSDT@1s", "prices");
    let lines = || recorded.lines().skip(1);
    assert!(lines().count() > 6 && lines().all(|line| seconds.contains(line)), "{recorded}");
}
