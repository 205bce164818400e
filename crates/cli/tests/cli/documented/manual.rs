//! Manual pages have the sections that people look for, and say what the documentation says.

use std::fs;

use super::root;
use crate::home::Home;
use crate::run::Run;

/// The pages of all commands, with their file names.
fn pages() -> Vec<(String, String)> {
    let home = Home::new();
    fs::create_dir(home.path("pages")).unwrap();
    let run = home.run(&["man", "--dir", "../pages"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let files = fs::read_dir(home.path("pages")).unwrap();
    let pages = files.map(|file| {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, fs::read_to_string(path).unwrap())
    });
    pages.collect()
}

#[test]
fn every_manual_page_has_exit_status_files_environment_and_examples() {
    let pages = pages();
    assert!(pages.len() > 30, "{}", pages.len());
    for (name, page) in &pages {
        for section in [
            "EXIT STATUS",
            "FILES",
            "ENVIRONMENT",
            "EXAMPLES",
            "SEE ALSO",
        ] {
            assert_eq!(
                page.matches(&format!("\n.SH \"{section}\"\n")).count(),
                1,
                "{name}: {section}"
            );
        }
    }
    let main = Home::new().run(&["man"]).stdout;
    let stored = pages.iter().find(|(name, _)| name == "switchboard.1");
    assert_eq!(stored.map(|(_, page)| page), Some(&main));
}

#[test]
fn exit_codes_of_the_manual_are_those_of_the_documentation() {
    let page = fs::read_to_string(root().join("docs/scripting.md")).unwrap();
    let (_, table) = page.split_once("| code | meaning |\n|---|---|\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let documented: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(1).map(str::trim))
        .collect();
    let main = Home::new().run(&["man"]).stdout;
    let (_, section) = main.split_once("\n.SH \"EXIT STATUS\"\n").unwrap();
    let (section, _) = section.split_once("\n.SH ").unwrap();
    let codes: Vec<&str> = section
        .lines()
        .filter_map(|line| line.strip_prefix(".B "))
        .collect();
    assert_eq!(codes, documented);
}

#[test]
fn examples_of_the_manual_are_commands_that_the_parser_accepts() {
    let home = Home::new();
    let mut seen = 0;
    for (name, page) in pages() {
        let (_, section) = page.split_once("\n.SH \"EXAMPLES\"\n").unwrap();
        let (section, _) = section.split_once("\n.SH ").unwrap();
        for line in section
            .lines()
            .filter(|line| line.trim_start().starts_with("switchboard "))
        {
            let line = line
                .trim_start()
                .replace("\\-", "-")
                .replace("\\(aq", "'")
                .replace("\\e", "\\");
            let line = line.split('|').next().unwrap_or_default();
            let mut words = shlex::split(line).unwrap();
            words.retain(|word| word != "switchboard");
            // Before `--`: what follows belongs to the server.
            let at = words
                .iter()
                .position(|word| word == "--")
                .unwrap_or(words.len());
            words.insert(at, "--help".to_owned());
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let run = Run::of(home.command(&words).output().unwrap());
            assert_eq!(run.code, Some(0), "{name}: {line}: {}", run.stderr);
            seen += 1;
        }
    }
    assert!(seen > 30, "only {seen} examples");
}
