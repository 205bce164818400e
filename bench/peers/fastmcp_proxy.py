"""fastmcp's proxy over HTTP in front of the servers of an mcp.json: FILE PORT."""

import json
import sys

from fastmcp.server import create_proxy

with open(sys.argv[1]) as file:
    config = json.load(file)
proxy = create_proxy(config, name="proxy")
proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
