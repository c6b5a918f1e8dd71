//! Requests to run a strategy in another process of the same program, and the replies.

use super::supervise::{Message, OutputMode, UnfinishedCheck, report_position, send_message, supervise};
use super::{CheckError, ValidationReport, examine_in_process};
use candlewick_sdk::testkit::{Decision, Market, Subject};
use candlewick_sdk::{BotContext, Candle, Interval, Millis, Ohlcv, Registry, Symbol};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Size in bytes of a candle sent between processes: a time and five numbers.
const CANDLE_BYTES: usize = 48;
const RUN_TIME_LIMIT: Duration = Duration::from_mins(10);
const CANDLES_PER_EARLIER_INSTANCE: usize = 100;

#[derive(Clone, Debug)]
pub struct ChildProgram {
    pub program: PathBuf,
    /// Arguments that make the program answer requests. The program ignores any further arguments.
    pub arguments: Vec<OsString>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ChildOptions<'a> {
    pub(super) environment: Option<Vec<(String, String)>>,
    pub(super) folder: Option<&'a Path>,
    pub(super) arguments: Vec<String>,
    pub(super) bot: Option<String>,
    pub(super) rival_symbol: Option<Symbol>,
    pub(super) earlier_instances: usize,
}

/// A request to a child process. The candles follow the request.
#[derive(Serialize, Deserialize)]
struct Request {
    nonce: String,
    strategy: String,
    params: Value,
    bot: BotContext,
    candles: usize,
    task: Task,
}

#[derive(Serialize, Deserialize)]
enum Task {
    Decide { rivals: Option<Symbol>, earlier: usize },
    Examine(Examination),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Examination {
    pub(super) market: Option<String>,
    pub(super) given: usize,
    pub(super) seed: u64,
    pub(super) unseen: Option<usize>,
    pub(super) limit: Duration,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Reply {
    pub(super) decisions: Result<Vec<Decision>, String>,
    /// Bytes read and written. `None` if the system does not count bytes.
    pub(super) traffic: Option<IoTraffic>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct IoTraffic {
    pub(super) read_to_build: u64,
    pub(super) read_to_decide: u64,
    pub(super) wrote: u64,
}

impl ChildProgram {
    pub(super) fn run(
        &self,
        subject: &Subject,
        candles: &[Candle],
        around: &ChildOptions<'_>,
    ) -> Result<Reply, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).args(&around.arguments);
        if let Some(variables) = &around.environment {
            command.env_clear().envs(variables.iter().map(|(key, value)| (key, value)));
        }
        if let Some(folder) = around.folder {
            command.current_dir(folder);
        }
        let task = Task::Decide { rivals: around.rival_symbol, earlier: around.earlier_instances };
        let mut request = Request::new(subject, candles.len(), task);
        request.bot.bot = around.bot.clone().unwrap_or(request.bot.bot);
        let reply = request.submit(command, candles, RUN_TIME_LIMIT, OutputMode::Hidden, &mut |_| {});
        reply.map_err(|error| format!("in a separate process: {error}"))
    }

    pub(super) fn examine(
        &self,
        subject: &Subject,
        candles: &[Candle],
        examination: Examination,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Result<ValidationReport, CheckError>, UnfinishedCheck> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        let limit = examination.limit;
        let request = Request::new(subject, candles.len(), Task::Examine(examination));
        request.submit(command, candles, limit, OutputMode::Shown, progress)
    }
}

impl Request {
    fn new(subject: &Subject, candles: usize, task: Task) -> Self {
        // The hash is random, because the hasher has random keys.
        let nonce = format!("{:016x}", RandomState::new().hash_one(candles));
        let Subject { entry, params, bot } = subject.clone();
        Self { nonce, strategy: entry.name, params, bot, candles, task }
    }

