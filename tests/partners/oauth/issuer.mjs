// An issuer on oidc-provider: `node issuer.mjs ENTRY PORT`, ENTRY being the package's own module. Port 0 picks one.
// The first line on stdout says where it listens; then there is a line for each token request.
//
// Every interaction is approved by itself: a browser that keeps cookies and follows redirects comes back with a code.
// With OAUTH_CONSENT=page a form asks first. OAUTH_LIFE is the life of an access token in seconds, 20 unless it is
// set; OAUTH_DPOP_NONCE=1 asks for nonces. OAUTH_ROBOT_KEY is the public JWK of the client `robot`. The issuer has the
// path OAUTH_PATH, /oidc unless it is set: fastmcp would write a slash behind an issuer without a path.
//
// Clients that are known: `app` (public), `confidential` with the secret `confidential-secret`, `machine` with the
// secret `machine-secret` (client credentials), `robot` (client credentials with a signed assertion). The address
// https://client.example/metadata.json is the id of a client that has a metadata document.

import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const [entry, port] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(entry).href);

const SCOPE = 'tools admin';
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
const PATH = process.env.OAUTH_PATH ?? '/oidc';
const LIFE = Number(process.env.OAUTH_LIFE ?? 20);
const DOCUMENT = 'https://client.example/metadata.json';
const CALLBACK = 'http://127.0.0.1/callback';

const key = (type, options, extra) => ({
    ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }),
    use: 'sig',
    ...extra
});

const known = {
    redirect_uris: [CALLBACK],
    response_types: ['code'],
    grant_types: ['authorization_code', 'refresh_token', DEVICE],
    application_type: 'native',
    token_endpoint_auth_method: 'none'
};
const alone = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] };
const clients = [
    { client_id: 'app', ...known },
    {
        client_id: 'confidential',
        client_secret: 'confidential-secret',
        ...known,
        token_endpoint_auth_method: 'client_secret_basic'
    },
    { client_id: 'machine', client_secret: 'machine-secret', ...alone }
];
if (process.env.OAUTH_ROBOT_KEY) {
    clients.push({
        client_id: 'robot',
        ...alone,
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        jwks: { keys: [JSON.parse(process.env.OAUTH_ROBOT_KEY)] }
    });
}

// The only document that there is; nothing is fetched from anywhere.
async function documents(address) {
    if (String(address) !== DOCUMENT) {
        return new Response('', { status: 404 });
    }
    const document = { client_id: DOCUMENT, client_name: 'A client with a document', ...known };
    return new Response(JSON.stringify(document), {
        headers: { 'content-type': 'application/json' }
    });
}

function configuration() {
    return {
        clients,
        jwks: {
            keys: [
                key('rsa', { modulusLength: 2048 }, { alg: 'RS256', kid: 'rsa' }),
                key('ec', { namedCurve: 'P-256' }, { alg: 'ES256', kid: 'ec' })
            ]
        },
        cookies: { keys: [randomBytes(16).toString('hex')] },
        scopes: ['openid', 'offline_access', ...SCOPE.split(' ')],
        clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
        fetch: documents,
        pkce: { required: () => true },
        rotateRefreshToken: true,
        issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
        expiresWithSession: async () => false,
        findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
        interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
        ttl: {
            AccessToken: LIFE,
            AuthorizationCode: 60,
            ClientCredentials: LIFE,
            DeviceCode: 600,
            Grant: 86400,
            IdToken: 3600,
            Interaction: 600,
            RefreshToken: 86400,
            Session: 86400
        },
        features: {
            devInteractions: { enabled: false },
            registration: { enabled: true },
            revocation: { enabled: true },
            clientCredentials: { enabled: true },
            deviceFlow: { enabled: true },
            dPoP: {
                enabled: true,
                nonceSecret: randomBytes(32),
                requireNonce: () => process.env.OAUTH_DPOP_NONCE === '1'
            },
            clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
            resourceIndicators: {
                enabled: true,
                defaultResource: async () => undefined,
                useGrantedResource: async () => true,
                getResourceServerInfo: async (_ctx, resource) => ({
                    scope: SCOPE,
                    audience: resource,
                    accessTokenTTL: LIFE,
                    accessTokenFormat: 'jwt',
                    jwt: { sign: { alg: 'RS256' } }
                })
            }
        }
    };
}

// Does what the person at the browser would do.
async function interact(provider, request, response) {
    const details = await provider.interactionDetails(request, response);
    if (process.env.OAUTH_CONSENT === 'page' && request.method !== 'POST') {
        response.setHeader('content-type', 'text/html; charset=utf-8');
        response.end(
            `<!doctype html><title>${details.prompt.name}</title>` +
                `<form method="post" action="${request.url}"><button name="decision" value="approve">Allow</button></form>`
        );
        return;
    }
    if (details.prompt.name === 'login') {
        const result = { login: { accountId: 'person' } };
        await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
        return;
    }
    const grant = details.grantId
        ? await provider.Grant.find(details.grantId)
        : new provider.Grant({ accountId: details.session.accountId, clientId: details.params.client_id });
    const { missingOIDCScope, missingOIDCClaims, missingResourceScopes } = details.prompt.details;
    if (missingOIDCScope) {
        grant.addOIDCScope(missingOIDCScope.join(' '));
    }
    if (missingOIDCClaims) {
        grant.addOIDCClaims(missingOIDCClaims);
    }
    for (const [resource, scopes] of Object.entries(missingResourceScopes ?? {})) {
        grant.addResourceScope(resource, scopes.join(' '));
    }
    const result = { consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
}

// A request without any scope would be refused once everything is granted.
function withScope(url) {
    const address = new URL(url, 'http://127.0.0.1');
    if (address.pathname === `${PATH}/auth` && !address.searchParams.has('scope')) {
        address.searchParams.set('scope', 'tools');
        return address.pathname + address.search;
    }
    return url;
}

const server = createServer();
server.listen(Number(port), '127.0.0.1', () => {
    const issuer = `http://127.0.0.1:${server.address().port}${PATH}`;
    const provider = new Provider(issuer, configuration());
    const handle = provider.callback();
    provider.on('grant.success', ctx => console.log('granted', ctx.oidc.params.grant_type));
    provider.on('grant.error', (ctx, error) =>
        console.log('refused', ctx.oidc?.params?.grant_type, error.error, error.error_detail ?? '')
    );
    provider.on('server_error', (_ctx, error) => console.error(error));
    server.on('request', (request, response) => {
        if (request.url.startsWith('/interaction/')) {
            interact(provider, request, response).catch(error => {
                response.statusCode = 500;
                response.end(String(error));
            });
            return;
        }
        if (!request.url.startsWith(`${PATH}/`)) {
            response.statusCode = 404;
            response.end();
            return;
        }
        // The way in which frameworks tell an application that it is not at the root.
        request.originalUrl = withScope(request.url);
        request.url = request.originalUrl.slice(PATH.length);
        handle(request, response);
    });
    console.log(`listening on ${issuer}`);
});
