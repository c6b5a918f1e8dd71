//! Findings of the lints, in the commands that show them.

use crate::candlewick::Folder;
use crate::excerpt::{DAY, MONDAY, shipped};
use serde_json::Value;

const TREND: &str = "sell = \"falling(ema(20)@15m, 1) and rsi(14) > 60\"\n";

fn bot(name: &str, symbol: &str, params: &str) -> String {
    format!(
        "[[bots]]\nname = \"{name}\"\nsymbol = \"{symbol}\"\ninterval = \"1m\"\nstrategy = \"rules\"\nclose_type = \"01:00\"\nparams = {{ \
         {params} }}\n"
    )
}

fn folder() -> Folder {
    let trend = bot("trend", "BTCUSDT", "file = \"trend.toml\"");
    Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + 4 * DAY))
        .with("trend.toml", TREND)
        .with("bot.toml", &trend)
}

/// Returns a text without the line breaks of a narrow terminal.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The notices of a report that have this part.
fn notices<'a>(report: &'a Value, part: &str) -> Vec<&'a str> {
    let all = report["notices"].as_array().unwrap().iter().filter_map(Value::as_str);
    all.filter(|notice| notice.contains(part)).collect()
}

#[test]
fn names_the_warm_up_before_and_after_a_run() {
    let folder = folder();
    let data = ["--data", "BTCUSDT_1m.csv"];
    let report =
        folder.run(&[&["backtest", "--config", "bot.toml", "--json", "--quiet"], &data[..]].concat());
    let report = report.json();
    // The candles whose conditions were not evaluated are those of the warm-up.
    let (all, evaluated) =
        (report["candles"].as_u64().unwrap(), report["conditions"][0]["candles"].as_u64().unwrap());
    let found = notices(&report, "are its warm-up");
    let expected = format!("bot \"trend\": the first {} of {all} candles (", all - evaluated);
    assert!(found.len() == 1 && found[0].starts_with(&expected), "{expected}: {found:?}");
    let needs = format!("bot \"trend\": it needs {} candles of 1m (2 days ", all - evaluated + 1);
    let live = ["live", "--sandbox", "--config", "bot.toml", "--speed", "max"];
    let check = ["config", "check", "--config", "bot.toml"];
    for command in [&check[..], &[&live[..], &data].concat()] {
        let output = one_line(&folder.run(command).stdout);
        assert!(output.contains(&needs), "{output}");
    }
    let short = folder.with("trend.toml", "sell = \"close > open\"\n");
    let report = short.run(&[&["backtest", "--config", "bot.toml", "--json", "--quiet"], &data[..]].concat());
    assert_eq!(notices(&report.json(), "warm-up"), [""; 0]);
    let header = short.run(&[&live[..], &data].concat()).stdout;
    assert!(!header.contains("it needs"), "{header}");
}

#[test]
fn neighbours_of_a_value_that_changes_with_longer_candles_are_told_where_a_rule_is_checked_and_tried() {
    let meant = "did you mean `falling(ema(20), 1)@15m`";
    let folder = folder();
    let run = ["backtest", "--config", "bot.toml", "--json", "--quiet", "--data", "BTCUSDT_1m.csv"];
    let report = folder.run(&run).json();
    assert_eq!(notices(&report, meant).len(), 1, "{report}");
    let conditions = report["conditions"].as_array().unwrap();
    let part = |text: &str| {
        conditions.iter().find(|one| one["condition"] == text).unwrap()["held"].as_u64().unwrap()
    };
    // At one candle in fifteen, or fewer: what the notice says.
    let looked = conditions[0]["candles"].as_u64().unwrap();
    assert!(part("falling(ema(20)@15m, 1)") <= looked / 15 + 1, "{report}");
    let checked = folder.run(&["config", "check", "--config", "bot.toml"]).stdout;
    assert!(checked.contains(meant), "{checked}");
    let folder =
        folder.with("trend.toml", &TREND.replace("falling(ema(20)@15m, 1)", "falling(ema(20), 1)@15m"));
    let checked = folder.run(&["config", "check", "--config", "bot.toml"]).stdout;
    assert!(!checked.contains("did you mean"), "{checked}");
}

