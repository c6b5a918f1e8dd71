//! Parsing of typed amounts and percentages.

const BALANCE: f64 = 10_000.0;
/// Default daily loss limit in stakes, and as a maximum fraction of the balance.
const STAKES_A_DAY: f64 = 20.0;
const MOST_OF_BALANCE: f64 = 0.2;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TypedStake {
    Amount(f64),
    Percent(f64),
}

impl TypedStake {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (number, is_percent) = text.trim().strip_suffix('%').map_or((text, false), |rest| (rest, true));
        let number = number.trim().parse().ok().filter(|number| f64::is_finite(*number)).ok_or_else(|| {
            format!("the stake \"{text}\" is no number: write an amount such as 10.0, or a part of the balance such as 2%")
        })?;
        Ok(if is_percent { Self::Percent(number) } else { Self::Amount(number) })
    }

    pub(super) fn table(self) -> String {
        match self {
            Self::Amount(amount) => format!("{{ kind = \"fixed\", amount = {amount:?} }}"),
            Self::Percent(percent) => format!("{{ kind = \"share\", percent = {percent:?} }}"),
        }
    }

    pub(super) fn daily_loss(self) -> String {
        let loss = match self {
            Self::Amount(amount) => amount * STAKES_A_DAY,
            Self::Percent(percent) => {
                (percent / 100.0 * BALANCE * STAKES_A_DAY).min(BALANCE * MOST_OF_BALANCE).round()
            }
        };
        format!("{loss:?}")
    }
}

pub(super) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim().parse::<f64>();
    let number = number.ok().filter(|number| number.is_finite());
    number
        .ok_or_else(|| format!("the payout \"{text}\" is no number: write percent of the stake, such as 80"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stake_is_an_amount_or_a_part_of_the_balance() {
        for (text, table, daily_loss) in [
            ("10", "{ kind = \"fixed\", amount = 10.0 }", "200.0"),
            ("0.5", "{ kind = \"fixed\", amount = 0.5 }", "10.0"),
            ("5 %", "{ kind = \"share\", percent = 5.0 }", "2000.0"),
            ("0.5%", "{ kind = \"share\", percent = 0.5 }", "1000.0"),
        ] {
            let stake = TypedStake::parse(text).unwrap();
            assert_eq!((stake.table().as_str(), stake.daily_loss().as_str()), (table, daily_loss));
        }
        for text in ["much", "5 percent", "", "%", "nan", "10,5"] {
            assert!(TypedStake::parse(text).unwrap_err().contains("is no number"), "{text}");
        }
        assert_eq!((percent("85 %"), percent("85")), (Ok(85.0), Ok(85.0)));
        assert!(percent("inf").is_err());
    }
}
