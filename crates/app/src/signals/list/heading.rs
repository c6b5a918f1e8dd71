//! Detection of lines that may name the day of the lines below.

use super::zone_names::is_one_of;

const DAY_WORDS: &str = " today tomorrow monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march \
    april may june july august september october november december jan feb mar apr jun jul aug sep oct nov dec hoje amanhã amanha segunda terça \
    terca quarta quinta sexta sábado sabado domingo janeiro fevereiro março marco abril maio junho julho agosto setembro outubro novembro \
    dezembro hoy mañana manana lunes martes miércoles miercoles jueves viernes enero febrero marzo mayo junio julio septiembre octubre \
    noviembre diciembre ";

/// Day names except *today*, because a list headed *today* may be reused every day.
const DAYS: &str = " tomorrow monday tuesday wednesday thursday friday saturday sunday amanhã amanha segunda terça terca quarta quinta \
    sexta sábado sabado domingo mañana manana lunes martes miércoles miercoles jueves viernes ";
/// Short words, which often mean something else.
const SHORT_DAY_WORDS: &str = " dez fev abr mai ago set out ene sept seg ter qua qui sex dom lun jue vie tues thur thurs dia tmrw tmr weekend \
    yesterday ontem ayer próxima proxima next ";

pub(super) fn may_name_a_day(text: &str) -> bool {
    has_date_or(DAY_WORDS, text)
}

pub(super) fn may_head_a_day(text: &str) -> bool {
    let lower = text.to_lowercase();
    let may_be = |token: &str| {
        let number =
            token.trim_end_matches("st").trim_end_matches("nd").trim_end_matches("rd").trim_end_matches("th");
        let is_digits = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        let is_day = number.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day));
        is_one_of(token, SHORT_DAY_WORDS) || (is_digits && (is_day || [6, 8].contains(&number.len())))
    };
    may_name_a_day(text)
        || lower.split(|sign: char| !(sign.is_alphanumeric() || "./-:,".contains(sign))).any(may_be)
}

/// Ignores a month without a day, since words such as *may* are ambiguous.
pub(super) fn comment_names_a_day(text: &str) -> bool {
    has_date_or(DAYS, text)
}

fn has_date_or(words: &str, text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|sign: char| !(sign.is_alphanumeric() || "./-".contains(sign))).any(|token| {
        let token = token.trim_matches(['.', '/', '-']);
        let parts: Vec<&str> = token.split(['.', '/', '-']).collect();
        is_date(token, &parts) || parts.iter().any(|part| is_one_of(part, words))
    })
}

/// Rejects `2.2`, which is how multipliers are written.
fn is_date(token: &str, parts: &[&str]) -> bool {
    let is_number =
        |part: &&str| part.bytes().all(|digit| digit.is_ascii_digit()) && (1..=4).contains(&part.len());
    let is_short = |part: &&str| part.len() <= 2;
    match parts {
        [first, second] => {
            let is_factor = token.contains('.') && first.len() == 1 && second.len() == 1;
            parts.iter().all(|part| is_number(part) && is_short(part)) && !is_factor
        }
        [_, _, _] => parts.iter().all(is_number) && parts.iter().filter(|part| !is_short(part)).count() <= 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_no_entry_may_head_a_day_in_more_ways() {
        for text in ["01 DEZ", "Dia 28", "the 28th", "28 / 11 / 2026", "28112026", "seg", "28/11", "Amanhã"]
        {
            assert!(may_head_a_day(text), "{text}");
        }
        for text in ["VIP room 24h", "100 % sure", "the rest of it", "WIN RATE 90", "-----", ""] {
            assert!(!may_head_a_day(text), "{text}");
        }
    }

    #[test]
    fn a_comment_names_a_day_by_a_date_or_a_word_that_is_one() {
        for text in [" SINAIS 28/11/2026", "amanhã", " Monday", "2026-11-28"] {
            assert!(comment_names_a_day(text), "{text}");
        }
        for text in [" it may lose", " from my channel", " 3 16:15 EURUSD CALL", " gale 2.2"] {
            assert!(!comment_names_a_day(text), "{text}");
        }
    }

    #[test]
    fn a_line_may_name_a_day_in_the_ways_in_which_chats_write_it() {
        for text in [
            "28/11",
            "28.11",
            "28-11",
            "27-11-26",
            "2026.11.28",
            " 28/11/2026 (Sat)",
            "# 28 November",
            "tomorrow",
            "Amanhã",
            "SÁBADO",
            "segunda-feira",
            "Signals of 28.11.",
            "28 nov",
        ] {
            assert!(may_name_a_day(text), "{text}");
        }
        for text in [
            "VIP room 24h",
            "100 % sure",
            "the rest of the day",
            "gale 2.2",
            "1.0850",
            "M5",
            "10:00 EURUSD CALL",
            "-----",
            "",
        ] {
            assert!(!may_name_a_day(text), "{text}");
        }
    }
}
