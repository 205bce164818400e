// server-everything with its simulations on from the start: what it logs, and changes of what is watched. Its tools
// switch them for the connection that they are called on, which is another one for every plain command.
//
// The first argument is the server's own entry.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const entry = process.argv[2];
const own = name => import(pathToFileURL(join(dirname(entry), name)).href);
const sdk = name => import(pathToFileURL(createRequire(entry).resolve(`@modelcontextprotocol/sdk/${name}`)).href);

const { createServer } = await own('server/index.js');
const { beginSimulatedLogging } = await own('server/logging.js');
const { beginSimulatedResourceUpdates } = await own('resources/subscriptions.js');
const { StdioServerTransport } = await sdk('server/stdio.js');

const { server } = createServer();
await server.connect(new StdioServerTransport());
const initialized = server.server.oninitialized;
server.server.oninitialized = async () => {
    await initialized();
    beginSimulatedLogging(server);
    beginSimulatedResourceUpdates(server);
};
