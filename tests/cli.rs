//! Invalid input: each kind is refused with its place, a hint and an exit code, and no secret is shown.

use crate::candlewick::{BACKTEST, BOT, Folder, candles, candlewick, folder_with_bot};

const CHECK: [&str; 4] = ["config", "check", "--config", "bot.toml"];

fn folder_with(lines: &str) -> Folder {
    Folder::new().with("bot.toml", &format!("{lines}\n{BOT}"))
}

#[test]
fn reports_a_wrong_configuration_with_key_value_file_and_fix() {
    let check = |folder: Folder, place: &str, hint: &str| {
        folder.with("BTCUSDT_1m.csv", &candles(50)).run(&BACKTEST).fails(2, &[place, hint]);
    };
    let stake = |text: &str| format!("stake = {text}\nparams");
    for (from, to, place, hint) in [
        ("rsi-reversal", "rsi-reversl", "bots[0].strategy = \"rsi-reversl\" (bot.toml)", "\"rsi-reversal\""),
        ("symbol", "symbl", "bots[0].symbl (bot.toml)", "\"symbol\""),
        ("close_type", "x", "bots[0].close_type (bot.toml)", "close_type ="),
        ("\"1m\"", "60", "bots[0].interval = 60 (bot.toml)", "quotes"),
        ("\"1m\"", "\"1w\"", "bots[0].interval", "\"1w\""),
        ("\"01:00\"", "\"1:00\"", "bots[0].close_type (bot.toml)", "\"1:00\""),
        ("{ period = 2 }", "{ period = 1 }", "period = 1", "2 to 500"),
        ("params", &stake("\"fixed\""), "bots[0].stake = \"fixed\" (bot.toml)", "kind = \"fixed\", amount"),
        ("params", &stake("{ kind = \"flat\" }"), "bots[0].stake.kind = \"flat\" (bot.toml)", "\"fixed\""),
        ("params", &stake("{ kind = 'fixed', amount = 0.001 }"), "bots[0].stake.amount (bot.toml)", "0.001"),
        ("[[bots]]", "[[bots]", "bot.toml, line 2: ", ""),
    ] {
        check(folder_with_bot(from, to), place, hint);
    }
    for (lines, place, hint) in [
        ("stake = 1", "stake (bot.toml)", "[[bots]]"),
        ("[risk]\nmax_open_trade = 1", "risk.max_open_trade (bot.toml)", "\"max_open_trades\""),
        ("[risk]\nmax_open_trades = \"many\"", "risk.max_open_trades = \"many\" (bot.toml)", ""),
        ("[risk]\nmax_open_trades = 99999999999", "risk.max_open_trades = 99999999999", "4294967295"),
        ("[risk]\ndaily_loss_limit = 1e300", "risk.daily_loss_limit", "1000000000000000"),
        ("[risk]\nhours = [\"08:00-17:00\"]", "risk.hours[0] = \"08:00-17:00\" (bot.toml)", "{ from = "),
        ("[risk]\ncooldown_scope = \"al\"", "risk.cooldown_scope = \"al\"", "\"all\""),
        ("[simulation]\npayout_percent = 0", "simulation.payout_percent (bot.toml)", "0"),
        ("[simulation]\nlatency_ms = -1", "simulation.latency_ms = -1", ""),
        ("[sandbox]\nspeed = \"fast\"", "sandbox.speed = \"fast\" (bot.toml)", "\"max\""),
        ("[account]\nmode = \"real\"", "account.mode = \"real\" (bot.toml)", ""),
    ] {
        check(folder_with(lines), place, hint);
    }
}

#[test]
fn reports_all_errors_at_once() {
    let lines = "[risk]\nmax_open = 1\nhours = 3\n[broker]\nslot = 5";
    folder_with(lines).run(&CHECK).fails(2, &["risk.max_open (", "risk.hours = 3 (", "broker.slot = 5 ("]);
    // Errors that only the parts can find are reported once the form is valid.
    let unknown = BOT.replace("rsi-reversal", "rsi");
    let range = folder_with(&format!("[simulation]\nlatency_ms = 99999999\n{unknown}"));
    range.run(&CHECK).fails(2, &["simulation.latency_ms = 99999999 (", "bots[0].strategy = \"rsi\""]);
}

#[test]
fn checks_addresses_and_files_before_any_request() {
    // A value that a short body cannot hold is never left to the venue.
    let short = |lines: &str| format!("broker.open_body = \"short\"\n{lines}");
    for (lines, parts) in [
        (
            "broker.base_url = 'http://venue.example'",
            &["broker.base_url = \"http://venue.example\" (bot.toml)"][..],
        ),
        ("broker.price_url = \"venue\"", &["price_url"]),
        (&short(""), &["broker.short_close_type"]),
        (&short("broker.short_close_type = \"05:00\""), &["bots[0].close_type"]),
        (&short("broker.short_close_type = \"01:00\"\naccount.mode = \"real\""), &["the account"]),
        ("sandbox.data = [\"prices.csv\"]", &["sandbox.data[0] (bot.toml): \"prices.csv\"", "data import"]),
    ] {
        let folder = folder_with(lines).with_variable("CANDLEWICK_BROKER__API_TOKEN", "hush-4711");
        folder.run(&CHECK).fails(2, parts);
    }
}

