//! Recognizes questions, downloads, programs and addresses in a server's output.

/// Returns the last line if the program asks for input in it.
pub fn question(lines: &[String]) -> Option<&str> {
    const ASKING: &[&str] = &[
        "password",
        "passphrase",
        "username",
        "login:",
        "press enter",
        "press any key",
        "press return",
        "(y/n)",
        "[y/n]",
        "ok to proceed",
        "are you sure",
        "continue?",
        "enter your",
        "please enter",
        "verification code",
        "enter the code",
        "sign in",
    ];
    let line = lines.iter().rev().find(|line| !line.trim().is_empty())?;
    let words = line.to_ascii_lowercase();
    let is_prompt = ASKING.iter().any(|word| words.contains(word));
    let ends_open = matches!(
        line.trim_end().chars().next_back(),
        Some(':' | '?' | '>' | ')' | ']')
    );
    (is_prompt && (ends_open || words.contains("press") || words.contains("sign in")))
        .then_some(line.as_str())
}

/// Returns `true` if a command downloads its program at the first run.
pub fn fetches(program: &str, args: &str) -> bool {
    let mut words = args.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    match program.trim_end_matches(".cmd").trim_end_matches(".exe") {
        "npx" | "uvx" | "bunx" | "pipx" => true,
        "npm" => matches!(first, "exec" | "x"),
        "pnpm" | "yarn" => first == "dlx",
        "uv" => matches!(first, "run" | "tool"),
        "deno" => args.contains("npm:") || args.contains("jsr:") || args.contains("https:"),
        "docker" | "podman" => first == "run",
        "cargo" | "go" | "dotnet" => first == "run",
        _ => false,
    }
}

/// The words of the last line that may be names of programs.
pub fn programs(lines: &[String]) -> impl Iterator<Item = &str> {
    let last = lines.last().map(String::as_str).unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    last.split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

/// The address at which a server says that it listens, if a line says so.
pub fn listening(lines: &[String]) -> Option<&str> {
    let mut words = lines.iter().flat_map(|line| line.split_whitespace());
    let url = words.find(|word| word.starts_with("http://") || word.starts_with("https://"))?;
    Some(url.trim_end_matches(['.', ',', ')', ']', '"', '\'']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn a_question_is_told_from_a_remark() {
        for asking in [
            "Password: ",
            "Ok to proceed? (y) ",
            "Press any key to continue",
            "Continue? [y/N]",
        ] {
            assert!(question(&lines(&["hello", asking])).is_some(), "{asking}");
        }
        for remark in [
            "starting",
            "password store opened",
            "listening on :3000",
            "ready:",
        ] {
            assert_eq!(question(&lines(&[remark])), None, "{remark}");
        }
        assert_eq!(question(&lines(&["Password: ", "thank you"])), None);
    }

    #[test]
    fn launchers_are_known_by_their_command() {
        assert!(fetches("npx", "-y thing"));
        assert!(fetches("docker", "run -i thing"));
        assert!(!fetches("docker", "exec thing"));
        assert!(!fetches("node", "server.js"));
    }

    #[test]
    fn an_address_in_a_line_is_found() {
        let said = lines(&["Server listening on http://localhost:3000/mcp."]);
        assert_eq!(listening(&said), Some("http://localhost:3000/mcp"));
    }
}
