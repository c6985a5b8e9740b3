"""The way to the API server, as the environment says it: read once, and not with the user's netrc at each request."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass


def proxy_for(url: str) -> str | None:
    """By `https_proxy` and its kin, in either case, but for the hosts in `no_proxy`; None: there is none on the way."""
    parts, proxies = urlsplit(url), getproxies_environment()
    if parts.hostname is None or proxy_bypass(parts.hostname, proxies):
        return None
    return proxies.get(parts.scheme)
