"""Clone addresses: what may be contacted, and that nothing is contacted before that is decided."""

import socket
import time
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.git.address import check_address
from analysis.git.clone import mirror
from analysis.git.errors import AddressRefused, CloneUnreachable, GitError
from analysis.git.limits import GitLimits
from tests.providers.git_http import GitHttpServer

PUBLIC = GitLimits(allowed_schemes=frozenset({"https", "http"}))

LOOPBACK_SPELLINGS = [
    "127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.1", "0x7f.0.0.1",
    "0X7F.0.0.0X1", "017700000001", "0177.0.0.1", "0177.1", "127.000.000.001", "00000177.0.0.1", "127.0.0.1.",
    "localhost", "LOCALHOST",
    "localhost.", "0", "0.0.0.0", "0x0", "00", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]", "[::1%25lo]", "[::1%lo]", "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "127。0。0。1", "①②⑦.0.0.1",
]  # fmt: skip
INSIDE = [
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "2852039166", "0xa9fea9fe", "[::ffff:169.254.169.254]",
    "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16", "192.0.0.192", "100.64.0.1", "198.18.0.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "[fe80::1]", "[fc00::1]", "[fec0::1]", "[ff02::1]", "[64:ff9b:1::a00:1]",
    "[2001:db8::1]",
]  # fmt: skip
ODD = [
    "", "-", "--upload-pack=touch /tmp/x", "-oProxyCommand=x", "ext::sh -c touch% /tmp/x", "fd::17", "http::http://127.0.0.1/",
    "git@127.0.0.1:a/b.git", "ssh://127.0.0.1/a.git", "git://127.0.0.1/a.git", "ftp://127.0.0.1/a", "file:///etc",
    "/etc", "../a", "http:127.0.0.1/a", "http:///a", "http://", "http://example.org:0/a", "http://example.org:99999/a",
    "http://example.org:/a", "http://example.org:x/a", "http://user:pw@example.org/a", "http://token@example.org/a",
    "http://example.org@127.0.0.1/a", "http://127.0.0.1\\@example.org/a", "http://example.org\\.evil/a",
    "http://example.org/a?b", "http://example.org/a#b", "http://exa mple.org/a", "http://example.org/a\nb", "http://[::1/a",
    "http://-example.org/a", "http://exa..mple.org/", "http://[v1.a]/", "http://example.org/\0", "http://ex\tample.org/a",
]  # fmt: skip


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> GitHttpServer:
    with GitHttpServer(tmp_path_factory.mktemp("canary")) as server:
        yield server


