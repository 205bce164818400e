//! Lists cut into pages, with cursors that are valid only here.

use serde_json::{Map, Value};

/// One page of a list.
#[derive(Debug, PartialEq)]
pub(crate) struct Page<'a, T> {
    pub(crate) items: &'a [T],
    /// The cursor of the next page; `None` ends the list.
    pub(crate) next: Option<String>,
}

/// A cursor that was not given out for this list.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidCursor;

/// Cuts the page that `params.cursor` names out of `items`; `list` makes the cursors of different
/// lists incompatible.
pub(crate) fn cut<'a, T>(
    list: &str,
    items: &'a [T],
    page_size: Option<usize>,
    params: &Map<String, Value>,
) -> Result<Page<'a, T>, InvalidCursor> {
    // A cursor must be one that was given out, for this list and this page size.
    let start = match params.get("cursor") {
        None => 0,
        Some(Value::String(cursor)) => parse(list, cursor).ok_or(InvalidCursor)?,
        Some(_) => return Err(InvalidCursor),
    };
    let size = page_size.unwrap_or(usize::MAX);
    // Only starts of existing pages were ever given out.
    if start > 0 && (start >= items.len() || !start.is_multiple_of(size)) {
        return Err(InvalidCursor);
    }
    let rest = items.get(start..).unwrap_or_default();
    let (items, left) = rest.split_at_checked(size).unwrap_or((rest, &[]));
    let next = (!left.is_empty()).then(|| cursor(list, start + items.len()));
    Ok(Page { items, next })
}

/// Hexadecimal, to discourage clients from computing cursors.
fn cursor(list: &str, start: usize) -> String {
    format!("{list}@{start}")
        .bytes()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn parse(list: &str, text: &str) -> Option<usize> {
    let bytes: Option<Vec<u8>> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    let plain = String::from_utf8(bytes?).ok()?;
    let start: usize = plain.strip_prefix(list)?.strip_prefix('@')?.parse().ok()?;
    // Another spelling of the same position was invented by the client.
    (start > 0 && cursor(list, start) == text).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(cursor: &Value) -> Map<String, Value> {
        Map::from_iter([("cursor".to_owned(), cursor.clone())])
    }

    fn walk(items: &[u32], size: Option<usize>) -> Vec<Vec<u32>> {
        let mut pages = Vec::new();
        let mut at = Map::new();
        loop {
            let page = cut("tools", items, size, &at).unwrap();
            pages.push(page.items.to_vec());
            match page.next {
                Some(next) => at = params(&json!(next)),
                None => return pages,
            }
        }
    }

    #[test]
    fn pages_hold_everything_once_and_in_order() {
        let items = [1, 2, 3, 4, 5];
        assert_eq!(walk(&items, Some(2)), [vec![1, 2], vec![3, 4], vec![5]]);
        assert_eq!(walk(&items, Some(5)), [items.to_vec()]);
        assert_eq!(walk(&items, Some(6)), [items.to_vec()]);
        assert_eq!(walk(&items, None), [items.to_vec()]);
        assert_eq!(walk(&[], Some(2)), [Vec::<u32>::new()]);
    }

    #[test]
    fn a_cursor_that_was_never_given_out_is_refused() {
        let items = [0; 30];
        let made_up = [
            json!(""),
            json!("10"),
            json!("zz"),
            json!("é"),
            json!(null),
            json!(10),
            json!(cursor("tools", 0)),
            json!(cursor("tools", 15)),
            json!(cursor("tools", 30)),
            json!(cursor("tools", 10).to_uppercase().replace("74", "7 ")),
            json!(cursor("prompts", 10)),
        ];
        for cursor in made_up {
            let page = cut("tools", &items, Some(10), &params(&cursor));
            assert_eq!(page, Err(InvalidCursor), "{cursor}");
        }
        let page = cut(
            "tools",
            &items,
            Some(10),
            &params(&json!(cursor("tools", 20))),
        );
        assert_eq!(page.unwrap().next, None);
    }
}
