//! Summary of a sweep for the report of a guided search.

use super::{BestLine, SweepReport};
use crate::figure::percent;
use crate::page::DataTable;
use crate::value::short;
use candlewick_records::counted;
use candlewick_search::sweep::Luck;

impl SweepReport {
    pub(crate) fn brief(&self) -> String {
        let sets = format!(
            "{} by {}, of which {} count",
            counted(self.trials, "set", "sets"),
            self.search,
            self.counting
        );
        let Some(best) = self.best.first() else {
            return format!("{sets}: none has enough trades to be chosen");
        };
        let BestLine { score, p_value_corrected, figures, .. } = best;
        let chance = p_value_corrected
            .map_or(String::new(), |p_value| format!("; p-value {p_value:.4} as the best of these sets"));
        format!(
            "{sets}. Best: {} ({} {}, {} trades, win rate {} where {} is needed{chance})",
            self.set_words(best),
            self.by.title(),
            self.by.words(*score),
            figures.trades,
            percent(figures.win_rate),
            percent(figures.break_even),
        )
    }

    pub(crate) fn luck_words(&self) -> Option<&'static str> {
        self.luck.as_ref().map(Luck::reading)
    }

    pub(crate) const fn variants(&self) -> Option<u64> {
        self.variants_tried
    }

    pub(crate) const fn tried(&self) -> usize {
        self.trials
    }

    /// Returns the notices except the number of variants, which later steps increase.
    pub(crate) fn notes(&self) -> impl Iterator<Item = &String> {
        self.notices.iter().filter(|notice| self.of_variants.as_ref() != Some(notice))
    }

    pub(crate) fn best_table(&self) -> DataTable {
        let mut header = vec!["rank".to_owned()];
        header.extend(self.parameters.iter().cloned());
        header.push(self.by.title().to_owned());
        header.extend(["trades", "win rate", "needed", "corrected p", "pnl"].map(str::to_owned));
        let row = |line: &BestLine| {
            let mut row = vec![line.rank.to_string()];
            row.extend(self.parameters.iter().filter_map(|name| line.parameters.get(name)).map(short));
            row.push(self.by.words(line.score));
            let figures = &line.figures;
            row.extend([
                figures.trades.to_string(),
                percent(figures.win_rate),
                percent(figures.break_even),
                line.p_value_corrected.map_or("-".to_owned(), |p_value| format!("{p_value:.4}")),
                format!("{:+.2}", figures.pnl),
            ]);
            row
        };
        DataTable { header, rows: self.best.iter().map(row).collect() }
    }

    fn set_words(&self, line: &BestLine) -> String {
        let named = self.parameters.iter().filter_map(|name| Some((name, line.parameters.get(name)?)));
        named.map(|(name, value)| format!("{name} {}", short(value))).collect::<Vec<_>>().join(", ")
    }
}
