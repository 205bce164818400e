# What a server can say, and in every place of it what a terminal would obey.
import unicodedata

def every():
    return (chr(n) for n in range(0x110000) if not 0xD800 <= n < 0xE000)

def cells(scalars, size):
    cell = ""
    for c in scalars:
        cell += c
        if len(cell) == size:
            yield "ZQ" + cell
            cell = ""
    yield "ZQ" + cell

def is_odd(c):
    return unicodedata.category(c) in ("Cc", "Cf", "Mn", "Me", "Zl", "Zp") or ord(c) % 131 == 0

MODE = open(sys.argv[1]).read().strip()
if MODE == "scalars":
    # Where much can be said, all there are; where little can, what is odd, and some of the rest.
    SMALL = list(cells(filter(is_odd, every()), 60))
else:
    SMALL = ATTACKS[int(MODE)::2]
FEW = SMALL[:40]
ONE = " ".join(FEW)[:300]

def large():
    return cells(every(), 16000) if MODE == "scalars" else SMALL

def item(index):
    return SMALL[index % len(SMALL)]

def named(index, **more):
    return {"name": f"n{index}" + item(index), "title": item(index + 1), "description": item(index + 2), **more}

def schema(index):
    inner = {"type": "object", "properties": {item(index): {"type": item(index + 1)}}}
    properties = {item(index): {"type": "string", "description": item(index), "enum": [item(index + 1)], "default": item(index)},
                  item(index + 1): {"const": item(index), "title": item(index)}, "inner": inner}
    return {"type": "object", "properties": properties, "required": [item(index)]}

def tools():
    plain = [tool(name, title=ONE, description="\n".join(FEW)) for name in ["text", "data", "rows", "fail", "refuse", "die", "slow"]]
    shown = tool("shown", title=ONE, description="\n".join(FEW), annotations={"title": ONE})
    shown["inputSchema"] = {"type": "object", "properties": {key: {"type": "string", "description": key, "enum": [key]} for key in FEW}}
    shown["outputSchema"] = {"type": "object", "properties": {key: {"type": "string"} for key in FEW}}
    odd = [{**named(index), "inputSchema": schema(index)} for index in range(len(SMALL))]
    broken = [{"name": item(index)} for index in range(4)]
    return plain + [shown] + odd[:1500] + broken

def resources():
    more = [named(index, uri="a://" + item(index), mimeType=item(index)) for index in range(len(SMALL))]
    return [{"uri": "a://all", "name": "all"}] + more

def log(level, data, **more):
    params = {"level": level, "data": data, **more}
    say({"jsonrpc": "2.0", "method": "notifications/message", "params": params})

def say(message):
    sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    sys.stdout.buffer.flush()

def answer(request, result):
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})

def mutter(words):
    sys.stderr.buffer.write(words.encode() + b"\n")
    sys.stderr.buffer.flush()

def called(request):
    name = request["params"]["name"]
    for words in FEW:
        mutter(words)
    if name == "text":
        texts = [{"type": "text", "text": words} for words in large()]
        others = [block for words in FEW for block in (
            {"type": words}, {"type": "image", "mimeType": words, "data": ""},
            {"type": "resource_link", "uri": words, "name": words, "mimeType": words},
            {"type": "resource", "resource": {"uri": words, "text": words}},
            {"type": "resource", "resource": {"uri": words, "mimeType": words, "blob": ""}})]
        answer(request, {"content": texts + others})
    elif name == "data":
        answer(request, {"content": [], "structuredContent": {words: [words] for words in large()}})
    elif name == "rows":
        answer(request, {"content": [], "structuredContent": {"rows": [{"a" + FEW[0]: words, "b": words} for words in SMALL]}})
    elif name == "fail":
        answer(request, {"content": [{"type": "text", "text": words} for words in large()], "isError": True})
    elif name == "refuse":
        error = {"code": -32000, "message": ONE, "data": {ONE: [ONE]}}
        say({"jsonrpc": "2.0", "id": request["id"], "error": error})
    elif name == "slow":
        token = request["params"].get("_meta", {}).get("progressToken")
        for at, words in enumerate(FEW[:18]):
            note = {"progressToken": token, "progress": at, "total": len(FEW), "message": words}
            say({"jsonrpc": "2.0", "method": "notifications/progress", "params": note})
            log("error", words, logger=words)
            # Long enough for it to be drawn.
            time.sleep(0.15)
        answer(request, text("done"))
    else:
        for words in FEW[:18]:
            say(words)
            sys.stdout.buffer.write(words.encode() + b"\n")
        sys.stdout.buffer.flush()
        os._exit(1)

def serve():
    for line in sys.stdin:
        request = json.loads(line)
        method = request.get("method")
        if method == "initialize":
            info = {"name": ONE, "title": ONE, "version": ONE}
            offers = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}}
            answer(request, {"protocolVersion": "2025-11-25", "capabilities": offers, "serverInfo": info, "instructions": "\n".join(FEW)})
        elif method == "tools/list":
            answer(request, {"tools": tools()})
        elif method == "tools/call":
            called(request)
        elif method == "resources/list":
            answer(request, {"resources": resources()})
        elif method == "resources/templates/list":
            answer(request, {"resourceTemplates": [named(index, uriTemplate="a://{x}" + item(index), mimeType=item(index)) for index in range(len(SMALL))]})
        elif method == "resources/read":
            texts = [{"uri": "a://all", "text": words} for words in large()]
            answer(request, {"contents": texts + [{"uri": words, "mimeType": words, "blob": ""} for words in FEW]})
        elif method == "prompts/list":
            more = [named(index, arguments=[{"name": item(index), "description": item(index)}]) for index in range(len(SMALL))]
            answer(request, {"prompts": [{"name": "all"}] + more})
        elif method == "prompts/get":
            said = [{"role": words[:60], "content": {"type": "text", "text": words}} for words in large()]
            answer(request, {"description": ONE, "messages": said})
        elif method == "logging/setLevel":
            answer(request, {})
            for words in SMALL[:400]:
                log("error", words, logger=words)
                log("error", {words: words})
                mutter(words)
            # Whoever shows the logs sees that there is nobody left.
            os._exit(0)
        elif method == "ping":
            answer(request, {})
        elif "id" in request:
            refuse(request, -32601, ONE)
