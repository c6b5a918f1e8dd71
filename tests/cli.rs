//! What a user types wrong, and what the program answers: each kind of bad input with its message and exit code.

use crate::candlewick::{BACKTEST, BOT, Folder, candles, candlewick, folder_with_bot};

#[test]
fn a_wrong_configuration_is_reported_with_key_value_file_and_way_out() {
    let check =
        |from: &str, to: &str, expected: &str| folder_with_bot(from, to).run(&BACKTEST).fails(2, &[expected]);
    check(
        "rsi-reversal",
        "rsi-reversl",
        "bots[0].strategy = \"rsi-reversl\" (bot.toml): there is no such strategy; did you mean \"rsi-reversal\"?",
    );
    check("symbol", "symbl", "bots[0].symbl (bot.toml): there is no such key; did you mean \"symbol\"?");
    check("close_type", "x", "bots[0].close_type (bot.toml): this key is missing; such as close_type");
    check("\"1m\"", "60", "bots[0].interval = 60 (bot.toml): use a text in quotes");
    check("\"1m\"", "\"1w\"", "\"1w\" is not an interval");
    check("\"01:00\"", "\"1:00\"", "bots[0].close_type (bot.toml): \"1:00\" is not a closeType code");
    check("period", "perod", "strategy \"rsi-reversal\" has no such parameter; did you mean \"period\"?");
    check("{ period = 2 }", "{ period = 1 }", "period = 1 is outside 2 to 500");
    check(
        "[[bots]]",
        "stake = 1\n[[bots]]",
        "stake (bot.toml): there is no such key; stake belongs in [[bots]]: move it below that line",
    );
    let risk = |line: &str| format!("[risk]\n{line}\n[[bots]]");
    check(
        "[[bots]]",
        &risk("max_open_trade = 1"),
        "risk.max_open_trade (bot.toml): there is no such key; did you mean \"max_open_trades\"?",
    );
    check(
        "[[bots]]",
        &risk("max_open_trades = \"many\""),
        "risk.max_open_trades = \"many\" (bot.toml): use a whole number",
    );
    check(
        "[[bots]]",
        &risk("max_open_trades = -1"),
        "risk.max_open_trades = -1 (bot.toml): use a whole number from 0 up to 4294967295",
    );
    check(
        "[[bots]]",
        &risk("max_open_trades = 99999999999999999"),
        "risk.max_open_trades = 99999999999999999 (bot.toml): use a whole number from 0 up to 4294967295",
    );
    check("[[bots]]", &risk("daily_loss_limit = 1e300"), "use a number up to 1000000000000000");
    check(
        "[[bots]]",
        &risk("hours = [\"08:00-17:00\"]"),
        "risk.hours[0] = \"08:00-17:00\" (bot.toml): use a table as { from = ..., to = ... }",
    );
    check(
        "params",
        "stake = \"fixed\"\nparams",
        "bots[0].stake = \"fixed\" (bot.toml): use stake = { kind = \"fixed\", amount = 10.0 }; the kinds are fixed, share",
    );
    check(
        "[[bots]]",
        &risk("cooldown_scope = \"al\""),
        "use one of \"all\", \"symbol\"; did you mean \"all\"?",
    );
    check(
        "[[bots]]",
        "[simulation]\npayout_percent = 0\n[[bots]]",
        "simulation.payout_percent (bot.toml): 0 is not a payout",
    );
    check("[[bots]]", "[simulation]\nlatency_ms = -1\n[[bots]]", "simulation.latency_ms = -1");
    check(
        "[[bots]]",
        "[sandbox]\nspeed = \"fast\"\n[[bots]]",
        "sandbox.speed = \"fast\" (bot.toml): use a number or \"max\"",
    );
    check(
        "params",
        "stake = { kind = \"flat\" }\nparams",
        "bots[0].stake.kind = \"flat\" (bot.toml): use one of \"fixed\"",
    );
    check("params", "stake = { kind = \"fixed\", amunt = 1 }\nparams", "did you mean \"amount\"?");
    check(
        "params",
        "stake = { kind = \"fixed\", amount = 0.001 }\nparams",
        "bots[0].stake.amount (bot.toml): 0.001 has more than 2 decimals",
    );
    check("[[bots]]", "[[bots]", "bot.toml, line 2: ");
    check(
        "[[bots]]",
        "[account]\nmode = \"real\"\n[[bots]]",
        "account.mode = \"real\" (bot.toml): real money is refused",
    );
}

