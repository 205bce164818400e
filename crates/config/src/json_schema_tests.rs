//! The schema accepts what is read without a problem, and nothing that is wrong; the reference lists the same keys.
//!
//! `UPDATE_DOCS=1` writes `docs/mcp.schema.json` and `docs/reference/config.md`, as `cargo xtask docs` does.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use jsonschema::Validator;
use serde_json::{Value, json};
use switchboard_core::spec::Layer;

use super::super::keys::{Key, Of, ValueType};
use super::super::read::oauth;
use super::super::sections::{agents, limits, network, profiles, providers};
use super::super::shape::{TOP, USER_ONLY};
use super::super::source::{Source, Syntax};
use super::super::{Config, Problem, duration, size, tree};
use super::{CONVERTED, FIELDS, json_schema, spellings};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn validator() -> Validator {
    jsonschema::validator_for(&json_schema()).unwrap()
}

/// Parses a text as config files are parsed: comments and trailing commas are fine.
fn parse(text: &str) -> Option<Value> {
    let source = Source::new(text, Path::new("mcp.json"), Layer::User, Syntax::Json);
    Some(tree::parse(&source).ok()??.to_value())
}

/// The blocks of a page that are config files of ours.
fn examples(page: &str) -> Vec<String> {
    let parts = page.split("\n```json\n").skip(1);
    let blocks = parts.filter_map(|part| part.split("\n```").next());
    let is_config = |block: &&str| {
        let parsed = parse(block).unwrap_or_default();
        let mut keys = TOP.iter().chain(USER_ONLY.iter().map(|(key, _)| key));
        keys.any(|key| parsed.get(key).is_some())
    };
    blocks.filter(is_config).map(str::to_owned).collect()
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = docs
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages
}

#[test]
fn the_schema_accepts_every_example_of_the_documentation() {
    let validator = validator();
    let mut seen = 0;
    for page in pages() {
        for example in examples(&fs::read_to_string(&page).unwrap()) {
            let value = parse(&example).unwrap();
            let errors: Vec<String> = validator
                .iter_errors(&value)
                .map(|error| error.to_string())
                .collect();
            assert!(
                errors.is_empty(),
                "{}: {errors:#?}\n{example}",
                page.display()
            );
            seen += 1;
        }
    }
    assert!(seen >= 8, "only {seen} examples were found");
}

/// What a schema cannot see, in files that are JSON.
const UNSEEN: &[&str] = &[
    // Repeated keys and names are gone once a file is parsed.
    "entry-duplicate-key.json",
    "list-name-twice.json",
    "root-duplicate-key.json",
    // Names that differ in case only, or two spellings of one key.
    "entry-same-meaning.json",
    "env-case.json",
];

#[test]
fn the_schema_rejects_every_broken_file_that_a_schema_can() {
    let validator = validator();
    let folder = root().join("crates/switchboard/tests/config/broken");
    let (mut broken, mut json, mut accepted) = (0, 0, BTreeSet::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        broken += usize::from(!name.ends_with(".txt"));
        if !name.ends_with(".json") {
            continue;
        }
        // The rest is not JSON at all, which every editor says without a schema.
        let Some(value) = parse(&fs::read_to_string(&path).unwrap()) else {
            continue;
        };
        json += 1;
        if validator.is_valid(&value) {
            accepted.insert(name);
        }
    }
    let unseen: BTreeSet<String> = UNSEEN.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(accepted, unseen);
    assert_eq!((broken, json, json - accepted.len()), (78, 51, 46));
}

#[test]
fn the_schema_has_every_key_that_is_read_at_the_top() {
    let schema = json_schema();
    let properties = schema["properties"].as_object().unwrap();
    let known: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    let read = TOP
        .iter()
        .copied()
        .chain(USER_ONLY.iter().map(|(key, _)| *key));
    assert_eq!(known, read.collect());
}

/// Values of every type, at and over the bounds of some.
fn samples() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(5000),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("x"),
        json!("30s"),
        json!("1m30s"),
        json!("30 s"),
        json!("16 MiB"),
        json!("16 mib"),
        json!("${VAR}"),
        json!("${VAR:-x}"),
        json!("${"),
        json!("${vault:x}"),
        json!("$x"),
        json!("https://example.com/mcp"),
        json!("ftp://example.com"),
        json!("auto"),
        json!("sse"),
        json!("stdio"),
        json!([]),
        json!(["x"]),
        json!([1, true]),
        json!([null]),
        json!([{}]),
        json!({}),
        json!({"A": "b"}),
        json!({"A": 1}),
        json!({"A": null}),
        json!({"A=B": "x"}),
        json!({"A B": "x"}),
    ]
}

