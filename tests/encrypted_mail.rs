//! Alerts by e-mail over TLS: to a server whose certificate is known, from the first byte or after STARTTLS; and to no other.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, Run};
use crate::certificate::{certified as with_certificate, encryption};
use rustls::{ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

const PASSWORD: &str = "r7Vq-nobody-else-knows-it";
/// When the server begins to encrypt.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tls {
    AtOnce,
    OnRequest,
    Never,
}

/// What a server was told: in clear, and encrypted.
#[derive(Default)]
pub(crate) struct Said {
    pub(crate) clear: Vec<String>,
    encrypted: Vec<String>,
}

/// A folder with a certificate in it.
pub(crate) fn certified() -> Folder {
    let folder = with_certificate(Folder::new().with("password", PASSWORD));
    std::fs::set_permissions(folder.path("password"), std::fs::Permissions::from_mode(0o600)).unwrap();
    folder
}

/// A server with that certificate: its port, and what it is told.
pub(crate) fn serve(folder: &Folder, tls: Tls) -> (u16, Arc<Mutex<Said>>) {
    let config = encryption(folder);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let said = Arc::<Mutex<Said>>::default();
    let told = Arc::clone(&said);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let encrypt = |stream: TcpStream| {
                StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
            };
            if tls == Tls::AtOnce {
                converse(&mut BufReader::new(encrypt(stream)), true, "", &told);
                continue;
            }
            let offers = if tls == Tls::OnRequest { "250-STARTTLS\r\n" } else { "" };
            let mut plain = BufReader::new(stream);
            if converse(&mut plain, false, offers, &told) {
                converse(&mut BufReader::new(encrypt(plain.into_inner())), true, "", &told);
            }
        }
    });
    (port, said)
}

/// Takes each mail. Whether the other one wants to encrypt from here on.
fn converse<S: Read + Write>(
    stream: &mut BufReader<S>,
    encrypted: bool,
    offers: &str,
    said: &Mutex<Said>,
) -> bool {
    // After STARTTLS the client speaks first.
    let mut answer = if encrypted && offers.is_empty() && !said.lock().unwrap().clear.is_empty() {
        String::new()
    } else {
        "220 mail.example ready\r\n".to_owned()
    };
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
        let lists = &mut *said.lock().unwrap();
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

/// Sends a test there, with this certificate known or none.
fn send(folder: &Folder, url: &str, knows: bool) -> Run {
    let settings = format!(
        "[notify.channels.mail]\nkind = \"email\"\nurl = \"{url}\"\nuser = \"bot\"\nsecret_file = \"password\"\n\
         from = \"Bot <bot@example.org>\"\nto = [\"me@example.org\"]\n{BOT}"
    );
    std::fs::write(folder.path("bot.toml"), settings).unwrap();
    let mut command = folder.command(&["notify", "test", "--config", "bot.toml"]);
    if knows {
        command.env("SSL_CERT_FILE", folder.path("server.pem"));
    }
    Run::of(&command.output().unwrap())
}

#[test]
fn mail_goes_encrypted_to_a_server_that_is_known_and_the_password_never_in_clear() {
    let folder = certified();
    // 0.0.0.0 is this machine and no loopback address: `smtp` takes STARTTLS there.
    for (tls, scheme, host) in [(Tls::AtOnce, "smtps", "127.0.0.1"), (Tls::OnRequest, "smtp", "0.0.0.0")] {
        let (port, said) = serve(&folder, tls);
        let sent = send(&folder, &format!("{scheme}://{host}:{port}"), true);
        assert_eq!(sent.code, 0, "{scheme}: {}{}", sent.stdout, sent.stderr);
        let said = said.lock().unwrap();
        for part in ["AUTH PLAIN", "MAIL FROM:<bot@example.org>", "RCPT TO:<me@example.org>", "Message-ID: "]
        {
            assert!(said.encrypted.iter().any(|line| line.starts_with(part)), "{part}: {:?}", said.encrypted);
        }
        let clear: Vec<&str> = said.clear.iter().map(|line| line.get(..4).unwrap_or_default()).collect();
        assert_eq!(clear, if tls == Tls::AtOnce { &[][..] } else { &["EHLO", "STAR"] }, "{:?}", said.clear);
    }
}

#[test]
fn a_server_that_nobody_vouches_for_or_that_cannot_encrypt_is_told_nothing() {
    let folder = certified();
    for (tls, scheme, host, knows, problem) in [
        (Tls::AtOnce, "smtps", "127.0.0.1", false, "certificate"),
        (Tls::OnRequest, "smtp", "0.0.0.0", false, "certificate"),
        // The certificate is known, and another machine's.
        (Tls::AtOnce, "smtps", "localhost", true, "certificate"),
        (Tls::Never, "smtp", "0.0.0.0", true, "STARTTLS"),
    ] {
        let (port, said) = serve(&folder, tls);
        let sent = send(&folder, &format!("{scheme}://{host}:{port}"), knows);
        assert_eq!(sent.code, 5, "{scheme}: {}{}", sent.stdout, sent.stderr);
        assert!(sent.stdout.contains(problem), "{problem}: {}", sent.stdout);
        let said = said.lock().unwrap();
        let told = said.clear.iter().chain(&said.encrypted);
        assert!(
            told.clone()
                .all(|line| line.starts_with("EHLO") || line.starts_with("STARTTLS") || line == "QUIT"),
            "{:?}",
            told.collect::<Vec<_>>()
        );
        assert!(!sent.stdout.contains(PASSWORD) && !sent.stderr.contains(PASSWORD));
    }
}
