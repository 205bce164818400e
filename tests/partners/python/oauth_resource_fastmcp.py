"""A resource server on fastmcp 4: `oauth_resource_fastmcp.py PORT ISSUER`.

Lets in requests with a JWT of the issuer, which is asked for its keys, and for this server alone. A token that is
bound to a key (RFC 9449) needs a proof of the key; fastmcp itself only knows bearer tokens. With OAUTH_DPOP=required
it lets in no others, and its challenges say so.
"""

import base64
import hashlib
import json
import os
import sys
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from fastmcp import FastMCP
from fastmcp.server.auth import JWTVerifier, RemoteAuthProvider
from pydantic import AnyHttpUrl

from over_http import listen, serve_on


def unpacked(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def packed(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def is_proven(proof, token, method, url):
    """Checks a proof against the token that it comes with."""
    header, claims, signature = proof.split(".")
    head, body = json.loads(unpacked(header)), json.loads(unpacked(claims))
    key = head["jwk"]
    numbers = [int.from_bytes(unpacked(key[name]), "big") for name in ("x", "y")]
    public = ec.EllipticCurvePublicNumbers(*numbers, ec.SECP256R1()).public_key()
    raw = unpacked(signature)
    halves = [int.from_bytes(raw[at : at + 32], "big") for at in (0, 32)]
    signed = f"{header}.{claims}".encode()
    public.verify(utils.encode_dss_signature(*halves), signed, ec.ECDSA(hashes.SHA256()))
    members = {name: key[name] for name in ("crv", "kty", "x", "y")}
    thumbprint = packed(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())
    bound = json.loads(unpacked(token.split(".")[1]))["cnf"]["jkt"]
    return (
        head["typ"] == "dpop+jwt"
        and head["alg"] == "ES256"
        and body["htm"] == method
        and body["htu"] == url
        and abs(body["iat"] - time.time()) < 60
        and body["ath"] == packed(hashlib.sha256(token.encode()).digest())
        and thumbprint == bound
    )


class Proofs:
    """Turns a proven token into a bearer token, and a bound token without a proof into nothing."""

    def __init__(self, inner, url):
        self.inner = inner
        self.url = url
        self.is_required = os.environ.get("OAUTH_DPOP") == "required"

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http":
            scope = {**scope, "headers": self.checked(scope)}
        await self.inner(scope, receive, self.challenging(send) if self.is_required else send)

    def challenging(self, send):
        """Names the scheme that is wanted in challenges."""

        def named(name, value):
            is_challenge = name == b"www-authenticate"
            return name, value.replace(b"Bearer", b"DPoP", 1) if is_challenge else value

        async def sending(message):
            if message["type"] == "http.response.start":
                message = {**message, "headers": [named(*pair) for pair in message["headers"]]}
            await send(message)

        return sending

    def checked(self, scope):
        headers = scope["headers"]
        given = dict(headers)
        scheme, _, token = given.get(b"authorization", b"").decode().partition(" ")
        others = [pair for pair in headers if pair[0] != b"authorization"]
        if scheme == "DPoP":
            try:
                proof = given.get(b"dpop", b"").decode()
                good = is_proven(proof, token, scope["method"], self.url)
            except (ValueError, KeyError, TypeError, InvalidSignature):
                good = False
            print("proof", "good" if good else "bad", flush=True)
            return others + ([(b"authorization", f"Bearer {token}".encode())] if good else [])
        if scheme == "Bearer" and self.is_required:
            print("bearer token refused", flush=True)
            return others
        if scheme == "Bearer" and token.count(".") == 2:
            if "cnf" in json.loads(unpacked(token.split(".")[1])):
                return others
        return headers


def main():
    listener = listen(int(sys.argv[1]))
    issuer = sys.argv[2]
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
    verifier = JWTVerifier(
        jwks_uri=f"{issuer}/jwks",
        issuer=issuer,
        audience=f"{origin}/mcp",
        required_scopes=["tools"],
    )
    auth = RemoteAuthProvider(
        token_verifier=verifier,
        authorization_servers=[AnyHttpUrl(issuer)],
        base_url=origin,
    )
    server = FastMCP("fastmcp behind an issuer", auth=auth)

    @server.tool
    def echo(message: str) -> str:
        """Returns its message."""
        return message

    serve_on(listener, Proofs(server.http_app(), f"{origin}/mcp"), "/mcp")


if __name__ == "__main__":
    main()
