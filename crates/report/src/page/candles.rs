//! Data for the script's price chart and trade list: levels of bars, and trades in columns.

use super::RunPage;
use super::bars::Level;
use super::packed::{decimals_of, letters, numbers_of};
use super::trade_columns::columns_of;
use crate::markup::visible_json;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde_json::{Value, json};
use std::io;

pub(super) struct Packed {
    pub(super) contents: Value,
    pub(super) elements: Vec<(String, String)>,
}

impl Packed {
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
}
