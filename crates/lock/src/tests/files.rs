//! The lock file: stable, strict, without secrets, and exact about what differs.

use proptest::prelude::*;
use serde_json::{Value, json};
use switchboard::catalog::ServerCatalog;
use switchboard::pins::{Kind, Pinned};

use super::{changed, full, name, read, server, shown, tool, whole};
use crate::{Lock, LockDrift, LockError, Part};

pub(super) fn entry() -> Value {
    json!({
        "command": "npx",
        "args": ["-y", "@scope/pkg@1.2.3", "--token", "canary-arg", "${HOME}/x"],
        "env": {"API_KEY": "canary-env", "DEBUG": "1", "TOKEN": "${TOKEN}"},
    })
}

pub(super) fn lock(entry: &Value, part: Option<&ServerCatalog>) -> Lock {
    Lock::write([(&name("s"), entry, part)])
}

pub(super) fn drifts(before: &Lock, after: &Lock) -> Vec<String> {
    let drifts = before.verify(after);
    drifts.iter().map(LockDrift::to_string).collect()
}

#[test]
fn a_lock_reads_well() {
    let sub = json!({"name": "sub", "inputSchema": {"type": "object"}, "_meta": {}});
    let part = whole().tools(vec![tool(&sub)]).build(None);
    let remote =
        json!({"url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${T}"}});
    let (one, two) = (name("s"), name("remote"));
    let text = Lock::write([(&one, &entry(), Some(&part)), (&two, &remote, None)]).to_text();
    let hash = |pointer: &str| {
        let document: Value = serde_json::from_str(&text).unwrap();
        let value = document
            .pointer(pointer)
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned();
        assert!(value.starts_with("sha256:") && value.len() == 71, "{value}");
        value
    };
    let expected = format!(
        r#"{{
  "version": 2,
  "servers": {{
    "remote": {{
      "entry": {{
        "headers": {{
          "Authorization": "Bearer ${{T}}"
        }},
        "url": "https://x.example/mcp"
      }},
      "package": null,
      "offers": null
    }},
    "s": {{
      "entry": {{
        "args": [
          "-y",
          "@scope/pkg@1.2.3",
          "--token",
          "{token}",
          "${{HOME}}/x"
        ],
        "command": "npx",
        "env": {{
          "API_KEY": "{key}",
          "DEBUG": "1",
          "TOKEN": "${{TOKEN}}"
        }}
      }},
      "package": {{
        "runner": "npx",
        "name": "@scope/pkg",
        "version": "1.2.3"
      }},
      "offers": {{
        "instructions": {{
          "hash": "{instructions}",
          "definition": "Use add first.\nThen stop."
        }},
        "tools": {{
          "sub": {{
            "hash": "{sub}",
            "definition": {{
              "_meta": {{}},
              "inputSchema": {{
                "type": "object"
              }},
              "name": "sub"
            }}
          }}
        }},
        "prompts": {{
          "greet": {{
            "hash": "{greet}",
            "definition": {{
              "description": "Greets.",
              "name": "greet"
            }}
          }}
        }},
        "templates": {{
          "file:///{{x}}": {{
            "hash": "{file}",
            "definition": {{
              "name": "f",
              "uriTemplate": "file:///{{x}}"
            }}
          }}
        }}
      }}
    }}
  }}
}}
"#,
        token = masked(&text, "/servers/s/entry/args/3"),
        key = masked(&text, "/servers/s/entry/env/API_KEY"),
        instructions = hash("/servers/s/offers/instructions/hash"),
        sub = hash("/servers/s/offers/tools/sub/hash"),
        greet = hash("/servers/s/offers/prompts/greet/hash"),
        file = hash("/servers/s/offers/templates/file:~1~1~1{x}/hash"),
    );
    assert_eq!(text, expected);
    assert!(!text.contains("canary"), "{text}");
    let again = Lock::parse(&text).unwrap();
    assert_eq!(again.to_text(), text);
    assert_eq!(again.servers().count(), 2);
    // As git may have it on another system.
    assert_eq!(Lock::parse(&text.replace('\n', "\r\n")).unwrap(), again);
}

/// A masked value: three stars and four digits.
fn masked(text: &str, pointer: &str) -> String {
    let document: Value = serde_json::from_str(text).unwrap();
    let value = document
        .pointer(pointer)
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    let digits = value
        .strip_prefix("*** [")
        .and_then(|rest| rest.strip_suffix(']'));
    let digits = digits.unwrap_or_else(|| panic!("{value}"));
    assert!(
        digits.len() == 4 && digits.chars().all(|c| c.is_ascii_hexdigit()),
        "{value}"
    );
    value
}

