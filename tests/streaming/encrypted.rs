//! A stream over TLS, only to a server with a trusted certificate.

use crate::candlewick::Folder;
use crate::certificate::{certified, encryption};
use crate::serving::Served;
use crate::{check_parity, events_named, run, seconds};
use candlewick_broker::clock::{Clock, SystemClock};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, split};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

const BOT: &str = r#"
[broker]
stream = true
requests_per_second = 0
[runtime]
price_every_ms = 1000
[risk]
daily_loss_limit = 0
[[bots]]
name = "btc"
symbol = "BTCUSDT"
interval = "5s"
strategy = "first-move"
close_type = "00:05"
"#;
const STREAM: &str = "GET /socket.io/?EIO=4&transport=websocket ";
/// Maximum time between the end of the bot and the end of its connection.
const PATIENCE: Duration = Duration::from_secs(30);
const LIVE: [&str; 8] = ["live", "--config", "bot.toml", "--journal", "run.db", "--json", "--for", "20s"];

type RequestLog = Arc<Mutex<Vec<String>>>;

/// A venue behind a TLS server, a folder for it, its requests, and the bytes streamed by each finished connection.
struct Stage {
    folder: Folder,
    asked: RequestLog,
    streamed: Receiver<u64>,
    _venue: Served,
}

fn stage() -> Stage {
    let now = SystemClock::new().now().get() / 1_000 * 1_000;
    let folder =
        Folder::new().with("bot.toml", BOT).with("BTCUSDT_1s.csv", &seconds::candles(now, (600, 600)));
    let folder = certified(folder);
    let (start, data) = ((now + 1_000).to_string(), folder.path("BTCUSDT_1s.csv"));
    let venue = Served::start(&["--speed", "1", "--start", &start, "--data", &data.to_string_lossy()]);
    let address = venue.text("base_url").strip_prefix("http://").unwrap().parse().unwrap();
    let (port, asked, streamed) = encrypt(&folder, address);
    let url = format!("https://127.0.0.1:{port}");
    let folder = (venue.known_to(folder))
        .with_variable("CANDLEWICK_BROKER__BASE_URL", &url)
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", &url);
    Stage { folder, asked, streamed, _venue: venue }
}

fn encrypt(folder: &Folder, venue: SocketAddr) -> (u16, RequestLog, Receiver<u64>) {
    let acceptor = TlsAcceptor::from(encryption(folder));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    listener.set_nonblocking(true).unwrap();
    let (asked, (counts, streamed)) = (RequestLog::default(), channel());
    let lines = Arc::clone(&asked);
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, lines, counts) = (acceptor.clone(), Arc::clone(&lines), counts.clone());
                tokio::spawn(async move {
                    // A client that does not trust the certificate leaves.
                    let Ok(mut client) = acceptor.accept(client).await else { return };
                    let mut head = vec![0; 16_384];
                    let Ok(length @ 1..) = client.read(&mut head).await else { return };
                    let text = String::from_utf8_lossy(&head[..length]).into_owned();
                    let line = text.lines().next().unwrap_or_default().to_owned();
                    let is_stream = line.starts_with(STREAM);
                    lines.lock().unwrap().push(line);
                    let mut venue = TcpStream::connect(venue).await.unwrap();
                    venue.write_all(&head[..length]).await.unwrap();
                    let (mut from_client, mut to_client) = split(client);
                    let (mut from_venue, mut to_venue) = venue.into_split();
                    let up = tokio::spawn(async move { copy(&mut from_client, &mut to_venue).await });
                    let mut bytes = 0;
                    let mut buffer = vec![0; 16_384];
                    while let Ok(length @ 1..) = from_venue.read(&mut buffer).await {
                        bytes += length as u64;
                        if to_client.write_all(&buffer[..length]).await.is_err() {
                            break;
                        }
                    }
                    up.abort();
                    if is_stream {
                        // The receiver is gone if the test does not count bytes.
                        let _ = counts.send(bytes);
                    }
                });
            }
        });
    });
    (port, asked, streamed)
}

pub(crate) fn check_known() {
    let Stage { folder, asked, streamed, _venue } = stage();
    let certificate = folder.path("server.pem").to_string_lossy().into_owned();
    let folder = folder.with_variable("SSL_CERT_FILE", &certificate);
    let ran = run(&folder, &LIVE);
    let events = ran.events();
    assert!(events_named(&events, "opened").count() > 0, "{}", ran.stderr);
    assert!(!ran.stderr.contains("no price stream"), "{}", ran.stderr);
    // One price a second of some hundred bytes, on one connection.
    let bytes = streamed.recv_timeout(PATIENCE).unwrap();
    assert!(bytes > 5 * 100, "{bytes} bytes");
    let asked = asked.lock().unwrap();
    assert_eq!(asked.iter().filter(|line| line.starts_with(STREAM)).count(), 1, "{asked:?}");
    check_parity(&folder);
}

pub(crate) fn check_unknown() {
    let Stage { folder, asked, streamed: _streamed, _venue } = stage();
    let ran = run(&folder, &LIVE);
    assert_eq!(ran.code, 4, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("certificate"), "{}", ran.stderr);
    assert_eq!(*asked.lock().unwrap(), [""; 0]);
}
