// A client on the TypeScript SDK 1.32; `use_all.mjs` says how it is started.

import { capabilities, form, load, named, sample, transport, useAll } from './use_all.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = load('@modelcontextprotocol/sdk/types.js');

const client = new Client({ name: 'typescript-1', version: '1' }, { capabilities });
client.setRequestHandler(types.ElicitRequestSchema, form);
client.setRequestHandler(types.CreateMessageRequestSchema, sample);
const logs = [];
client.setNotificationHandler(types.LoggingMessageNotificationSchema, note => void logs.push(note.params.data));
const wire = transport(StreamableHTTPClientTransport, StdioClientTransport);
let version;
// The SDK tells the version to its transport alone.
const tell = wire.setProtocolVersion?.bind(wire);
wire.setProtocolVersion = told => {
    version = told;
    tell?.(told);
};
await client.connect(wire);
await client.setLoggingLevel('info');
const call = (name, args, options) => client.callTool({ name: named(name), arguments: args }, undefined, options);
await useAll(client, version, call, logs);
