//! Page section that compares each trade gate with trading every signal and with random gates.

use super::chart::{Axis, Chart, Charts, Layer, Pane, render_table_details};
use super::{DataTable, RunPage};
use crate::analysis::{Bin, BinAlignment, histogram};
use crate::edge::GatedBot;
use crate::figure::{capitalise, format_number, format_percent, format_signed_percent, or_dash};
use crate::markup::escape_html;
use crate::run::GateLine;
use std::fmt::Write as _;

pub(super) fn section(page: &RunPage<'_>, charts: &mut Charts) -> String {
    if page.gates.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<section id=\"gates\"><h2>Effect of the gate</h2><p>The comparison includes all signals, even those that a \
         limit rejected. If trades are independent, a gate reduces their number, but does not improve the return.</p>",
    );
    for (number, gate) in page.gates.iter().enumerate() {
        text.push_str(&gate.render(number, charts));
    }
    text + "</section>"
}

impl GateLine {
    fn render(&self, number: usize, charts: &mut Charts) -> String {
        let GatedBot { bot, mean_of_real_trades, .. } = &self.evaluation;
        let mut text = format!("<h3>{}: {}</h3>", escape_html(bot), escape_html(&self.gate));
        let _ = write!(
            text,
            "<p><b>{}.</b> {}</p>{}",
            capitalise(self.evaluation.describe()),
            self.luck_text(),
            self.table().to_markup()
        );
        if let Some(mean) = mean_of_real_trades {
            text.push_str(&self.chart(number, *mean, charts));
        }
        text
    }

    fn table(&self) -> DataTable {
        let GatedBot { trades, real, mean_of_all_trades, mean_of_real_trades, gain, random_95, .. } =
            &self.evaluation;
        let range = |[low, high]: [f64; 2]| {
            format!("{} to {}", format_signed_percent(low), format_signed_percent(high))
        };
        let [trades, real] = [trades, real].map(format_number);
        let [of_real, gain] = [mean_of_real_trades, gain].map(|mean| or_dash(*mean, format_signed_percent));
        let gains = random_95.map(|ends| ends.map(|end| end - mean_of_all_trades));
        let [of_random, gains] = [*random_95, gains].map(|ends| or_dash(ends, range));
        let rows = [
            ["all signals", &trades, &format_signed_percent(*mean_of_all_trades), "–"],
            ["passed by the gate", &real, &of_real, &gain],
            ["same number of random signals (95 % range)", &real, &of_random, &gains],
        ];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec()).to_vec();
        DataTable::new(["traded", "signals", "return, % of stake", "gain"], rows)
    }

    fn luck_text(&self) -> String {
        let GatedBot { p_random, p_shuffled, trades, real, .. } = &self.evaluation;
        let share = format_percent(*real as f64 / (*trades).max(1) as f64);
        let payout = self.payout_percent;
        let Some((p_random, p_shuffled)) = p_random.zip(*p_shuffled) else {
            return format!("The payout is {payout:.0} %.");
        };
        format!(
            "The gate passed {share} of the signals at a payout of {payout:.0} %. With shuffled results, the gate \
             does at least as well with probability {p_shuffled:.4}; judge the gate by this p-value. The same \
             number of random signals does at least as well with probability {p_random:.4}. Each p-value is \
             based on {} draws (seed {}). The best of many gates is partly luck.",
            self.draws, self.seed
        )
    }

    fn chart(&self, number: usize, mean: f64, charts: &mut Charts) -> String {
        let means: Vec<f64> = self.random_means.iter().map(|mean| mean * 100.0).collect();
        let bins = histogram(&means, BinAlignment::Unaligned);
        let Some(last) = bins.last() else { return String::new() };
        let edges = bins.iter().map(|bin| bin.from).chain([last.to]).collect();
        let counts = bins.iter().map(|bin| bin.count).collect();
        let at = mean * 100.0;
        let layers = vec![
            Layer::Bars { name: "random gates".to_owned(), edges, counts },
            Layer::Upright { name: format!("this gate {at:+.2} %"), at },
        ];
        let pane = Pane { title: "Random gates".to_owned(), height: 210, decimals: 0, unit: "", layers };
        let axis = Axis::Number { title: "return of passed signals, % of stake".to_owned() };
        let label = format!(
            "Returns of random gates that pass the same number of signals; this gate returned {at:+.2} %"
        );
        let chart = charts.add(&format!("gate-{number}"), &label, &Chart { axis, panes: vec![pane] });
        let row = |bin: &Bin| vec![format!("{:+.2} to {:+.2}", bin.from, bin.to), format_number(bin.count)];
        let rows = bins.iter().filter(|bin| bin.count > 0).map(row).collect();
        let table = DataTable::new(["return, % of stake", "random gates"], rows);
        format!("<figure>{chart}{}</figure>", render_table_details("As a table", &table))
    }
}
