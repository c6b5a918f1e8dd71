//! The HTML report: it holds what the run itself printed, in one self-contained file, with the text of others escaped.

use crate::candlewick::{BACKTEST, Folder, candles, folder_with_bot};
use crate::recording::{folder, record_in_lock_step};
use base64::Engine as _;
use flate2::read::ZlibDecoder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read as _;

/// Sections in their order, by the name of their element.
const SECTIONS: [&str; 13] = [
    "verdict",
    "findings",
    "equity",
    "win-rate",
    "drawdowns",
    "list",
    "returns",
    "week",
    "results",
    "baselines",
    "sensitivity",
    "settings",
    "provenance",
];

/// What stands in the element with this name.
fn element<'a>(page: &'a str, id: &str) -> &'a str {
    let from = page.find(&format!("id=\"{id}\">")).unwrap_or_else(|| panic!("no {id}")) + id.len() + 6;
    &page[from..from + page[from..].find("</").unwrap()]
}

/// The text behind a mark, up to its element's end, without the marks inside.
fn shown(page: &str, mark: &str) -> String {
    let from = page.find(mark).unwrap_or_else(|| panic!("no {mark}")) + mark.len();
    let text = &page[from..];
    let end = ["</dd>", "</td>"].iter().filter_map(|end| text.find(end)).min().unwrap();
    let text = &text[text.find('>').unwrap() + 1..end];
    text.split('<').map(|part| part.split('>').next_back().unwrap_or_default()).collect()
}

fn unpacked(letters: &str) -> Vec<u8> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(letters).unwrap();
    let mut unpacked = Vec::new();
    ZlibDecoder::new(&bytes[..]).read_to_end(&mut unpacked).unwrap();
    unpacked
}

/// The columns of packed points of a page.
fn points(page: &str, name: &str) -> Vec<Vec<f64>> {
    let charts: Value = serde_json::from_str(element(page, "charts")).unwrap();
    let described = &charts["points"][name];
    let bytes = unpacked(element(page, described["id"].as_str().unwrap()));
    let (mut numbers, mut value, mut unit) = (Vec::new(), 0_i64, 1_i64);
    for byte in bytes {
        value += i64::from(byte & 127) * unit;
        unit *= 128;
        if byte < 128 {
            numbers.push(if value % 2 == 1 { -(value + 1) / 2 } else { value / 2 });
            (value, unit) = (0, 1);
        }
    }
    let count = usize::try_from(described["count"].as_u64().unwrap()).unwrap();
    let column = |(steps, unit): (&[i64], &Value)| {
        let mut now = 0;
        let values = steps.iter().map(|step| {
            now += step;
            now as f64 / unit.as_f64().unwrap()
        });
        values.collect()
    };
    numbers.chunks(count).zip(described["units"].as_array().unwrap()).map(column).collect()
}

/// The results of the trades of a page, in the order in which they were decided.
fn trades_of_page(page: &str) -> Vec<String> {
    trades_in(page).into_iter().map(|row| row[8].clone()).collect()
}

/// The trades of a page, as lines of the CSV file of trades begin: bot, direction, decision, open, close, result.
fn trades_in(page: &str) -> Vec<Vec<String>> {
    let columns: Value = serde_json::from_slice(&unpacked(element(page, "trades"))).unwrap();
    let contents: Value = serde_json::from_str(element(page, "contents")).unwrap();
    let mut decided = 0;
    let count = columns["bot"].as_array().unwrap().len();
    let rows = (0..count).map(|row| {
        let of = |name: &str| &columns[name][row];
        decided += of("decided").as_i64().unwrap();
        let opened = of("opened").as_i64().map(|delay| decided + delay);
        let closed = of("closed").as_i64().map(|length| opened.unwrap() + length);
        let time = |time: Option<i64>| time.map(|time| time.to_string()).unwrap_or_default();
        let number = |value: &Value| value.as_f64().map(|number| number.to_string()).unwrap_or_default();
        let bot = usize::try_from(of("bot").as_u64().unwrap()).unwrap();
        vec![
            contents["bots"][bot]["name"].as_str().unwrap().to_owned(),
            if of("buy") == 1 { "BUY" } else { "SELL" }.to_owned(),
            number(of("amount")),
            decided.to_string(),
            time(opened),
            number(of("open")),
            time(closed),
            number(of("close")),
            of("result").as_str().unwrap_or_default().to_owned(),
            number(of("pnl")),
            of("reason").as_str().unwrap().to_owned(),
        ]
    });
    rows.collect()
}

/// The same of a CSV file of trades.
fn trades_of(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<BTreeMap<String, String>> = reader.deserialize().map(Result::unwrap).collect();
    let number =
        |text: &String| text.parse::<f64>().map_or_else(|_| text.clone(), |number| number.to_string());
    let row = |row: &BTreeMap<String, String>| {
        let names = [
            "bot",
            "direction",
            "amount",
            "decision_time",
            "open_time",
            "open_price",
            "close_time",
            "close_price",
            "result",
            "pnl",
            "reason",
        ];
        names
            .iter()
            .map(|name| if *name == "reason" { row[*name].clone() } else { number(&row[*name]) })
            .collect()
    };
    rows.iter().map(row).collect()
}

