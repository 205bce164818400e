//! Tabular data: a list of flat objects.

use switchboard_core::text::{excerpt, sanitise_line};
use switchboard_wire::Raw;

use crate::grid::grid;

/// Maximum number of columns of a table.
const MOST_COLUMNS: usize = 12;

/// Maximum length of a cell.
const LONGEST: usize = 300;

/// A table read from JSON.
#[derive(Debug, PartialEq, Eq)]
pub struct Records {
    /// The key of the list, if the data is an object with that list alone.
    title: Option<String>,
    keys: Vec<String>,
    /// As many cells as keys; empty if an object lacks the key.
    rows: Vec<Vec<String>>,
}

impl Records {
    /// Reads data as a table, if it is one: a list, or an object with one list and nothing else.
    pub fn of(data: &Raw) -> Option<Self> {
        if data.is_array() {
            return Self::read(data, None);
        }
        match data.members().as_slice() {
            [(name, list)] => Self::read(list, Some(name.clone())),
            _ => None,
        }
    }

    fn read(list: &Raw, title: Option<String>) -> Option<Self> {
        let items = list.items();
        let mut keys: Vec<String> = Vec::new();
        let mut objects = Vec::with_capacity(items.len());
        for item in &items {
            let members = item.members();
            let is_flat = |value: &Raw| !value.is_object() && !value.is_array();
            if !item.is_object() || !members.iter().all(|(_, value)| is_flat(value)) {
                return None;
            }
            for (key, _) in &members {
                if !keys.contains(key) {
                    keys.push(key.clone());
                }
            }
            // Checked while reading: a hostile result may have any number of keys.
            if keys.len() > MOST_COLUMNS {
                return None;
            }
            objects.push(members);
        }
        if keys.is_empty() {
            return None;
        }
        let rows = objects.iter().map(|members| {
            let cell = |key: &String| {
                let found = members.iter().find(|(name, _)| name == key);
                found.map(|(_, value)| cell(value)).unwrap_or_default()
            };
            keys.iter().map(cell).collect()
        });
        let rows = rows.collect();
        Some(Self { title, keys, rows })
    }

    /// Formats a table, or a block of lines for each object if the columns are too few. Secrets must have
    /// been redacted.
    pub fn write(&self, columns: usize) -> String {
        let mut out = String::new();
        if let Some(title) = &self.title {
            out.push_str(&format!("{}:\n", safe(title)));
        }
        let keys: Vec<String> = self.keys.iter().map(|key| safe(key)).collect();
        let rules = keys.iter().map(|key| "-".repeat(key.chars().count()));
        let mut all = vec![keys.clone(), rules.collect()];
        all.extend(self.rows.iter().cloned());
        // Too narrow for a table: one block of lines for each object instead.
        if let Some(table) = grid(&all, Some(columns)) {
            out.push_str(&table);
            return out;
        }
        let blocks = self.rows.iter().map(|row| {
            let cells = keys.iter().zip(row).filter(|(_, cell)| !cell.is_empty());
            let lines = cells.map(|(key, cell)| format!("{key}: {cell}\n"));
            lines.collect::<String>()
        });
        out.push_str(&blocks.collect::<Vec<_>>().join("\n"));
        out
    }
}

/// Formats a value as a cell, on one line.
fn cell(value: &Raw) -> String {
    match value.as_text() {
        Some(text) => safe(&text),
        None => safe(value.as_str()),
    }
}

fn safe(text: &str) -> String {
    sanitise_line(&excerpt(text, LONGEST)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(data: &str) -> Option<Records> {
        Records::of(&Raw::parse(data).unwrap())
    }

    #[test]
    fn a_list_of_flat_objects_is_a_table() {
        let data = r#"[{"id":1,"name":"Ada\u001b"},{"id":2.50,"on":true},{"name":null}]"#;
        assert_eq!(
            records(data).unwrap().write(80),
            "id    name       on\n--    ----       --\n1     Ada\\u{1b}\n2.50             true\n      null\n"
        );
    }

    #[test]
    fn where_it_does_not_fit_each_object_is_a_block() {
        let data = r#"{"items":[{"first":"aaaaaaaaaaaa","second":"bbbbbbbbbbbb"},{"first":"c"}]}"#;
        assert_eq!(
            records(data).unwrap().write(12),
            "items:\nfirst: aaaaaaaaaaaa\nsecond: bbbbbbbbbbbb\n\nfirst: c\n"
        );
    }

    #[test]
    fn all_else_is_no_table() {
        for data in [
            "[]",
            "[{}]",
            "[1]",
            r#"[{"a":[]}]"#,
            r#"[{"a":1},2]"#,
            r#"{"a":1}"#,
            r#"{"a":[{"b":1}],"c":2}"#,
            "null",
        ] {
            assert_eq!(records(data), None, "{data}");
        }
    }
}
