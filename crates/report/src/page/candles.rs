//! Candles with the trades on them: levels of bars for the script to choose from, and the trades in columns.

use super::RunPage;
use super::bars::Level;
use super::packed::{decimals_of, letters, numbers_of};
use super::trade_columns::columns_of;
use crate::markup::visible_json;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value, json};
use std::io;

/// All that the script needs, in letters.
pub(super) struct Packed {
    /// What there is: the series with their levels, the bots.
    pub(super) contents: Value,
    /// The levels and the trades by the names of their elements.
    pub(super) elements: Vec<(String, String)>,
}

impl Packed {
    /// Of the candles and trades of a run.
    ///
    /// # Errors
    /// None that memory has not.
    pub(super) fn of(page: &RunPage<'_>) -> io::Result<Self> {
        let mut elements = Vec::new();
        let mut series = Vec::new();
        for (number, one) in page.candles.iter().enumerate() {
            let levels = Level::all_of(one.candles(), one.interval());
            let decimals = decimals_of(&levels[0]);
            let packed = levels.par_iter().map(|level| numbers_of(level, decimals).to_letters());
            let packed = packed.collect::<io::Result<Vec<String>>>()?;
            let names: Vec<String> =
                (0..levels.len()).map(|level| format!("candles-{number}-{level}")).collect();
            let levels_of = levels.iter().zip(&names);
            let levels_of = levels_of.map(
                |(level, name)| json!({ "id": name, "length": level.length_ms, "count": level.bars.len() }),
            );
            series.push(json!({
                "name": one.series().to_string(),
                "decimals": decimals,
                "start": one.start(),
                "end": one.end(),
                "levels": levels_of.collect::<Vec<Value>>(),
            }));
            elements.extend(names.into_iter().zip(packed));
        }
        let of_bot = |bot: &candlewick_engine::BotSettings| {
            let place = page.candles.iter().position(|one| one.series() == bot.series());
            json!({ "name": bot.name, "series": place })
        };
        let bots: Vec<Value> = page.trades.bots.iter().map(of_bot).collect();
        let trades = visible_json(&columns_of(&page.rows, &page.trades)).to_string();
        elements.push(("trades".to_owned(), letters(trades.as_bytes())?));
        let decimals = page.trades.scale.decimals();
        let contents = json!({ "series": series, "bots": bots, "trades": page.rows.len(), "money": decimals,
            "settings": page.settings });
        Ok(Self { contents, elements })
    }

    pub(super) fn section(&self) -> String {
        let head = "<section id=\"candles\"><h2>Candles and trades</h2>";
        if self.contents["series"].as_array().is_none_or(Vec::is_empty) {
            return format!("{head}<p class=\"none\">There are no candles.</p></section>");
        }
        format!(
            "{head}<p>Drag to move, turn the wheel to zoom, point at a mark to read its trade. From far away a bar is many \
             candles, from their first open to their last close, as high and as low as any of them, and trades are \
             counted.</p>\
             <div class=\"controls\" id=\"controls\"></div>\
             <div class=\"plot\" id=\"chart\" role=\"img\" aria-label=\"Candles with the trades of the run\" \
             style=\"height:520px\"></div><p class=\"status\" id=\"status\" role=\"status\"></p>\
             <div class=\"wide\" id=\"seen\"></div></section>"
        )
    }
}
