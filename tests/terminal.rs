//! A closed terminal ends the bot that was started in it.
#![cfg(target_os = "linux")]

use crate::candlewick::BINARY;
use crate::control::venue_and_folder;
use serde_json::Value;
use std::process::{Command, Stdio};

#[test]
fn bot_ends_with_its_terminal_even_if_the_shell_signals_first() {
    let (_served, folder) = venue_and_folder();
    // In its own job the bot gets no signal from the kernel. Under nohup it would inherit an ignored SIGHUP.
    let shell = format!(
        "set -m; env --default-signal=HUP {BINARY} live --config bot.toml > out 2> log & echo $! > pid; \
         until [ -s out ]; do sleep 0.1; done; kill -HUP $!; sleep 0.3"
    );
    let of_folder = folder.command(&[]);
    let mut command = Command::new("script");
    command.args(["-qec", &shell, "/dev/null"]).current_dir(folder.path("")).env_clear();
    command.envs(of_folder.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{status}");
    let pid = folder.read("pid").trim().to_owned();
    let wait = ["30", "tail", "--pid", &pid, "-f", "/dev/null"];
    let ended = Command::new("timeout").args(wait).status().unwrap().success();
    if !ended {
        assert!(Command::new("kill").args(["-s", "KILL", &pid]).status().unwrap().success());
    }
    assert!(ended, "it runs on: {}", folder.read("log"));
    assert!(folder.read("log").contains("the terminal has closed; the run ends"), "{}", folder.read("log"));
    let status = folder.run(&["status", "--config", "bot.toml", "--json"]).json();
    assert_eq!((&status["holder"], &status["reloaded"]), (&Value::Null, &Value::Null), "{status}");
}
