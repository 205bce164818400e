//! The JSON Schema of our config files, generated from the tables of keys.
//!
//! It accepts what is read without a problem. It also rejects what is only a warning, such as an
//! unknown key, because an editor underlines both. It cannot see repeated keys, names that are
//! defined twice, or which layer a file belongs to.
//!
//! Only our own names are `properties`, which editors suggest; other spellings are
//! `patternProperties`, which they accept.

use serde_json::{Map, Value, json};

use super::fields::{CONVERTED, FIELDS, REMARKS};
use super::keys::{Key, Of, ValueType};
use super::limits::LIMITS;
use super::sections::{APPROVALS, PINS, WordSection, agents, limits, network, profiles, providers};

/// A text in which every placeholder is one that we know.
const TEXT: &str = r"^(?:[^$]|\$(?!\{)|\$\{(?:(?:env:)?[A-Za-z_][A-Za-z0-9_()]*(?::-[^}$]*)?|workspaceFolder(?:Basename)?|userHome|pathSeparator|/|file:[^}]+|input:[^}]+)\})*$";
/// A name that a server may have.
const NAME: &str = r"^[^\s/\u0000-\u001f\u007f]{1,128}$";
const PLACEHOLDER: &str = r"\$\{";
const TIME: &str = r"^(?=[0-9.])(?:[0-9]*\.?[0-9]+h)?(?:[0-9]*\.?[0-9]+m)?(?:[0-9]*\.?[0-9]+s)?(?:[0-9]*\.?[0-9]+ms)?$";
const SIZE: &str = r"^[0-9]+ ?(?:GiB|MiB|KiB|GB|MB|KB|kB|B)$";

/// Words of `type` for servers that are started; the others are for servers at a URL.
const PROCESS_TYPES: &[&str] = &["stdio", "local"];
/// Fields that define a server, which cannot be a default.
const OWN_FIELDS: &[&str] = &["type", "command", "args", "url"];

/// Returns the JSON Schema (draft 7) of our config files, for editors and other programs.
///
/// ```
/// let schema = switchboard_config::json_schema();
/// assert!(schema["properties"]["mcpServers"].is_object());
/// ```
pub fn json_schema() -> Value {
    let word = |section: &WordSection| {
        let words = json!({"enum": section.words});
        let object = object(&[(section.key, words.clone())]);
        json!({"anyOf": [words, object]})
    };
    let named = |inner: Value| json!({"type": "object", "additionalProperties": inner});
    let servers = json!({
        "type": ["object", "null"],
        "propertyNames": {"pattern": NAME},
        "additionalProperties": {"$ref": "#/definitions/server"},
    });
    let default = json!({"default": {"type": "string"}});
    let providers = with(named(section(providers::KEYS)), "properties", default);
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Switchboard config file (mcp.json)",
        "type": "object",
        "properties": {
            "$schema": {"type": "string"},
            "mcpServers": with_description("Servers by name", servers.clone()),
            "servers": with_description("Servers by name, or a list of servers with names", json!({"anyOf": [servers, {
                "type": "array",
                "items": {"allOf": [
                    {"$ref": "#/definitions/server"},
                    {"required": ["name"], "properties": {"name": {"type": "string", "pattern": NAME}}},
                ]},
            }]})),
            "defaults": with_description("Fields for all servers of this file", entry(|key| !OWN_FIELDS.contains(&key.name))),
            "inputs": with_description("Values to ask for: `${input:ID}`", inputs()),
            "agents": with_description("What each agent may do, by its id; `*` is for all others", named(section(agents::KEYS))),
            "audience": with_description("The agents that a server is for, by the server's name", named(texts())),
            "pins": with_description("What happens when an agent would use a changed definition", word(&PINS)),
            "approvals": with_description("What an approval of a project's server is bound to", word(&APPROVALS)),
            "limits": with_description("What servers may use up", section(limits::KEYS)),
            "network": with_description("How servers at URLs are reached", section(network::KEYS)),
            "profiles": with_description("Parts of the servers that a gateway offers, by name", named(section(profiles::KEYS))),
            "providers": with_description("Models that servers may ask; `default` names one of them", providers),
        },
        "additionalProperties": false,
        "not": {"required": ["mcpServers", "servers"]},
        "definitions": {"server": server()},
    })
}

