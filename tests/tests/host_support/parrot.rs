//! Servers in Python that repeat all that they were told.

/// What both kinds of server have in common: they say what they were told wherever they can.
pub(crate) const PARROT: &str = r#"
import json, os, sys

def tool(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}

def reply(message, words, mode):
    told = " ".join(words)
    # Whole, because half a secret is nobody's to know.
    named = " ".join(words[:2] if mode != "good" else words[2:4])
    method, id = message.get("method"), message.get("id")
    if id is None:
        return []
    def result(value):
        return [{"jsonrpc": "2.0", "id": id, "result": value}]
    def error(code, text, **more):
        return [{"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text, **more}}]
    if method == "initialize":
        if mode == "refuse":
            return error(-32000, told, data={"told": told})
        capabilities = {"tools": {}, "prompts": {}, "resources": {}, "logging": {}}
        return result({"protocolVersion": "2025-06-18", "capabilities": capabilities,
                       "serverInfo": {"name": told, "version": told, "title": told},
                       "instructions": told})
    if method == "tools/list":
        if mode == "no-list":
            return error(-32000, told, data=told)
        schema = {"type": "object", "properties": {"a": {"enum": [told]}}, "required": ["a"]}
        return result({"tools": [tool("go", description=told), tool("fail"), tool("refuse"),
                                 tool("die"), tool("odd"), tool("strict", inputSchema=schema),
                                 tool("say " + named), tool("say " + named), {"name": named},
                                 {"name": "no schema", "inputSchema": told}, told]})
    if method == "prompts/list":
        if mode == "no-list":
            return error(-32000, told, data=told)
        return result({"prompts": [{"name": "p", "description": told}, {"name": named}, {"no": told}]})
    if method == "resources/list":
        uri = "file:///" + named
        return result({"resources": [{"uri": uri, "name": told}, {"uri": uri, "name": told}, {"no": told}]})
    if method == "resources/templates/list":
        return error(-32000, told)
    if method == "resources/read":
        return error(-32002, told, data={"uri": told})
    if method == "prompts/get":
        return error(-32602, told)
    if method == "tools/call":
        name = message["params"]["name"]
        content = [{"type": "text", "text": told}, {"type": told}]
        if name == "fail":
            return result({"content": content, "isError": True})
        if name == "refuse":
            return error(-32000, told, data={told: [told]})
        if name == "odd":
            return result({"content": told, "isError": told})
        if name == "die":
            return None
        return result({"content": content, "structuredContent": {told: told}})
    return error(-32601, "no such method " + told)
"#;

/// The one that is started.
pub(crate) const OVER_STDIO: &str = r#"
mode = sys.argv[1]
words = list(os.environ.values()) + sys.argv
told = " ".join(words)
print(told, file=sys.stderr, flush=True)
if mode == "crash":
    print(told, flush=True)
    sys.exit(3)
def write(value):
    sys.stdout.write(json.dumps(value, ensure_ascii=(mode == "escaped")) + "\n")
    sys.stdout.flush()
for line in sys.stdin:
    print(told, flush=True)
    message = json.loads(line)
    write({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "error", "data": told}})
    replies = reply(message, words, mode)
    if replies is None:
        print("Traceback: " + told, file=sys.stderr, flush=True)
        os._exit(4)
    for one in replies:
        write(one)
"#;

/// The one at a URL.
pub(crate) const OVER_HTTP: &str = r#"
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import base64, threading, urllib.parse

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args):
        pass
    def say(self, status, body, kind="application/json", **headers):
        body = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.say(405, "no")
    def do_DELETE(self):
        self.say(200, "")
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        words = [self.path, urllib.parse.unquote(self.path)] + [v for v in self.headers.values()]
        for word in list(words):
            kind, _, rest = word.partition(" ")
            if kind == "Basic":
                words.append(base64.b64decode(rest).decode("utf-8", "replace"))
        told = " ".join(words)
        safe = told.encode("ascii", "replace").decode().replace("\r", "").replace("\n", "")
        mode = self.path.split("/")[1]
        if mode == "status":
            return self.say(500, told, "text/plain", X_Told=safe)
        if mode == "login":
            return self.say(401, told, "text/plain", WWW_Authenticate='Bearer realm="' + safe + '"')
        if mode == "moved":
            return self.say(302, told, Location="http://127.0.0.1:1/" + urllib.parse.quote(safe))
        if mode == "page":
            return self.say(200, told, "text/html")
        if mode == "torn":
            return self.say(200, "{" + told)
        message = json.loads(body)
        if message.get("method") == "server/discover":
            return self.say(400, json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": told}}))
        replies = reply(message, words, mode)
        if replies is None:
            self.close_connection = True
            return
        if not replies:
            return self.say(202, "")
        self.say(200, json.dumps(replies[0]))

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;
