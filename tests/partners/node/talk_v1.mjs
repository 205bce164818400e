// server-everything behind a gateway, used by a client on the TypeScript SDK 1.32: it asks for a model's answer, tells
// of a resource and logs. `use_all.mjs` says how this is started.

import { capabilities, load, named, sample, transport } from './use_all.mjs';

const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const types = load('@modelcontextprotocol/sdk/types.js');

const client = new Client({ name: 'typescript-1', version: '1' }, { capabilities });
client.setRequestHandler(types.CreateMessageRequestSchema, sample);
const next = schema => new Promise(done => client.setNotificationHandler(schema, note => done(note.params)));
const updated = next(types.ResourceUpdatedNotificationSchema);
const logged = next(types.LoggingMessageNotificationSchema);
await client.connect(transport(StreamableHTTPClientTransport, StdioClientTransport));
const call = (name, args) => client.callTool({ name: named(name), arguments: args });

const sampled = await call('trigger-sampling-request', { prompt: 'Say something.' });
await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
await call('toggle-subscriber-updates', {});
const { uri } = await updated;
await client.setLoggingLevel('debug');
await call('toggle-simulated-logging', {});
const { level } = await logged;
await client.close();
console.log(JSON.stringify({ sampled: sampled.content[0].text, uri, level }));
