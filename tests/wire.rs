//! One request over a plain socket, independent of the program's client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

pub(crate) fn get(address: &str, path: &str, header: &str, patience: Duration) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(patience)).ok()?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {address}\r\n{header}\r\nx-timestamp: 1\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    String::from_utf8(answer).ok()
}
