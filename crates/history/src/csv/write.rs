//! Writes candles as CSV that reads back equal.

use super::CSV_HEADER;
use crate::HistoryError;
use crate::disk::{SystemDisk, replace_by};
use candlewick_sdk::CandleSeries;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes the header and one line per candle. Numbers are shortest round-trip.
pub fn write_csv(series: &CandleSeries, mut writer: impl Write) -> io::Result<()> {
    writeln!(writer, "{CSV_HEADER}")?;
    for candle in series.candles() {
        let (open, high, low) = (candle.open(), candle.high(), candle.low());
        let (close, volume) = (candle.close(), candle.volume());
        writeln!(writer, "{},{open},{high},{low},{close},{volume}", candle.time())?;
    }
    writer.flush()
}

pub fn write_csv_file(series: &CandleSeries, path: &Path) -> Result<(), HistoryError> {
    let written = replace_by(&SystemDisk, path, &mut |file| {
        write_csv(series, BufWriter::with_capacity(256 * 1024, file))
    });
    written.map_err(|source| HistoryError::Io { path: path.to_owned(), action: "write", source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{no_progress, read_csv, read_csv_file};
    use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Series, Symbol};
    use proptest::prelude::*;
    use std::fs;

    fn series_of(candles: Vec<Candle>) -> CandleSeries {
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval: Interval::MINUTE };
        CandleSeries::new(series, candles).unwrap()
    }

    fn candle(minute: i64, prices: [f64; 4], volume: f64) -> Candle {
        let mut sorted = prices;
        sorted.sort_by(f64::total_cmp);
        let [low, open, close, high] = sorted;
        Candle::new(Millis::MINUTE * minute, Interval::MINUTE, Ohlcv { open, high, low, close, volume })
            .unwrap()
    }

    #[test]
    fn numbers_are_written_as_short_as_they_can_be() {
        let mut text = Vec::new();
        let prices = [0.1 + 0.2, 1.0, 46_319.5, 0.000_012_5];
        write_csv(&series_of(vec![candle(1, prices, 1e9)]), &mut text).unwrap();
        let expected =
            "time,open,high,low,close,volume\n60000,0.30000000000000004,46319.5,0.0000125,1,1000000000\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn a_written_file_reads_back_and_leaves_nothing_else_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("BTCUSDT_1m.csv");
        fs::write(&path, "old").unwrap();
        let series = series_of(vec![candle(1, [1.0, 2.0, 3.0, 4.0], 5.0)]);
        write_csv_file(&series, &path).unwrap();
        let mut steps = Vec::new();
        let read = read_csv_file(&path, series.series(), &mut |at| steps.push(at)).unwrap();
        assert_eq!(read.candles(), series.candles());
        let last = steps.last().unwrap();
        assert_eq!((last.read_bytes, last.total_bytes), (48, 48));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(read_csv_file(folder.path(), series.series(), &mut no_progress).is_err(), "a folder");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_equal(
            rows in prop::collection::btree_map(
                -1_000_000_000_i64..1_000_000_000,
                (prop::array::uniform4(0_u64..0x7FEF_FFFF_FFFF_FFFF), 0_u64..0x7FEF_FFFF_FFFF_FFFF),
                1..20,
            )
        ) {
            // Every positive finite double, subnormal ones included, has its bits in this range.
            let candles: Vec<Candle> = rows
                .iter()
                .map(|(minute, (bits, volume))| {
                    candle(*minute, bits.map(|bits| f64::from_bits(bits + 1)), f64::from_bits(*volume))
                })
                .collect();
            let series = series_of(candles);
            let mut text = Vec::new();
            write_csv(&series, &mut text).unwrap();
            let read = read_csv(text.as_slice(), Path::new("x.csv"), series.series()).unwrap();
            prop_assert_eq!(read.candles(), series.candles());
        }
    }
}
