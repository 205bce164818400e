// What the clients on the TypeScript SDKs do with the bundled server behind a gateway, and how they are started:
// `node client_gateway_VERSION.mjs MODULES TARGET MODE PREFIX`. MODULES is the folder with the packages, the target a
// URL, or a command and its arguments as a JSON array; the prefix stands before names.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const [modules, target, mode, prefix = ''] = process.argv.slice(2);

/** Loads a module of the installed packages. */
export const load = createRequire(join(modules, 'here.js'));

/** What each client can do for a server. */
export const capabilities = { elicitation: { form: {} }, sampling: {} };

/** The answer to a form that asks for a name. */
export const form = () => ({ action: 'accept', content: { name: 'Ada' } });

/** The answer to a prompt for a model. */
export const sample = () => ({ model: 'none', role: 'assistant', content: { type: 'text', text: 'sampled' } });

export { mode };

/** Makes the transport for the target from an SDK's classes. */
export function transport(Http, Stdio) {
    if (!target.startsWith('[')) return new Http(new URL(target));
    const [command, ...args] = JSON.parse(target);
    return new Stdio({ command, args, env: { ...process.env }, stderr: 'inherit' });
}

/** Uses everything there is once, and writes what there was to see to stdout as JSON. */
export async function useAll(client, version, call, logs) {
    const { tools } = await client.listTools();
    const echo = await call('echo', { message: 'hello' });
    const progress = [];
    await call('slow_operation', { duration: 0.3, steps: 3 }, { onprogress: step => progress.push(step.progress) });
    const { resources } = await client.listResources();
    const read = await client.readResource({ uri: resources[0].uri });
    const { prompts } = await client.listPrompts();
    const asked = await call('ask_name', {});
    const prompt = await client.getPrompt({ name: prefix + 'greeting', arguments: { name: 'Ada' } });
    const ref = { type: 'ref/prompt', name: prefix + 'greeting' };
    const { completion } = await client.complete({ ref, argument: { name: 'formal', value: 't' } });
    await call('log', { text: 'a line for the log' }, {}, 'info');
    await giveUp(call);
    const after = await call('echo', { message: 'still here' });
    const seen = {
        version,
        tools: tools.map(tool => tool.name),
        echo: echo.content[0].text,
        progress,
        read: read.contents.length,
        prompts: prompts.map(it => it.name),
        asked: asked.content[0].text,
        prompt: prompt.messages[0].content.text,
        completed: completion.values,
        after: after.content[0].text,
        logs
    };
    await client.close();
    console.log(JSON.stringify(seen));
}

/** Cancels a long call as soon as it has begun. */
async function giveUp(call) {
    const stop = new AbortController();
    const options = { signal: stop.signal, onprogress: () => stop.abort() };
    await call('slow_operation', { duration: 600, steps: 6000 }, options).then(
        () => Promise.reject(new Error('the cancelled call has ended')),
        () => {}
    );
}

export const named = name => prefix + name;
