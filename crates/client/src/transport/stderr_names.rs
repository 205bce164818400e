//! Names in a server's stderr: the address, file, module, package or variable that a known cause is about.

use super::stderr_hints::{About, Meaning};

/// A known cause with the names that the server's lines contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedCause {
    /// The cause in words.
    pub cause: String,
    /// The thing to do about it.
    pub step: String,
    /// The variable that is missing.
    pub variable: Option<String>,
}

/// Adds the names in the lines to a known cause.
pub fn with_names(meaning: Meaning, lines: &[String]) -> NamedCause {
    let find = |read: fn(&str) -> Option<NamedCause>| lines.iter().find_map(|line| read(line));
    let named = match meaning.about {
        About::Service => find(service),
        About::NpmPackage => find(npm_package),
        About::PythonPackage => find(python_package),
        About::Module => find(module),
        About::File => find(file),
        About::Variable => find(variable),
        _ => None,
    };
    named.unwrap_or_else(|| cause(meaning.cause, meaning.step))
}

fn cause(cause: impl Into<String>, step: impl Into<String>) -> NamedCause {
    NamedCause {
        cause: cause.into(),
        step: step.into(),
        variable: None,
    }
}

/// Services by their usual ports.
const SERVICES: &[(u16, &str)] = &[
    (1433, "SQL Server"),
    (1521, "Oracle Database"),
    (2375, "Docker"),
    (3306, "MySQL"),
    (5432, "PostgreSQL"),
    (5672, "RabbitMQ"),
    (6333, "Qdrant"),
    (6379, "Redis"),
    (6443, "Kubernetes"),
    (7687, "Neo4j"),
    (8123, "ClickHouse"),
    (8086, "InfluxDB"),
    (9042, "Cassandra"),
    (9090, "Prometheus"),
    (9092, "Kafka"),
    (9200, "Elasticsearch"),
    (9222, "the remote debugging of Chrome"),
    (11434, "Ollama"),
    (19530, "Milvus"),
    (27017, "MongoDB"),
];

/// Reads the address of a refused connection.
fn service(line: &str) -> Option<NamedCause> {
    let lower = line.to_ascii_lowercase();
    if !["refused", "econnrefused", "etimedout"]
        .iter()
        .any(|word| lower.contains(word))
    {
        return None;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    let mut words = line.split(|c| !is_part(c));
    let (host, port) = words.find_map(|word| {
        let (host, port) = word.trim_end_matches([':', '.']).rsplit_once(':')?;
        // An IPv6 address is in brackets, and its colons are part of it.
        let host = match host.strip_prefix('[') {
            Some(address) => address.strip_suffix(']')?,
            None => host.trim_start_matches(':').trim_end_matches(':'),
        };
        let is_host = !host.is_empty() && host.contains(|c: char| c.is_ascii_alphanumeric());
        Some((host, port.parse::<u16>().ok()?)).filter(|(_, port)| is_host && *port > 0)
    })?;
    let usual = SERVICES.iter().find(|(known, _)| *known == port);
    let service = usual.map(|(_, name)| format!(", the usual port of {name}"));
    let check = if cfg!(windows) {
        format!("Test-NetConnection {host} -Port {port}")
    } else {
        format!("nc -vz {host} {port}")
    };
    Some(cause(
        format!(
            "it could not connect to {host}:{port}{}: is that running?",
            service.unwrap_or_default()
        ),
        format!("check that something listens there: `{check}`"),
    ))
}

/// Reads the name in `'@scope/name@1.0' is not in this registry`, or in the URL of a 404.
fn npm_package(line: &str) -> Option<NamedCause> {
    let quoted = line
        .split_once("is not in")
        .and_then(|(before, _)| between_quotes(before));
    let url = || line.split_once("registry.npmjs.org/").map(|(_, rest)| rest);
    let name = quoted.or_else(|| url()?.split_whitespace().next())?;
    let name = name.replace("%2f", "/").replace("%2F", "/");
    // The version, but not the scope.
    let at = name.get(1..)?.find('@').map_or(name.len(), |at| at + 1);
    let name = plain_name(name.get(..at)?)?;
    Some(cause(
        format!("there is no npm package named {name}"),
        format!("look for its right name: `npm search {name}`"),
    ))
}

/// Reads the name in `Because NAME was not found in the package registry`.
fn python_package(line: &str) -> Option<NamedCause> {
    let (before, _) = line.split_once(" was not found in the package registry")?;
    let name = plain_name(before.split_whitespace().next_back()?)?;
    Some(cause(
        format!("there is no Python package named {name}"),
        format!("look for its right name: https://pypi.org/search/?q={name}"),
    ))
}

/// Reads the module in the errors of Python and Node.js. A path is a file that does not exist.
fn module(line: &str) -> Option<NamedCause> {
    if let Some((_, name)) = line.split_once("No module named ") {
        let name = name.trim_start().trim_start_matches(['\'', '"']);
        let module = plain_name(name.split(['.', ';', '\'', '"', ' ']).next()?)?;
        // Some packages have another name than their module.
        let package = match module {
            "yaml" => "PyYAML",
            "dotenv" => "python-dotenv",
            "bs4" => "beautifulsoup4",
            "PIL" => "Pillow",
            "cv2" => "opencv-python",
            "sklearn" => "scikit-learn",
            module => module,
        };
        return Some(cause(
            format!("the Python module {module} is not installed"),
            format!("install it: `pip install {package}`"),
        ));
    }
    let words = ["Cannot find module ", "Cannot find package "];
    let (_, rest) = words.iter().find_map(|words| line.split_once(words))?;
    let name = between_quotes(rest)?;
    if name.starts_with(['.', '/']) || name.contains('\\') {
        return Some(missing_file(name));
    }
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = name.split('/').take(parts).collect();
    let package = package.join("/");
    let package = plain_name(&package)?;
    Some(cause(
        format!("the Node.js module {package} is not installed"),
        format!("install it in the server's folder: `npm install {package}`"),
    ))
}

/// Reads the path of a file that does not exist.
fn file(line: &str) -> Option<NamedCause> {
    let lower = line.to_ascii_lowercase();
    let is_missing = lower.contains("open file") || lower.contains("enoent");
    let name = is_missing.then(|| between_quotes(line.rsplit_once("open")?.1))?;
    name.map(missing_file)
}

fn missing_file(path: &str) -> NamedCause {
    cause(
        format!("there is no file {path}"),
        "correct the path in its arguments; a relative path starts at its working folder (`cwd`)",
    )
}

/// Reads the name of a variable that is not set.
fn variable(line: &str) -> Option<NamedCause> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let mut words = line.split(|c| !is_part(c));
    let name = words.find(|word| {
        let is_name = word.starts_with(|c: char| c.is_ascii_uppercase());
        is_name && word.len() > 3 && word.contains('_') && !word.ends_with('_')
    })?;
    Some(NamedCause {
        variable: Some(name.to_owned()),
        ..cause(
            format!("the variable {name} is not set for it"),
            "name it in `env` or `env_passthrough`: servers get no others",
        )
    })
}

