"""The proxy that the environment names for an address: `http_proxy`, `https_proxy` and `no_proxy`."""

from __future__ import annotations

import base64
import ipaddress
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from darkcurrent.errors import UsageError

__all__ = ["Proxy", "proxy_for"]


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy without its credentials in the address, so that no message shows them."""

    url: str
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """What the proxy is shown."""
        if not self.user:
            return {}
        shown = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        return {"Proxy-Authorization": f"Basic {shown}"}


def proxy_for(url: str) -> Proxy | None:
    """Return the proxy for an address, or None. This machine's own addresses are never asked by way of one.

    Raises
    ------
    UsageError
        Where the proxy is not one for HTTP.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    named = urllib.request.getproxies_environment().get(parts.scheme)
    if not named or _is_loopback(host) or urllib.request.proxy_bypass(host):
        return None
    proxy = urlsplit(named if "://" in named else f"http://{named}")
    try:
        usable = proxy.scheme in ("http", "https") and proxy.hostname is not None
        port = f":{proxy.port}" if proxy.port else ""
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            f"The environment names a proxy for {parts.scheme} that is none for HTTP: correct {parts.scheme}_proxy, "
            f"or take {host} out of it by no_proxy."
        )
    name = f"[{proxy.hostname}]" if ":" in str(proxy.hostname) else proxy.hostname
    return Proxy(
        f"{proxy.scheme}://{name}{port}", unquote(proxy.username or ""), unquote(proxy.password or "")
    )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
