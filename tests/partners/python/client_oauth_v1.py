"""A client on the Python SDK 1.30 that gets its token itself: `client_oauth_v1.py URL`.

It asks without a token, follows the challenge to the metadata of the resource and of its issuer, gets a token for
that resource as the client `machine` of `oauth/issuer.mjs`, and uses the server with it. Writes what it saw to
stdout, as JSON.
"""

import asyncio
import json
import re
import sys

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

MACHINE = ("machine", "machine-secret")


async def token_for(url, http):
    refused = await http.post(url, json={})
    challenge = refused.headers["www-authenticate"]
    address = re.search(r'resource_metadata="([^"]+)"', challenge).group(1)
    scope = re.search(r'scope="([^"]+)"', challenge).group(1)
    resource = (await http.get(address)).raise_for_status().json()
    issuer = resource["authorization_servers"][0]
    metadata = await http.get(f"{issuer}/.well-known/openid-configuration")
    endpoint = metadata.raise_for_status().json()["token_endpoint"]

    async def token(resource, scope):
        form = {"grant_type": "client_credentials", "resource": resource, "scope": scope}
        answer = await http.post(endpoint, data=form, auth=MACHINE)
        return answer.raise_for_status().json()["access_token"]

    good = await token(resource["resource"], scope)
    others = [
        await token("https://other.example/mcp", scope),
        await token(resource["resource"], "admin"),
    ]
    statuses = [refused.status_code]
    for other in others:
        answer = await http.post(url, json={}, headers={"authorization": f"Bearer {other}"})
        statuses.append(answer.status_code)
    return good, statuses


async def main(url):
    async with httpx.AsyncClient() as http:
        token, statuses = await token_for(url, http)
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(headers=headers, timeout=30) as http:
        async with streamable_http_client(url, http_client=http) as (read, write, *_):
            async with ClientSession(read, write) as session:
                opened = await session.initialize()
                listed = await session.list_tools()
                called = await session.call_tool("demo__echo", {"message": "hello"})
                saw = {
                    "version": opened.protocolVersion,
                    "tools": sorted(tool.name for tool in listed.tools),
                    "echo": called.content[0].text,
                    "refused": statuses,
                }
                print(json.dumps(saw))


asyncio.run(main(*sys.argv[1:]))
