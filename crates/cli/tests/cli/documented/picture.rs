//! The picture in the README is a session as a terminal shows it now.

use std::fmt::Write as _;

use super::{compare, root};
use crate::home::Home;
use crate::pty::Pty;

/// The commands of the session. None of them prints a time or a path.
const SESSION: &[&[&str]] = &[
    &["tools", "demo"],
    &["call", "demo/add", "a=2", "b=40.5"],
    &["call", "demo/ad", "a=2", "b=40.5"],
    &[
        "call",
        "--stdio",
        "sh -c 'echo API_KEY is not set >&2; exit 3'",
        "search",
    ],
];

const COLUMNS: u16 = 80;
/// The size of a character, and the space around all of them, in pixels.
const CELL: (u16, u16) = (8, 18);
const MARGIN: u16 = 16;

/// A run of characters that look alike.
struct Span {
    column: u16,
    text: String,
    colour: &'static str,
    is_bold: bool,
}

#[test]
fn the_picture_of_a_session_is_what_a_terminal_shows() {
    let home = Home::new();
    // The machine's own `sh`, for the server that does not start.
    let mut rows: Vec<Vec<Span>> = Vec::new();
    for args in SESSION {
        let typed: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        rows.push(vec![
            prompt(),
            typed_span(&format!("switchboard {}", typed.join(" "))),
        ]);
        let mut command = home.command(args);
        command.env("PATH", "/usr/bin:/bin");
        let (_, written) = Pty::start(command, COLUMNS).transcript();
        rows.extend(screen(&written));
        rows.push(Vec::new());
    }
    rows.pop();
    compare("docs/session.svg", &svg(&rows));
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    assert!(
        readme.contains("(docs/session.svg)"),
        "the README shows the picture"
    );
}

fn quoted(arg: &str) -> String {
    if arg.contains(' ') {
        format!("\"{arg}\"")
    } else {
        arg.to_owned()
    }
}

fn prompt() -> Span {
    Span {
        column: 0,
        text: "$".to_owned(),
        colour: "#7ee787",
        is_bold: true,
    }
}

fn typed_span(text: &str) -> Span {
    Span {
        column: 2,
        text: text.to_owned(),
        colour: "#f0f6fc",
        is_bold: true,
    }
}

/// The rows that a terminal shows of what was written, without empty ones at the end.
fn screen(written: &str) -> Vec<Vec<Span>> {
    const ROWS: u16 = 200;
    let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
    terminal.process(written.as_bytes());
    let mut rows: Vec<Vec<Span>> = (0..ROWS).map(|row| spans(terminal.screen(), row)).collect();
    while rows.last().is_some_and(Vec::is_empty) {
        rows.pop();
    }
    rows
}

fn spans(screen: &vt100::Screen, row: u16) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for column in 0..COLUMNS {
        let Some(cell) = screen.cell(row, column) else {
            continue;
        };
        let text = if cell.has_contents() {
            cell.contents()
        } else {
            " "
        };
        let (colour, is_bold) = (colour(cell.fgcolor(), cell.dim()), cell.bold());
        match spans.last_mut() {
            Some(last) if last.colour == colour && last.is_bold == is_bold => {
                last.text.push_str(text);
            }
            _ => spans.push(Span {
                column,
                text: text.to_owned(),
                colour,
                is_bold,
            }),
        }
    }
    // Blanks at the end of a row show nothing.
    while let Some(last) = spans.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            break;
        }
        spans.pop();
    }
    spans
}

fn colour(of: vt100::Color, is_dim: bool) -> &'static str {
    match of {
        vt100::Color::Idx(1 | 9) => "#ff7b72",
        vt100::Color::Idx(2 | 10) => "#7ee787",
        vt100::Color::Idx(3 | 11) => "#e3b341",
        vt100::Color::Idx(4 | 12) => "#79c0ff",
        vt100::Color::Idx(5 | 13) => "#d2a8ff",
        vt100::Color::Idx(6 | 14) => "#76e3ea",
        vt100::Color::Idx(8) => "#8b949e",
        _ if is_dim => "#8b949e",
        _ => "#c9d1d9",
    }
}

fn svg(rows: &[Vec<Span>]) -> String {
    let width = COLUMNS * CELL.0 + 2 * MARGIN;
    let height = u16::try_from(rows.len()).unwrap() * CELL.1 + 2 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"A session at a terminal\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"13\" \
         xml:space=\"preserve\">\n"
    );
    for (row, spans) in rows.iter().enumerate() {
        let y = MARGIN + u16::try_from(row + 1).unwrap() * CELL.1 - 5;
        for span in spans {
            let x = MARGIN + span.column * CELL.0;
            let weight = if span.is_bold {
                " font-weight=\"bold\""
            } else {
                ""
            };
            let text = span
                .text
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            // The width of a run is fixed, so that columns line up in every font.
            let length = u16::try_from(span.text.chars().count()).unwrap() * CELL.0;
            writeln!(
                out,
                "<text x=\"{x}\" y=\"{y}\" fill=\"{}\"{weight} textLength=\"{length}\" \
                 lengthAdjust=\"spacingAndGlyphs\">{text}</text>",
                span.colour
            )
            .unwrap();
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}