    fn submit<T: DeserializeOwned + Send + 'static>(
        &self,
        command: Command,
        candles: &[Candle],
        limit: Duration,
        printed: OutputMode,
        progress: &mut dyn FnMut(u64),
    ) -> Result<T, UnfinishedCheck> {
        let bytes = encode(self, candles).map_err(|error| UnfinishedCheck::NotStarted(error.into()))?;
        supervise(command, bytes, &self.nonce, limit, printed, progress)
    }
}

pub fn answer_request(
    registry: &Registry,
    itself: &ChildProgram,
    input: &mut dyn BufRead,
) -> Result<(), anyhow::Error> {
    let (Request { nonce, strategy, params, bot, task, .. }, candles) = decode(input)?;
    let entry = registry.find(&strategy);
    let entry = entry.ok_or_else(|| anyhow::anyhow!("unknown strategy \"{strategy}\""))?.clone();
    let subject = Subject { entry, params, bot };
    report_position(nonce.clone());
    // Panics are reported as findings.
    std::panic::set_hook(Box::new(|_| {}));
    match task {
        Task::Decide { rivals, earlier } => {
            let reply = run_strategy(&subject, &candles, rivals, earlier);
            send_message(&nonce, &Message::Done(reply))?;
        }
        Task::Examine(examination) => {
            let market = examination.market.clone().map(|name| Market { name, candles });
            let mut begin = |check| {
                // Failures are ignored, because this process ends anyway if its parent has ended.
                let _ = send_message::<()>(&nonce, &Message::Begun(check));
            };
            let report = examine_in_process(&subject, market, &examination, itself, &mut begin);
            send_message(&nonce, &Message::Done(report))?;
        }
    }
    Ok(())
}

fn run_strategy(subject: &Subject, candles: &[Candle], rivals: Option<Symbol>, earlier: usize) -> Reply {
    let rivals: Vec<Subject> =
        rivals.into_iter().flat_map(|symbol| vec![subject.to_rival(symbol); 2]).collect();
    for _ in 0..earlier {
        // Failures of earlier instances do not matter.
        let _ = subject.collect_decisions(&candles[..candles.len().min(CANDLES_PER_EARLIER_INSTANCE)], &[]);
    }
    let (before, mut between) = (read_io_counters(), None);
    let decisions =
        subject.collect_decisions_with_hook(candles, &rivals, &mut || between = read_io_counters());
    let traffic = io_delta(before, between, read_io_counters());
    Reply { decisions, traffic }
}

struct IoCount {
    read: u64,
    wrote: u64,
    /// Number of bytes that this reading itself took. Only the next reading includes them.
    own: u64,
}

fn read_io_counters() -> Option<IoCount> {
    let text = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    let number = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.trim_start_matches(':').trim().parse().ok())
    };
    Some(IoCount { read: number("rchar")?, wrote: number("wchar")?, own: text.len() as u64 })
}

fn io_delta(before: Option<IoCount>, between: Option<IoCount>, after: Option<IoCount>) -> Option<IoTraffic> {
    let (before, between, after) = (before?, between?, after?);
    let read = |from: &IoCount, to: &IoCount| (to.read - from.read).saturating_sub(from.own);
    Some(IoTraffic {
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

fn decode(input: &mut dyn BufRead) -> Result<(Request, Vec<Candle>), anyhow::Error> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    let request: Request = serde_json::from_slice(&line)?;
    let mut bytes = vec![0; request.candles.saturating_mul(CANDLE_BYTES)];
    input.read_exact(&mut bytes)?;
    let (records, _) = bytes.as_chunks::<CANDLE_BYTES>();
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
    fn round_trips_candles_exactly() {
        let candles = random_walk(1, 50);
        let request = Request {
            nonce: String::new(),
            strategy: "one".to_owned(),
            params: Value::Null,
            bot: bot("BTCUSDT"),
            candles: candles.len(),
            task: Task::Decide { rivals: None, earlier: 0 },
        };
        let (read, arrived) = decode(&mut &encode(&request, &candles).unwrap()[..]).unwrap();
        assert_eq!((read.strategy.as_str(), arrived), ("one", candles));
    }
}
