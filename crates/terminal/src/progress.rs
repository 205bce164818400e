//! Text of the progress lines.

use std::time::Duration;

use switchboard_core::text::sanitise_line;
use unicode_width::UnicodeWidthStr as _;

use crate::grid::cut;

/// Frames of the spinner.
const FRAMES: [char; 4] = ['-', '\\', '|', '/'];

/// Number of cells of a progress bar.
const CELLS: u32 = 10;

/// Minimum number of columns for a message of the server.
const LEAST: usize = 6;

/// Progress as reported by a server.
#[derive(Debug, Clone, Copy)]
pub struct HowFar<'p> {
    /// The progress so far.
    pub done: f64,
    /// The total, if the server knows it.
    pub total: Option<f64>,
    /// The server's message, without secrets.
    pub message: &'p str,
}

/// Geometry of a line.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Maximum width.
    pub columns: usize,
    /// Number of the frame.
    pub frame: usize,
}

impl Look {
    /// Formats a spinner with the elapsed time.
    pub fn spinner(self, words: &str, elapsed: Duration) -> String {
        let time = time(elapsed);
        let room = self.columns.saturating_sub(3 + time.width());
        self.cut(&format!(
            "{} {} {time}",
            self.mark(),
            cut(&sanitise_line(words), room)
        ))
    }

    /// Formats a download of a launcher, with the seconds that it has taken.
    pub fn fetching(self, words: &str, elapsed: Duration) -> String {
        let time = format!("({} s)", elapsed.as_secs());
        let room = self.columns.saturating_sub(3 + time.width());
        self.cut(&format!(
            "{} {} {time}",
            self.mark(),
            cut(&sanitise_line(words), room)
        ))
    }

    /// Formats a progress bar with the server's message.
    pub fn bar(self, words: &str, progress: HowFar<'_>, elapsed: Duration) -> String {
        let how_far = how_far(progress);
        let time = time(elapsed);
        let room = self
            .columns
            .saturating_sub(4 + how_far.width() + time.width());
        let message = sanitise_line(progress.message.trim());
        let words = sanitise_line(words);
        // Our words keep at least half of the room; the server's message gets the rest.
        let left = room.saturating_sub(message.width() + 1).max(room / 2);
        let words = if message.is_empty() {
            cut(&words, room)
        } else {
            cut(&words, left)
        };
        let mut line = format!("{} {words} {how_far} {time}", self.mark());
        let room = room.saturating_sub(words.width() + 1);
        if !message.is_empty() && room >= LEAST {
            line.push(' ');
            line.push_str(&cut(&message, room));
        }
        self.cut(&line)
    }

    fn mark(self) -> char {
        let mut frames = FRAMES.iter().cycle();
        *frames.nth(self.frame % FRAMES.len()).unwrap_or(&'-')
    }

    fn cut(self, line: &str) -> String {
        cut(line, self.columns)
    }
}

/// Formats progress as `[####------] 40%`, or as a number if the total is unknown.
fn how_far(progress: HowFar<'_>) -> String {
    let HowFar { done, total, .. } = progress;
    // A total of zero or infinity has no percentage.
    let Some(total) = total.filter(|total| *total > 0.0 && total.is_finite()) else {
        return number(done);
    };
    let part = (done / total).clamp(0.0, 1.0);
    let cells = f64::from(CELLS);
    let full = |cell: u32| f64::from(cell) <= part * cells;
    let bar: String = (1..=CELLS)
        .map(|cell| if full(cell) { '#' } else { '-' })
        .collect();
    // Rounded down: 100% must mean that it is done.
    format!("[{bar}] {:.0}%", (part * 100.0).floor())
}

/// Formats a number briefly, even an absurd one.
fn number(number: f64) -> String {
    match number.abs() {
        most if most >= 1e12 => format!("{number:.1e}"),
        _ if number.fract() == 0.0 => format!("{number}"),
        _ => format!("{number:.2}"),
    }
}

/// Formats a time as `0.4s` or `1m05s`.
fn time(elapsed: Duration) -> String {
    match elapsed.as_secs() {
        0..60 => format!("{:.1}s", elapsed.as_secs_f64()),
        seconds => format!("{}m{:02}s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(done: f64, total: Option<f64>, message: &str) -> HowFar<'_> {
        HowFar {
            done,
            total,
            message,
        }
    }

    fn look(columns: usize) -> Look {
        Look { columns, frame: 5 }
    }

    #[test]
    fn a_line_says_what_is_waited_for_and_for_how_long() {
        let elapsed = Duration::from_millis(1260);
        assert_eq!(
            look(80).spinner("calling demo/slow", elapsed),
            "\\ calling demo/slow 1.3s"
        );
        assert_eq!(
            look(20).spinner("calling demo/slow", Duration::from_secs(65)),
            "\\ calling dem… 1m05s"
        );
    }

    #[test]
    fn a_line_says_what_is_fetched_and_for_how_long() {
        let elapsed = Duration::from_millis(12_400);
        assert_eq!(
            look(80).fetching("npx is fetching @playwright/mcp", elapsed),
            "\\ npx is fetching @playwright/mcp (12 s)"
        );
    }

    #[test]
    fn a_bar_shows_how_far_it_is_and_what_the_server_says() {
        let elapsed = Duration::from_secs(2);
        let half = progress(2.0, Some(4.0), "step 2");
        assert_eq!(
            look(80).bar("demo/slow", half, elapsed),
            "\\ demo/slow [#####-----] 50% 2.0s step 2"
        );
        assert_eq!(
            look(40).bar("demo/slow_operation", half, elapsed),
            "\\ demo/slo… [#####-----] 50% 2.0s step 2"
        );
        let unknown = progress(7.0, None, "");
        assert_eq!(look(40).bar("x", unknown, elapsed), "\\ x 7 2.0s");
    }

    #[test]
    fn whatever_a_server_says_fits_and_moves_nothing() {
        let (wide, long) = ("漢字".repeat(500), "x".repeat(5000));
        let wild = [
            progress(1e300, Some(0.0), "\u{1b}[2J\n\r\u{202e}"),
            progress(-5.0, Some(1e-300), &wide),
            progress(9.0, Some(3.0), &long),
        ];
        for columns in 0..100 {
            for progress in wild {
                let line = look(columns).bar(&"名".repeat(99), progress, Duration::MAX);
                assert!(line.width() <= columns, "{columns} {line}");
                assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
    }
}
