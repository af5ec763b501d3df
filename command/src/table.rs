//! Text in columns for a terminal.

use std::io::{self, Write};

/// A column of a table.
pub struct Column {
    /// The title above the column.
    pub title: &'static str,
    /// True to align to the right, as for numbers.
    pub right: bool,
}

/// Writes rows of columns. A row may have a note after its columns, which replaces the empty columns before it.
pub fn write(out: &mut dyn Write, columns: &[Column], rows: &[(Vec<String>, String)]) -> io::Result<()> {
    let width = |k: usize| {
        let texts = rows.iter().map(|(row, _)| row.get(k).map_or(0, |text| text.chars().count()));
        texts.max().unwrap_or(0).max(columns[k].title.len())
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let titles: Vec<String> = columns.iter().map(|column| column.title.to_owned()).collect();
    for (row, note) in std::iter::once((&titles, &String::new())).chain(rows.iter().map(|(row, note)| (row, note))) {
        let mut line = String::new();
        for (k, text) in row.iter().enumerate() {
            let blanks = " ".repeat(widths[k] - text.chars().count());
            let (before, after) = if columns[k].right { (blanks.as_str(), "") } else { ("", blanks.as_str()) };
            line += &format!("{before}{text}{after}  ");
        }
        line += note;
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Escapes the characters of a file's text that would control a terminal.
pub fn plain(text: &str) -> String {
    if !text.chars().any(char::is_control) {
        return text.to_owned();
    }
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Returns the first characters of a text, and the number of the others.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}... ({} characters)", plain(&text[..end]), text.chars().count()),
        None => plain(text),
    }
}
