//! A token that the venue stops to accept while a bot runs: nothing is opened, and the one that is written into its file next
//! is used, without a restart.
#![cfg(unix)]

use crate::believed::BOT;
use crate::candlewick::Folder;
use crate::control::Live;
use crate::lying_venue::{LyingVenue, Purpose};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// How often the bot is asked how it stands, at most.
const LOOKS: usize = 600;

fn write_token(folder: &Folder, token: &str) {
    std::fs::write(folder.path("token"), token).unwrap();
    let owner_only = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(folder.path("token"), owner_only).unwrap();
}

/// What the bot says of itself, once that and the venue are so.
fn wait_until(folder: &Folder, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut states = (0..LOOKS).map(|_| {
        let status = folder.run(&["status", "--config", "bot.toml", "--json"]);
        // Before its first entries are durable there is nothing to read.
        if status.code == 0 { status.json()["bot"].clone() } else { Value::Null }
    });
    states.find(is_so).unwrap_or_else(|| panic!("it never came to this: {what}"))
}

/// A bot whose token reads and opens nothing, once it knows that.
fn suspended_bot(venue: &LyingVenue) -> (Folder, Live) {
    venue.accept(|token, purpose| token == "token-2" || purpose == Purpose::Reading);
    let token_file = "[broker]\napi_token_file = \"token\"\n";
    let folder = Folder::new()
        .with("bot.toml", &BOT.replace("OPENS", "0").replace("[broker]\n", token_file))
        .with_variable("CANDLEWICK_BROKER__BASE_URL", &venue.url)
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", &venue.url)
        .with_variable("CANDLEWICK_BROKER__API_KEY", "key-1");
    write_token(&folder, "token-1\n");
    let bot = Live::start(&folder);
    let state = wait_until(&folder, "suspended", |bot| bot["phase"] == "suspended");
    let reason = state["reason"].as_str().unwrap();
    assert!(reason.contains("does not accept the token") && reason.contains("api_token_file"), "{reason}");
    assert_eq!((venue.refused(Purpose::Opening), venue.refused(Purpose::Reading)), (1, 0));
    (folder, bot)
}

/// Another token is written into the file: the bot trades, and nobody had to resume it.
fn check_trades_again(folder: &Folder, venue: &LyingVenue) {
    assert_eq!((venue.refused(Purpose::Opening), venue.opens()), (1, 0), "no open is tried meanwhile");
    write_token(folder, "token-2\n");
    let state = wait_until(folder, "trading again", |bot| bot["phase"] == "trading" && venue.opens() > 0);
    assert_eq!(state["reason"], Value::Null);
    assert_eq!(venue.refused(Purpose::Opening), 1);
    let status = folder.run(&["status", "--config", "bot.toml", "--json"]).json();
    assert_eq!(status["halted"], json!(false));
}

#[test]
fn a_token_that_opens_nothing_and_then_reads_nothing_is_followed_by_the_next_one_in_its_file() {
    let venue = LyingVenue::start(|_, _, _| {});
    let (folder, bot) = suspended_bot(&venue);
    venue.accept(|token, _| token == "token-2");
    wait_until(&folder, "refused for reading", |bot| {
        venue.refused(Purpose::Reading) > 0 && bot["phase"] == "suspended"
    });
    check_trades_again(&folder, &venue);
    assert_eq!(bot.end(), Some(130));
}

/// No answer of the venue shows that there is a new one: the file does.
#[test]
fn a_token_that_reads_and_opens_nothing_is_followed_by_the_next_one_in_its_file() {
    let venue = LyingVenue::start(|_, _, _| {});
    let (folder, bot) = suspended_bot(&venue);
    check_trades_again(&folder, &venue);
    assert_eq!(venue.refused(Purpose::Reading), 0);
    assert_eq!(bot.end(), Some(130));
}
