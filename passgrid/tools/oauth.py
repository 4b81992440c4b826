"""Access to hosted servers by OAuth, with the SDK's client: a person logs in once, workers renew the tokens."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata
from pydantic import AnyUrl

from passgrid.failures import NotLoggedIn
from passgrid.server import HttpServer, OAuth
from passgrid.tools.declared import filled
from passgrid.tools.token_file import TokenFile, login_of

EARLY_SECONDS = 30
"""Tokens are renewed so long before they expire: a request must not come too late."""

Redirect = Callable[[str], Awaitable[None]]
Callback = Callable[[], Awaitable[AuthorizationCodeResult]]


def worker_access(server: HttpServer) -> httpx2.Auth:
    """What a worker authenticates its requests with. Raises `NotLoggedIn` where a person has to log in first."""
    oauth = server.oauth or OAuth()
    file = login_of(server)
    if oauth.client_id is not None and oauth.client_secret is not None:
        secret = filled(oauth.client_secret, {})
        scope = " ".join(oauth.scopes) or None
        return ClientCredentialsOAuthProvider(
            server.url, file, oauth.client_id, secret, scope=scope, issuer=oauth.issuer
        )
    if not file.exists:
        raise NotLoggedIn(f"nobody is logged in to {server.url}; log in: passgrid login SUITE --target TARGET")

    async def ask_a_person(url: str) -> None:
        raise NotLoggedIn(f"the login to {server.url} is no longer good; log in: passgrid login SUITE --target TARGET")

    return _KeptLogin(server, file, ask_a_person, None)


async def log_in(server: HttpServer, redirect_uri: str, redirect: Redirect, callback: Callback) -> None:
    """Log a person in and keep the tokens. Raises what the SDK's client raises where that fails."""
    fresh = login_of(server)
    fresh.forget()
    access = OAuthClientProvider(server.url, _client(server, redirect_uri), fresh, redirect, callback)
    if server.oauth is not None and server.oauth.client_id is not None:
        await fresh.set_client_info(_registered(server.oauth, redirect_uri))
    async with httpx2.AsyncClient(auth=access, follow_redirects=True) as client:
        # Any request will do: an answer other than 401 means that the tokens were taken.
        await client.post(server.url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=_ACCEPT)
    if not fresh.exists:
        raise NotLoggedIn(f"{server.url} asked for no login: it needs no `oauth`, or none for this address")
    fresh.keep_metadata(access.context.oauth_metadata)


_ACCEPT = {"accept": "application/json, text/event-stream"}


def _client(server: HttpServer, redirect_uri: str | None) -> OAuthClientMetadata:
    scopes = server.oauth.scopes if server.oauth else ()
    return OAuthClientMetadata(
        client_name="Passgrid",
        redirect_uris=[AnyUrl(redirect_uri or "http://127.0.0.1/callback")],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        token_endpoint_auth_method="none",
        scope=" ".join(scopes) or None,
    )


def _registered(oauth: OAuth, redirect_uri: str) -> OAuthClientInformationFull:
    return OAuthClientInformationFull(
        client_id=oauth.client_id or "",
        redirect_uris=[AnyUrl(redirect_uri)],
        token_endpoint_auth_method="none",
    )


class _KeptLogin(OAuthClientProvider):
    """Tokens of a login that was made before; renewed by one process at a time, since a refresh token is good once."""

    def __init__(self, server: HttpServer, file: TokenFile, redirect: Redirect, callback: Callback | None) -> None:
        super().__init__(server.url, _client(server, None), file, redirect, callback)
        self._file = file

    async def _initialize(self) -> None:
        await super()._initialize()
        self.context.oauth_metadata = self._file.metadata()
        expires = self._file.expires_at()
        self.context.token_expiry_time = None if expires is None else expires - EARLY_SECONDS

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """As the SDK's, with the tokens that are kept now."""
        async with AsyncExitStack() as stack:
            expires = self._file.expires_at()
            if expires is not None and time.time() > expires - EARLY_SECONDS:
                await stack.enter_async_context(self._file.alone())
            self._initialized = False
            flow = await stack.enter_async_context(aclosing(super().async_auth_flow(request)))
            asked = await anext(flow)
            while True:
                answer = yield asked
                try:
                    asked = await flow.asend(answer)
                except StopAsyncIteration:
                    return