#[test]
fn refuses_a_secret_in_a_file_and_never_shows_it() {
    for key in ["api_token", "api_key"] {
        let folder = Folder::new().with("bot.toml", &format!("[broker]\n{key} = \"hush-4711\"\n"));
        for command in [&["config", "show"][..], &["config", "check"], &["backtest"], &["live", "--sandbox"]]
        {
            let run = folder.run(&[command, &["--config", "bot.toml"]].concat());
            let variable = format!("CANDLEWICK_BROKER__{}", key.to_uppercase());
            run.fails(2, &[&format!("broker.{key} (bot.toml)"), &variable]);
            assert!(!run.stderr.contains("hush"), "{}", run.stderr);
        }
    }
    let run = Folder::new().with("bot.toml", "[broker]\napi_token = hush-4711\n").run(&CHECK);
    run.fails(2, &["bot.toml, line 2: "]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
}

#[test]
fn reads_a_secret_from_the_environment_and_masks_it() {
    let token = "CANDLEWICK_BROKER__API_TOKEN";
    let folder = Folder::new()
        .with("bot.toml", "broker.headers.x-auth = \"hush-4711\"\n")
        .with_variable(token, "hush-4711")
        .with_variable("CANDLEWICK_JOURNAL__URL", "postgres://me:hush-4711@localhost/db");
    for form in [&[][..], &["--json"]] {
        let shown = folder.run(&[&["config", "show", "--config", "bot.toml"], form].concat()).stdout;
        assert!(shown.contains("postgres://me:********@localhost/db") && !shown.contains("hush"), "{shown}");
        assert_eq!(shown.matches("********").count(), 3, "{shown}");
    }
    let run = Folder::new().with_variable(token, "hush 4711").run(&["config", "check"]);
    run.fails(2, &[token]);
    assert!(!run.stderr.contains("hush"), "{}", run.stderr);
}

#[test]
fn refuses_a_database_password_in_files_and_arguments_and_never_shows_it() {
    let check = |folder: &Folder, arguments: &[&str], origin: &str| {
        let run = folder.run(arguments);
        run.fails(2, &[&format!("journal.url ({origin})"), "PGPASSFILE", "CANDLEWICK_JOURNAL__URL"]);
        assert!(!run.stderr.contains("hush"), "{}", run.stderr);
    };
    for url in [
        "postgres://me:hush-4711@127.0.0.1/db",
        "postgres://me:hush/47@11@127.0.0.1/db",
        "postgresql://127.0.0.1/db?user=me&password=hush-4711",
    ] {
        let folder = folder_with(&format!("journal.url = \"{url}\""));
        for command in
            ["config show", "config check", "status", "trades", "report", "parity", "live", "paper"]
        {
            let command: Vec<&str> = command.split(' ').collect();
            check(&folder, &[&command[..], &["--config", "bot.toml"]].concat(), "bot.toml");
        }
        for command in [&["status"][..], &["live", "--sandbox"]] {
            check(&Folder::new(), &[command, &["--journal", url]].concat(), "--journal");
        }
        let doctor = folder.run(&["doctor", "--config", "bot.toml"]);
        assert!(doctor.code == 5 && doctor.stdout.contains("journal.url (bot.toml)"), "{}", doctor.stdout);
        assert!(!(doctor.stdout + &doctor.stderr).contains("hush"));
    }
}

#[test]
fn never_prints_a_password_of_the_environment() {
    // No digits, unlike a timestamp. Port 1 has no listener, the second URL is invalid, the third misspells a name.
    for url in [
        "postgres://me:hush-sotto@127.0.0.1:1/db",
        "postgres://me:hush/sotto@127.0.0.1:1/db",
        "postgres://me@127.0.0.1:1/db?pasword=hush-sotto",
    ] {
        let folder = folder_with("").with_variable("CANDLEWICK_JOURNAL__URL", url);
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
fn refuses_a_token_file_readable_by_others() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_with("broker.api_token_file = \"token.secret\"").with("token.secret", "hush-4711\n");
    let check = |mode| {
        let allowed = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path("token.secret"), allowed).unwrap();
        folder.run(&CHECK)
    };
    let place = "broker.api_token_file = token.secret (bot.toml)";
    for mode in [0o644, 0o640, 0o604] {
        check(mode).fails(2, &[place, "chmod 600 token.secret"]);
    }
    assert_eq!(check(0o600).code, 0);
    std::fs::remove_file(folder.path("token.secret")).unwrap();
    folder.run(&CHECK).fails(2, &[place]);
}

#[test]
fn real_money_needs_both_confirmations() {
    let real = || folder_with("account.mode = \"real\"");
    for (variable, flag, allowed) in [("yes", true, true), ("yes", false, false), ("no", true, false)] {
        let mut arguments = CHECK.to_vec();
        arguments.extend(flag.then_some("--real"));
        let run = real().with_variable("CANDLEWICK_ALLOW_REAL", variable).run(&arguments);
        assert_eq!(run.code == 0, allowed, "{variable} {flag}: {}", run.stderr);
    }
    let live = ["live", "--config", "bot.toml", "--real"];
    folder_with("").run(&live).fails(2, &["--real", "account.mode = \"demo\""]);
    real().run(&live).fails(2, &["CANDLEWICK_ALLOW_REAL=yes", "account.mode = \"real\" (bot.toml)"]);
}

#[test]
fn refuses_candles_that_do_not_fit_a_bot() {
    let folder = folder_with_bot("1m", "1m").with("broken_1m.csv", &candles(4).replace("100,101", "100,99"));
    for (data, code, parts) in [
        (&["prices.csv"][..], 2, &["\"prices.csv\"", "SYMBOL@INTERVAL=PATH"][..]),
        (&["BTCUSDT_1m.csv", "--data", "BTCUSDT@1m=BTCUSDT_1m.csv"], 2, &["BTCUSDT 1m"]),
        (&["BTCUSDT_1m.parquet"], 3, &["BTCUSDT_1m.parquet"]),
        (&["BTCUSDT@1m=broken_1m.csv"], 3, &["broken_1m.csv", "line 2: "]),
        (&["EURUSD@1m=BTCUSDT_1m.csv"], 3, &["BTCUSDT 1m for bot \"btc\"", "EURUSD 1m"]),
    ] {
        folder.run(&[&BACKTEST[..4], data].concat()).fails(code, parts);
    }
    assert_eq!(folder.run(&[&BACKTEST[..4], &["BTCUSDT@60s=BTCUSDT_1m.csv"]].concat()).code, 0);
    let short = folder_with_bot("01:00", "00:05");
    short.run(&BACKTEST).fails(2, &["bots[0].close_type = \"00:05\" (bot.toml)", "--allow-coarse"]);
    let coarse = short.run(&[&BACKTEST[..], &["--allow-coarse", "--json"]].concat()).json();
    assert!(coarse["notices"][0].as_str().unwrap().starts_with("the candles are too coarse"), "{coarse}");
    let bot = BOT.replace("rsi-reversal", "trend-filter").replace("period = 2", "trend_seconds = 90");
    let longer = Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &candles(50));
    for command in [&BACKTEST[..], &CHECK] {
        longer.run(command).fails(2, &["\"trend-filter\"", "90s", "1m"]);
    }
}

