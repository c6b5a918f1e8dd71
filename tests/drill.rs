//! A bad night as anybody can play it: every trouble is noticed and survived, and what is promised holds.
#![cfg(unix)]

use crate::candlewick::Folder;

#[test]
fn a_bad_night_is_noticed_survived_and_ends_with_the_venues_own_figures() {
    let folder = Folder::new();
    let drill = folder.run(&["drill", "--json"]);
    let told = drill.json();
    assert_eq!(drill.code, 0, "{told:#} {}", drill.stderr);
    let scenes = told["scenes"].as_array().unwrap();
    assert_eq!(scenes.len(), 5);
    for (scene, event, figure) in [
        (&scenes[0], "venue_silent", "candlewick_venue_heard"),
        (&scenes[1], "in_doubt", "candlewick_doubts_open"),
        (&scenes[2], "suspended", "candlewick_phase{phase=\"suspended\"}"),
    ] {
        assert!(scene["events"][event].as_u64() > Some(0), "{event}: {scene:#}");
        assert!(scene["seen"]["metrics"][figure].is_number(), "{figure}: {scene:#}");
        assert_eq!(scene["held"], true, "{scene:#}");
    }
    let promises = told["promises"].as_array().unwrap();
    assert!(promises.len() == 5 && promises.iter().all(|promise| promise["held"] == true), "{told:#}");
    let [intents, trades] = ["intents", "trades"].map(|name| told[name].as_u64().unwrap());
    assert!(trades > 4 && intents >= trades, "{told:#}");
    let found = |place: usize| promises[place]["found"].as_str().unwrap();
    assert!(found(0).contains(&format!("for {intents} intents")), "{told:#}");
    assert!(found(1).starts_with(&format!("{trades} trades there, {trades} here")), "{told:#}");
    // Each scene is named as it begins, and what the bot warns of stays out of the show.
    let said: Vec<&str> = drill.stderr.lines().collect();
    assert!(
        scenes.iter().all(|scene| said.contains(&&*format!("  {}", scene["happened"].as_str().unwrap()))),
        "{said:?}"
    );
    assert!(!drill.stderr.contains("WARN"), "{}", drill.stderr);
    // No journal of the user's is touched.
    assert!(!folder.path("candlewick.db").exists());
}