#[test]
fn tune_tells_the_warm_up_before_the_hold_out_and_what_a_rule_compares() {
    let folder = folder().with("trend.toml", &TREND.replace("ema(20)", "ema(5)"));
    let report = folder.run(&["tune", "trend.toml", "--data", "BTCUSDT_1m.csv", "--json", "--quiet"]).json();
    let looked = report["conditions"][0]["candles"].as_u64().unwrap();
    let told = notices(&report, "candles before the hold-out (");
    let number = |word: usize| told[0].split_whitespace().nth(word).unwrap().parse::<u64>().unwrap();
    // bot "trend": the first S of N candles before the hold-out
    assert_eq!(number(6) - number(4), looked, "{told:?}");
    assert_eq!(notices(&report, "did you mean `falling(ema(5), 1)@15m`").len(), 1, "{report}");
}

#[test]
fn symbols_without_a_common_time_are_no_choice() {
    let rule = "buy = \"rsi(14) < 30\"";
    let bots = bot("one", "BTCUSDT", rule) + &bot("other", "ETHUSDT", rule);
    let early = shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + DAY);
    for (later, is_said) in [(MONDAY + DAY, true), (MONDAY, false)] {
        let folder = Folder::new()
            .with("bot.toml", &format!("[risk]\nbest_payout_of = [\"BTCUSDT\", \"ETHUSDT\"]\n{bots}"))
            .with("BTCUSDT_1m.csv", &early)
            .with("ETHUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", later, later + DAY));
        let run = ["backtest", "--config", "bot.toml", "--json", "--quiet"];
        let data = ["--data", "BTCUSDT_1m.csv", "--data", "ETHUSDT_1m.csv"];
        let report = folder.run(&[&run[..], &data].concat()).json();
        let told =
            notices(&report, "risk.best_payout_of: the candles of BTCUSDT, ETHUSDT have no time in common");
        assert_eq!(told.len(), usize::from(is_said), "{report}");
    }
}

const EST: &str = "EST has no summer time; New York is America/New_York";

#[test]
fn a_zone_without_summer_time_is_told_wherever_it_stands_and_where_a_run_begins() {
    let check = |config: &str| {
        let folder = Folder::new()
            .with("bot.toml", config)
            .with("list.csv", "time,bot,direction,zone\n10:30,a,BUY,EST\n11:30,a,BUY,America/New_York\n")
            .with("file.toml", "buy = \"between('08:00', '17:00', 'EST')\"\n");
        let run = folder.run(&["config", "check", "--config", "bot.toml"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout.lines().filter(|line| line.contains("summer time")).map(str::to_owned).collect::<Vec<_>>()
    };
    let combine = |name: &str, more: &str| {
        let part = "first_of = [{ strategy = \"rsi-reversal\" }]";
        bot(name, "BTCUSDT", &format!("{part}, {more}")).replace("\"rules\"", "\"combine\"")
    };
    let hours =
        "[risk]\nday_timezone = 'EST'\nhours = [{ from = '08:00', to = '17:00', timezone = 'EST' }]\n";
    let bots = bot("a", "BTCUSDT", "buy = \"hour('EST') == 9\"")
        + &bot("b", "BTCUSDT", "file = \"file.toml\"")
        + &combine("c", "filters = [{ hours = ['08:00', '17:00'], timezone = 'EST' }]")
        + &combine("d", "gate = { after_virtual_losses = 2, resets = 'day', day_timezone = 'EST' }");
    let all = format!("{hours}[signals]\nlist = 'list.csv'\n{bots}");
    let places =
        "risk.day_timezone, risk.hours, bot \"a\", bot \"b\", bot \"c\", bot \"d\", 1 line of the list";
    assert_eq!(check(&all), [format!("{places}: {EST}")]);
    // What is left is what the two files say.
    assert_eq!(
        check(&all.replace("EST", "America/New_York")),
        [format!("bot \"b\", 1 line of the list: {EST}")]
    );
    let whole_list = format!(
        "[signals]\nlist = 'list.csv'\ntimezone = 'EST'\n{}",
        bot("a", "BTCUSDT", "buy = \"close > open\"")
    );
    assert_eq!(check(&whole_list), [format!("signals.timezone: {EST}")]);
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + DAY / 4))
        .with("bot.toml", &bot("a", "BTCUSDT", "buy = \"hour('EST') == 9\""))
        .with("list.csv", "time,bot,direction,zone\n10:30,a,BUY,EST\n11:30,a,BUY,EST\n");
    let live = ["live", "--sandbox", "--config", "bot.toml", "--speed", "max", "--data", "BTCUSDT_1m.csv"];
    let live = folder.run(&live);
    let header = one_line(&live.stdout);
    assert!(header.contains(&format!("bot \"a\": {EST}")), "{header}");
    let listed = folder.run(&["signal", "--check", "list.csv", "--config", "bot.toml"]).stdout;
    assert_eq!(listed.matches(EST).count(), 1, "{listed}");
}