#[test]
fn everything_that_is_wrong_is_reported_at_once() {
    let check = |text: String, parts: &[&str]| {
        let folder = Folder::new().with("bot.toml", &text);
        folder.run(&["config", "check", "--config", "bot.toml"]).fails(2, parts);
    };
    check(
        format!("{BOT}[risk]\nmax_open = 1\nhours = 3\n[broker]\nslot = 5\n"),
        &["3 problems in the configuration", "risk.max_open (", "risk.hours = 3 (", "broker.slot = 5 ("],
    );
    // What only the parts themselves know is reported when the form is right.
    let unknown = BOT.replace("rsi-reversal", "rsi");
    check(
        format!("{BOT}{unknown}[simulation]\nlatency_ms = 99999999\n"),
        &["2 problems", "simulation.latency_ms = 99999999 (", "bots[1].strategy = \"rsi\""],
    );
}

#[test]
fn addresses_and_files_are_checked_before_anything_is_asked() {
    let check = |line: &str, part: &str| {
        let folder = Folder::new().with("bot.toml", &format!("{line}\n{BOT}"));
        let folder = folder.with_variable("CANDLEWICK_BROKER__API_TOKEN", "hush-4711");
        folder.run(&["config", "check", "--config", "bot.toml"]).fails(2, &[part]);
    };
    check(
        "broker.base_url = \"http://venue.example\"",
        "broker.base_url = \"http://venue.example\" (bot.toml): ",
    );
    check("broker.price_url = \"venue\"", "price_url");
    // What a short body cannot say is never left to the venue.
    check(
        "broker.open_body = \"short\"",
        "set broker.short_close_type to the duration that the venue documents",
    );
    let short = "broker.open_body = \"short\"\nbroker.short_close_type = ";
    check(&format!("{short}\"05:00\""), "bots[0].close_type");
    check(&format!("{short}\"01:00\"\naccount.mode = \"real\""), "cannot state the account");
    check("sandbox.data = [\"prices.csv\"]", "sandbox.data[0] (bot.toml): \"prices.csv\"");
    check("sandbox.data = [\"prices.csv\"]", "by `candlewick data import FILE`");
}

