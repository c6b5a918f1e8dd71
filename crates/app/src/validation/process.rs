//! A strategy in another process of the same program: what is asked of it there, and what it answers.

use candlewick_sdk::testkit::{Decision, Subject};
use candlewick_sdk::{BotContext, Candle, Expiry, Interval, Millis, Ohlcv, Registry, Symbol};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bytes of a candle between processes: a time and five numbers.
const CANDLE_BYTES: usize = 48;

/// How a program starts itself to answer with [`answer_request`].
#[derive(Clone, Debug)]
pub struct Itself {
    /// The program.
    pub program: PathBuf,
    /// The arguments that make it answer; it takes further ones and ignores them.
    pub arguments: Vec<OsString>,
}

/// Around the strategy.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings<'a> {
    /// These variables instead of the parent's.
    pub(super) environment: Option<Vec<(String, String)>>,
    /// Another working directory.
    pub(super) folder: Option<&'a Path>,
    /// Arguments that mean nothing.
    pub(super) arguments: Vec<String>,
    /// Another bot's name.
    pub(super) bot: Option<String>,
    /// Whether bots of this symbol, with other parameters, run beside it.
    pub(super) rivals: Option<Symbol>,
}

#[derive(Serialize, Deserialize)]
struct Request {
    strategy: String,
    params: Value,
    bot: String,
    symbol: Symbol,
    interval: Interval,
    expiry: Expiry,
    longer_share_percent: Option<f64>,
    rivals: Option<Symbol>,
}

/// What a strategy did in another process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) decisions: Result<Vec<Decision>, String>,
    /// Bytes that it read while it was built, and while it was shown candles, and that it wrote; nothing where the system does not
    /// count them.
    pub(super) traffic: Option<Traffic>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Traffic {
    pub(super) read_to_build: u64,
    pub(super) read_to_decide: u64,
    pub(super) wrote: u64,
}

impl Itself {
    /// Runs the strategy over candles in a new process.
    ///
    /// # Errors
    /// A sentence when there is no such process, or it came to a bad end.
    pub(super) fn run(
        &self,
        subject: &Subject,
        candles: &[Candle],
        around: &Surroundings<'_>,
    ) -> Result<Reply, String> {
        let request = Request {
            strategy: subject.entry.name.clone(),
            params: subject.params.clone(),
            bot: around.bot.clone().unwrap_or_else(|| subject.bot.bot.clone()),
            symbol: subject.bot.symbol,
            interval: subject.bot.interval,
            expiry: subject.bot.expiry,
            longer_share_percent: subject.bot.longer_share_percent,
            rivals: around.rivals,
        };
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(&around.arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(variables) = &around.environment {
            command.env_clear().envs(variables.iter().map(|(key, value)| (key, value)));
        }
        if let Some(folder) = around.folder {
            command.current_dir(folder);
        }
        let failed = |error: &dyn std::fmt::Display| format!("no process of its own: {error}");
        let mut child = command.spawn().map_err(|error| failed(&error))?;
        if let Some(mut input) = child.stdin.take() {
            let written = encode(&request, candles);
            // Whoever ends before it has read says so by how it ended.
            let _ = input.write_all(&written.map_err(|error| failed(&error))?);
        }
        let output = child.wait_with_output().map_err(|error| failed(&error))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        // A strategy may print, too.
        let reply = printed.lines().rev().find_map(|line| serde_json::from_str(line).ok());
        reply.ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.lines().last().unwrap_or("it said nothing");
            format!("in a process of its own it ends with {}: {last}", output.status)
        })
    }
}

