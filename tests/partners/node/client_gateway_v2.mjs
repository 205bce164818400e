// A client on the TypeScript SDK 2.4; `use_all.mjs` says how it is started. The mode is `legacy` or `auto`.

import { capabilities, form, load, mode, named, sample, transport, useAll } from './use_all.mjs';

const { Client, LOG_LEVEL_META_KEY, StreamableHTTPClientTransport } = load('@modelcontextprotocol/client');
const { StdioClientTransport } = load('@modelcontextprotocol/client/stdio');

const options = { capabilities, versionNegotiation: { mode } };
const client = new Client({ name: 'typescript-2', version: '2' }, options);
client.setRequestHandler('elicitation/create', form);
client.setRequestHandler('sampling/createMessage', sample);
const logs = [];
client.setNotificationHandler('notifications/message', note => void logs.push(note.params.data));
await client.connect(transport(StreamableHTTPClientTransport, StdioClientTransport));
// In the modern era each request says what it wants to hear.
const isModern = mode !== 'legacy';
if (!isModern) await client.setLoggingLevel('info');
const call = (name, args, options, level) => {
    const _meta = isModern && level ? { [LOG_LEVEL_META_KEY]: level } : undefined;
    return client.callTool({ name: named(name), arguments: args, ...(_meta && { _meta }) }, options);
};
await useAll(client, client.getNegotiatedProtocolVersion(), call, logs);
