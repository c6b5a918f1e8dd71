//! Signals on standard input, one JSON object per line.
//!
//! No secret is required, because only the process that started the program can write to its standard input.

use super::message::RawMessage;
use super::sink::SignalSink;
use candlewick_broker::clock::Hold;
use std::io::{self, BufRead, Read as _};
use tokio::sync::mpsc;

pub(super) const SOURCE_NAME: &str = "stdin";
const MAX_LINE_BYTES: u64 = 4_096;
const QUEUE_CAPACITY: usize = 64;

type InputLine = Result<Vec<u8>, &'static str>;

pub(super) async fn read_signals(sink: SignalSink) {
    let (sender, lines) = mpsc::channel(QUEUE_CAPACITY);
    // A blocking read cannot be cancelled, and nothing may wait for it. It therefore has its own thread.
    let reader = std::thread::Builder::new().name("signals".to_owned());
    if let Err(error) = reader.spawn(move || read_lines(io::stdin().lock(), &sender)) {
        tracing::warn!(%error, "cannot read signals from standard input");
        return;
    }
    if send_lines(lines, &sink).await {
        tracing::info!("standard input ended: no more signals will arrive");
    }
}

async fn send_lines(mut lines: mpsc::Receiver<InputLine>, sink: &SignalSink) -> bool {
    let mut number = 0;
    while let Some(line) = lines.recv().await {
        number += 1;
        let order = match &line {
            Ok(line) if line.trim_ascii().is_empty() => continue,
            Ok(line) => RawMessage::parse(line).and_then(|raw| raw.decode(sink.source, sink.now(), number)),
            Err(problem) => Err((*problem).to_owned()),
        };
        let order = order.and_then(|order| order.map(|order| sink.check(&order).map(|_| order)).transpose());
        match order {
            Ok(Some(order)) => {
                if !sink.send(order, Hold::none()).await {
                    return false;
                }
            }
            Ok(None) => {}
            Err(problem) => sink.report_malformed_line(number, &problem),
        }
    }
    true
}

fn read_lines(mut input: impl BufRead, lines: &mpsc::Sender<InputLine>) {
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_whole = line.pop_if(|last| *last == b'\n').is_some();
        let line = if !is_whole && line.len() as u64 > MAX_LINE_BYTES {
            if skip_line(&mut input).is_err() {
                return;
            }
            Err("the line is longer than 4096 bytes")
        } else {
            Ok(line)
        };
        if lines.blocking_send(line).is_err() {
            return;
        }
    }
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(());
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let passed = end.map_or(buffer.len(), |end| end + 1);
        input.consume(passed);
        if end.is_some() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_only_lines_that_are_too_long() {
        let long = "x".repeat(100_000);
        let text = format!("one\n{long}\n\ntwo\n{}\nlast", "y".repeat(4_096));
        let (sender, mut lines) = mpsc::channel(16);
        read_lines(text.as_bytes(), &sender);
        drop(sender);
        let mut read = Vec::new();
        while let Ok(line) = lines.try_recv() {
            read.push(line.map(|line| line.len()));
        }
        assert_eq!(read, [Ok(3), Err("the line is longer than 4096 bytes"), Ok(0), Ok(3), Ok(4_096), Ok(4)]);
    }
}
