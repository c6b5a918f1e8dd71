//! A strategy that is known only at run time: name, parameters and words come from values, not from the program.

use crate::lines::Lines;
use crate::repetition::{busy, candles, opens};
use crate::stage::{Extremes, run};
use candlewick_backtest::BacktestSettings;
use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::serde_json::{Value, json};
use candlewick_sdk::{
    BotContext, Candle, Direction, Parameter, ReasonTemplate, Registry, Signal, Strategy, StrategyEntry,
};

struct Written {
    rsi: Rsi,
    level: f64,
    low: ReasonTemplate,
    high: ReasonTemplate,
}

impl Strategy for Written {
    fn warmup(&self) -> usize {
        self.rsi.warmup()
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        let rsi = self.rsi.update(candle.close())?;
        let of =
            |direction, words: &ReasonTemplate| Signal::with_reason(direction, words.with_numbers(&[rsi]));
        if rsi < self.level {
            Some(of(Direction::Buy, &self.low))
        } else {
            (rsi >= 100.0 - self.level).then(|| of(Direction::Sell, &self.high))
        }
    }
}

fn registry(text: &str) -> Registry {
    let (name, words) = text.split_once(": ").unwrap();
    let (words, number) = words.trim_end_matches(')').split_once(" (").unwrap();
    let words: Vec<_> = words.split(", ").map(|word| ReasonTemplate::new(word, [number])).collect();
    let entry = StrategyEntry::new(name, "1.0.0", move |values, _| {
        let rsi = Rsi::new(values["period"].as_u64().unwrap() as usize).unwrap();
        let level = values["level"].as_f64().unwrap();
        Ok(Box::new(Written { rsi, level, low: words[0].clone(), high: words[1].clone() }))
    })
    .with_parameter(Parameter::new("period", 4).within(2.0, 50.0))
    .with_parameter(Parameter::new("level", 20.0).within(0.0, 50.0));
    Registry::default().with_entry(entry).unwrap()
}

fn journal(settings: &BacktestSettings, build: impl Fn(&BotContext) -> Box<dyn Strategy>) -> Lines {
    let context = |bot: &candlewick_engine::BotSettings| BotContext {
        bot: bot.name.clone(),
        symbol: bot.symbol,
        interval: bot.interval,
        expiry: bot.expiry(),
        longer_share_percent: None,
    };
    let strategies = settings.session.bots.iter().map(|bot| build(&context(bot))).collect();
    let mut lines = Lines::default();
    run(settings, strategies, &candles(), &[], &mut lines).unwrap();
    lines
}

#[test]
fn it_trades_as_one_of_the_program_does_and_writes_the_same_journal() {
    let settings = busy();
    let registry = registry("extremes: low, high (rsi)");
    let entry = registry.find("extremes").unwrap();
    let build = |params: &Value| journal(&settings, |bot| entry.build(params, bot).unwrap());

    let program = journal(&settings, |_| Box::new(Extremes::new()));
    let written = build(&json!({ "level": 30.0 }));
    assert!(opens(&written) > 200, "{} trades", opens(&written));
    assert_eq!(written.entries, program.entries);

    let fewer = build(&json!({}));
    assert!(fewer.entries.len() < written.entries.len(), "its parameters matter");
    assert_eq!(written.hash(), program.hash());
}