/// Without what differs from run to run.
fn timeless(mut report: Value) -> Value {
    for key in ["elapsed_ms", "candles_per_second"] {
        report.as_object_mut().unwrap().remove(key);
    }
    report
}

#[test]
fn a_drawdown_has_its_amount_and_its_percent_under_names_of_their_own() {
    let folder = Folder::new();
    let report = folder.run(&["backtest", "--json", "--html", "page.html"]).json();
    let page = folder.read("page.html");
    let number = |key: &str| report[key].as_f64().unwrap();
    assert!(number("max_drawdown") > 0.0, "{report}");
    for place in ["data-tile", "data-figure"] {
        for (name, expected) in [
            ("max. drawdown", format!("{:.2}", number("max_drawdown"))),
            ("max. drawdown, % of peak", format!("{:.2} %", number("max_drawdown_percent"))),
        ] {
            let mark = format!("{place}=\"{name}\"");
            assert_eq!(shown(&page, &mark), expected, "{mark}");
        }
    }
}

#[test]
fn the_page_shows_what_the_run_printed() {
    let folder = folder_with_bot("01:00", "05:00").with("BTCUSDT_1m.csv", &candles(900));
    let run = folder.run(
        &[&BACKTEST[..], &["--json", "--html", "page.html", "--trades", "trades.csv", "--sensitivity"]]
            .concat(),
    );
    let report = run.json();
    let page = folder.read("page.html");
    let embedded: Value = serde_json::from_str(element(&page, "report")).unwrap();
    assert_eq!(timeless(embedded), timeless(report.clone()));

    let trades = trades_in(&page);
    assert!(trades.len() > 40, "{}", trades.len());
    assert_eq!(trades, trades_of(&folder.read("trades.csv")));

    let number = |key: &str| report[key].as_f64().unwrap();
    let percent = |key: &str| format!("{:.2} %", number(key) * 100.0);
    for (mark, expected) in [
        ("data-tile=\"win rate\"", percent("win_rate")),
        ("data-tile=\"break-even\"", percent("break_even")),
        ("data-tile=\"profit and loss\"", format!("{:+.2}", number("pnl"))),
        ("data-figure=\"profit and loss\"", format!("{:+.2}", number("pnl"))),
        ("data-figure=\"final balance\"", format!("{:.2}", number("final_balance"))),
        ("data-figure=\"data hash\"", report["data_hash"].as_str().unwrap().to_owned()),
        ("data-figure=\"journal hash\"", report["journal_hash"].as_str().unwrap().to_owned()),
    ] {
        assert_eq!(shown(&page, mark), expected, "{mark}");
    }
    // Every cell of every table.
    for breakdown in report["breakdowns"].as_array().unwrap() {
        for cell in breakdown["cells"].as_array().unwrap() {
            let mark = if cell["is_small"] == json!(true) { " †" } else { "" };
            let row = format!(
                "<th scope=\"row\">{}{mark}</th><td class=\"number\" data-name=\"trades\">{}</td>",
                cell["label"].as_str().unwrap(),
                cell["trades"]
            );
            assert!(page.contains(&row), "{row}");
        }
    }
}

#[test]
fn the_page_begins_with_the_verdict_and_has_its_sections_in_order() {
    let folder = folder_with_bot("01:00", "05:00");
    let report = folder.run(&[&BACKTEST[..], &["--json", "--html", "page.html"]].concat()).json();
    let page = folder.read("page.html");
    let places: Vec<usize> = SECTIONS
        .iter()
        .map(|id| page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("{id}")))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page.matches("<section ").count(), SECTIONS.len());
    assert!(!report["findings"].as_array().unwrap().is_empty());
    for finding in report["findings"].as_array().unwrap() {
        assert!(page.contains(finding["text"].as_str().unwrap()), "{finding}");
    }
    // Who sees no curves reads how to get them.
    assert!(element(&page, "sensitivity").contains("Sensitivity") && page.contains("backtest --sensitivity"));
}

#[test]
fn the_page_loads_nothing_and_runs_nothing_but_its_own_script() {
    let folder = folder_with_bot("01:00", "05:00");
    folder.run(&[&BACKTEST[..], &["--html", "page.html", "--sensitivity"]].concat());
    let page = folder.read("page.html");
    assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"), "{page:.600}");
    assert!(page.contains("'; style-src 'sha256-") && !page.contains("unsafe-"), "{page:.600}");
    for loading in
        [" src=", "url(", "@import", "<iframe", "<object", "<form", "fetch(", "XMLHttpRequest", "https:"]
    {
        assert!(!page.contains(loading), "{loading}");
    }
    let addresses: Vec<&str> = page.split("http:").skip(1).collect();
    assert!(addresses.iter().all(|address| address.starts_with("//www.w3.org/2000/svg")), "{addresses:?}");
    // A script that is run has no attribute; the rest is data. Style that stands in an element would be refused.
    assert_eq!((page.matches("<script>").count(), page.matches("<style>").count()), (1, 1));
    assert!(!page[..page.find("<script>").unwrap()].contains(" style="));
}