/// Returns true for values that are read although the schema rejects them: Zed's older form of a command.
fn is_exception(key: &Key, sample: &Value) -> bool {
    key.name == "command" && sample.is_object()
}

#[test]
fn the_schema_agrees_with_the_reader_on_every_field() {
    let validator = validator();
    let (mut checked, mut wrong) = (0, Vec::new());
    for key in FIELDS {
        for spelling in spellings(key) {
            for sample in samples() {
                if is_exception(key, &sample) {
                    continue;
                }
                let mut entry = match key.of {
                    Of::Remote => json!({"url": "https://example.com/mcp"}),
                    Of::Any | Of::Process => json!({"command": "x"}),
                };
                entry[spelling.as_str()] = sample;
                let file = json!({"mcpServers": {"a": entry}});
                check(&validator, &file, &mut wrong);
                checked += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(checked > 2000, "{checked}");
}

#[test]
fn the_schema_agrees_with_the_reader_on_every_key_of_a_section() {
    let validator = validator();
    let mut wrong = Vec::new();
    for (section, keys) in [("limits", limits::KEYS), ("network", network::KEYS)] {
        for key in keys {
            for sample in samples() {
                // The text of a proxy and the ranges of addresses have a form that a schema does not check.
                let is_text = sample.is_string() || sample.is_array();
                if section == "network" && is_text {
                    continue;
                }
                check(
                    &validator,
                    &json!({section: {key.name: sample}}),
                    &mut wrong,
                );
            }
        }
    }
    for key in limits::TIMES {
        for sample in samples() {
            check(
                &validator,
                &json!({"limits": {"timeouts": {key.name: sample}}}),
                &mut wrong,
            );
        }
    }
    for key in agents::KEYS {
        // Words and grants are read by the host, which knows them.
        for sample in samples().into_iter().filter(|sample| !sample.is_string()) {
            check(
                &validator,
                &json!({"agents": {"a": {key.name: sample}}}),
                &mut wrong,
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Adds a file that is valid by the schema and not read without a problem, or the other way round.
fn check(validator: &Validator, file: &Value, wrong: &mut Vec<String>) {
    let config = Config::read(
        &file.to_string(),
        Path::new("/home/me/mcp.json"),
        Layer::User,
    );
    // How one limit fits another is not for a schema.
    let is_seen = |problem: &&Problem| !problem.message().contains("is more than");
    let problems: Vec<&Problem> = config.problems().iter().filter(is_seen).collect();
    if validator.is_valid(file) != problems.is_empty() {
        wrong.push(format!("{file}: {problems:?}"));
    }
}

fn compare(file: &str, wanted: &str) {
    let path = root().join(file);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, wanted).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        stored == wanted,
        "{file} is out of date: `cargo xtask docs` writes it"
    );
}

#[test]
fn the_schema_in_the_docs_is_the_one_that_is_generated() {
    let text = serde_json::to_string_pretty(&json_schema()).unwrap();
    compare("docs/mcp.schema.json", &format!("{text}\n"));
}

const HEAD: &str = "\
# Config keys

Every key of `mcp.json`, generated from the tables that the reader uses. [Config files](../config.md)
explains how to use them. `switchboard config schema` prints a JSON Schema of the same keys: an editor
that gets it completes and checks them ([mcp.schema.json](../mcp.schema.json)).

Every key may be written in `camelCase`: `envPassthrough`, `includeTools`. Other cases are other
names. A *time* is a number of seconds, or a text with units: `\"500ms\"`, `\"30s\"`, `\"2m\"`, `\"1h\"`,
`\"1m30s\"`. A *size* is a number of bytes, or a text with a unit: `\"16 MiB\"`, `\"512 KiB\"`, `\"10 MB\"`.

";

#[test]
fn the_config_reference_in_the_docs_is_the_one_that_is_generated() {
    let mut page = HEAD.to_owned();
    page.push_str("## Servers\n\nAn entry has `command` or `url`, and never both. All other fields are optional.\n\n");
    for (title, of) in [
        ("All servers", Of::Any),
        ("Servers that are started", Of::Process),
        ("Servers at a URL", Of::Remote),
    ] {
        let keys: Vec<&Key> = FIELDS.iter().filter(|key| key.of == of).collect();
        table(&format!("### {title}"), &keys, &mut page);
    }
    let all = |keys: &'static [Key]| keys.iter().collect::<Vec<_>>();
    table("### Keys of other clients", &all(CONVERTED), &mut page);
    table("### `oauth`", &all(oauth::MEMBERS), &mut page);
    page.push_str(
        "## Sections of your own file\n\nThese are read from your own file, or from a file that you name with \
         `--config`. In a\nproject's file each of them is an error.\n\n",
    );
    table("### `agents.ID`", &all(agents::KEYS), &mut page);
    table("### `limits`", &all(limits::KEYS), &mut page);
    table("### `limits.timeouts`", &all(limits::TIMES), &mut page);
    table("### `network`", &all(network::KEYS), &mut page);
    table("### `profiles.NAME`", &all(profiles::KEYS), &mut page);
    table("### `providers.NAME`", &all(providers::KEYS), &mut page);
    table(
        "### `providers.NAME.scores.MODEL`",
        &all(providers::SCORES),
        &mut page,
    );
    page.push_str(
        "### The others\n\n| key | type | meaning |\n|---|---|---|\n\
         | `audience.SERVER` | list of texts | The agents that the server is for; all others cannot see it |\n\
         | `pins` | `ask`, `block`, `warn` or `off` | What happens when an agent would use a changed definition |\n\
         | `approvals` | `entry` or `content` | What an approval of a project's server is bound to |\n\
         | `providers.default` | text | The provider that is asked; without it, the first one |\n",
    );
    compare("docs/reference/config.md", &page);
}

fn table(title: &str, keys: &[&Key], page: &mut String) {
    let has_aliases = keys.iter().any(|key| !key.aliases.is_empty());
    let (head, line) = if has_aliases {
        (
            "| key | type | default | meaning | also called |",
            "|---|---|---|---|---|",
        )
    } else {
        ("| key | type | default | meaning |", "|---|---|---|---|")
    };
    writeln!(page, "{title}\n\n{head}\n{line}").unwrap();
    for key in keys {
        let cell = |text: &str| text.replace('|', "\\|");
        let (kind, about) = (cell(&type_name(key.value)), cell(key.about));
        write!(
            page,
            "| `{}` | {kind} | {} | {about}. |",
            key.name, key.default
        )
        .unwrap();
        if has_aliases {
            let aliases: Vec<String> = key.aliases.iter().map(|name| format!("`{name}`")).collect();
            write!(page, " {} |", aliases.join(", ")).unwrap();
        }
        page.push('\n');
    }
    page.push('\n');
}

fn type_name(of: ValueType) -> String {
    let time = |ms| duration::text(std::time::Duration::from_millis(ms));
    match of {
        ValueType::Text => "text".to_owned(),
        ValueType::Url => "URL".to_owned(),
        ValueType::Flag => "`true` or `false`".to_owned(),
        ValueType::Count(least, most) if most >= 4_294_967_295 => {
            format!("number, {least} or more")
        }
        ValueType::Count(least, most) => format!("number, {least} to {most}"),
        ValueType::Size(least, most) => {
            format!("size, {} to {}", size::text(least), size::text(most))
        }
        ValueType::Time(0, most) => format!("time, up to {}", time(most)),
        ValueType::Time(least, most) => format!("time, {} to {}", time(least), time(most)),
        ValueType::Fraction => "number, 0 to 1".to_owned(),
        ValueType::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        ValueType::Texts => "list of texts".to_owned(),
        ValueType::SpacedTexts => "list of texts, or a text with spaces".to_owned(),
        ValueType::TextsOrAll => "list of texts, or `true`".to_owned(),
        ValueType::Variables | ValueType::Headers => "object of texts".to_owned(),
        ValueType::Program => "text, or list of texts".to_owned(),
        ValueType::Object(_) | ValueType::ObjectOrOff(_) => "object, see below".to_owned(),
        ValueType::Named(_) => "object of objects, see below".to_owned(),
    }
}
