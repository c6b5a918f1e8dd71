//! The far end of the connection: a server on loopback that notes when a request's first byte is there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

const ANSWER: &[u8] = b"HTTP/1.1 422 Unprocessable Entity\r\ncontent-type: application/json\r\n\
                        content-length: 22\r\n\r\n{\"message\":\"rejected\"}";

pub(crate) struct Server {
    pub(crate) address: String,
    arrivals: Arc<Mutex<Vec<Instant>>>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let arrivals = Arc::default();
        let noted: Arc<Mutex<Vec<Instant>>> = Arc::clone(&arrivals);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, noted) = (stream.unwrap(), Arc::clone(&noted));
                std::thread::spawn(move || drop(serve(stream, &noted)));
            }
        });
        Self { address, arrivals }
    }

    pub(crate) fn take_arrivals(&self) -> Vec<Instant> {
        std::mem::take(&mut self.arrivals.lock().unwrap())
    }
}

fn serve(stream: TcpStream, arrivals: &Mutex<Vec<Instant>>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while !reader.fill_buf()?.is_empty() {
        arrivals.lock().unwrap().push(Instant::now());
        let mut length = 0;
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().unwrap();
            }
            line.clear();
        }
        reader.read_exact(&mut vec![0; length])?;
        writer.write_all(ANSWER)?;
    }
    Ok(())
}
