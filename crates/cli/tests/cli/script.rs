//! Small servers written for one test each.

use std::fs;

use tempfile::TempDir;

/// A correct legacy server; what a test adds to it changes that.
const PRELUDE: &str = r#"
import json, os, sys, time

def write(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()

def answer(request, result):
    write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}))

def refuse(request, code, message, **more):
    error = {"code": code, "message": message, **more}
    write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}))

def tool(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}

def text(words):
    return {"content": [{"type": "text", "text": words}]}

TOOLS = [tool("go")]

def heard(message):
    pass

def initialize(request):
    info = {"name": "script", "version": "1"}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info})

def list_tools(request):
    answer(request, {"tools": TOOLS})

def call(request):
    answer(request, text("went"))

def serve():
    for line in sys.stdin:
        message = json.loads(line)
        heard(message)
        method = message.get("method")
        if method == "initialize":
            initialize(message)
        elif method == "tools/list":
            list_tools(message)
        elif method == "tools/call":
            call(message)
        elif "id" in message:
            refuse(message, -32601, "no such method")
"#;

/// A server in a folder of its own, which goes with it.
pub(crate) struct Script {
    folder: TempDir,
}

impl Script {
    /// A server with one tool, `go`, that answers `went`; `changes` is Python that makes it
    /// something else.
    pub(crate) fn new(changes: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = format!("{PRELUDE}\n{changes}\nserve()\n");
        fs::write(folder.path().join("server.py"), program).unwrap();
        Self { folder }
    }

    /// What `--stdio` wants.
    pub(crate) fn command(&self) -> String {
        format!(
            "python3 '{}'",
            self.folder.path().join("server.py").display()
        )
    }

    /// The same as an entry of a config file.
    #[cfg(unix)]
    pub(crate) fn entry(&self) -> serde_json::Value {
        let path = self.folder.path().join("server.py");
        serde_json::json!({"command": "python3", "args": [path]})
    }

    /// A file in the folder of the server.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// A text without the folder's name, which is another each time.
    pub(crate) fn filtered(&self, text: &str) -> String {
        text.replace(self.folder.path().to_str().unwrap(), "[folder]")
    }
}
