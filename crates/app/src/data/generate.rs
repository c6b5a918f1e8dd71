//! Generates synthetic candles from a seed, and writes them to a file or to the catalog.

use super::{IfExists, build_origin, generated};
use crate::error::{AppError, Result};
use crate::progress::Progress;
use candlewick_history::{
    AssetType, BadRows, CandleFile, Catalog, GenerateSettings, Regime, data_hash, expected_asset_type,
    generate, known_market, with_gaps, write_csv_file,
};
use candlewick_sdk::{CandleSeries, Interval, Millis, Series, Symbol};
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

const DEFAULT_VOLATILITY: f64 = 0.000_5;

#[derive(Clone, Debug)]
pub struct GenerateOptions {
    pub symbol: Symbol,
    pub asset_type: Option<AssetType>,
    /// Candle interval, a multiple of 5 s.
    pub interval: Interval,
    pub start: Millis,
    pub days: u32,
    pub last_days: Option<u32>,
    pub seed: u64,
    pub tick: Option<f64>,
    pub price: Option<f64>,
    /// Standard deviation of one-minute moves, as a fraction of the price.
    pub volatility: Option<f64>,
    pub regime: Regime,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Defects {
    /// Number of gaps of one to ten candles.
    pub gaps: u32,
    /// Number of bad rows. Their defects cycle through the problems that `data check` reports.
    pub bad_rows: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum GenerateTarget<'a> {
    Folder(&'a Path),
    Catalog(&'a Catalog),
}

pub struct GeneratedCandles {
    file: PathBuf,
    candles: CandleSeries,
    settings: GenerateSettings,
    defects: Defects,
}

pub fn generate_candles(
    terms: &GenerateOptions,
    defects: Defects,
    (target, existing): (GenerateTarget<'_>, IfExists),
    progress: &dyn Progress,
) -> Result<GeneratedCandles> {
    let settings = terms.settings()?;
    let series = Series { symbol: settings.symbol, interval: settings.interval };
    let file = output_path(target, series, existing)?;
    let _spinner = progress.spinner(&format!("Generating {series}"));
    let candles = with_gaps(&generate(&settings)?, defects.gaps, settings.seed)?;
    match target {
        GenerateTarget::Catalog(catalog) => {
            // Always adds a new version, because candles of another seed are not revisions.
            let source = describe_origin(&settings);
            catalog.add_version(&candles, &source, &build_origin(source.clone()))?;
        }
        GenerateTarget::Folder(_) if defects.bad_rows == 0 => write_csv_file(&candles, &file)?,
        GenerateTarget::Folder(_) => {
            // Candles with bad rows must be repaired before a run can use them.
            BadRows::new(candles.clone(), defects.bad_rows, settings.seed)?.write_csv_file(&file)?;
        }
    }
    if let Err(error) = generated::record(&candles, settings, defects.gaps) {
        tracing::warn!("runs will not recognize these candles as synthetic: {error}");
    }
    Ok(GeneratedCandles { file, candles, settings, defects })
}

fn output_path(target: GenerateTarget<'_>, series: Series, existing: IfExists) -> Result<PathBuf> {
    let (place, what, is_there) = match target {
        GenerateTarget::Catalog(catalog) => {
            (catalog.folder().to_owned(), series.to_string(), catalog.manifest(series)?.is_some())
        }
        GenerateTarget::Folder(folder) => {
            let place = CandleFile::in_folder(folder, series)?.path;
            let is_there = place.exists();
            (place, "the file".to_owned(), is_there)
        }
    };
    if is_there && existing == IfExists::Kept {
        let help =
            "--force replaces a file, or adds a catalog version; --out and --catalog choose another folder";
        return Err(AppError::invalid(format!("{}: {what} already exists", place.display())).with_help(help));
    }
    if let GenerateTarget::Folder(folder) = target {
        std::fs::create_dir_all(folder).map_err(|error| {
            AppError::data(format!("--out: cannot create the folder {}", folder.display())).with_source(error)
        })?;
    }
    Ok(place)
}

fn describe_origin(settings: &GenerateSettings) -> String {
    match settings.regime {
        Regime::Mixed => format!("synthetic, seed {}", settings.seed),
        regime => format!("synthetic, {regime}, seed {}", settings.seed),
    }
}

impl GenerateOptions {
    fn settings(&self) -> Result<GenerateSettings> {
        let symbol = self.symbol;
        let known = known_market(symbol);
        let needed = |flag: &str, given: Option<f64>, usual: Option<f64>| {
            given.or(usual).ok_or_else(|| {
                let problem = format!("--{flag} is required because {symbol} is not a well-known pair");
                AppError::invalid(problem).with_help("for example: --tick 0.01 --price 100")
            })
        };
        let usual_volatility = known.map_or(DEFAULT_VOLATILITY, |market| market.volatility);
        Ok(GenerateSettings {
            symbol,
            asset_type: self.asset_type.unwrap_or_else(|| expected_asset_type(symbol)),
            interval: self.interval,
            start: self.start,
            days: self.days,
            last_days: self.last_days,
            seed: self.seed,
            tick: needed("tick", self.tick, known.map(|market| market.tick))?,
            start_price: needed("price", self.price, known.map(|market| market.usual_price))?,
            volatility: self.volatility.unwrap_or(usual_volatility),
            regime: self.regime,
        })
    }
}

impl GeneratedCandles {
    pub fn to_json(&self) -> Value {
        let Self { file, candles, settings, defects } = self;
        json!({
            "file": file,
            "symbol": candles.symbol(),
            "interval": candles.interval(),
            "candles": candles.candles().len(),
            "start": candles.start(),
            "end": candles.end(),
            "regime": settings.regime.to_string(),
            "gaps": defects.gaps,
            "bad_rows": defects.bad_rows,
            "data_hash": data_hash(std::slice::from_ref(candles)).to_hex().as_str(),
        })
    }
}

impl fmt::Display for GeneratedCandles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, candles, settings, defects } = self;
        let count = candles.candles().len();
        let origin = describe_origin(settings);
        write!(f, "{}: {count} candles of {}, {origin}", file.display(), candles.series())?;
        match *defects {
            Defects { gaps: 0, bad_rows: 0 } => Ok(()),
            Defects { gaps, bad_rows } => write!(f, ", {gaps} gaps, {bad_rows} bad rows"),
        }
    }
}
