//! The HTML report: figures in one self-contained file, with escaped text. The golden test records its data.

use crate::candlewick::{BACKTEST, Folder, folder_with_bot};
use crate::excerpt::{DAY, MONDAY, shipped};
use serde_json::Value;

const SECTIONS: &str = "verdict findings equity win-rate drawdowns list returns week results baselines \
                        sensitivity settings provenance";

fn report_and_page(folder: &Folder, more: &[&str]) -> (Value, String) {
    let report = folder.run(&[&BACKTEST[..], &["--json", "--html", "page.html"], more].concat()).json();
    let page = folder.read("page.html");
    let sections = page.split("<section id=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    assert_eq!(sections.collect::<Vec<_>>().join(" "), SECTIONS);
    (report, page)
}

/// Returns the text after a mark, up to the end of its element and without tags.
fn text_after(page: &str, mark: &str) -> String {
    let text = page.split_once(mark).unwrap_or_else(|| panic!("no {mark}")).1;
    let end = ["</dd>", "</td>"].iter().filter_map(|end| text.find(end)).min().unwrap();
    let text = &text[text.find('>').unwrap() + 1..end];
    text.split('<').map(|part| part.split('>').next_back().unwrap_or_default()).collect()
}

#[test]
fn page_shows_the_printed_figures_and_runs_only_its_own_script() {
    let candles = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + DAY);
    let folder = folder_with_bot("01:00", "01:00").with("BTCUSDT_1m.csv", &candles);
    let (report, page) = report_and_page(&folder, &["--sensitivity"]);
    let number = |key: &str| report[key].as_f64().unwrap();
    assert!(number("trades") > 40.0 && number("max_drawdown") > 0.0, "{report}");
    for (mark, expected) in [
        ("tile=\"win rate\"", format!("{:.2} %", number("win_rate") * 100.0)),
        ("tile=\"break-even\"", format!("{:.2} %", number("break_even") * 100.0)),
        ("tile=\"profit and loss\"", format!("{:+.2}", number("pnl"))),
        ("tile=\"max drawdown\"", format!("{:.2}", number("max_drawdown"))),
        ("tile=\"max drawdown, % of peak\"", format!("{:.2} %", number("max_drawdown_percent"))),
        ("figure=\"profit and loss\"", format!("{:+.2}", number("pnl"))),
        ("figure=\"max drawdown\"", format!("{:.2}", number("max_drawdown"))),
        ("figure=\"max drawdown, % of peak\"", format!("{:.2} %", number("max_drawdown_percent"))),
        ("figure=\"final balance\"", format!("{:.2}", number("final_balance"))),
        ("figure=\"data hash\"", report["data_hash"].as_str().unwrap().to_owned()),
        ("figure=\"result hash\"", report["journal_hash"].as_str().unwrap().to_owned()),
    ] {
        assert_eq!(text_after(&page, &format!("data-{mark}")).replace(',', ""), expected, "{mark}");
    }
    let findings = report["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        assert!(page.contains(finding["text"].as_str().unwrap()), "{finding}");
    }
    let cells = report["breakdowns"].as_array().unwrap().iter();
    for cell in cells.flat_map(|breakdown| breakdown["cells"].as_array().unwrap()) {
        let mark = if cell["is_small"] == true { " †" } else { "" };
        let row = format!(
            "<th scope=\"row\">{}{mark}</th><td class=\"number\" data-name=\"trades\">{}</td>",
            cell["label"].as_str().unwrap(),
            cell["trades"]
        );
        assert!(page.contains(&row), "{row}");
    }
    // The weekly table holds every settled trade, once per row and once per column.
    let counts = page.split("<small>").skip(1).map(|rest| rest.split('<').next().unwrap().parse::<u64>());
    assert_eq!(counts.map(Result::unwrap).sum::<u64>(), 2 * report["trades"].as_u64().unwrap());
    check_it_is_self_contained(&page);
}

fn check_it_is_self_contained(page: &str) {
    assert!(page.contains("content=\"default-src 'none'; script-src 'sha256-"), "{page:.600}");
    assert!(page.contains("'; style-src 'sha256-") && !page.contains("unsafe-"), "{page:.600}");
    for loading in
        [" src=", "url(", "@import", "<iframe", "<object", "<form", "fetch(", "XMLHttpRequest", "https:"]
    {
        assert!(!page.contains(loading), "{loading}");
    }
    let mut addresses = page.split("http:").skip(1);
    assert!(addresses.all(|address| address.starts_with("//www.w3.org/2000/svg")));
    // Scripts with attributes are data. The policy forbids style attributes.
    assert_eq!((page.matches("<script>").count(), page.matches("<style>").count()), (1, 1));
    assert!(!page[..page.find("<script>").unwrap()].contains(" style="));
}

#[test]
fn page_without_trades_has_all_sections_and_an_unwritable_page_is_an_error() {
    let folder = folder_with_bot("\"rsi-reversal\"", "\"none\"");
    let without = folder.read("bot.toml").replace("params = { period = 2 }", "");
    let folder = folder.with("bot.toml", &without);
    assert_eq!(report_and_page(&folder, &[]).0["trades"], 0);
    let run = folder.run(&[&BACKTEST[..], &["--html", "no/such/folder/page.html"]].concat());
    run.fails(2, &["--html", "no/such/folder"]);
}

#[test]
fn escapes_markup_in_external_text() {
    let name = "</script><script>alert(1)</script>";
    let folder = folder_with_bot("{ period = 2 }", "{ file = \"<b>signals</b>.csv\" }");
    let bot = folder.read("bot.toml").replace("\"btc\"", &format!("'{name}'"));
    let folder = folder.with("bot.toml", &bot.replace("rsi-reversal", "signal-list"));
    std::fs::create_dir(folder.path("<b>signals<")).unwrap();
    let list = "time,symbol,direction\n1767571800000,BTCUSDT,BUY\n";
    let folder = folder.with("<b>signals</b>.csv", list);
    let (report, page) = report_and_page(&folder, &[]);
    assert_eq!(report["trades"], 1);
    assert!(!page.contains("<script>alert") && !page.contains("<b>signals"));
    assert!(page.contains("&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("&lt;b&gt;signals&lt;/b&gt;.csv"));
    let contents = page.split_once("id=\"contents\">").unwrap().1.split_once("</script>").unwrap().0;
    let contents: Value = serde_json::from_str(contents).unwrap();
    assert_eq!(contents["bots"][0]["name"], name, "escaped text must decode to the original");
}