#[test]
fn names_missing_and_blocking_files() {
    candlewick(&["config", "show", "--config", "no.toml"]).fails(2, &["no.toml"]);
    let folder = folder_with_bot("1m", "1m").with("run.jsonl", "");
    for (option, file) in [("--journal", "run.jsonl"), ("--trades", "no/such/folder.csv")] {
        folder.run(&[&BACKTEST[..], &[option, file]].concat()).fails(2, &[file]);
    }
    let generate = ["data", "generate", "--symbol", "BTCUSDT", "--days", "1"];
    folder.run(&generate).fails(2, &["BTCUSDT_1m.csv", "--force"]);
    assert_eq!(folder.run(&[&generate[..], &["--force"]].concat()).code, 0);
    assert_eq!(folder.read("BTCUSDT_1m.csv").lines().count(), 1_441);
}

#[test]
fn refuses_bad_arguments_before_doing_anything() {
    for (arguments, part) in [
        ("sandbox --speed fast", "1000000"),
        ("sandbox --speed max", "live --sandbox --speed max"),
        ("sandbox --faults eror", "\"eror\""),
        ("sandbox --listen here", "--listen"),
        ("sandbox --start 2020-01-01", "2026-01-05T00:00:00Z"),
        ("live --speed 2", "--sandbox"),
        ("live --sandbox --for 10", "--for"),
        ("live", "no bot"),
        ("backtst", "backtest"),
        ("strategy show ema-corss", "\"ema-cross\""),
        ("strategy show momentum", "rsi-reversal, ema-cross, signal-list, trend-filter"),
        ("strategy show momentum", "strategy list"),
        ("strategy show donchian", "\"donchian-breakout\""),
        ("data generate --symbol GOLD", "--tick"),
        ("data generate --symbol BTCUSDT --interval 7s", "--interval"),
        ("backtest --quiet -v", "--quiet"),
    ] {
        candlewick(&arguments.split(' ').collect::<Vec<_>>()).fails(2, &[part]);
    }
}
