//! Recognition of the cells of lines without a header, and of entries spread over several lines.

use super::above::struck_out;
use super::columns::{Cells, Column, ListBots};
use super::lines::is_like_entry;
use super::split::{BEHIND_A_GALE, is_number, label_of, plain, speaks_of_gales_alone, split, take_gales};
use super::time::{WrittenDate, time_of_day, timeframe};
use crate::signals::message::direction_of;
use candlewick_sdk::Direction;

const ARROWS_UP: [char; 5] = ['\u{2b06}', '\u{2191}', '\u{1f53c}', '\u{2197}', '\u{2934}'];
const ARROWS_DOWN: [char; 5] = ['\u{2b07}', '\u{2193}', '\u{1f53d}', '\u{2198}', '\u{2935}'];
const GREEN: char = '\u{1f7e2}';
const RED: char = '\u{1f534}';
const CHARTS: [char; 3] = ['\u{1f4c8}', '\u{1f4c9}', '\u{1f4ca}'];
const CROSSES: &str =
    "\u{274c}\u{274e}\u{1f6ab}\u{1f6d1}\u{1f6b7}\u{1f5d1}\u{26d4}\u{23f8}\u{1f44e}\u{2716}\u{2717}\u{2718}";
/// Number of lines of an entry with pair, time, direction and expiry in lines of their own.
const BLOCK_LINES: std::ops::RangeInclusive<usize> = 3..=6;
const WHOLE: [&[Column]; 4] =
    [&[Column::Symbol, Column::Bot], &[Column::Time], &[Column::Direction], &[Column::Expiry]];

pub(super) enum Shown {
    Entry(Box<Cells>, Vec<Column>),
    Gale,
    Nothing,
}

pub(super) fn shown_cells(text: &str, bots: &ListBots<'_>) -> Result<Shown, String> {
    let has_picture = arrow_of(text)?.is_some() || circle_of(text)?.is_some();
    if !has_picture && speaks_of_gales_alone(&split(text, bots)) {
        return Ok(Shown::Gale);
    }
    shown_in(&[text], bots)
}

pub(super) fn shown_in(texts: &[impl AsRef<str>], bots: &ListBots<'_>) -> Result<Shown, String> {
    let (mut line, mut has_gale) = (Vec::new(), false);
    for text in texts {
        let mut own = split(text.as_ref(), bots);
        if has_gale && own.iter().any(|cell| time_of_day(cell).is_some()) {
            return Err(BEHIND_A_GALE.to_owned());
        }
        has_gale |= take_gales(&mut own)?;
        line.append(&mut own);
    }
    if line.is_empty() {
        return Ok(if has_gale { Shown::Gale } else { Shown::Nothing });
    }
    let (mut cells, mut columns) = (Cells { is_shown: true, has_gale, ..Cells::default() }, Vec::new());
    let mut label: Option<(&str, &[Column])> = None;
    let mut place = 0;
    for cell in &line {
        if let Some(columns) = label_of(cell) {
            if let Some((label, _)) = label.replace((cell, columns)) {
                return Err(nothing_behind(label));
            }
            continue;
        }
        place += 1;
        let labelled = label.take();
        let minutes = labelled.and_then(|(_, columns)| minutes_of(cell, columns));
        let cell = minutes.as_ref().unwrap_or(cell);
        let column = Column::of(cell, bots)?;
        if let Some((label, columns)) = labelled.filter(|(_, columns)| !columns.contains(&column)) {
            let what = columns.first().map(|column| column.one()).unwrap_or_default();
            return Err(format!("{cell:?} stands behind {label:?} and is not {what}"));
        }
        if let Some(earlier) = columns.iter().position(|known| *known == column) {
            // CALL (BUY)
            if column == Column::Direction && direction_of(cell) == direction_of(&cells.texts[3]) {
                continue;
            }
            let (one, what) = (earlier + 1, column.one());
            let cure = if column == Column::Time { "; an expiry is written M5" } else { "" };
            return Err(format!("columns {one} and {place} are both {what}: leave one of them out{cure}"));
        }
        columns.push(column);
        match column {
            Column::Date => cells.date = WrittenDate::parse(cell),
            Column::Expiry => {
                cells.texts[4] = timeframe(cell).map(|own| own.to_string()).unwrap_or_default();
            }
            // The texts have no date.
            column => cells.texts[column as usize - 1].clone_from(cell),
        }
    }
    if let Some((label, _)) = label {
        return Err(nothing_behind(label));
    }
    for text in texts {
        add_pictures(text.as_ref(), bots, &mut cells, &mut columns)?;
    }
    match [Column::Time, Column::Direction].map(|column| columns.contains(&column)) {
        [true, true] => Ok(Shown::Entry(Box::new(cells), columns)),
        [false, true] => Err("it has no time such as 10:00".to_owned()),
        [true, false] => Err(
            match texts.iter().flat_map(|text| text.as_ref().chars()).find(|sign| CHARTS.contains(sign)) {
                Some(chart) => format!("it has no direction, CALL or PUT: {chart} is as often an ornament"),
                None => "it has no direction, CALL or PUT".to_owned(),
            },
        ),
        [false, false] => Err("it has no time and no direction".to_owned()),
    }
}

fn nothing_behind(label: &str) -> String {
    format!("nothing stands behind {label:?}")
}

