//! Report of imported candles that differ from the stored ones.

use crate::shell::shell_word;
use candlewick_records::utc;
use candlewick_sdk::{Millis, Series};
use std::fmt;

pub(super) struct Revised {
    pub(super) series: Series,
    pub(super) revised_end: Option<Millis>,
}

impl fmt::Display for Revised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(time) = self.revised_end {
            write!(
                f,
                "\n  warning: the last stored candle, of {}, has other values here: it was perhaps not finished when it was stored",
                utc(time)
            )?;
        }
        let Series { symbol, interval } = self.series;
        let name = format!("{symbol}@{interval}");
        write!(
            f,
            "\n  the stored values stay in force; `candlewick data check {} --fix --also revised` takes the later ones",
            shell_word(&name)
        )
    }
}
