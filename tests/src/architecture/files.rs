//! What no file of the workspace may look like.

/// What the line above says where a source opens a file itself, with the reason after it.
pub const READS: &str = "reads because: ";

/// What a line says that holds a path such as those of [`machine_paths`] on purpose.
pub const MADE_UP: &str = "made-up path";

/// The top folders that people and build machines keep their checkouts in.
const HOMES: &[&str] = &["home", "Users", "root", "work", "workspace", "builds"];

/// The people whose folders are nobody's: examples may name these.
const NOBODY: &[&str] = &["alice", "ann", "bob", "me", "user", "x", "you"];

/// Finds strings that name a command of our program. A library does not know which program shows its
/// strings: it returns a `Step`, and `crates/cli/src/report/steps.rs` words it.
#[must_use]
pub fn commands(source: &str) -> Vec<String> {
    const WORDS: &[&str] = &["`switchboard ", "\"switchboard ", "`/mcp ", "\"/mcp "];
    let lines = source.lines().enumerate();
    let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let named = code.filter(|(_, line)| {
        let is_string = line.contains('"');
        is_string && WORDS.iter().any(|word| line.contains(word))
    });
    named
        .map(|(number, _)| format!("line {} names a command of the program", number + 1))
        .collect()
}

/// Finds where a source opens a file to read it, outside of its tests. Files that a kernel makes up are no
/// files of anybody, and a line with the excuse above it has its reason.
#[must_use]
pub fn reads(source: &str) -> Vec<String> {
    const CALLS: &[&str] = &[
        "File::open(",
        "fs::read(",
        "fs::read_to_string(",
        ".read(true)",
    ];
    let mut found = Vec::new();
    let mut before = "";
    for (number, line) in source.lines().enumerate() {
        let code = line.trim_start();
        // Tests are the last thing in a file, unless they have one of their own.
        let is_for_tests = before.starts_with("#[cfg(") && before.contains("test");
        if code == "#[test]" || (is_for_tests && code.starts_with("mod ") && code.ends_with('{')) {
            break;
        }
        let is_excused = before.starts_with("//") && before.contains(READS);
        let is_of_kernel = code.contains("\"/proc/") || code.contains("\"/sys/");
        let is_read = CALLS.iter().any(|call| code.contains(call));
        if is_read && !code.starts_with("//") && !is_excused && !is_of_kernel {
            found.push(format!(
                "line {} opens a file itself: use `switchboard::files`, or give the reason on the \
                 line above, `// {READS}...`",
                number + 1
            ));
        }
        before = code;
    }
    found
}

/// Finds the absolute paths in a text that only exist on somebody's machine.
#[must_use]
pub fn machine_paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.contains(MADE_UP) {
            continue;
        }
        for home in HOMES {
            let path = format!("/{home}/");
            let starts_a_path = line.match_indices(&path).any(|(at, _)| {
                let before = line.get(..at).and_then(|before| before.chars().next_back());
                let within = |c: char| c.is_alphanumeric() || "/.~_-}*$".contains(c);
                let after = line.get(at + path.len()..).unwrap_or_default();
                let mut words = after.split(|c: char| !(c.is_alphanumeric() || c == '_'));
                let whose = words.next().unwrap_or_default();
                !before.is_some_and(within) && !NOBODY.contains(&whose)
            });
            if starts_a_path {
                let number = number + 1;
                found.push(format!(
                    "line {number} names a path of some machine (`{path}...`); an example that \
                     needs one says `{MADE_UP}` on the same line"
                ));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_opened_past_the_guard_is_found() {
        let found = reads("use x;\nlet text = std::fs::read_to_string(file)?;\n");
        assert!(found.concat().starts_with("line 2 "), "{found:?}");
        for read in ["File::open(x)", "fs::read(x)", "options.read(true).open(x)"] {
            assert_eq!(reads(read).len(), 1, "{read}");
        }
        let after = "#[cfg(test)]\nmod tests;\nfn f() { fs::read(x) }";
        assert_eq!(reads(after).len(), 1);
        for fine in [
            "// File::open(x)",
            "fs::read_dir(x); fs::read_link(x)",
            "fs::read(format!(\"/proc/{pid}/stat\"))",
            "#[cfg(test)]\nmod tests {\n fn f() { fs::read(x) } }",
            "#[test]\nfn f() { fs::read(x) }",
            &format!("// {READS}it was just made here\nFile::open(x)"),
        ] {
            assert_eq!(reads(fine), [""; 0], "{fine}");
        }
    }

    #[test]
    fn a_string_that_names_a_command_is_found_with_its_line() {
        let found = commands("first\n\"try `switchboard tools`\"");
        assert!(found.concat().starts_with("line 2 "), "{found:?}");
        for command in [
            "\"switchboard leftovers --end\"",
            "\"`/mcp retry x` helps\"",
        ] {
            assert_eq!(commands(command).len(), 1, "{command}");
        }
        for fine in ["// `switchboard tools`", "\"/mcp\"", "\"switchboard\""] {
            assert_eq!(commands(fine), [""; 0], "{fine}");
        }
    }

    #[test]
    fn a_path_of_somebodys_machine_is_found_with_its_line() {
        for home in HOMES {
            let found = machine_paths(&format!("first\nsee /{home}/someone/notes"));
            assert!(found.concat().starts_with("line 2 "), "{home}: {found:?}");
        }
        let quoted = format!("\"/{}/someone\"", "home");
        assert_eq!(machine_paths(&quoted).len(), 1);
    }

    #[test]
    fn other_paths_and_made_up_ones_are_left_alone() {
        for text in [
            "https://example.invalid/work/x".to_owned(),
            "src/work/x and ../home/x and ~/work/x".to_owned(),
            "/usr/bin/node, /tmp/x, /etc/hosts".to_owned(),
            "/home/me/notes and /Users/alice".to_owned(),
            format!("\"/{}/.ssh\" // {MADE_UP}", "root"),
        ] {
            assert_eq!(machine_paths(&text), [""; 0], "{text}");
        }
    }
}
