//! A browser without a screen, to be put into `$BROWSER`: `scripted-browser URL`.
//!
//! With `BROWSER_STOPS_AT=/callback` it stops before it visits that path. `BROWSER_WRITES=FILE` gets the address
//! that it ended at, a line each, so that a test can paste it.

use std::fs::OpenOptions;
use std::io::{self, Write as _};

use switchboard_tests::browser::Browser;

fn main() -> io::Result<()> {
    let url = std::env::args().nth(1);
    let url = url.ok_or_else(|| io::Error::other("an address is missing"))?;
    let mut browser = Browser::default();
    browser.stops_at = std::env::var("BROWSER_STOPS_AT").ok();
    let page = browser.visit(&url)?;
    if let Some(file) = std::env::var_os("BROWSER_WRITES") {
        let mut file = OpenOptions::new().append(true).create(true).open(file)?;
        file.write_all(format!("{}\n", page.url).as_bytes())?;
    }
    if page.status >= 400 {
        return Err(io::Error::other(format!(
            "{}: status {}",
            page.url, page.status
        )));
    }
    Ok(())
}
