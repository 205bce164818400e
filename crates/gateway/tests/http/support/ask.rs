//! Requests, right unless a test makes them wrong.

use serde_json::{Value, json};

use super::TOKEN;

pub(crate) const MODERN: &str = "2026-07-28";

/// One request over HTTP.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) version: &'static str,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

impl Ask {
    pub(crate) fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            version: "HTTP/1.1",
            headers: vec![
                ("Host".to_owned(), "localhost".to_owned()),
                ("Authorization".to_owned(), format!("Bearer {TOKEN}")),
            ],
            body: None,
        }
    }

    /// A POST with a body as it is.
    pub(crate) fn post_text(body: impl Into<Vec<u8>>) -> Self {
        let mut ask = Self::new("POST", "/mcp")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        ask.body = Some(body.into());
        ask
    }

    /// A message of the legacy era.
    pub(crate) fn post(message: &Value) -> Self {
        Self::post_text(message.to_string())
    }

    /// A request of the legacy era, with id 1.
    pub(crate) fn legacy(method: &str, params: &Value) -> Self {
        Self::post(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
    }

    /// The handshake of the legacy era.
    pub(crate) fn initialize(version: &str) -> Self {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        });
        Self::legacy("initialize", &params)
    }

    /// A modern request, with id 1 and all of its headers.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        let mut params = params;
        params["_meta"] = modern_meta();
        let ask = Self::legacy(method, &params)
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", method);
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        };
        match name {
            Some(name) => ask.header("Mcp-Name", name),
            None => ask,
        }
    }

    /// A modern call of the tool that repeats its message.
    pub(crate) fn modern_echo(message: &str) -> Self {
        let arguments = json!({"message": message});
        Self::modern(
            "tools/call",
            json!({"name": "demo__echo", "arguments": arguments}),
        )
    }

    /// A legacy call of the same tool.
    pub(crate) fn legacy_echo(message: &str) -> Self {
        let arguments = json!({"message": message});
        Self::legacy(
            "tools/call",
            &json!({"name": "demo__echo", "arguments": arguments}),
        )
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn replace(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }

    pub(crate) fn session(self, id: &str) -> Self {
        self.header("Mcp-Session-Id", id)
    }

    pub(crate) fn at(mut self, path: &str) -> Self {
        path.clone_into(&mut self.path);
        self
    }

    pub(crate) fn version(self, version: &'static str) -> Self {
        Self { version, ..self }
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self
    }

    /// The request for a service that is called without a connection.
    pub(crate) fn request(&self) -> hyper::Request<String> {
        let mut request = hyper::Request::builder().method(self.method.as_str());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let body = String::from_utf8(self.body.clone().unwrap_or_default()).unwrap();
        request.uri(&self.path).body(body).unwrap()
    }

    /// The head without the empty line at its end.
    pub(crate) fn head(&self) -> String {
        let mut head = format!("{} {} {}\r\n", self.method, self.path, self.version);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head
    }

    /// The whole request. The length of the body is said unless the test says something about it.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut head = self.head();
        let body = self.body.clone().unwrap_or_default();
        let lower = head.to_ascii_lowercase();
        let says =
            lower.contains("\r\ncontent-length:") || lower.contains("\r\ntransfer-encoding:");
        if self.body.is_some() && !says {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&body);
        bytes
    }
}

/// What every modern request says about itself.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
    })
}
