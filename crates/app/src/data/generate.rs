//! Candles out of a seed, into a file or the catalog.

use super::Existing;
use crate::error::AppError;
use crate::progress::Progress;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::{
    AssetType, BadRows, CandleFile, Catalog, GenerateSettings, Origin, Regime, asset_type_of, data_hash,
    generate, known_market, with_gaps, write_csv_file,
};
use candlewick_sdk::{CandleSeries, Interval, Millis, Series, Symbol};
use serde_json::{Value, json};
use std::fmt;
use std::path::{Path, PathBuf};

/// Volatility of one-minute moves of a pair that is not well known.
const USUAL_VOLATILITY: f64 = 0.000_5;

/// What to make; what is left out is known of well-known pairs.
#[derive(Clone, Debug)]
pub struct GenerateTerms {
    /// Name of the pair; it takes part in the randomness.
    pub symbol: Symbol,
    /// By the name when left out.
    pub asset_type: Option<AssetType>,
    /// Length of the candles, a multiple of 5s.
    pub interval: Interval,
    /// Open time of the first candle.
    pub start: Millis,
    /// How many days to make.
    pub days: u32,
    /// Keep only that many days at the end.
    pub last_days: Option<u32>,
    /// The same seed makes the same candles.
    pub seed: u64,
    /// Step of the prices.
    pub tick: Option<f64>,
    /// First price.
    pub price: Option<f64>,
    /// Standard deviation of one-minute moves, as a fraction of the price.
    pub volatility: Option<f64>,
    /// How the market behaves.
    pub regime: Regime,
}

/// What is made wrong on purpose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Defects {
    /// So many stretches of one to ten candles are missing.
    pub gaps: u32,
    /// So many rows of a file are bad, one of each kind that a check knows, and from the beginning.
    pub bad_rows: u32,
}

/// Where generated candles go.
#[derive(Clone, Copy, Debug)]
pub enum GenerateTarget<'a> {
    /// A CSV file in this folder.
    Folder(&'a Path),
    /// A series of this catalog.
    Catalog(&'a Catalog),
}

/// Candles that were made.
pub struct Generated {
    file: PathBuf,
    candles: CandleSeries,
    settings: GenerateSettings,
    defects: Defects,
}

/// Makes candles and writes them.
///
/// # Errors
/// Settings that are missing or out of range, a file or series that is there already, or what cannot be written.
pub fn generate_candles(
    terms: &GenerateTerms,
    defects: Defects,
    (target, existing): (GenerateTarget<'_>, Existing),
    progress: &dyn Progress,
) -> Result<Generated, AppError> {
    let settings = terms.settings()?;
    let series = Series { symbol: settings.symbol, interval: settings.interval };
    let file = place_of(target, series, existing)?;
    let _spinner = progress.spinner(&format!("Making {series}"));
    let candles = with_gaps(&generate(&settings)?, defects.gaps, settings.seed)?;
    match target {
        GenerateTarget::Catalog(catalog) => put(catalog, &candles, &settings)?,
        GenerateTarget::Folder(_) if defects.bad_rows == 0 => write_csv_file(&candles, &file)?,
        GenerateTarget::Folder(_) => {
            BadRows::new(candles.clone(), defects.bad_rows, settings.seed)?.write_csv_file(&file)?;
        }
    }
    Ok(Generated { file, candles, settings, defects })
}

/// Where the candles will be: refused before they are made, where something is there that is to be kept.
fn place_of(target: GenerateTarget<'_>, series: Series, existing: Existing) -> Result<PathBuf, AppError> {
    let (place, what) = match target {
        GenerateTarget::Catalog(catalog) => {
            let place = catalog.folder().to_owned();
            let is_there = catalog.manifest(series)?.is_some();
            (place, is_there.then(|| series.to_string()))
        }
        GenerateTarget::Folder(folder) => {
            let place = CandleFile::in_folder(folder, series)?.path;
            let is_there = place.exists();
            (place, is_there.then(|| "the file".to_owned()))
        }
    };
    if let (Some(what), Existing::Kept) = (what, existing) {
        let help =
            "--force replaces it, in a catalog as a new version; --out and --catalog take another folder";
        return Err(AppError::invalid(format!("{}: {what} is there already", place.display())).help(help));
    }
    if let GenerateTarget::Folder(folder) = target {
        std::fs::create_dir_all(folder).map_err(|error| {
            AppError::data(format!("--out: cannot make the folder {}", folder.display())).because(error)
        })?;
    }
    Ok(place)
}

/// As a version of its own: candles of another seed are no revisions of these.
fn put(catalog: &Catalog, candles: &CandleSeries, settings: &GenerateSettings) -> Result<(), AppError> {
    let source = origin_of(settings);
    let fetched_at = SystemClock::new().now();
    let origin = Origin { source: source.clone(), licence: None, fetched_at, files: Vec::new() };
    catalog.add_version(candles, &source, &origin)?;
    Ok(())
}

/// What the candles are, in a few words.
fn origin_of(settings: &GenerateSettings) -> String {
    match settings.regime {
        Regime::Mixed => format!("synthetic, seed {}", settings.seed),
        regime => format!("synthetic, {regime}, seed {}", settings.seed),
    }
}

impl GenerateTerms {
    fn settings(&self) -> Result<GenerateSettings, AppError> {
        let symbol = self.symbol;
        let known = known_market(symbol);
        let needed = |flag: &str, given: Option<f64>, usual: Option<f64>| {
            given.or(usual).ok_or_else(|| {
                let problem = format!("--{flag} is missing: {symbol} is not a well-known pair");
                AppError::invalid(problem).help("for example: --tick 0.01 --price 100")
            })
        };
        let usual_volatility = known.map_or(USUAL_VOLATILITY, |market| market.volatility);
        Ok(GenerateSettings {
            symbol,
            asset_type: self.asset_type.unwrap_or_else(|| asset_type_of(symbol)),
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

impl Generated {
    /// For machines.
    pub fn document(&self) -> Value {
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

impl fmt::Display for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, candles, settings, defects } = self;
        let count = candles.candles().len();
        let origin = origin_of(settings);
        write!(f, "{}: {count} candles of {}, {origin}", file.display(), candles.series())?;
        match *defects {
            Defects { gaps: 0, bad_rows: 0 } => Ok(()),
            Defects { gaps, bad_rows } => write!(f, ", {gaps} gaps, {bad_rows} bad rows"),
        }
    }
}
