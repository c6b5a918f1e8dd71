//! `drill`: a bad night at the embedded venue is noticed, survived and reported.
#![cfg(unix)]

use crate::candlewick::Folder;

#[test]
fn drill_survives_every_scene_and_keeps_every_promise() {
    let folder = Folder::new();
    let drill = folder.run(&["drill", "--json"]);
    let report = drill.json();
    let scenes = report["scenes"].as_array().unwrap();
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
    let promises = report["promises"].as_array().unwrap();
    assert!(promises.len() == 5 && promises.iter().all(|promise| promise["held"] == true), "{report:#}");
    let [intents, trades] = ["intents", "trades"].map(|name| report[name].as_u64().unwrap());
    assert!(trades > 4 && intents >= trades, "{report:#}");
    assert!(!drill.stderr.contains("WARN"), "{}", drill.stderr);
    assert!(!folder.path("candlewick.db").exists());
}
