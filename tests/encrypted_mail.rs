//! Alerts by e-mail: sent only over TLS, to a server with a trusted certificate.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, Run};
use crate::certificate::{certified, encryption};
use rustls::{ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

const PASSWORD: &str = "r7Vq-known-to-no-one-else";

#[derive(Clone, Copy, PartialEq)]
enum Tls {
    AtOnce,
    OnRequest,
    Never,
}

#[derive(Default)]
struct Conversation {
    clear: Vec<String>,
    encrypted: Vec<String>,
}

fn serve(folder: &Folder, tls: Tls) -> (u16, Arc<Mutex<Conversation>>) {
    let config = encryption(folder);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let conversation = Arc::<Mutex<Conversation>>::default();
    let received = Arc::clone(&conversation);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let encrypt = |stream: TcpStream| {
                StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
            };
            if tls == Tls::AtOnce {
                converse(&mut BufReader::new(encrypt(stream)), true, "", &received);
                continue;
            }
            let offers = if tls == Tls::OnRequest { "250-STARTTLS\r\n" } else { "" };
            let mut plain = BufReader::new(stream);
            if converse(&mut plain, false, offers, &received) {
                converse(&mut BufReader::new(encrypt(plain.into_inner())), true, "", &received);
            }
        }
    });
    (port, conversation)
}

fn converse<S: Read + Write>(
    stream: &mut BufReader<S>,
    encrypted: bool,
    offers: &str,
    conversation: &Mutex<Conversation>,
) -> bool {
    // After STARTTLS the client speaks first.
    let is_silent = encrypted && !conversation.lock().unwrap().clear.is_empty();
    let mut answer = if is_silent { String::new() } else { "220 mail.example ready\r\n".to_owned() };
    let mut is_data = false;
    loop {
        let stream_ref = stream.get_mut();
        if stream_ref.write_all(answer.as_bytes()).and_then(|()| stream_ref.flush()).is_err() {
            return false;
        }
        let mut line = String::new();
        if stream.read_line(&mut line).unwrap_or_default() == 0 {
            return false;
        }
        let line = line.trim_end().to_owned();
        let lists = &mut *conversation.lock().unwrap();
        if encrypted { &mut lists.encrypted } else { &mut lists.clear }.push(line.clone());
        answer = match line.get(..4).unwrap_or_default() {
            _ if is_data && line != "." => String::new(),
            "STAR" => {
                let stream = stream.get_mut();
                return stream.write_all(b"220 go on\r\n").and_then(|()| stream.flush()).is_ok();
            }
            "EHLO" => format!("250-mail.example\r\n{offers}250 AUTH PLAIN LOGIN\r\n"),
            "AUTH" => "235 2.7.0 accepted\r\n".to_owned(),
            "DATA" => "354 go on\r\n".to_owned(),
            "QUIT" => "221 bye\r\n".to_owned(),
            _ => "250 ok\r\n".to_owned(),
        };
        is_data = answer.starts_with("354") || (is_data && line != ".");
    }
}

fn send(folder: &Folder, url: &str, is_known: bool) -> Run {
    let settings = format!(
        "[notify.channels.mail]\nkind = \"email\"\nurl = \"{url}\"\nuser = \"bot\"\nsecret_file = \"password\"\n\
         from = \"Bot <bot@example.org>\"\nto = [\"me@example.org\"]\n{BOT}"
    );
    std::fs::write(folder.path("bot.toml"), settings).unwrap();
    let mut command = folder.command(&["notify", "test", "--config", "bot.toml"]);
    if is_known {
        command.env("SSL_CERT_FILE", folder.path("server.pem"));
    }
    Run::from_output(&command.output().unwrap())
}

#[test]
fn sends_mails_and_passwords_only_over_tls_to_a_trusted_server() {
    let folder = certified(Folder::new().with("password", PASSWORD));
    std::fs::set_permissions(folder.path("password"), std::fs::Permissions::from_mode(0o600)).unwrap();
    // 0.0.0.0 is not a loopback address, so `smtp` requires STARTTLS. The certificate names another host.
    for (tls, url, is_known, problem) in [
        (Tls::AtOnce, "smtps://127.0.0.1", true, None),
        (Tls::OnRequest, "smtp://0.0.0.0", true, None),
        (Tls::AtOnce, "smtps://127.0.0.1", false, Some("certificate")),
        (Tls::OnRequest, "smtp://0.0.0.0", false, Some("certificate")),
        (Tls::AtOnce, "smtps://localhost", true, Some("certificate")),
        (Tls::Never, "smtp://0.0.0.0", true, Some("STARTTLS")),
    ] {
        let (port, conversation) = serve(&folder, tls);
        let sent = send(&folder, &format!("{url}:{port}"), is_known);
        let shown = format!("{url}: {}{}", sent.stdout, sent.stderr);
        assert_eq!(sent.code, if problem.is_some() { 5 } else { 0 }, "{shown}");
        assert!(sent.stdout.contains(problem.unwrap_or_default()) && !shown.contains(PASSWORD), "{shown}");
        let lists = conversation.lock().unwrap();
        let is_safe = |line: &String| ["EHLO", "STARTTLS", "QUIT"].iter().any(|verb| line.starts_with(*verb));
        assert!(lists.clear.iter().all(is_safe), "{:?}", lists.clear);
        for part in ["AUTH PLAIN", "MAIL FROM:<bot@example.org>", "RCPT TO:<me@example.org>", "Message-ID: "]
        {
            let is_sent = lists.encrypted.iter().any(|line| line.starts_with(part));
            assert_eq!(is_sent, problem.is_none(), "{part}: {:?}", lists.encrypted);
        }
        assert!(problem.is_none() || lists.encrypted.iter().all(is_safe), "{:?}", lists.encrypted);
    }
}