/// The schema of an entry: a command or a URL, and no key of the other kind.
fn server() -> Value {
    let (process, remote): (Vec<&str>, Vec<&str>) = match FIELDS.first().map(|key| key.value) {
        Some(ValueType::Words(words)) => {
            words.iter().partition(|word| PROCESS_TYPES.contains(word))
        }
        _ => (Vec::new(), Vec::new()),
    };
    let types = |words: &[&str]| {
        let names = FIELDS.first().map(spellings).unwrap_or_default();
        let types = names.into_iter().map(|name| (name, json!({"enum": words})));
        types.collect::<Map<String, Value>>()
    };
    let without = |of: Of| json!({"not": {"enum": spellings_of(of)}});
    let required = |name: &str| json!({"required": [name]});
    let list = json!({"required": ["command"], "properties": {"command": {"type": "array"}}});
    let kinds = json!([
        {
            "required": ["command"],
            "properties": types(&process),
            "propertyNames": without(Of::Remote),
            "allOf": [
                // A command line in one text: no shell splits it.
                {"anyOf": [required("args"), {"properties": {
                    "command": {"not": {"type": "string", "pattern": r"^\s*[^\s/\\]+\s+\S"}},
                }}]},
                {"if": list, "then": {"not": required("args")}},
            ],
        },
        {
            "anyOf": [required("url"), required("httpUrl"), required("serverUrl")],
            "properties": types(&remote),
            "propertyNames": without(Of::Process),
        },
    ]);
    with(entry(|_| true), "oneOf", kinds)
}

/// An object with the fields of an entry, as far as they are wanted.
fn entry(is_wanted: impl Fn(&Key) -> bool) -> Value {
    let (mut properties, mut patterns) = (Map::new(), Map::new());
    for key in FIELDS.iter().filter(|key| is_wanted(key)) {
        add(key, Placeholders::Filled, &mut properties, &mut patterns);
    }
    for key in CONVERTED.iter().filter(|key| is_wanted(key)) {
        let schema = with_description(key.about, value(key.value, Placeholders::Filled));
        patterns.insert(any_of(&spellings(key)), schema);
    }
    let remarks: Vec<String> = REMARKS.iter().map(|name| (*name).to_owned()).collect();
    patterns.insert(any_of(&remarks), json!(true));
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": patterns,
        "additionalProperties": false,
    })
}

/// An object with the keys of a section, in which no placeholder is filled.
fn section(keys: &[Key]) -> Value {
    let (mut properties, mut patterns) = (Map::new(), Map::new());
    for key in keys {
        add(key, Placeholders::Literal, &mut properties, &mut patterns);
    }
    json!({
        "type": "object",
        "properties": properties,
        "patternProperties": patterns,
        "additionalProperties": false,
    })
}

/// Adds a key under its own name, which editors suggest, and under its other spellings.
fn add(
    key: &Key,
    placeholders: Placeholders,
    properties: &mut Map<String, Value>,
    patterns: &mut Map<String, Value>,
) {
    let about = match key.default {
        "" => key.about.to_owned(),
        default => format!("{}. Default: {default}", key.about),
    };
    let schema = with_description(&about, value(key.value, placeholders));
    let others: Vec<String> = spellings(key).split_off(1);
    if !others.is_empty() {
        patterns.insert(any_of(&others), schema.clone());
    }
    properties.insert(key.name.to_owned(), schema);
}

/// Whether texts may contain placeholders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Placeholders {
    Filled,
    Literal,
}