#[test]
fn another_secret_and_another_reference_are_seen() {
    let before = lock(&entry(), None);
    for (pointer, value) in [
        ("/env/API_KEY", "another"),
        ("/env/DEBUG", "2"),
        ("/env/TOKEN", "${OTHER}"),
        ("/args/3", "another"),
        ("/args/1", "@scope/other@1.2.3"),
        ("/command", "bunx"),
    ] {
        let mut other = entry();
        *other.pointer_mut(pointer).unwrap() = json!(value);
        let found = before.verify(&lock(&other, None));
        assert_eq!(found[0].part, Part::Entry, "{pointer}");
        assert_eq!(found[0].to_string(), "s: its entry changed");
        assert_eq!(
            changed(&found[0].diff).len(),
            2,
            "{}",
            shown(&found[0].diff)
        );
    }
}

#[test]
fn verify_names_exactly_what_changed() {
    let before_part = whole().build(None);
    let mut other = full();
    other["inputSchema"]["properties"]["a"]["default"] = json!(2);
    let after_part = server("s")
        .tools(vec![
            tool(&other),
            tool(&json!({"name": "new", "inputSchema": {}})),
        ])
        .prompts(vec![read(r#"{"name":"greet","description":"Other."}"#)])
        .instructions(Some("Use add last.\nThen stop.".into()))
        .build(None);
    let before = lock(&entry(), Some(&before_part));
    let after = lock(&entry(), Some(&after_part));
    assert_eq!(before.verify(&before), []);
    assert_eq!(
        drifts(&before, &after),
        [
            "s: the instructions changed",
            "s: tool \"add\" changed",
            "s: tool \"new\" is not in the lock",
            "s: tool \"sub\" is missing",
            "s: prompt \"greet\" changed",
            "s: template \"file:///{x}\" is missing",
        ]
    );
    let found = before.verify(&after);
    assert_eq!(found[1].part, Part::Item(Kind::Tool, "add".into()));
    let differs = [r#"-         "default": 1,"#, r#"+         "default": 2,"#];
    assert_eq!(changed(&found[1].diff), differs);
    assert_eq!(
        changed(&found[0].diff),
        [r#"- "Use add first.\n"#, r#"+ "Use add last.\n"#]
    );
    // The same from the file alone.
    let read = Lock::parse(&before.to_text()).unwrap();
    assert_eq!(read.verify(&after), found);
    // Pins are not asked where the lock has it all.
    let pinned = Pinned::of(&before_part);
    assert_eq!(found[1].detail(&pinned, &after_part), found[1].diff);
}

#[test]
fn servers_packages_and_what_is_not_known_are_named() {
    let part = whole().build(None);
    let both = |one: &Value| {
        Lock::write([
            (&name("a"), one, None),
            (&name("b"), &json!({"url": "https://x.example"}), None),
        ])
    };
    let plain = json!({"command": "uvx", "args": ["x==1.0"]});
    let newer = json!({"command": "uvx", "args": ["x"]});
    let only = Lock::write([(&name("a"), &plain, None)]);
    assert_eq!(drifts(&both(&plain), &only), ["b: the server is missing"]);
    assert_eq!(
        drifts(&only, &both(&plain)),
        ["b: the server is not in the lock"]
    );
    assert_eq!(
        drifts(&both(&plain), &both(&newer)),
        [
            "a: its entry changed",
            "a: its package was uvx x 1.0, and is uvx x (no fixed version)"
        ]
    );
    let (known, unknown) = (lock(&plain, Some(&part)), lock(&plain, None));
    assert_eq!(
        drifts(&known, &unknown),
        ["s: what it offers is not known, and is in the lock"]
    );
    assert_eq!(
        drifts(&unknown, &known),
        ["s: what it offers is not in the lock"]
    );
}

#[test]
fn a_broken_lock_says_where() {
    let good = lock(&entry(), Some(&whole().build(None))).to_text();
    let at = |text: &str| match Lock::parse(text) {
        Err(LockError::Broken { line, column, why }) => (line, column, why),
        other => panic!("{other:?}"),
    };
    let add = good
        .lines()
        .position(|line| line.contains("\"add\""))
        .unwrap();
    let mut lines: Vec<&str> = good.lines().collect();
    lines[add + 1] = r#"            "hash": "sha256:00","#;
    let (line, _, why) = at(&lines.join("\n"));
    assert_eq!(line, add + 2);
    assert!(why.contains("no fingerprint"), "{why}");
    // A name that is there twice: a reviewer may have seen the other one.
    let twice = format!("          \"add\": \"sha256:{}\",", "0".repeat(64));
    let mut lines: Vec<&str> = good.lines().collect();
    lines.insert(add, &twice);
    let (_, _, why) = at(&lines.join("\n"));
    assert_eq!(why, "the same name again");

    let (line, column, why) = at("{\n  \"version\": 1,\n  \"servers\": {\"a/b\": {}}\n}");
    assert_eq!(line, 3);
    assert!(column > 1 && why.contains("bad server name"), "{why}");
    for broken in [
        "",
        "{",
        "[]",
        "{}",
        r#"{"version":1}"#,
        r#"{"version":1,"servers":{},"x":1}"#,
    ] {
        at(broken);
    }
    assert_eq!(
        Lock::parse(r#"{"version":3,"else":0}"#),
        Err(LockError::Newer { version: 3 })
    );
    let long = " ".repeat((16 << 20) + 1);
    assert!(matches!(
        Lock::parse(&long),
        Err(LockError::TooLarge { .. })
    ));
    let (_, _, why) = at("{\"version\":1,\"servers\":{\"a\u{1b}[2J/\":{}}}");
    assert!(!why.contains('\u{1b}'), "{why}");
}

#[test]
fn what_servers_call_things_is_safe_to_review() {
    let hostile = "a\u{202e}\u{200b}b";
    let part = server("s").tools(vec![tool(&json!({"name": hostile, "inputSchema": {}}))]);
    let lock = lock(&json!({"command": "x"}), Some(&part.build(None)));
    let text = lock.to_text();
    assert!(text.contains(r#""a\u202e\u200bb": {"#), "{text}");
    assert!(text.contains(r#""name": "a\u202e\u200bb""#), "{text}");
    assert_eq!(Lock::parse(&text).unwrap(), lock);
}

proptest! {
    #[test]
    fn a_lock_is_the_same_to_the_byte_in_any_order(order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle()) {
        let write = |order: &[usize]| {
            let names: Vec<_> = order.iter().map(|at| name(&format!("s{at}"))).collect();
            let parts: Vec<ServerCatalog> = names
                .iter()
                .map(|name| {
                    let tools = order
                        .iter()
                        .map(|at| tool(&json!({"name": format!("t{at}"), "inputSchema": {"a": at}})));
                    ServerCatalog::builder(name.clone()).tools(tools.collect()).build(None)
                })
                .collect();
            let entries: Vec<Value> = names
                .iter()
                .map(|name| {
                    let env = order.iter().map(|at| (format!("E{at}"), json!(at.to_string())));
                    json!({"command": name.as_str(), "env": Value::Object(env.collect())})
                })
                .collect();
            let servers = names.iter().zip(&entries).zip(&parts);
            Lock::write(servers.map(|((name, entry), part)| (name, entry, Some(part))))
        };
        let sorted = write(&[0, 1, 2, 3, 4, 5]);
        let shuffled = write(&order);
        prop_assert_eq!(sorted.to_text(), shuffled.to_text());
        prop_assert_eq!(sorted.verify(&shuffled), []);
        let again = Lock::parse(&shuffled.to_text()).unwrap();
        prop_assert_eq!(again.verify(&sorted), []);
        prop_assert_eq!(again, sorted);
    }
}

#[test]
fn another_issuer_of_a_login_is_a_drift_and_the_same_is_not() {
    let remote = json!({"url": "https://x.example/mcp"});
    let with = |issuer: Option<&str>| {
        let mut lock = lock(&remote, None);
        if let Some(issuer) = issuer {
            lock.set_issuer(&name("s"), issuer);
        }
        Lock::parse(&lock.to_text()).unwrap()
    };
    let (none, one, other) = (
        with(None),
        with(Some("https://id.example")),
        with(Some("https://evil.example")),
    );
    // A lock without logins is written as before there were any.
    assert!(!none.to_text().contains("issuer"));
    assert!(one.to_text().contains(r#""issuer": "https://id.example""#));
    assert_eq!(drifts(&one, &one), [""; 0]);
    assert_eq!(
        drifts(&one, &other),
        ["s: its issuer was https://id.example, and is https://evil.example"]
    );
    assert_eq!(
        drifts(&one, &none),
        ["s: its issuer was https://id.example, and is no issuer"]
    );
    assert_eq!(drifts(&none, &one).len(), 1);
    assert_eq!(one.verify(&other)[0].part, Part::Issuer);
}
