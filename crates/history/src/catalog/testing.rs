//! Test helpers of the catalog: minute candles and a failing disk.

use super::Origin;
use crate::disk::{Disk, SystemDisk};
use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Series};
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Open time in minutes, and price.
pub(super) type Row = (i64, u32);

pub(super) fn series() -> Series {
    Series { symbol: "BTC/USDT".parse().unwrap(), interval: Interval::MINUTE }
}

pub(super) fn candle((minute, price): Row) -> Candle {
    let price = f64::from(price);
    let numbers = Ohlcv { open: price, high: price + 1.0, low: price, close: price, volume: 1.0 };
    Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
}

pub(super) fn candles(rows: &[Row]) -> Vec<Candle> {
    rows.iter().copied().map(candle).collect()
}

pub(super) fn rows(candles: &[Candle]) -> Vec<Row> {
    candles.iter().map(|candle| (candle.time().get() / 60_000, candle.open() as u32)).collect()
}

pub(super) fn origin(minute: i64) -> Origin {
    Origin {
        source: "test".to_owned(),
        licence: None,
        fetched_at: Millis::MINUTE * minute,
        files: Vec::new(),
    }
}

/// A disk that crashes after a number of steps, halfway through the last one.
///
/// It asserts that nothing is renamed before it is durable, and that the manifest is written last.
pub(super) struct FailingDisk {
    state: Mutex<State>,
}

struct State {
    steps: u32,
    open: PathBuf,
    volatile: HashSet<PathBuf>,
}

impl FailingDisk {
    pub(super) fn after(steps: u32) -> Self {
        Self { state: Mutex::new(State { steps, open: PathBuf::new(), volatile: HashSet::new() }) }
    }

    pub(super) fn has_crashed(&self) -> bool {
        self.state.lock().unwrap().steps == 0
    }

    fn step(&self, act: impl FnOnce(&mut State) -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.steps = state.steps.saturating_sub(1);
        if state.steps == 0 {
            return Err(io::Error::other("the machine has crashed"));
        }
        act(&mut state)
    }
}

impl Disk for FailingDisk {
    fn create(&self, path: &Path) -> io::Result<File> {
        self.step(|state| {
            state.open = path.to_owned();
            state.volatile.insert(path.to_owned());
            Ok(())
        })?;
        SystemDisk.create(path)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.step(|_| Ok(())) {
            file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        SystemDisk.write(file, bytes)
    }

    fn sync(&self, _file: &File) -> io::Result<()> {
        self.step(|state| {
            let open = state.open.clone();
            state.volatile.remove(&open);
            Ok(())
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|state| {
            assert!(!state.volatile.contains(from), "{} is renamed before it is durable", from.display());
            let is_manifest = to.ends_with("manifest.json");
            assert!(!is_manifest || state.volatile.is_empty(), "{:?} may be lost", state.volatile);
            state.volatile.insert(to.to_owned());
            SystemDisk.rename(from, to)
        })
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step(|state| {
            state.volatile.retain(|path| path.parent() != Some(folder));
            Ok(())
        })
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|_| SystemDisk.remove(path))
    }
}