/// Returns the text between the first quotes of either kind.
fn between_quotes(text: &str) -> Option<&str> {
    let at = text.find(['\'', '"'])?;
    let (quote, rest) = text.get(at..)?.split_at_checked(1)?;
    rest.split_once(quote).map(|(inner, _)| inner)
}

/// Returns a name that a shell reads as it stands.
fn plain_name(name: &str) -> Option<&str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.@/".contains(c);
    (!name.is_empty() && !name.starts_with('-') && name.chars().all(is_plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::stderr_hints::meaning;

    fn named(line: &str) -> NamedCause {
        let lines = ["starting".to_owned(), line.to_owned()];
        with_names(meaning(&lines).unwrap(), &lines)
    }

    #[test]
    fn a_cause_names_what_it_is_about() {
        for (line, cause, step) in [
            (
                "Error: connect ECONNREFUSED 127.0.0.1:5432",
                "it could not connect to 127.0.0.1:5432, the usual port of PostgreSQL: is that running?",
                "`nc -vz 127.0.0.1 5432`",
            ),
            (
                "dial tcp [::1]:6379: connect: connection refused",
                "it could not connect to ::1:6379, the usual port of Redis: is that running?",
                "`nc -vz ::1 6379`",
            ),
            (
                "redis: http://db.local:8123/x: Connection refused",
                "it could not connect to db.local:8123, the usual port of ClickHouse: is that running?",
                "`nc -vz db.local 8123`",
            ),
            (
                "Error: Cannot find module '/nope.js'",
                "there is no file /nope.js",
                "correct the path",
            ),
            (
                "python3: can't open file '/nope.py': [Errno 2] No such file or directory",
                "there is no file /nope.py",
                "correct the path",
            ),
            (
                "Error: ENOENT: no such file or directory, open '/x/config.json'",
                "there is no file /x/config.json",
                "correct the path",
            ),
            (
                "/usr/bin/python3: No module named nosuchmodule",
                "the Python module nosuchmodule is not installed",
                "`pip install nosuchmodule`",
            ),
            (
                "ModuleNotFoundError: No module named 'mcp.server'; 'mcp' is not a package",
                "the Python module mcp is not installed",
                "`pip install mcp`",
            ),
            (
                "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b/c' imported from /x.js",
                "the Node.js module @a/b is not installed",
                "`npm install @a/b`",
            ),
            (
                "npm error 404  '@a/nope@*' is not in this registry.",
                "there is no npm package named @a/nope",
                "`npm search @a/nope`",
            ),
            (
                "npm error 404 Not Found - GET https://registry.npmjs.org/@a%2fnope - Not found",
                "there is no npm package named @a/nope",
                "`npm search @a/nope`",
            ),
            (
                "Because nope was not found in the package registry and you require nope",
                "there is no Python package named nope",
                "https://pypi.org/search/?q=nope",
            ),
        ] {
            let named = named(line);
            assert_eq!(named.cause, cause, "{line}");
            assert!(named.step.contains(step), "{line}: {named:?}");
        }
    }

    #[test]
    fn a_missing_variable_is_named() {
        for line in [
            "GITHUB_TOKEN is not set",
            "Error: missing environment variable GITHUB_TOKEN",
        ] {
            assert_eq!(
                named(line).variable.as_deref(),
                Some("GITHUB_TOKEN"),
                "{line}"
            );
        }
        assert_eq!(named("the api key is missing").variable, None);
    }

    #[test]
    fn a_name_that_a_shell_would_obey_is_not_repeated() {
        for line in [
            "No module named $(id)",
            "Cannot find module '`id`'",
            "npm error 404 '$(id)@1' is not in this registry",
        ] {
            let named = named(line);
            assert!(!named.step.contains("id"), "{named:?}");
        }
    }
}
