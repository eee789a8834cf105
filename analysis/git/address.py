"""Decides whether a clone address may be contacted, and pins the network addresses that were checked.

The host is resolved once, here; git is told to use exactly these addresses (`http.curloptResolve`, git 2.37), so a name
that answers differently a moment later leads nowhere else.
"""

import ipaddress
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from analysis.git.errors import AddressRefused, CloneUnreachable
from analysis.git.limits import GitLimits

ADDRESS_CHARACTERS = 2048
PORTS = {"https": 443, "http": 80}

# Only these transports have a target that can be checked; ssh and git resolve names on their own.
_TRANSPORTS = frozenset({"https", "http", "file"})
_HOST_NAME = re.compile(r"(?=.{1,253}\Z)(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*\Z")
# 2130706433, 0x7f.1, 0177.0.0.1: the resolver and curl would read these as addresses.
_LAST_LABEL_IS_NUMBER = re.compile(r"(?:.*\.)?(?:0[xX][0-9a-fA-F]*|[0-9]+)\Z")
# Visible ASCII without the backslash, which browsers read as a slash.
_PLAIN = re.compile(rf"[!-\[\]-~]{{1,{ADDRESS_CHARACTERS}}}\Z")

# Services of cloud hosts that hand out credentials, some outside the link-local range; and what nobody may use.
_NEVER = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16",
        "fe80::/10",
        "fd00:ec2::/32",
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.192/32",
        "240.0.0.0/4",
    )
)
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Private networks that Python 3.11 calls global.
_SITE_LOCAL = (ipaddress.ip_network("fec0::/10"), ipaddress.ip_network("64:ff9b:1::/48"))
_COMPATIBLE = ipaddress.ip_network("::/96")

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class PinnedAddress:
    """A clone address that may be contacted, in canonical spelling, with the network addresses that were checked."""

    url: str
    scheme: str
    host: str = ""
    port: int = 0
    addresses: tuple[str, ...] = ()

    @property
    def config(self) -> tuple[tuple[str, str], ...]:
        """The git settings that pin the connection."""
        if not self.addresses:
            return ()
        return (("http.curloptResolve", f"{self.host}:{self.port}:{','.join(self.addresses)}"),)


def check_address(url: str, limits: GitLimits) -> PinnedAddress:
    """Check a clone address and resolve its host. Contacts nothing but the name service.

    Raises AddressRefused with a sentence that says what to write instead, or CloneUnreachable for an unknown host.
    """
    if not _PLAIN.match(url):
        raise AddressRefused
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise AddressRefused from None
    scheme = parts.scheme.lower()
    if scheme not in _TRANSPORTS & limits.allowed_schemes or "://" not in url:
        allowed = ", ".join(sorted(_TRANSPORTS & limits.allowed_schemes))
        raise AddressRefused(f"Only clone addresses of these kinds are allowed: {allowed}; use one of them.")
    if "?" in url or "#" in url:
        raise AddressRefused("A clone address has no ? or #; remove that part.")
    return _remote(scheme, parts, port, limits) if scheme in PORTS else _local(parts)


def _local(parts: SplitResult) -> PinnedAddress:
    path = unquote(parts.path, errors="surrogateescape")
    if parts.netloc or not path.startswith("/") or "\0" in path or "\n" in path:
        raise AddressRefused("Write the address of a local repository as file:///path/to/repository.")
    return PinnedAddress(url=f"file://{parts.path}", scheme="file")


def _remote(scheme: str, parts: SplitResult, port: int | None, limits: GitLimits) -> PinnedAddress:
    if "@" in parts.netloc:
        raise AddressRefused(
            "A clone address carries no user name or password; remove them and configure a token instead."
        )
    host = (parts.hostname or "").removesuffix(".")
    if port == 0 or parts.netloc.endswith(":"):
        raise AddressRefused
    literal = _literal(host, bracketed="[" in parts.netloc)
    if limits.allowed_hosts and host not in limits.allowed_hosts:
        raise AddressRefused("This host is not among the allowed code hosts; connect a repository of an allowed one.")
    port = port or PORTS[scheme]
    addresses = (literal,) if literal else _resolve(host, port)
    for address in addresses:
        _require_reachable(address, limits)
    shown = f"[{host}]" if isinstance(literal, ipaddress.IPv6Address) else host
    where = shown if port == PORTS[scheme] else f"{shown}:{port}"
    return PinnedAddress(
        url=f"{scheme}://{where}{parts.path}",
        scheme=scheme,
        host=host,
        port=port,
        # A literal is its own pin, and curl takes no pin for a bracketed host.
        addresses=() if literal else tuple(_pin(address) for address in addresses),
    )


def _literal(host: str, *, bracketed: bool) -> IpAddress | None:
    """The address that the host spells, None for a name. Spellings other than the canonical one are refused."""
    if bracketed:
        try:
            return ipaddress.IPv6Address(host) if "%" not in host else _refuse_host()
        except ValueError:
            return _refuse_host()
    if _LAST_LABEL_IS_NUMBER.match(host):
        try:
            return ipaddress.IPv4Address(host)
        except ValueError:
            return _refuse_host()
    return None if _HOST_NAME.match(host) else _refuse_host()


def _refuse_host() -> IpAddress | None:
    raise AddressRefused("The host of the clone address is not a plain host name; write it as the code host shows it.")


def _resolve(host: str, port: int) -> tuple[IpAddress, ...]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise CloneUnreachable("The host of the clone address is unknown; check its spelling.") from None
    return tuple(dict.fromkeys(ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found))


def _require_reachable(address: IpAddress, limits: GitLimits) -> None:
    for meaning in _meanings(address):
        if meaning.is_multicast or meaning.is_unspecified or any(meaning in network for network in _NEVER):
            raise AddressRefused(
                "The clone address leads to a reserved network address; use the public address of the host."
            )
        if not limits.allow_private_addresses and not _is_global(meaning):
            raise AddressRefused(
                "The clone address leads into a private network; use an address that is reachable from outside."
            )


def _is_global(address: IpAddress) -> bool:
    return address.is_global and not any(address in network for network in _SITE_LOCAL)


def _meanings(address: IpAddress) -> Iterator[IpAddress]:
    """The address and every IPv4 address that it carries inside: mapped, translated or tunnelled."""
    if isinstance(address, ipaddress.IPv4Address):
        yield address
        return
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.ipv4_mapped:
        yield address.ipv4_mapped
        return
    if address in _NAT64:
        yield last
        return
    yield address
    if address in _COMPATIBLE:
        yield last
    if address.sixtofour:
        yield address.sixtofour
    if address.teredo:
        yield from address.teredo


def _pin(address: IpAddress) -> str:
    return f"[{address}]" if isinstance(address, ipaddress.IPv6Address) else str(address)
