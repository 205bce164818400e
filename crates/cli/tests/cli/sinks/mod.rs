//! Everything that the program can show of what others wrote, and everything that they could write: no
//! character that a terminal obeys, or that nobody sees, gets through.
//!
//! `server.py` says such things in every place where a server says anything: each of the attacks below,
//! and all scalar values there are. `pipe` reads what comes out of pipes, as text and as JSON, `terminal`
//! what is written to a terminal, `files` what is shown of config files. `forbidden` is a definition of its
//! own of what must not be seen.

mod files;
mod forbidden;
mod pipe;
mod terminal;

use std::fs;

use crate::at_once;
use crate::script::Script;

/// What terminals are attacked with. All of them show `ZQ`, by which a test sees that it was shown.
const ATTACKS: [&str; 36] = [
    "\u{1b}[95mZQ",
    "\u{1b}]0;owned\u{7}ZQ",
    "\u{1b}]8;;http://x.example\u{1b}\\ZQ",
    "\u{1b}P+q544e\u{1b}\\ZQ",
    "\u{1b}[3J\u{1b}]104\u{7}ZQ",
    "\u{1b}[5nZQ",
    "\u{1b}]52;c;aGk=\u{7}ZQ",
    "\u{1b}[?1049hZQ",
    "\u{1b}cZQ",
    "\u{1b}_Gf=100;AAAA\u{1b}\\ZQ",
    "\u{1b}^pm\u{1b}\\ZQ",
    "\u{1b}[201~ZQ",
    "\u{1b}]1337;File=:AAAA\u{7}ZQ",
    "\u{1b}[21tZQ",
    "\u{9b}31mZQ",
    "\u{90}ZQ\u{9c}",
    "\u{9d}0;x\u{9c}ZQ",
    "\u{e}ZQ\u{f}",
    "ZQ\rZQ",
    "ZQ\u{8}\u{8}ZQ",
    "\u{7f}ZQ",
    "\0ZQ",
    "\u{b}ZQ\u{c}",
    "\u{85}ZQ",
    "\u{202e}ZQ\u{202c}",
    "\u{2066}ZQ\u{2069}",
    "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}ZQ",
    "\u{e0001}\u{e0041}\u{e007f}ZQ",
    "\u{2028}\u{2029}ZQ",
    "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}ZQ",
    "x\u{fe0f}\u{e0100}ZQ",
    "\u{ad}\u{61c}\u{180e}\u{3164}\u{ffa0}\u{115f}ZQ",
    "\u{fff9}\u{fffb}\u{fdd0}\u{ffff}\u{10ffff}ZQ",
    "\u{e000}\u{f8ff}ZQ",
    "\u{206a}\u{206f}\u{2063}ZQ",
    "🙂\u{200d}🙂\u{fe00}ZQ",
];

/// What a server can say: one half of the attacks or the other, or everything there is.
const MODES: [&str; 3] = ["0", "1", "scalars"];

/// The attacks, some of them together.
fn groups(size: usize) -> Vec<String> {
    ATTACKS.chunks(size).map(<[&str]>::concat).collect()
}

/// A server that says such things.
struct Attacker {
    script: Script,
    folder: tempfile::TempDir,
}

impl Attacker {
    fn new(mode: &str) -> Self {
        let attacks = serde_json::to_string(&ATTACKS[..]).unwrap();
        // JSON of these is what Python means by the same.
        let program = format!("ATTACKS = {attacks}\n{}", include_str!("server.py"));
        let attacker = Self {
            script: Script::new(&program),
            folder: tempfile::tempdir().unwrap(),
        };
        attacker.say(mode);
        attacker
    }

    /// Has it say something else from its next start on; it is the same server for all that.
    fn say(&self, mode: &str) {
        fs::write(self.folder.path().join("mode"), mode).unwrap();
    }

    /// What `--stdio` wants.
    fn command(&self) -> String {
        let mode = self.folder.path().join("mode");
        format!("{} '{}'", self.script.command(), mode.display())
    }
}

/// Does something for each of several, some of them at once.
fn for_each<T: Sync>(all: &[T], work: impl Fn(&T) + Sync) {
    at_once::for_each(4, all, work);
}
