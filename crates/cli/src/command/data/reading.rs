//! Arguments for reading files of other programs, shared by `data import` and `data check`.

use candlewick_history::{
    BarTime, ClockChange, ColumnRoles, DateOrder, DecimalMark, Delimiter, ImportFormat, ImportSettings,
    TableSettings, Zone,
};
use candlewick_sdk::{Interval, Symbol};
use clap::Args;

/// What a file may not say of itself.
#[derive(Debug, Args)]
#[command(next_help_heading = "What a file may not say")]
pub(crate) struct ReadingArguments {
    /// Format of the files: csv, parquet, binance, histdata, dukascopy, mt4, mt5, yahoo, freqtrade-json, feather, or table for text in any columns; found from the content when left out
    #[arg(long)]
    format: Option<ImportFormat>,
    /// Name of the pair; found from the file's name when left out
    #[arg(long)]
    symbol: Option<Symbol>,
    /// Length of the candles; found from the content, the file's name or the distance of the rows when left out
    #[arg(long)]
    interval: Option<Interval>,
    /// Read only rows with this symbol or interval, by the file's column for it; repeat it, or put commas between
    #[arg(long, value_name = "VALUE", value_delimiter = ',')]
    only: Vec<String>,
    /// Time zone of the file's times: UTC, a distance from it such as +02:00, or a place such as America/New_York
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true)]
    timezone: Option<Zone>,
    /// Times that the clock of that zone shows twice or never: strict, earlier, later, pairs or skip
    #[arg(long, value_name = "RULE", default_value = "strict")]
    clock_change: ClockChange,
    /// What bars are stamped with: the time of their open or of their close
    #[arg(long, value_name = "END", default_value = "open")]
    stamped: BarTime,
    /// What the columns of a table are, from the left: time, date, clock, open, high, low, close, volume, and - for one that is left out; found by their names when left out
    #[arg(long, allow_hyphen_values = true, value_name = "NAMES")]
    columns: Option<ColumnRoles>,
    /// What separates the columns of a table: comma, semicolon, tab, bar or space; found from the first line when left out
    #[arg(long, value_name = "NAME")]
    delimiter: Option<Delimiter>,
    /// What stands before the decimals in a table: point or comma; found from its numbers when left out
    #[arg(long, value_name = "MARK")]
    decimal: Option<DecimalMark>,
    /// How dates such as 02/01/2024 begin: day-first or month-first; found from the other dates when left out
    #[arg(long, value_name = "ORDER")]
    date_order: Option<DateOrder>,
    /// File inside a zip archive that holds several
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
}

impl ReadingArguments {
    pub(super) fn settings(&self) -> ImportSettings {
        ImportSettings {
            format: self.format,
            symbol: self.symbol,
            interval: self.interval,
            only: self.only.clone(),
            zone: self.timezone,
            clock_change: self.clock_change,
            stamped: self.stamped,
            table: TableSettings {
                columns: self.columns.clone(),
                delimiter: self.delimiter,
                decimal: self.decimal,
                date_order: self.date_order,
            },
            entry: self.entry.clone(),
            ..ImportSettings::default()
        }
    }
}