/// Answers what [`Itself`] asked another process of this program: the text that it prints.
///
/// # Errors
/// When the input is no request.
pub fn answer_request(registry: &Registry, input: &mut dyn Read) -> Result<String, anyhow::Error> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    let (request, candles) = decode(&bytes)?;
    let entry = registry.find(&request.strategy);
    let entry =
        entry.ok_or_else(|| anyhow::anyhow!("there is no strategy \"{}\"", request.strategy))?.clone();
    let Request { params, bot, symbol, interval, expiry, longer_share_percent, rivals, .. } = request;
    let subject =
        Subject { entry, params, bot: BotContext { bot, symbol, interval, expiry, longer_share_percent } };
    let rivals: Vec<Subject> = rivals.into_iter().flat_map(|symbol| vec![subject.rival(symbol); 2]).collect();
    std::panic::set_hook(Box::new(|_| {}));
    let before = look();
    let built = rivals.is_empty().then(|| subject.build().map(drop));
    let between = look();
    let decisions = match built {
        Some(Err(error)) => Err(error.to_string()),
        _ => subject.decisions(&candles, &rivals),
    };
    let traffic = traffic(before, between, look());
    Ok(serde_json::to_string(&Reply { decisions, traffic })?)
}

/// A look at what this thread has read and written so far.
struct Look {
    read: u64,
    wrote: u64,
    /// What the look itself read, which the next one counts.
    own: u64,
}

fn look() -> Option<Look> {
    let text = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let number = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.trim_start_matches(':').trim().parse().ok())
    };
    Some(Look { read: number("rchar")?, wrote: number("wchar")?, own: text.len() as u64 })
}

/// What was read and written between three looks.
fn traffic(before: Option<Look>, between: Option<Look>, after: Option<Look>) -> Option<Traffic> {
    let (before, between, after) = (before?, between?, after?);
    let read = |from: &Look, to: &Look| (to.read - from.read).saturating_sub(from.own);
    Some(Traffic {
        read_to_build: read(&before, &between),
        read_to_decide: read(&between, &after),
        wrote: after.wrote - before.wrote,
    })
}

fn encode(request: &Request, candles: &[Candle]) -> Result<Vec<u8>, serde_json::Error> {
    let mut bytes = serde_json::to_vec(request)?;
    bytes.push(b'\n');
    bytes.reserve(candles.len() * CANDLE_BYTES);
    for candle in candles {
        bytes.extend(candle.time().get().to_le_bytes());
        let numbers = [candle.open(), candle.high(), candle.low(), candle.close(), candle.volume()];
        bytes.extend(numbers.into_iter().flat_map(f64::to_le_bytes));
    }
    Ok(bytes)
}

fn decode(bytes: &[u8]) -> Result<(Request, Vec<Candle>), anyhow::Error> {
    let end = bytes.iter().position(|byte| *byte == b'\n');
    let (request, rest) = bytes.split_at(end.ok_or_else(|| anyhow::anyhow!("no request"))?);
    let request: Request = serde_json::from_slice(request)?;
    let (records, _) = rest[1..].as_chunks::<CANDLE_BYTES>();
    let candle = |record: &[u8; CANDLE_BYTES]| {
        let (words, _) = record.as_chunks::<8>();
        let [time, open, high, low, close, volume] = [0, 1, 2, 3, 4, 5].map(|word: usize| words[word]);
        let [open, high, low, close, volume] = [open, high, low, close, volume].map(f64::from_le_bytes);
        let numbers = Ohlcv { open, high, low, close, volume };
        Candle::new(Millis::new(i64::from_le_bytes(time)), Interval::SECOND, numbers)
    };
    Ok((request, records.iter().map(candle).collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::{bot, random_walk};

    #[test]
    fn candles_arrive_to_the_last_bit() {
        let bot = bot("BTCUSDT");
        let request = Request {
            strategy: "one".to_owned(),
            params: Value::Null,
            bot: bot.bot,
            symbol: bot.symbol,
            interval: bot.interval,
            expiry: bot.expiry,
            longer_share_percent: bot.longer_share_percent,
            rivals: None,
        };
        let candles = random_walk(1, 50);
        let (read, arrived) = decode(&encode(&request, &candles).unwrap()).unwrap();
        assert_eq!((read.strategy.as_str(), arrived), ("one", candles));
    }
}
