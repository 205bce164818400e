// A server that talks back behind a gateway, used by a client on the TypeScript SDK 2.4 in the modern era: it asks for
// a model's answer, tells of a resource and of a new tool. `use_all.mjs` says how this is started.

import { capabilities, load, named, sample, transport } from './use_all.mjs';

const { Client, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');

const options = { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } };
const client = new Client({ name: 'typescript-2', version: '2' }, options);
client.setRequestHandler('sampling/createMessage', sample);
const next = method => new Promise(done => client.setNotificationHandler(method, note => done(note.params)));
const updated = next('notifications/resources/updated');
const changed = next('notifications/tools/list_changed');
await client.connect(transport(StreamableHTTPClientTransport, StdioClientTransport));
const call = (name, args) => client.callTool({ name: named(name), arguments: args });

const sampled = await call('ask_model', { prompt: 'Say something.' });
const listening = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['partner://number'] });
await call('touch', {});
const { uri } = await updated;
await call('grow', { name: 'another' });
await changed;
const { tools } = await client.listTools();
await listening.close();
await client.close();
const grown = tools.some(tool => tool.name === named('another'));
console.log(JSON.stringify({ sampled: sampled.content[0].text, uri, grown }));
