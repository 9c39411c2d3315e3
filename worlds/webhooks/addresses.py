"""Which addresses a webhook may have. What a name means is decided at each connection anew, on the
address that is then connected to: a name that means another address the second time (DNS
rebinding) gains nothing."""

import ipaddress
from functools import lru_cache
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from retrieval.errors import Invalid

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
GLOBAL_V6 = ipaddress.ip_network("2000::/3")
NAT64 = ipaddress.ip_network("64:ff9b::/96")
NOT_PUBLIC = [
    ipaddress.ip_network(text)
    for text in ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "3fff::/20")
]
"""Special networks that `is_global` lets pass in some versions of Python; 192.0.0.192 serves the
metadata of a cloud."""


class AddressRefused(Exception):
    """The message says which address, and why."""


def check_url(url: str) -> None:
    """Raise `Invalid` unless `url` can be the address of a webhook."""
    if problem := problem_with(url):
        raise Invalid(problem, errors=[{"loc": ["url"], "msg": problem}])


def problem_with(url: str) -> str:
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return _("Write the address in ASCII without spaces (percent-encoded, host in Punycode).")
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        has_port = False
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port:
        return _("Give an address such as https://engine.example.org/hooks.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        return _("Leave user, password and fragment out of the address.")
    if parts.scheme == "http" and not allowed_networks():
        return _("The address must begin with https://.")
    try:
        literal = ipaddress.ip_address(parts.hostname)
    except ValueError:
        return ""
    return "" if is_permitted(literal, plain=parts.scheme == "http") else refusal(str(literal))


def refusal(address: str) -> str:
    text = _(
        "%(address)s is no public address (or http is not allowed for it): the operator can allow "
        "it by WEBHOOK_PRIVATE_ADDRESSES."
    )
    return text % {"address": address}


def is_permitted(ip: IP, *, plain: bool) -> bool:
    """Whether messages may be sent to this address; `plain`: without TLS."""
    if any(ip in network for network in allowed_networks()):
        return True
    return is_public(ip) and not plain


def is_public(ip: IP) -> bool:
    if any(ip.version == each.version and ip in each for each in NOT_PUBLIC):
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not (ip.is_multicast or ip.is_reserved)
    if inner := embedded_address(ip):
        return is_public(inner)
    return ip in GLOBAL_V6 and ip.is_global


def embedded_address(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address to which packets for `ip` really go."""
    if ip in NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour


def allowed_networks() -> tuple[Network, ...]:
    return parse_networks(tuple(settings.WEBHOOK_PRIVATE_ADDRESSES))


@lru_cache(maxsize=8)
def parse_networks(texts: tuple[str, ...]) -> tuple[Network, ...]:
    """Raises ValueError."""
    return tuple(ipaddress.ip_network(text.strip(), strict=False) for text in texts)
