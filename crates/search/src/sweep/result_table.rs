//! Export of sweep trials as CSV and Parquet, one row per trial in search order.

use super::{Figures, SelectionBias, Setting, Space, TrialEnd, TrialRow, corrected_p_values, rank_rows};
use candlewick_sdk::to_csv_cell;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::parser::parse_message_type;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

struct Column {
    name: String,
    cells: ColumnData,
}

type FigureColumn<T> = (&'static str, fn(&Figures) -> T);

enum ColumnData {
    Whole(Vec<Option<i64>>),
    Real(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
}

pub fn write_trials_csv(
    rows: &[TrialRow],
    space: &Space,
    luck: Option<&SelectionBias>,
    writer: impl Write,
) -> io::Result<()> {
    let columns = build_columns(rows, space, luck);
    let mut csv = csv::Writer::from_writer(writer);
    csv.write_record(columns.iter().map(|column| to_csv_cell(&column.name).into_owned()))?;
    for row in 0..rows.len() {
        csv.write_record(columns.iter().map(|column| to_csv_cell(&column.cells.text_at(row)).into_owned()))?;
    }
    csv.flush()
}

pub fn write_trials_parquet(
    rows: &[TrialRow],
    space: &Space,
    luck: Option<&SelectionBias>,
    writer: impl Write + Send,
) -> io::Result<()> {
    write_parquet(&build_columns(rows, space, luck), writer).map_err(io::Error::other)
}

fn write_parquet(columns: &[Column], writer: impl Write + Send) -> Result<(), ParquetError> {
    let mut schema = String::from("message trials {");
    for Column { name, cells } in columns {
        let kind = match cells {
            ColumnData::Whole(_) => "int64",
            ColumnData::Real(_) => "double",
            ColumnData::Text(_) => "binary",
        };
        let note = if matches!(cells, ColumnData::Text(_)) { " (UTF8)" } else { "" };
        let _ = write!(schema, " optional {kind} {name}{note};");
    }
    let schema = Arc::new(parse_message_type(&(schema + " }"))?);
    let compression = Compression::ZSTD(ZstdLevel::try_new(1)?);
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut file = SerializedFileWriter::new(writer, schema, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        if let Some(writer) = group.next_column()? {
            column.cells.write_to(writer)?;
        }
    }
    group.close()?;
    file.close()?;
    Ok(())
}

impl ColumnData {
    fn text_at(&self, row: usize) -> String {
        match self {
            Self::Whole(cells) => cells[row].map(|number| number.to_string()),
            Self::Real(cells) => cells[row].map(|number| number.to_string()),
            Self::Text(cells) => cells[row].clone(),
        }
        .unwrap_or_default()
    }

    fn write_to(&self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        fn definition_levels<T>(cells: &[Option<T>]) -> Vec<i16> {
            cells.iter().map(|cell| i16::from(cell.is_some())).collect()
        }
        match self {
            Self::Whole(cells) => {
                let values: Vec<i64> = cells.iter().flatten().copied().collect();
                column.typed::<Int64Type>().write_batch(&values, Some(&definition_levels(cells)), None)?;
            }
            Self::Real(cells) => {
                let values: Vec<f64> = cells.iter().flatten().copied().collect();
                column.typed::<DoubleType>().write_batch(&values, Some(&definition_levels(cells)), None)?;
            }
            Self::Text(cells) => {
                let values: Vec<ByteArray> = cells.iter().flatten().map(|one| one.as_str().into()).collect();
                column.typed::<ByteArrayType>().write_batch(
                    &values,
                    Some(&definition_levels(cells)),
                    None,
                )?;
            }
        }
        column.close()
    }
}

fn build_columns(rows: &[TrialRow], space: &Space, luck: Option<&SelectionBias>) -> Vec<Column> {
    let ranks: HashMap<u64, i64> =
        rank_rows(rows).into_iter().filter(|row| row.score.is_some()).map(|row| row.trial).zip(1..).collect();
    let column = |name: &str, cells| Column { name: name.to_owned(), cells };
    let mut columns = vec![
        column("trial", integer_cells(rows, |row| Some(row.trial))),
        column("rank", ColumnData::Whole(rows.iter().map(|row| ranks.get(&row.trial).copied()).collect())),
        column("score", float_cells(rows, |row| row.score)),
    ];
    for (place, axis) in space.axes().iter().enumerate() {
        columns.push(column(axis.name(), setting_cells(rows, place)));
    }
    columns.push(column("rung", integer_cells(rows, |row| Some(u64::from(row.rung)))));
    columns.push(column("share_of_candles", float_cells(rows, |row| Some(row.share))));
    let counts: [FigureColumn<u64>; 8] = [
        ("trades", |f| f.trades),
        ("won", |f| f.won),
        ("lost", |f| f.lost),
        ("draw", |f| f.draw),
        ("cancelled", |f| f.cancelled),
        ("unsettled", |f| f.unsettled),
        ("refused", |f| f.refused),
        ("longest_losing_streak", |f| f.longest_losing_streak),
    ];
    for (name, count) in counts {
        columns.push(column(name, integer_cells(rows, |row| row.figures().map(count))));
    }
    let figures: [FigureColumn<Option<f64>>; 9] = [
        ("win_rate", |f| f.win_rate),
        ("break_even", |f| f.break_even),
        ("edge_lower", |f| f.edge_lower),
        ("p_value", |f| f.p_value),
        ("pnl", |f| Some(f.pnl)),
        ("expectancy", |f| f.expectancy),
        ("sharpe", |f| f.sharpe),
        ("max_drawdown", |f| Some(f.max_drawdown)),
        ("max_drawdown_percent", |f| Some(f.max_drawdown_percent)),
    ];
    for (name, figure) in figures {
        columns.push(column(name, float_cells(rows, |row| row.figures().and_then(figure))));
    }
    columns.push(column("p_value_corrected", ColumnData::Real(corrected_p_values(rows))));
    let of_luck = |place| luck.and_then(|luck| luck.p_values.get(place).copied().flatten());
    columns.push(column("p_value_of_many", ColumnData::Real((0..rows.len()).map(of_luck).collect())));
    let refusal = |row: &TrialRow| match &row.outcome {
        TrialEnd::Figures(_) => None,
        TrialEnd::Refused(problem) => Some(problem.clone()),
    };
    columns.push(column("parameters_refused", ColumnData::Text(rows.iter().map(refusal).collect())));
    let stopped = |row: &TrialRow| Some(row.figures()?.stopped_by?.as_str().to_owned());
    columns.push(column("stopped_by", ColumnData::Text(rows.iter().map(stopped).collect())));
    columns
}

fn integer_cells(rows: &[TrialRow], count: impl Fn(&TrialRow) -> Option<u64>) -> ColumnData {
    // Counts are far below `i64::MAX`, so the conversion cannot fail.
    ColumnData::Whole(rows.iter().map(|row| count(row).and_then(|count| i64::try_from(count).ok())).collect())
}

fn float_cells(rows: &[TrialRow], number: impl Fn(&TrialRow) -> Option<f64>) -> ColumnData {
    ColumnData::Real(rows.iter().map(number).collect())
}

fn setting_cells(rows: &[TrialRow], place: usize) -> ColumnData {
    let of = |row: &TrialRow| row.candidate[place].clone();
    let all = |is: fn(&Setting) -> bool| rows.iter().all(|row| is(&row.candidate[place]));
    if all(|setting| matches!(setting, Setting::Whole(_))) {
        let number = |row| if let Setting::Whole(number) = of(row) { Some(number) } else { None };
        ColumnData::Whole(rows.iter().map(number).collect())
    } else if all(|setting| matches!(setting, Setting::Real(_))) {
        ColumnData::Real(rows.iter().map(|row| of(row).to_number()).collect())
    } else {
        ColumnData::Text(rows.iter().map(|row| Some(of(row).to_string())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AxisTarget;
    use super::super::tests::{figures, listed, row, whole};
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use serde_json::json;

    fn space() -> Space {
        let close_types = ["01:00", "05:00"].map(|text| Setting::Text(text.into()));
        let axes = vec![
            whole("period", [5, 14]),
            listed("level", AxisTarget::Parameter, [0.1, 30.0].map(Setting::Real)),
            listed("close_type", AxisTarget::CloseType, close_types),
        ];
        Space::from_axes(axes, &[])
    }

    fn rows(space: &Space) -> Vec<TrialRow> {
        let figures = figures(json!({
            "win_rate": 0.1 + 0.2, "edge_lower": -0.1, "p_value": 0.04, "pnl": -3.25, "expectancy": 0.1,
            "stopped_by": "LossStreak"
        }));
        let ran = |score| (TrialEnd::Figures(Box::new(figures.clone())), score);
        let runs = [ran(Some(0.25)), (TrialEnd::Refused("no, \"never\"".to_owned()), None), ran(Some(0.5))];
        let filled = |((outcome, score), (trial, candidate))| TrialRow {
            candidate,
            outcome,
            ..row(trial, None, score)
        };
        runs.into_iter().zip((0..).zip(space.all_sets().unwrap())).map(filled).collect()
    }

    fn luck() -> SelectionBias {
        SelectionBias {
            sets: 2,
            parts: 120,
            purged_parts: 1,
            p_value: None,
            overfitting: None,
            overfitting_loss: None,
            deflated_sharpe: None,
            p_values: vec![Some(0.375), None, None],
        }
    }

    #[test]
    fn writes_one_row_per_trial_with_empty_unknowns() {
        let space = space();
        let mut bytes = Vec::new();
        write_trials_csv(&rows(&space), &space, Some(&luck()), &mut bytes).unwrap();
        let expected = "trial,rank,score,period,level,close_type,rung,share_of_candles,trades,won,lost,draw,cancelled,\
            unsettled,refused,longest_losing_streak,win_rate,break_even,edge_lower,p_value,pnl,expectancy,sharpe,\
            max_drawdown,max_drawdown_percent,p_value_corrected,p_value_of_many,parameters_refused,stopped_by\n\
            0,2,0.25,5,0.1,01:00,0,1,10,6,3,1,0,2,7,2,0.30000000000000004,0.5,-0.1,0.04,-3.25,0.1,,12.5,0.125,0.04,0.375,,LossStreak\n\
            1,,,5,0.1,05:00,0,1,,,,,,,,,,,,,,,,,,,,\"no, \"\"never\"\"\",\n\
            2,1,0.5,5,30,01:00,0,1,10,6,3,1,0,2,7,2,0.30000000000000004,0.5,-0.1,0.04,-3.25,0.1,,12.5,0.125,0.04,,,LossStreak\n";
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }

    #[test]
    fn csv_and_parquet_agree() {
        let space = space();
        let rows = rows(&space);
        let (mut csv, mut columns) = (Vec::new(), Vec::new());
        write_trials_csv(&rows, &space, Some(&luck()), &mut csv).unwrap();
        write_trials_parquet(&rows, &space, Some(&luck()), &mut columns).unwrap();
        let file = SerializedFileReader::new(bytes::Bytes::from(columns)).unwrap();
        let mut lines = csv::Reader::from_reader(csv.as_slice());
        let names: Vec<String> = lines.headers().unwrap().iter().map(str::to_owned).collect();
        let mut count = 0;
        for (line, row) in lines.records().zip(file.get_row_iter(None).unwrap()) {
            let (line, row) = (line.unwrap(), row.unwrap());
            let cells: Vec<(String, String)> = row
                .get_column_iter()
                .map(|(name, field)| {
                    let text = match field {
                        Field::Null => String::new(),
                        Field::Long(number) => number.to_string(),
                        Field::Double(number) => number.to_string(),
                        Field::Str(text) => text.clone(),
                        other => panic!("{other:?}"),
                    };
                    (name.clone(), text)
                })
                .collect();
            let expected: Vec<_> = names.iter().cloned().zip(line.iter().map(str::to_owned)).collect();
            assert_eq!(cells, expected);
            count += 1;
        }
        assert_eq!(count, rows.len());
    }
}
