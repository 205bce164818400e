//! Aligned columns.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::path::cut_middle;

/// Minimum width of a column that is cut.
const NARROWEST: usize = 8;

/// Width of the gap between two columns.
const GAP: usize = 2;

/// Alignment of a column, and the place where its cells are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left, cut at the end.
    Left,
    /// To the right, as numbers are.
    Right,
    /// To the left, cut in the middle, as paths are.
    Path,
}

/// Aligns cells, which are safe to show, in columns; the first row has the headings. Cells that do not fit
/// are cut. Returns `None` if too little of them would be left.
pub fn grid(rows: &[Vec<String>], columns: Option<usize>) -> Option<String> {
    grid_aligned(rows, &[], columns)
}

/// As [`grid`], with an alignment for each column; those without one are aligned to the left.
pub fn grid_aligned(
    rows: &[Vec<String>],
    aligned: &[Align],
    columns: Option<usize>,
) -> Option<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.width()).max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..count).map(widest).collect();
    // Without a width nothing is cut.
    if let Some(columns) = columns {
        fit(&mut widths, columns)?;
    }
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let align = aligned.get(at).copied().unwrap_or(Align::Left);
            let cell = match align {
                Align::Path => cut_middle(cell, *width),
                Align::Left | Align::Right => cut(cell, *width),
            };
            let padding = width.saturating_sub(cell.width());
            let (before, after) = if align == Align::Right {
                (padding, GAP)
            } else {
                (0, padding + GAP)
            };
            line.extend(std::iter::repeat_n(' ', before));
            line.push_str(&cell);
            line.extend(std::iter::repeat_n(' ', after));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    Some(out)
}

/// Shrinks the widest columns until all fit.
fn fit(widths: &mut [usize], columns: usize) -> Option<()> {
    let gaps = widths.len().saturating_sub(1) * GAP;
    loop {
        let all: usize = widths.iter().sum::<usize>() + gaps;
        let over = all.saturating_sub(columns);
        if over == 0 {
            return Some(());
        }
        let widest = widths.iter_mut().max()?;
        if *widest <= NARROWEST {
            return None;
        }
        // One character at a time, so that two wide columns are cut evenly.
        *widest -= 1;
    }
}

/// Cuts a text to a width in terminal columns.
pub fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Vec<String>> {
        let rows = [["id", "name"], ["1", "Ada Lovelace, Countess"], ["2", ""]];
        rows.map(|row| row.map(str::to_owned).to_vec()).to_vec()
    }

    #[test]
    fn cells_stand_under_each_other_and_are_cut_to_fit() {
        let whole = "id  name\n1   Ada Lovelace, Countess\n2\n";
        assert_eq!(grid(&rows(), None).unwrap(), whole);
        assert_eq!(grid(&rows(), Some(26)).unwrap(), whole);
        assert_eq!(
            grid(&rows(), Some(16)).unwrap(),
            "id  name\n1   Ada Lovelac…\n2\n"
        );
        assert_eq!(grid(&rows(), Some(11)), None);
    }

    #[test]
    fn numbers_stand_to_the_right_and_paths_keep_their_end() {
        let rows = [["tools", "config"], ["7", "~/a/long/way/mcp.json:3"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(
            grid_aligned(&rows, &[Align::Right, Align::Path], Some(20)).unwrap(),
            "tools  config\n    7  ~/a/…p.json:3\n"
        );
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(cut("漢字漢字", 8), "漢字漢字");
        assert_eq!(cut("漢字漢字", 7), "漢字漢…");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("ab", 0), "");
    }
}
