//! A file as each client writes it, read to the servers that it means.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard::config::{
    Client, Config, Expansion, Input, Inputs, Problem, ProblemKind, read_client,
};
use switchboard::secret::Secret;
use switchboard::spec::{
    Endpoint, Layer, NameStyle, Protocol, ServerSpec, Settings, TransportKind,
};
use switchboard::transport::Environment;
use switchboard::{Deadline, Timeouts};

struct Answers;

impl Inputs for Answers {
    fn answer(&self, input: &Input) -> Option<Secret<String>> {
        Some(format!("{}:{}", input.id, input.password).into())
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/clients")
}

fn read(file: &str, client: Client) -> Config {
    let path = corpus().join(file);
    let config = read_client(
        &fs::read_to_string(&path).unwrap(),
        &path,
        Layer::User,
        client,
    );
    let told = config.problems().iter();
    // Sections that are kept for later are accepted, and said to be.
    let told = told.filter(|problem| problem.kind() != ProblemKind::Unused || problem.is_error());
    assert_eq!(told.collect::<Vec<_>>(), Vec::<&Problem>::new(), "{file}");
    config
}

/// The servers of a file, filled in; where they are described is left out of the comparison.
fn specs(config: &Config) -> Vec<ServerSpec> {
    let host: Environment = [("TOKEN", "t0"), ("TRACE", "t1")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into_iter()
        .collect();
    let with = Expansion::new(&host, Path::new("/shop"))
        .home(Some(Path::new("/home/me")))
        .inputs(&Answers);
    let specs = config.entries().iter().map(|entry| {
        let mut spec = entry.expand(&with).unwrap();
        assert_eq!(spec.origin, *entry.origin());
        spec.origin = switchboard::spec::Origin::program();
        // What was filled in is a secret, which is for tests of secrets.
        match &mut spec.endpoint {
            Endpoint::Process(process) => process.secrets.clear(),
            Endpoint::Remote(remote) => remote.secrets.clear(),
        }
        spec
    });
    specs.collect()
}

fn stdio(name: &str, command: &str, args: &[&str]) -> ServerSpec {
    ServerSpec::stdio(name, command)
        .unwrap()
        .args(args.iter().copied())
}

fn http(name: &str, url: &str) -> ServerSpec {
    ServerSpec::http(name, url).unwrap()
}

fn with(mut spec: ServerSpec, change: impl FnOnce(&mut Settings)) -> ServerSpec {
    change(&mut spec.settings);
    spec
}

fn off(mut spec: ServerSpec) -> ServerSpec {
    spec.is_enabled = false;
    spec
}

fn within(millis: u64) -> Deadline {
    let idle = Duration::from_millis(millis);
    Deadline {
        idle,
        total: idle.max(Duration::from_secs(600)),
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn claude_desktop() {
    let config = read("claude_desktop_config.json", Client::ClaudeDesktop);
    let files = "@modelcontextprotocol/server-filesystem";
    let token = "GITHUB_PERSONAL_ACCESS_TOKEN";
    let image = "ghcr.io/github/github-mcp-server";
    assert_eq!(
        specs(&config),
        [
            stdio("filesystem", "npx", &["-y", files, "/Users/me/Desktop"]),
            stdio(
                "github",
                "docker",
                &["run", "-i", "--rm", "-e", token, image]
            )
            .env(token, "ghp-desktop"),
        ]
    );
}

#[test]
fn claude_code() {
    let config = read(".claude.json", Client::ClaudeCode);
    let asana = ServerSpec::sse("asana", "https://mcp.asana.com/sse").unwrap();
    assert_eq!(
        specs(&config),
        [
            stdio("time", "uvx", &["mcp-server-time"]),
            http("sentry", "https://mcp.sentry.dev/mcp"),
            asana.header("Authorization", "Bearer t0"),
        ]
    );
    let projects: Vec<_> = config
        .entries()
        .iter()
        .map(|entry| entry.project())
        .collect();
    let shop = Some(Path::new("/home/me/shop"));
    assert_eq!(projects, [None, shop, shop]);
    let pointer = &config.get("sentry").unwrap().origin().pointer;
    assert_eq!(pointer, "/projects/~1home~1me~1shop/mcpServers/sentry");
    let config = read(".mcp.json", Client::ClaudeCode);
    let program = corpus().join("bin/db-server");
    assert_eq!(
        specs(&config),
        [
            http("api", "https://api.example.com/mcp").header("Authorization", "Bearer t0"),
            stdio(
                "db",
                program.to_str().unwrap(),
                &["--dsn", "sqlite:local.db"]
            ),
        ]
    );
}

#[test]
fn cursor() {
    let path = corpus().join("cursor/mcp.json");
    let text = fs::read_to_string(&path)
        .unwrap()
        .replace("\".env\"", "\"../cursor.env\"");
    let config = read_client(&text, &path, Layer::User, Client::Cursor);
    assert_eq!(config.problems(), []);
    assert_eq!(
        specs(&config),
        [
            stdio("local", "/shop/tools/server.py", &["--home", "/home/me"])
                .env("API_KEY", "t0")
                .env("FROM_FILE", "yes"),
            http("remote", "https://example.com/mcp").header("X-Key", "t0"),
        ]
    );
}

#[test]
fn vs_code() {
    let config = read("vscode/mcp.json", Client::VsCode);
    let args = ["-y", "server-perplexity-ask", "--region=region:false"];
    assert_eq!(
        specs(&config),
        [
            stdio("perplexity", "npx", &args)
                .cwd("/shop")
                .env("PERPLEXITY_API_KEY", "key:true")
                .env("RETRIES", "3"),
            http("github", "https://api.githubcopilot.com/mcp/"),
        ]
    );
    let inputs = config.entries()[0].inputs();
    assert_eq!(inputs[1].options, ["eu", "us"]);
    assert_eq!(inputs[1].default.as_deref(), Some("eu"));
    assert_eq!(inputs[0].description.as_deref(), Some("API key"));
}

#[test]
fn codex() {
    let config = read("codex/config.toml", Client::Codex);
    let docs = stdio("docs", "npx", &["-y", "docs-server"])
        .env("MY_ENV_VAR", "value")
        .env_passthrough(["LOCAL_TOKEN"])
        .cwd("/srv/docs");
    let docs = with(docs, |settings| {
        settings.timeouts.connect = within(20_000);
        settings.timeouts.execution = within(45_500);
        settings.tools.allow = Some(names(&["search", "open"]));
        settings.tools.block = names(&["open"]);
    });
    let figma = http("figma", "https://mcp.figma.com/mcp")
        .header("X-Figma-Region", "us-east-1")
        .header("Authorization", "Bearer t0")
        .header("X-Trace", "t1");
    assert_eq!(specs(&config), [docs, off(figma)]);
    let origin = config.entries()[1].origin();
    assert_eq!((origin.line, origin.column), (Some(16), Some(14)));
}

#[test]
fn gemini() {
    let config = read("gemini/settings.json", Client::Gemini);
    let folder = corpus().join("gemini/mcp-servers/python");
    let args = ["-m", "my_mcp_server", "--port", "8080"];
    let python = stdio("python", "python", &args)
        .env("API_KEY", "t0")
        .cwd(folder);
    let python = with(python, |settings| {
        settings.timeouts = Timeouts::all(within(15_000));
        settings.suggested_tools = names(&["*"]);
    });
    let new = http("new", "http://localhost:3000/mcp").header("Authorization", "Bearer t0");
    let new = with(new, |settings| {
        settings.tools.allow = Some(names(&["read"]));
        settings.tools.block = names(&["write"]);
    });
    let old = ServerSpec::sse("old", "http://localhost:8080/sse").unwrap();
    assert_eq!(specs(&config), [python, old, new]);
}

#[test]
fn windsurf() {
    let config = read("mcp_config.json", Client::Windsurf);
    let local = with(stdio("local", "npx", &["-y", "x"]), |settings| {
        settings.tools.block = names(&["rm"]);
    });
    let remote = http("remote", "https://example.com/mcp").header("Authorization", "Bearer t0");
    assert_eq!(specs(&config), [remote, off(local)]);
}

/// The same server, whose entry calls its transport `streamable-http`.
fn by_streamable_http(mut spec: ServerSpec) -> ServerSpec {
    if let Endpoint::Remote(remote) = &mut spec.endpoint {
        remote.transport = TransportKind::StreamableHttp;
    }
    spec
}

#[test]
fn cline_and_roo() {
    let config = read("cline_mcp_settings.json", Client::Cline);
    let linear = with(http("linear", "https://mcp.linear.app/mcp"), |settings| {
        settings.timeouts = Timeouts::all(within(60_000));
        settings.suggested_tools = names(&["list_issues"]);
    });
    assert_eq!(specs(&config), [by_streamable_http(linear)]);
    let config = read("roo/mcp.json", Client::Roo);
    let node = stdio("node", "node", &["server.js"])
        .cwd(corpus().join("roo/servers"))
        .env("KEY", "t0");
    let node = with(node, |settings| {
        settings.timeouts = Timeouts::all(within(120_000));
        settings.suggested_tools = names(&["read", "list"]);
    });
    assert_eq!(
        specs(&config),
        [
            node,
            by_streamable_http(http("web", "https://example.com/mcp"))
        ]
    );
}

#[test]
fn open_code() {
    let config = read("opencode.jsonc", Client::OpenCode);
    let everything = "@modelcontextprotocol/server-everything";
    let local = stdio("everything", "npx", &["-y", everything]).env("KEY", "t0");
    let local = with(local, |settings| {
        settings.timeouts = Timeouts::all(within(5_000));
    });
    let jira = http("jira", "https://jira.example.com/mcp").header("Authorization", "Bearer t0");
    assert_eq!(specs(&config), [local, off(jira)]);
}

#[test]
fn zed() {
    let config = read("zed/settings.json", Client::Zed);
    assert_eq!(
        specs(&config),
        [
            stdio("local", "some-command", &["arg-1"]).env("A", "b"),
            stdio("older", "npx", &["-y", "x"]).env("K", "v"),
            http("remote", "https://example.com/mcp").header("Authorization", "Bearer t0"),
        ]
    );
}

#[test]
fn nexus3() {
    let config = read("nexus3/mcp.json", Client::Nexus3);
    let test = stdio("test", "python3", &["-m", "test_server"])
        .env_passthrough(["GITHUB_TOKEN"])
        .cwd(corpus().join("nexus3/servers"));
    let test = with(test, |settings| settings.fail_if_no_tools = true);
    let web = http("web", "http://localhost:9000/mcp");
    assert_eq!(specs(&config), [test, off(web)]);
}

#[test]
fn our_own_file_with_every_field() {
    let config = read("switchboard/mcp.json", Client::Switchboard);
    let all = stdio("all", "server", &["a", "1", "true"])
        .env("A", "own")
        .env("LANG", "C")
        .env_passthrough(["B"]);
    let folder = corpus().join("switchboard");
    let all = with(all, |settings| {
        settings.timeouts = Timeouts {
            connect: within(90_000),
            discovery: within(500),
            execution: within(1_200_000),
        };
        settings.cache_tools_list = true;
        settings.reconnect = false;
        settings.max_reconnect_attempts = 2;
        settings.tools.block = names(&["rm"]);
        settings.protocol = Protocol::Modern;
        settings.name_style = Some(NameStyle::Single);
        settings.clean_arguments = true;
        settings.idempotent_tools = names(&["get"]);
        settings.roots = vec![folder.join("src"), PathBuf::from("/abs")];
        settings.sampling = true;
        settings.fail_if_no_tools = true;
    });
    let web = ServerSpec::sse("web", "https://example.com/mcp").unwrap();
    let mut web = with(web.header("X-From", "defaults"), |settings| {
        settings.timeouts = Timeouts::all(within(20_000));
        settings.max_retries = Some(0);
        settings.retry_backoff = Some(Duration::from_millis(250));
    });
    if let Endpoint::Remote(remote) = &mut web.endpoint {
        remote.streamable = false;
        remote.strict_session_id = true;
    }
    assert_eq!(specs(&config), [all, web]);
}

#[test]
fn a_file_is_known_by_its_name_and_place() {
    for (file, client) in [
        ("/x/claude_desktop_config.json", Client::ClaudeDesktop),
        ("/x/.claude.json", Client::ClaudeCode),
        ("/x/.mcp.json", Client::ClaudeCode),
        ("/x/.cursor/mcp.json", Client::Cursor),
        ("/x/.vscode/mcp.json", Client::VsCode),
        ("/x/.codex/config.toml", Client::Codex),
        ("/x/.gemini/settings.json", Client::Gemini),
        ("/x/mcp_config.json", Client::Windsurf),
        ("/x/cline_mcp_settings.json", Client::Cline),
        ("/x/.roo/mcp.json", Client::Roo),
        ("/x/opencode.jsonc", Client::OpenCode),
        ("/x/zed/settings.json", Client::Zed),
        ("/x/.nexus3/mcp.json", Client::Nexus3),
        ("/x/.switchboard/mcp.json", Client::Switchboard),
    ] {
        assert_eq!(Client::of_file(Path::new(file)), Some(client), "{file}");
    }
    assert_eq!(Client::of_file(Path::new("/x/other.json")), None);
}

#[cfg(unix)]
#[test]
fn every_client_has_places_and_each_is_known_by_its_place() {
    let host: Environment = [("HOME".to_owned(), "/home/me".to_owned())]
        .into_iter()
        .collect();
    for client in Client::ALL {
        let places = client.places(&host, Path::new("/shop"));
        assert!(!places.is_empty(), "{client}");
        assert_eq!(client.name().parse(), Ok(*client));
        for (_, file) in places {
            let found = Client::of_file(&file);
            let is_shared = *client == Client::Switchboard && file.ends_with(".mcp.json");
            assert!(
                found == Some(*client) || is_shared,
                "{client}: {}",
                file.display()
            );
        }
    }
    let home = Client::Cursor.places(&host, Path::new("/home/me"));
    assert_eq!(home.len(), 1);
}
