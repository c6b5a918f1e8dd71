//! A minimal mail server (RFC 5321) that records what it receives.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const GREETING: &str = "(greeting)";

pub(crate) struct MailServer {
    pub(crate) url: String,
    said: Arc<Mutex<Vec<String>>>,
}

impl MailServer {
    pub(crate) async fn start(otherwise: &[(&'static str, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let (said, otherwise) = (Arc::default(), otherwise.to_vec());
        let log = Arc::clone(&said);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(converse(stream, otherwise.clone(), Arc::clone(&log)));
            }
        });
        Self { url, said }
    }

    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

async fn converse(
    stream: TcpStream,
    otherwise: Vec<(&'static str, &'static str)>,
    log: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let greeting = otherwise.iter().find(|(step, _)| *step == GREETING).map(|(_, answer)| *answer);
    let greeting = greeting.unwrap_or("220 mail.example ready");
    write.write_all(format!("{greeting}\r\n").as_bytes()).await.ok()?;
    let mut is_data = false;
    while let Ok(Some(line)) = lines.next_line().await {
        log.lock().unwrap().push(line.clone());
        let ends = is_data && line == ".";
        if is_data && !ends {
            continue;
        }
        let other = otherwise.iter().find(|(step, _)| line.starts_with(step)).map(|(_, answer)| *answer);
        let answer = other.unwrap_or_else(|| match line.get(..4).unwrap_or_default() {
            "EHLO" => "250-mail.example\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 AUTH PLAIN LOGIN",
            "AUTH" => "235 2.7.0 accepted",
            "DATA" => "354 continue",
            "QUIT" => "221 bye",
            _ => "250 ok",
        });
        is_data = !ends && answer.starts_with("354");
        write.write_all(format!("{answer}\r\n").as_bytes()).await.ok()?;
    }
    Some(())
}
