//! Config files: layers of `mcp.json` and what other clients write.
