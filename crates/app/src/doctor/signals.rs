//! Check of the enabled signal sources: list, webhook and standard input.

use super::finding::{Check, Finding};
use crate::configuration::{Loaded, control_paths, signal_problems};
use crate::signals::list_words;
use candlewick_runtime::control::{ControlOrder, send_order};
use std::net::SocketAddr;
use tokio::net::TcpListener;

pub(super) async fn check(loaded: &Loaded, report: &mut dyn FnMut(Finding)) {
    let signals = &loaded.config.signals;
    // A list that cannot be read has failed as a part of the configuration.
    if let Some(words) = list_words(loaded, None) {
        let zone = &signals.timezone;
        let is_over = words.contains("; nothing is to come");
        report(if is_over {
            Check::Signals.warn(
                format!("list {words}: by today's date all of it is past"),
                "give the list entries of the days to come; a backtest, or a sandbox whose clock begins before them, takes those that it has",
            )
        } else {
            Check::Signals.ok(format!("list {words}; times without a zone are those of {zone}"))
        });
    }
    if let Some(address) = signals.listen
        && signal_problems(loaded).is_empty()
    {
        report(webhook(loaded, address).await);
    }
    if signals.stdin {
        report(Check::Signals.ok("standard input is read, a JSON object a line"));
    }
}

async fn webhook(loaded: &Loaded, address: SocketAddr) -> Finding {
    let signals = &loaded.config.signals;
    let senders = match signals.allowed_addresses.len() {
        0 => "from everywhere that reaches it".to_owned(),
        1 => "from 1 address or network".to_owned(),
        count => format!("from {count} addresses or networks"),
    };
    let proxy = if signals.behind_proxy { ", as the proxy before it names them" } else { "" };
    let most = signals.requests_per_minute;
    let what =
        format!("webhook at http://{address}/signal, {senders}{proxy}, {most} a minute, with a secret");
    match TcpListener::bind(address).await {
        Ok(_) => Check::Signals.ok(what),
        Err(_) if is_running(loaded).await => {
            Check::Signals.ok(format!("{what}; the address is taken, as it is while the bot runs"))
        }
        Err(error) => Check::Signals.fail(
            format!("the webhook cannot listen at {address}: {error}"),
            "set signals.listen to an address of this machine with a free port, such as 127.0.0.1:7790",
        ),
    }
}

async fn is_running(loaded: &Loaded) -> bool {
    match control_paths(loaded) {
        Ok(paths) => send_order(&paths.socket, &ControlOrder::Status, None).await.is_ok(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Mark;
    use super::*;
    use crate::configuration::{Base, Flag};

    async fn findings(section: &str, list: &str) -> Vec<Finding> {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("hook.secret");
        std::fs::write(&secret, "0123456789abcdef\n").unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let path = folder.path().join("list.csv");
        std::fs::write(&path, list).unwrap();
        let quoted = |path: &std::path::Path| format!("{:?}", path.display().to_string());
        let section = section.replace("SECRET", &quoted(&secret)).replace("LIST", &quoted(&path));
        let file = folder.path().join("bot.toml");
        let bot = "[[bots]]\nname = \"btc\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"coin\"\nclose_type = \"01:00\"\n";
        std::fs::write(&file, format!("[signals]\n{section}\n{bot}")).unwrap();
        let loaded = Loaded::read(&[file], Base::Bare, Vec::<Flag>::new()).unwrap();
        let mut found = Vec::new();
        check(&loaded, &mut |finding| found.push(finding)).await;
        found
    }

    #[tokio::test]
    async fn each_door_that_is_open_is_said_and_one_that_would_not_open_fails() {
        assert_eq!(findings("", "").await, []);
        let found =
            findings("list = LIST\ntimezone = \"Europe/Berlin\"\nstdin = true", "10:30;BTCUSDT;CALL").await;
        assert_eq!(found.iter().map(|finding| finding.mark).collect::<Vec<_>>(), [Mark::Ok, Mark::Ok]);
        assert!(found[0].text.contains("1 entry") && found[0].text.contains("Europe/Berlin"), "{found:?}");
        let over = findings("list = LIST", "2020-01-05;10:30;BTCUSDT;CALL").await;
        assert!(
            over[0].mark == Mark::Warn
                && over[0].text.ends_with("due at 2020-01-05T10:30:00Z: by today's date all of it is past"),
            "{over:?}"
        );
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = taken.local_addr().unwrap();
        let webhook =
            format!("listen = \"{address}\"\nsecret_file = SECRET\nallowed_addresses = [\"10.0.0.1\"]");
        let found = findings(&webhook, "").await;
        assert!(found[0].mark == Mark::Fail && found[0].text.contains(&address.to_string()), "{found:?}");
        drop(taken);
        let found = findings(&webhook, "").await;
        assert!(found[0].mark == Mark::Ok && found[0].text.contains("from 1 address"), "{found:?}");
    }
}