fn value(of: ValueType, placeholders: Placeholders) -> Value {
    let is_filled = placeholders == Placeholders::Filled;
    let text = || {
        if is_filled {
            json!({"type": "string", "pattern": TEXT})
        } else {
            json!({"type": "string"})
        }
    };
    // A text that is read in a special form may be a placeholder instead.
    let pattern = |pattern: &str| {
        if is_filled {
            let pattern = format!("{pattern}|{PLACEHOLDER}");
            json!({"allOf": [text(), {"pattern": pattern}]})
        } else {
            json!({"type": "string", "pattern": pattern})
        }
    };
    // Entries take numbers and booleans for texts.
    let item = || {
        if is_filled {
            json!({"anyOf": [text(), {"type": ["number", "boolean"]}]})
        } else {
            text()
        }
    };
    let list = || json!({"type": "array", "items": item()});
    match of {
        ValueType::Text => text(),
        ValueType::Url => pattern("^https?://"),
        ValueType::Flag => json!({"type": "boolean"}),
        ValueType::Count(least, most) => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        ValueType::Size(least, most) => {
            let number = json!({"type": "integer", "minimum": least, "maximum": most});
            json!({"anyOf": [number, pattern(SIZE)]})
        }
        ValueType::Time(least, most) => {
            // A longer bare number of an entry is a warning: milliseconds may have been meant.
            let most = if is_filled {
                LIMITS.plain_seconds.as_secs()
            } else {
                most / 1000
            };
            let number = match least {
                0 => json!({"type": "number", "exclusiveMinimum": 0, "maximum": most}),
                least => {
                    let least = std::time::Duration::from_millis(least).as_secs_f64();
                    json!({"type": "number", "minimum": least, "maximum": most})
                }
            };
            json!({"anyOf": [number, pattern(TIME)]})
        }
        ValueType::Fraction => json!({"type": "number", "minimum": 0, "maximum": 1}),
        ValueType::Words(words) if is_filled => {
            json!({"anyOf": [{"enum": words}, pattern(PLACEHOLDER)]})
        }
        ValueType::Words(words) => json!({"enum": words}),
        ValueType::Texts => list(),
        ValueType::SpacedTexts => json!({"anyOf": [list(), text()]}),
        ValueType::TextsOrAll => json!({"anyOf": [list(), {"type": "boolean"}]}),
        ValueType::Variables => json!({
            "type": "object",
            "propertyNames": {"pattern": r"^[^=\u0000]+$"},
            "additionalProperties": item(),
        }),
        ValueType::Headers => json!({
            "type": "object",
            "propertyNames": {"pattern": r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"},
            "additionalProperties": {"allOf": [
                item(),
                {"not": {"type": "string", "pattern": r"[\u0000-\u0008\u000a-\u001f\u007f-\u009f]"}},
            ]},
        }),
        ValueType::Program => {
            let program = json!({"allOf": [text(), {"pattern": r"\S"}]});
            let list = json!({"type": "array", "minItems": 1, "items": item()});
            json!({"anyOf": [program, list]})
        }
        ValueType::Object(keys) => section(keys),
        ValueType::ObjectOrOff(keys) => {
            let (mut properties, mut patterns) = (Map::new(), Map::new());
            for key in keys {
                add(key, placeholders, &mut properties, &mut patterns);
            }
            json!({"anyOf": [{"enum": [false]}, {
                "type": "object",
                "properties": properties,
                "patternProperties": patterns,
                "additionalProperties": false,
            }]})
        }
        ValueType::Named(keys) => {
            json!({"type": "object", "additionalProperties": section(keys)})
        }
    }
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn inputs() -> Value {
    let text = || json!({"type": "string"});
    let keys = [
        ("id", text()),
        ("type", text()),
        ("description", text()),
        ("default", text()),
        ("password", json!({"type": "boolean"})),
        ("options", json!({"type": "array"})),
        ("command", text()),
    ];
    let input = with(object(&keys), "required", json!(["id"]));
    json!({"type": "array", "items": input})
}

fn object(keys: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn with_description(about: &str, schema: Value) -> Value {
    with(schema, "description", json!(about))
}

/// Adds a member to a schema that is an object.
fn with(mut schema: Value, key: &str, value: Value) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert(key.to_owned(), value);
    }
    schema
}

/// All spellings of a key, its own name first.
fn spellings(key: &Key) -> Vec<String> {
    let mut all = Vec::new();
    for name in std::iter::once(&key.name).chain(key.aliases) {
        all.push((*name).to_owned());
        let camel = camel_case(name);
        if camel != **name {
            all.push(camel);
        }
    }
    all
}

/// All spellings of the keys that apply to one kind of server only.
fn spellings_of(of: Of) -> Vec<String> {
    let keys = FIELDS.iter().chain(CONVERTED).filter(|key| key.of == of);
    keys.flat_map(spellings).collect()
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// A pattern for exactly these names.
fn any_of(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| name.replace('$', r"\$")).collect();
    format!("^(?:{})$", names.join("|"))
}

#[cfg(test)]
#[path = "json_schema_tests.rs"]
mod tests;