#[test]
fn a_secret_in_a_file_is_refused_and_never_shown() {
    for (key, line) in [("api_token", "api_token = \"hush-4711\""), ("api_key", "api_key = \"hush-4711\"")] {
        let folder = Folder::new().with("bot.toml", &format!("[broker]\n{line}\n"));
        for command in [&["config", "show"][..], &["config", "check"], &["backtest"], &["live", "--sandbox"]]
        {
            let run = folder.run(&[command, &["--config", "bot.toml"]].concat());
            let variable = format!("CANDLEWICK_BROKER__{}", key.to_uppercase());
            run.fails(2, &[&format!("broker.{key} (bot.toml): a secret does not belong"), &variable]);
            assert!(!run.stderr.contains("hush"), "{}", run.stderr);
        }
    }
    let folder = Folder::new().with("bot.toml", "[broker]\napi_token = hush-4711\n");
    let run = folder.run(&["config", "check", "--config", "bot.toml"]);
    run.fails(2, &["bot.toml, line 2: "]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
}

#[test]
fn a_secret_is_taken_from_the_environment_and_shown_as_a_mask() {
    let header = "broker.headers.x-auth = \"hush-4711\"\n";
    let token = "CANDLEWICK_BROKER__API_TOKEN";
    let folder = Folder::new()
        .with("bot.toml", header)
        .with_variable(token, "hush-4711")
        .with_variable("CANDLEWICK_JOURNAL__URL", "postgres://me:hush-4711@localhost/db");
    for form in [&[][..], &["--json"]] {
        let run = folder.run(&[&["config", "show", "--config", "bot.toml"], form].concat());
        assert!(run.code == 0 && !run.stdout.contains("hush"), "{}", run.stdout);
        assert!(run.stdout.contains("postgres://me:********@localhost/db"), "{}", run.stdout);
        assert_eq!(run.stdout.matches("********").count(), 3, "{}", run.stdout);
    }
    let run = Folder::new().with_variable(token, "hush 4711").run(&["config", "check"]);
    run.fails(2, &["CANDLEWICK_BROKER__API_TOKEN is empty or holds characters"]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
}

#[test]
fn a_password_of_the_journals_database_is_refused_in_files_and_arguments_and_never_shown() {
    let check = |folder: &Folder, arguments: &[&str], origin: &str| {
        let run = folder.run(arguments);
        let printed = format!("journal.url ({origin}): a password does not belong in ");
        run.fails(2, &[&printed, "PGPASSFILE", "PGPASSWORD", "CANDLEWICK_JOURNAL__URL"]);
        assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    };
    for url in [
        "postgres://me:hush-4711@127.0.0.1/db",
        "postgres://me:hush/47@11@127.0.0.1/db",
        "postgresql://127.0.0.1/db?user=me&password=hush-4711",
    ] {
        let folder = Folder::new().with("bot.toml", &format!("{BOT}[journal]\nurl = \"{url}\"\n"));
        for command in
            ["config show", "config check", "status", "trades", "report", "parity", "live", "paper"]
        {
            let command: Vec<&str> = command.split(' ').collect();
            check(&folder, &[&command[..], &["--config", "bot.toml"]].concat(), "bot.toml");
        }
        for command in [&["status"][..], &["live", "--sandbox"]] {
            check(&Folder::new(), &[command, &["--journal", url]].concat(), "--journal");
        }
        let printed = folder.run(&["doctor", "--config", "bot.toml"]);
        assert!(
            printed.code == 5 && printed.stdout.contains("journal.url (bot.toml): a password"),
            "{}",
            printed.stdout
        );
        assert!(!printed.stdout.contains("hush") && !printed.stderr.contains("hush"), "{}", printed.stdout);
    }
}

#[test]
fn a_password_in_the_environment_reaches_no_output() {
    // No digits in the password: the time of a line may have the same. Nobody listens on port 1; the second cannot be read, the third has a name for its password that is none.
    for url in [
        "postgres://me:hush-sotto@127.0.0.1:1/db",
        "postgres://me:hush/sotto@127.0.0.1:1/db",
        "postgres://me@127.0.0.1:1/db?pasword=hush-sotto",
    ] {
        let folder = Folder::new().with("bot.toml", BOT).with_variable("CANDLEWICK_JOURNAL__URL", url);
        for command in ["doctor", "status", "report", "live", "config check", "config show"] {
            let command: Vec<&str> = command.split(' ').collect();
            let run = folder.run(&[&command[..], &["-vvv", "--config", "bot.toml"]].concat());
            let printed = run.stdout + &run.stderr;
            assert!(!printed.contains("hush") && !printed.contains("sotto"), "{command:?}: {printed}");
            assert!(command[0] == "config" || run.code != 0, "{command:?}: {printed}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_token_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let config = "[broker]\napi_token_file = \"token.secret\"\n".to_owned() + BOT;
    let folder = Folder::new().with("bot.toml", &config).with("token.secret", "hush-4711\n");
    let check = ["config", "check", "--config", "bot.toml"];
    let allow = |mode| {
        std::fs::set_permissions(folder.path("token.secret"), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for mode in [0o644, 0o640, 0o604] {
        allow(mode);
        folder
            .run(&check)
            .fails(2, &["broker.api_token_file = token.secret (bot.toml)", "chmod 600 token.secret"]);
    }
    allow(0o600);
    assert_eq!(folder.run(&check).code, 0);
    std::fs::remove_file(folder.path("token.secret")).unwrap();
    folder.run(&check).fails(2, &["broker.api_token_file = token.secret (bot.toml): cannot read the file"]);
}

#[test]
fn real_money_needs_both_yeses() {
    let config = "[account]\nmode = \"real\"\n".to_owned() + BOT;
    for (variable, flag, allowed) in [("yes", true, true), ("yes", false, false), ("no", true, false)] {
        let folder = Folder::new().with("bot.toml", &config).with_variable("CANDLEWICK_ALLOW_REAL", variable);
        let mut arguments = vec!["config", "check", "--config", "bot.toml"];
        arguments.extend(flag.then_some("--real"));
        let run = folder.run(&arguments);
        assert_eq!(run.code == 0, allowed, "{variable} {flag}: {}", run.stderr);
    }
    let live = ["live", "--config", "bot.toml", "--real"];
    Folder::new()
        .with("bot.toml", BOT)
        .run(&live)
        .fails(2, &["--real asks for real money", "account.mode = \"demo\""]);
    let printed = ["CANDLEWICK_ALLOW_REAL=yes", "--real", "account.mode = \"real\" (bot.toml)"];
    Folder::new().with("bot.toml", &config).run(&live).fails(2, &printed);
}

#[test]
fn bad_candles_are_reported_with_file_and_line() {
    let good = candles(4);
    let lines: Vec<&str> = good.lines().collect();
    let join = |lines: &[&str]| lines.join("\n");
    let broken = good.replace(lines[2], "1767571260000,1,2");
    let check = |content: &str, parts: &[&str]| {
        let folder = Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", content);
        folder.run(&BACKTEST).fails(3, &[&["BTCUSDT_1m.csv"], parts].concat());
    };
    check(&broken, &["line 3: "]);
    check(&good.replace("100,101", "100,99"), &["line 2: "]);
    check(&join(&[lines[0], lines[2], lines[1]]), &["line 3: ", "sort the lines"]);
    check(&join(&[lines[0], lines[1], lines[1]]), &["line 3: ", "is there twice"]);
    check("", &["the file is empty"]);
    check(lines[0], &["no candles after the header"]);
    check(&good.replace("time,", ""), &["line 1: ", "the header is"]);
    let missing = Folder::new().with("bot.toml", BOT);
    missing.run(&BACKTEST).fails(3, &["BTCUSDT_1m.csv: cannot open the file", "cause: "]);
}

#[test]
fn data_arguments_that_do_not_say_their_series_are_refused() {
    let folder = folder_with_bot("1m", "1m");
    let run = |data: &[&str]| folder.run(&[&BACKTEST[..3], data].concat());
    run(&["--data", "prices.csv"])
        .fails(2, &["\"prices.csv\": the file name has no interval", "SYMBOL@INTERVAL=PATH"]);
    run(&["--data", "BTCUSDT_1m.parquet"]).fails(3, &["BTCUSDT_1m.parquet: cannot open the file"]);
    let twice = ["--data", "BTCUSDT_1m.csv", "--data", "BTCUSDT@1m=BTCUSDT_1m.csv"];
    run(&twice).fails(2, &["BTCUSDT 1m is given twice"]);
    assert_eq!(run(&["--data", "BTCUSDT@60s=BTCUSDT_1m.csv"]).code, 0);
}

#[test]
fn a_bot_without_candles_is_shown_what_there_is() {
    let check =
        |from: &str, to: &str, parts: &[&str]| folder_with_bot(from, to).run(&BACKTEST).fails(3, parts);
    check(
        "\"1m\"",
        "\"90s\"",
        &[
            "no candles of BTCUSDT 90s for bot \"btc\" in the given data; there are: BTCUSDT 1m",
            "interval = \"1m\"",
        ],
    );
    check("BTCUSDT", "BTCUSD", &["no candles of BTCUSD 1m", "did you mean symbol = \"BTCUSDT\"?"]);
    check("BTCUSDT", "EURUSD", &["--data EURUSD_1m.csv"]);
}

#[test]
fn a_strategys_longer_candles_must_fit_its_bots() {
    let bot = BOT.replace("rsi-reversal", "trend-filter").replace("period = 2", "trend_seconds = 90");
    let folder = Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &candles(50));
    let printed = "strategy \"trend-filter\" also wants longer candles: 90s is not a multiple of 1m";
    folder.run(&BACKTEST).fails(2, &["bots[0].interval", printed]);
    folder.run(&["config", "check", "--config", "bot.toml"]).fails(2, &[printed]);
}

#[test]
fn an_expiry_shorter_than_the_candles_needs_a_yes() {
    let folder = folder_with_bot("01:00", "00:05");
    let run = folder.run(&BACKTEST);
    run.fails(
        2,
        &["bots[0].close_type = \"00:05\" (bot.toml)", "shorter than the 1m candles", "--allow-coarse"],
    );
    let report = folder.run(&[&BACKTEST[..], &["--allow-coarse", "--json"]].concat()).json();
    assert!(report["notices"][0].as_str().unwrap().starts_with("coarse: "), "{report}");
}

#[test]
fn files_that_are_missing_or_in_the_way_are_named() {
    candlewick(&["config", "show", "--config", "no.toml"])
        .fails(2, &["no.toml: cannot read the configuration file"]);
    let folder = folder_with_bot("1m", "1m").with("run.jsonl", "");
    let journal = [&BACKTEST[..], &["--journal", "run.jsonl"]].concat();
    folder.run(&journal).fails(2, &["run.jsonl exists already"]);
    let trades = [&BACKTEST[..], &["--trades", "no/such/folder.csv"]].concat();
    folder.run(&trades).fails(2, &["--trades: cannot write no/such/folder.csv"]);
    let generate = ["data", "generate", "--symbol", "BTCUSDT", "--days", "1"];
    folder.run(&generate).fails(2, &["BTCUSDT_1m.csv: the file is there already", "--force"]);
    assert_eq!(folder.run(&[&generate[..], &["--force"]].concat()).code, 0);
    assert_eq!(folder.read("BTCUSDT_1m.csv").lines().count(), 1_441);
}

#[test]
fn bad_arguments_are_refused_before_anything_happens() {
    for (arguments, part) in [
        (&["sandbox", "--speed", "fast"][..], "use a factor above 0 and at most 1000000, or max"),
        (&["sandbox", "--speed", "max"], "use `live --sandbox --speed max`"),
        (&["sandbox", "--faults", "eror"], "\"eror\" is not a fault"),
        (&["sandbox", "--listen", "here"], "--listen"),
        (&["sandbox", "--start", "2020-01-01"], "outside the candles, 2026-01-05T00:00:00Z to 2026-01-19"),
        (&["live", "--speed", "2"], "--sandbox"),
        (&["live", "--sandbox", "--for", "10"], "a whole number and a unit"),
        (&["live"], "there is no bot"),
        (&["backtst"], "backtest"),
        (&["strategy", "show", "ema-corss"], "did you mean \"ema-cross\"?"),
        (&["strategy", "show", "momentum"], "known are: rsi-reversal, ema-cross, signal-list, trend-filter"),
        (&["strategy", "show", "momentum"], "cargo run --release -F program -- strategy list"),
        (&["strategy", "show", "donchian"], "did you mean \"donchian-breakout\"?"),
        (&["data", "generate", "--symbol", "GOLD"], "--tick is missing: GOLD is not a well-known pair"),
        (
            &["data", "generate", "--symbol", "BTCUSDT", "--interval", "7s"],
            "--interval: 7s is not a multiple of 5s",
        ),
        (&["backtest", "--quiet", "-v"], "cannot be used with"),
    ] {
        candlewick(arguments).fails(2, &[part]);
    }
}