class TestRefused:
    @pytest.mark.parametrize("host", LOOPBACK_SPELLINGS)
    def test_no_spelling_of_loopback_reaches_it(self, host: str, canary: GitHttpServer, tmp_path: Path) -> None:
        with pytest.raises(GitError) as refusal:
            mirror(
                f"http://{host}:{canary.port}/a.git",
                tmp_path / "clone",
                branch=None,
                limits=PUBLIC,
                deadline=time.monotonic() + 20,
            )

        assert isinstance(refusal.value, AddressRefused | CloneUnreachable)
        assert canary.requests == []
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("host", INSIDE)
    def test_private_reserved_and_metadata_addresses(self, host: str) -> None:
        with pytest.raises(AddressRefused):
            check_address(f"http://{host}/a.git", PUBLIC)

    @pytest.mark.parametrize("url", ODD)
    def test_anything_that_is_not_a_plain_address(self, url: str) -> None:
        with pytest.raises(AddressRefused) as refusal:
            check_address(url, PUBLIC)

        assert refusal.value.message.endswith(".")

    @pytest.mark.parametrize(
        "host",
        [
            *("169.254.169.254", "[fe80::1]", "168.63.129.16", "224.0.0.1", "0.0.0.0", "240.0.0.1", "255.255.255.255"),
            # mapped, translated, compatible, and inside of tunnels: 6to4, Teredo's server and client
            *("[::ffff:169.254.169.254]", "[64:ff9b::169.254.169.254]", "[::169.254.169.254]", "[2002:a9fe:a9fe::1]"),
            *("[2001:0:a9fe:a9fe::1]", "[2001:0:102:304::5601:5601]"),
        ],
    )
    def test_metadata_addresses_even_where_private_ones_are_allowed(self, host: str) -> None:
        with pytest.raises(AddressRefused):
            check_address(f"http://{host}/a.git", replace(PUBLIC, allow_private_addresses=True))

    def test_a_name_with_one_private_address_among_public_ones(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _answer(monkeypatch, "93.184.215.14", "10.0.0.7")

        with pytest.raises(AddressRefused, match="private"):
            check_address("https://code.example.org/a.git", PUBLIC)

    def test_a_name_with_an_address_of_one_network_card(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _answer(monkeypatch, "fe80::1%eth0")

        with pytest.raises(AddressRefused, match="reserved"):
            check_address("https://code.example.org/a.git", PUBLIC)

    def test_a_host_outside_the_list(self) -> None:
        with pytest.raises(AddressRefused, match="allowed code hosts"):
            check_address(
                "https://elsewhere.example/a.git", replace(PUBLIC, allowed_hosts=frozenset({"code.example.org"}))
            )

    @pytest.mark.parametrize(
        "url", ["file://host/srv/a.git", "file:a.git", "file:///srv/a%00.git", "file:///srv/a%0A.git"]
    )
    def test_a_local_repository_without_a_plain_path(self, url: str) -> None:
        with pytest.raises(AddressRefused):
            check_address(url, replace(PUBLIC, allowed_schemes=frozenset({"file"})))


class TestAllowed:
    def test_an_address_of_just_the_longest_length(self) -> None:
        start = "https://1.1.1.1/"
        longest = start + "a" * (2048 - len(start))

        assert check_address(longest, PUBLIC).url == longest
        with pytest.raises(AddressRefused):
            check_address(longest + "a", PUBLIC)

    @pytest.mark.parametrize(
        ("url", "canonical"),
        [
            ("https://1.1.1.1:443/a.git", "https://1.1.1.1/a.git"),
            ("https://1.1.1.1:80/a.git", "https://1.1.1.1:80/a.git"),
            ("http://1.1.1.1:80/a.git", "http://1.1.1.1/a.git"),
            ("http://1.1.1.1:8080/a.git", "http://1.1.1.1:8080/a.git"),
            ("https://[2606:2800:21f::1]/a.git", "https://[2606:2800:21f::1]/a.git"),
            ("https://[2606:2800:21f::1]:8443/a.git", "https://[2606:2800:21f::1]:8443/a.git"),
        ],
    )
    def test_the_port_is_told_unless_it_is_the_usual_one(self, url: str, canonical: str) -> None:
        assert check_address(url, PUBLIC).url == canonical

    @pytest.mark.parametrize(
        "host", ["[::ffff:1.1.1.1]", "[64:ff9b::1.1.1.1]", "[2002:101:101::1]", "[64:ff9b::100.100.100.201]"]
    )
    def test_an_address_around_one_that_may_be_reached(self, host: str) -> None:
        assert check_address(f"https://{host}/a.git", replace(PUBLIC, allow_private_addresses=True)).host == host[1:-1]

    def test_the_checked_addresses_are_pinned_to_host_and_port(self, monkeypatch: pytest.MonkeyPatch) -> None:
        _answer(monkeypatch, "93.184.215.14", "2606:2800:21f::1")

        address = check_address("HTTPS://Code.Example.org./Team/a.git", PUBLIC)

        assert address.url == "https://code.example.org/Team/a.git"
        pin = "code.example.org:443:93.184.215.14,[2606:2800:21f::1]"
        assert address.config == (("http.curloptResolve", pin),)

    def test_a_pinned_name_leads_only_to_its_pin(self, origin, limits, clone, soon, monkeypatch):
        sha = origin.commit({"a.py": b"1\n"})
        _answer(monkeypatch, "127.0.0.1")

        with GitHttpServer(origin.folder.parent) as server:
            url = f"http://no-such-host.invalid:{server.port}/origin.git"
            assert mirror(url, clone, branch=None, limits=limits, deadline=soon).head_sha == sha

    def test_an_unknown_host_ends_in_a_sentence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def unknown(*_: object, **__: object) -> None:
            raise socket.gaierror

        monkeypatch.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(CloneUnreachable, match="unknown; check its spelling"):
            check_address("https://nowhere.example/a.git", PUBLIC)


def _answer(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Let the name service answer with these addresses."""
    rows = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: rows)