/// Reads `EXP 5`, where only the label makes the number an expiry.
fn minutes_of(cell: &str, columns: &[Column]) -> Option<String> {
    let minutes = format!("M{cell}");
    (columns == [Column::Expiry] && is_number(cell) && timeframe(&minutes).is_some()).then_some(minutes)
}

fn add_pictures(
    text: &str,
    bots: &ListBots<'_>,
    cells: &mut Cells,
    columns: &mut Vec<Column>,
) -> Result<(), String> {
    if let Some(cross) = text.chars().find(|sign| CROSSES.contains(*sign)) {
        return Err(format!("{cross} strikes it out: take the sign away to have it traded, or the line"));
    }
    let arrow = arrow_of(text)?;
    // A circle in a line without a symbol and without a word for a direction is an ornament.
    let gives_circle_sense = |cell: &String| {
        matches!(Column::of(cell, bots), Ok(Column::Bot | Column::Symbol | Column::Direction))
    };
    let circle = circle_of(text)?.filter(|_| split(text, bots).iter().any(gives_circle_sense));
    for (picture, up, down) in [
        (arrow, "its arrow points up", "its arrow points down"),
        (circle, "its circle is green, for up", "its circle is red, for down"),
    ] {
        let Some(picture) = picture else { continue };
        if !columns.contains(&Column::Direction) {
            cells.texts[3] = picture.to_string();
            columns.push(Column::Direction);
        }
        if direction_of(&cells.texts[3]) != Ok(picture) {
            let words = if picture == Direction::Buy { up } else { down };
            return Err(format!("{words}, and it says {}: write one of them", cells.texts[3]));
        }
    }
    Ok(())
}

pub(super) fn only_date(line: &str, bots: &ListBots<'_>) -> Option<WrittenDate> {
    let mut cells = split(line, bots);
    cells.retain(|cell| label_of(cell).is_none_or(|columns| columns != [Column::Date]));
    if let [cell] = cells.as_slice() { WrittenDate::parse(cell.trim_end_matches(':')) } else { None }
}

pub(super) fn only_expiry(line: &str, bots: &ListBots<'_>) -> Option<String> {
    let cells = split(line, bots);
    let (label, cell) = match cells.as_slice() {
        [cell] => (None, cell),
        [label, cell] => (Some(label_of(label)?), cell),
        _ => return None,
    };
    if label.is_some_and(|columns| columns != [Column::Expiry])
        || line.contains(|sign: char| CROSSES.contains(sign))
    {
        return None;
    }
    let minutes = label.and_then(|columns| minutes_of(cell, columns));
    let cell = minutes.as_ref().unwrap_or(cell);
    let is_expiry = Column::of(cell, bots) == Ok(Column::Expiry);
    timeframe(cell).filter(|_| is_expiry).map(|expiry| expiry.to_string())
}

pub(super) fn recognised(line: &str, bots: &ListBots<'_>) -> Vec<Column> {
    let mut columns: Vec<Column> =
        split(line, bots).iter().filter_map(|cell| Column::of(cell, bots).ok()).collect();
    let pictures = [arrow_of(line), circle_of(line)];
    columns.extend(pictures.into_iter().filter_map(Result::ok).flatten().map(|_| Column::Direction));
    columns
}

fn arrow_of(line: &str) -> Result<Option<Direction>, String> {
    direction_by(line.contains(ARROWS_UP), line.contains(ARROWS_DOWN), "an arrow up and one down")
}

fn circle_of(line: &str) -> Result<Option<Direction>, String> {
    direction_by(line.contains(GREEN), line.contains(RED), "a green circle and a red one")
}

fn direction_by(is_buy: bool, is_sell: bool, both: &str) -> Result<Option<Direction>, String> {
    if is_buy && is_sell {
        return Err(format!("it has {both}: leave one of them out"));
    }
    Ok(is_buy.then_some(Direction::Buy).or(is_sell.then_some(Direction::Sell)))
}

pub(super) struct Block {
    pub(super) text: String,
    pub(super) cells: Box<Cells>,
    pub(super) columns: Vec<Column>,
    pub(super) count: usize,
}

/// Returns the entry formed by the lines up to the next blank one, none of which is one by itself.
pub(super) fn block_of(lines: &[(u64, &str)], bots: &ListBots<'_>) -> Option<Block> {
    let follows = |pair: &[(u64, &str)]| pair[0].0 + 1 == pair[1].0;
    let count = 1 + lines.windows(2).take_while(|pair| follows(pair)).count();
    let own = lines.get(..count).filter(|_| BLOCK_LINES.contains(&count))?;
    let is_left_out = |text: &str| text.starts_with('#') || struck_out(text).is_some();
    if own.iter().any(|(_, text)| is_left_out(text) || is_like_entry(&recognised(&plain(text), bots))) {
        return None;
    }
    let (texts, plain): (Vec<&str>, Vec<String>) = own.iter().map(|(_, text)| (*text, plain(text))).unzip();
    let Ok(Shown::Entry(cells, columns)) = shown_in(&plain, bots) else { return None };
    let is_whole = WHOLE.iter().all(|one| one.iter().any(|column| columns.contains(column)));
    let text = texts.join(" ");
    is_whole.then_some(Block { text, cells, columns, count })
}