#[test]
fn the_curves_are_those_of_the_figures() {
    let folder = Folder::new();
    let report = folder.run(&["backtest", "--json", "--html", "page.html"]).json();
    let page = folder.read("page.html");
    let number = |value: &Value| value.as_f64().unwrap();
    let equity = points(&page, "equity");
    let (balances, falls) = (&equity[1], &equity[2]);
    assert!((balances[balances.len() - 1] - number(&report["final_balance"])).abs() < 1e-9);
    let deepest = falls.iter().copied().fold(0.0, f64::min);
    assert!((deepest + number(&report["max_drawdown"])).abs() < 1e-9, "{deepest}");
    // The worst drawdown of the list is the one of the figures.
    let worst = page.split("<section id=\"drawdowns\">").nth(1).unwrap();
    assert_eq!(shown(worst, "data-name=\"amount\""), format!("{:.2}", number(&report["max_drawdown"])));

    let rolling = points(&page, "rolling");
    let decided = number(&report["won"]) + number(&report["lost"]);
    let window = (decided / 4.0).floor().clamp(10.0, 100.0);
    assert_eq!(rolling[0].len() as f64, decided - window + 1.0);
    // The first window, counted from the list of trades.
    let trades = trades_of_page(&page);
    let first =
        trades.iter().filter(|result| ["WON", "LOST"].contains(&result.as_str())).take(window as usize);
    let won = first.filter(|result| *result == "WON").count() as f64;
    assert!((rolling[1][0] - won / window * 100.0).abs() < 1e-3, "{} {won} of {window}", rolling[1][0]);
    assert!(rolling[2].iter().all(|rate| (rate - number(&report["break_even"]) * 100.0).abs() < 1e-3));
    // The hours of the week hold every settled trade, once across and once down.
    let counts =
        page.split("<small>").skip(1).map(|rest| rest.split('<').next().unwrap().parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), 2 * report["trades"].as_u64().unwrap());
}

#[test]
fn a_page_without_a_trade_says_so_in_each_place() {
    let bot = "[[bots]]\nname = \"none\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"signal-list\"\nclose_type = \
               \"05:00\"\nparams = { file = \"signals.csv\" }\n";
    let csv = "time,symbol,direction\n2767571820000,BTCUSDT,BUY\n";
    let folder =
        Folder::new().with("bot.toml", bot).with("signals.csv", csv).with("BTCUSDT_1m.csv", &candles(50));
    let report = folder.run(&[&BACKTEST[..], &["--json", "--html", "page.html"]].concat()).json();
    assert_eq!(report["trades"], json!(0));
    let page = folder.read("page.html");
    for said in [
        "The balance was never below an earlier peak.",
        "too few for a rolling win rate",
        "No trade was made.",
        "No trade has settled.",
    ] {
        assert!(page.contains(said), "{said}");
    }
}

#[test]
fn text_of_others_brings_no_markup() {
    let name = "</script><script>alert(1)</script>";
    let csv = "time,symbol,direction\n1767571800000,BTCUSDT,BUY\n";
    let bot = format!(
        "[[bots]]\nname = '{name}'\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"signal-list\"\nclose_type = \
         \"05:00\"\nparams = {{ file = \"<b>signals</b>.csv\" }}\n"
    );
    let folder = Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &candles(50));
    std::fs::create_dir(folder.path("<b>signals<")).unwrap();
    std::fs::write(folder.path("<b>signals<").join("b>.csv"), csv).unwrap();
    let report = folder.run(&[&BACKTEST[..], &["--json", "--html", "page.html"]].concat()).json();
    assert_eq!(report["trades"], json!(1));
    let page = folder.read("page.html");
    assert!(!page.contains("<script>alert") && !page.contains("<b>signals"));
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("&lt;b&gt;signals&lt;/b&gt;.csv"));
    // It reads back as what it was.
    assert_eq!(trades_in(&page)[0][0], name);
}

#[test]
fn a_recorded_session_has_the_page_of_its_journal() {
    let folder = folder();
    record_in_lock_step(&folder);
    let report = folder.run(&["report", "--journal", "run.db", "--json", "--html", "page.html"]).json();
    let page = folder.read("page.html");
    let embedded: Value = serde_json::from_str(element(&page, "report")).unwrap();
    assert_eq!(embedded, report);
    assert_eq!(
        trades_in(&page).len() as u64,
        report["trades"].as_u64().unwrap() + report["unsettled"].as_u64().unwrap()
    );
    let contents: Value = serde_json::from_str(element(&page, "contents")).unwrap();
    let candles: u64 = contents["series"]
        .as_array()
        .unwrap()
        .iter()
        .map(|series| series["levels"][0]["count"].as_u64().unwrap())
        .sum();
    assert!(candles > 0 && candles <= report["candles"].as_u64().unwrap(), "{candles}");
}

#[test]
fn a_page_that_cannot_be_written_is_reported() {
    let folder = folder_with_bot("01:00", "05:00");
    folder
        .run(&[&BACKTEST[..], &["--html", "no/such/folder/page.html"]].concat())
        .fails(2, &["--html", "no/such/folder"]);
}
