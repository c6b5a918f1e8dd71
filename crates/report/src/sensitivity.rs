//! Sensitivity of a backtest to venue settings, as text and JSON.

use crate::figure::{
    break_even_payout_text, format_number, format_percent, format_signed_percent, prefixed_lines,
};
use candlewick_records::table_text;
use candlewick_search::sensitivity::{Sensitivity, SensitivityPoint, VenueSetting};
use serde::Serialize;
use std::fmt;
use std::io;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitivityInputs {
    pub runs: u64,
    pub balance: f64,
    pub data_hash: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitivityReport {
    #[serde(flatten)]
    pub terms: SensitivityInputs,
    #[serde(flatten)]
    pub sensitivity: Sensitivity,
    pub notices: Vec<String>,
}

pub(crate) const fn setting_name(setting: VenueSetting) -> &'static str {
    match setting {
        VenueSetting::LatencyMs => "latency",
        VenueSetting::PayoutPercent => "payout",
        VenueSetting::Path => "price path",
        VenueSetting::Stress => "stress",
    }
}

fn cells(setting: VenueSetting, point: &SensitivityPoint) -> [String; 7] {
    let own = if point.is_own { " (this run)" } else { "" };
    [
        setting_name(setting).to_owned(),
        format!("{}{own}", point.label),
        format_number(point.trades),
        format_percent(point.win_rate),
        format_percent(point.break_even),
        point.return_per_unit.map_or("-".to_owned(), format_signed_percent),
        format_number(format!("{:+.2}", point.pnl)),
    ]
}

impl fmt::Display for SensitivityReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SensitivityInputs { runs, balance, .. } = &self.terms;
        writeln!(
            f,
            "Backtest repeated with {runs} venue settings, one change at a time; initial balance {}\n",
            format_number(format!("{balance:.2}"))
        )?;
        let header = ["setting", "value", "trades", "win rate", "break-even", "expectancy", "profit"];
        let curves = self.sensitivity.curves.iter();
        let rows = curves.flat_map(|curve| curve.points.iter().map(move |point| cells(curve.setting, point)));
        writeln!(f, "{}\n", table_text(header, rows))?;
        match self.sensitivity.break_even_payout_percent {
            Some(payout) => write!(f, "break-even payout: {}", break_even_payout_text(payout))?,
            None => f.write_str("break-even payout: none between 60 and 92 %")?,
        }
        f.write_str(&prefixed_lines("note: ", &self.notices))
    }
}

pub fn write_points(sensitivity: &Sensitivity, to: &mut Vec<u8>) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(to);
    let header = "setting,value,number,is_own,trades,win_rate,break_even,return_per_unit,pnl";
    writer.write_record(header.split(','))?;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for curve in &sensitivity.curves {
        for point in &curve.points {
            let SensitivityPoint { label, value, is_own, trades, pnl, .. } = point;
            writer.write_record([
                setting_name(curve.setting).to_owned(),
                label.clone(),
                number(*value),
                is_own.to_string(),
                trades.to_string(),
                number(point.win_rate),
                number(point.break_even),
                number(point.return_per_unit),
                pnl.to_string(),
            ])?;
        }
    }
    writer.flush()
}