#[test]
fn a_loss_limit_in_percent_that_the_default_undercuts_is_told_by_check_backtest_and_header() {
    let rule = bot("one", "BTCUSDT", "buy = \"close > open\"");
    let folder = Folder::new()
        .with("BTCUSDT_1m.csv", &shipped("BTCUSDT_1m.csv", MONDAY, MONDAY + DAY / 4))
        .with("bot.toml", &format!("[risk]\ndaily_loss_limit_percent = 10\n{rule}"))
        .with("own.toml", &format!("[risk]\ndaily_loss_limit = 0\ndaily_loss_limit_percent = 10\n{rule}"));
    // By hand: 10 % of 10,000 are 1,000, and the default is 100.
    let note = "the default of 100.00 is tighter than 10 % of the balance (1000.00)";
    for (config, is_said) in [("bot.toml", true), ("own.toml", false)] {
        let run =
            |arguments: &[&str]| one_line(&folder.run(&[arguments, &["--config", config]].concat()).stdout);
        let data = ["--data", "BTCUSDT_1m.csv"];
        for said in [
            run(&["config", "check"]),
            run(&[&["backtest", "--quiet"], &data[..]].concat()),
            run(&[&["live", "--sandbox", "--speed", "max"], &data[..]].concat()),
        ] {
            assert_eq!(said.matches(note).count(), usize::from(is_said), "{config}: {said}");
        }
    }
}

#[test]
fn a_payout_of_a_symbol_in_another_spelling_is_that_of_the_symbol() {
    let simulated = |symbol: &str| {
        let simulation = format!("[simulation.payout_percent_by_symbol]\n\"{symbol}\" = 87.0\n");
        folder().with("pays.toml", &simulation)
    };
    let check = ["config", "check", "--config", "bot.toml", "--config", "pays.toml"];
    for written in ["BTC/USDT", "btcusdt"] {
        let checked = simulated(written).run(&check);
        assert!(checked.code == 0 && !checked.stdout.contains("no bot trades"), "{}", checked.stdout);
    }
    let other = simulated("USDJPY").run(&check);
    assert_eq!(other.code, 0, "{}", other.stderr);
    let note = "simulation.payout_percent_by_symbol.USDJPY: only other programs at `candlewick sandbox` use it: no bot trades USDJPY";
    assert!(other.stdout.contains(note), "{}", other.stdout);
    assert!(!simulated("BTCUSDT").run(&check).stdout.contains("no bot trades"));
}

#[test]
fn a_rule_s_file_as_a_strategy_and_an_address_without_a_port_are_answered_with_the_cure() {
    let bots = folder().with("bot.toml", &bot("trend", "BTCUSDT", "").replace("\"rules\"", "\"trend.toml\""));
    let check = ["config", "check", "--config", "bot.toml"];
    bots.run(&check).fails(2, &["strategy = \"rules\", params = { file = \"trend.toml\" }"]);
    for written in ["7921", "localhost", "127.0.0.1"] {
        let listen = format!(
            "[signals]\nlisten = \"{written}\"\n{}",
            bot("trend", "BTCUSDT", "file = \"trend.toml\"")
        );
        folder()
            .with("bot.toml", &listen)
            .run(&check)
            .fails(2, &["signals.listen", "write it as 127.0.0.1:7790"]);
    }
}
