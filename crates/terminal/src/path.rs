//! Paths for people: the home folder as `~`, long ones cut in the middle.

use std::path::Path;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Writes the home folder of a path as `~`. The path may have more behind it, such as a line number.
pub fn with_tilde(path: &str, home: Option<&Path>) -> String {
    let home = home
        .and_then(Path::to_str)
        .map(|home| home.trim_end_matches('/'));
    // An empty home or `/` would turn every path into one below it.
    let rest = home
        .filter(|home| !home.is_empty())
        .and_then(|home| path.strip_prefix(home));
    match rest {
        Some("") => "~".to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => format!("~{rest}"),
        _ => path.to_owned(),
    }
}

/// Writes the home folder of the user, as the environment names it, as `~`.
pub fn shorten(path: &str) -> String {
    let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"));
    with_tilde(path, home.as_deref().map(Path::new))
}

/// Cuts a text to a width by leaving out its middle: the file and the line at the end of a path say more than
/// the folders between.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    // The end gets two thirds.
    let tail_room = (columns.saturating_sub(1) * 2).div_ceil(3);
    let head_room = columns.saturating_sub(1 + tail_room);
    let head = take(text.chars(), head_room);
    let tail: String = take(text.chars().rev(), tail_room).chars().rev().collect();
    if columns == 0 {
        String::new()
    } else {
        format!("{head}…{tail}")
    }
}

fn take(text: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    text.take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= columns
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_folder_is_a_tilde_and_its_namesakes_are_not() {
        let home = Some(Path::new("/home/me/"));
        for (path, shown) in [
            ("/home/me/.config/mcp.json:3", "~/.config/mcp.json:3"),
            ("/home/me", "~"),
            ("/home/mean/x", "/home/mean/x"), // made-up path
            ("/etc/mcp.json", "/etc/mcp.json"),
        ] {
            assert_eq!(with_tilde(path, home), shown);
            assert_eq!(with_tilde(path, Some(Path::new("/"))), path);
            assert_eq!(with_tilde(path, None), path);
        }
    }

    #[test]
    fn a_long_path_keeps_its_start_and_its_end() {
        let path = "~/.config/switchboard/mcp.json:3";
        assert_eq!(cut_middle(path, 40), path);
        assert_eq!(cut_middle(path, 20), "~/.con…rd/mcp.json:3");
        for columns in 0..40 {
            assert!(cut_middle(path, columns).width() <= columns);
            assert!(cut_middle("漢字漢字漢字", columns).width() <= columns);
        }
    }
}
