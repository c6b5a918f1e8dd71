//! A token that expires during a run: the next one in the file is used without a restart.
#![cfg(unix)]

use crate::believed::BOT;
use crate::candlewick::Folder;
use crate::control::{Live, wait_until};
use crate::lying_venue::{LyingVenue, Purpose};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn write_token(folder: &Folder, token: &str) {
    std::fs::write(folder.path("token"), token).unwrap();
    let owner_only = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(folder.path("token"), owner_only).unwrap();
}

/// The old token can still read, so only the file shows that there is a new one.
#[test]
fn new_token_in_the_file_ends_the_suspension() {
    for still_reads in [true, false] {
        let venue = LyingVenue::start(|_, _, _| {});
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
        assert!(state["reason"].as_str().unwrap().contains("api_token_file"), "{state}");
        assert_eq!((venue.refused(Purpose::Opening), venue.refused(Purpose::Reading)), (1, 0));
        if !still_reads {
            venue.accept(|token, _| token == "token-2");
            wait_until(&folder, "refused for reading", |bot| {
                venue.refused(Purpose::Reading) > 0 && bot["phase"] == "suspended"
            });
        }
        assert_eq!((venue.refused(Purpose::Opening), venue.opens()), (1, 0), "no open is tried before");
        write_token(&folder, "token-2\n");
        let back = wait_until(&folder, "trading again", |bot| bot["phase"] == "trading" && venue.opens() > 0);
        assert_eq!(back["reason"], Value::Null);
        assert_eq!(venue.refused(Purpose::Opening), 1);
        assert_eq!(venue.refused(Purpose::Reading) == 0, still_reads);
        assert_eq!(folder.run(&["status", "--config", "bot.toml", "--json"]).json()["halted"], json!(false));
        assert_eq!(bot.end(), Some(130));
    }
}
