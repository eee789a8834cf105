"""A typed client that a public generator makes of our description works against the running service."""

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from analysis.models import Platform, Repository
from config.operations.description import document
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

GENERATOR = str(Path(sys.executable).with_name("openapi-python-client"))
OPTIONS = """
post_hooks: []
project_name_override: debt-client
package_name_override: debt_client
content_type_overrides: {image/svg+xml: text/html}
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Imports modules of the generated package."""
    folder = tmp_path_factory.mktemp("client")
    (folder / "openapi.json").write_bytes(document())
    (folder / "options.yml").write_text(OPTIONS)
    made = subprocess.run(
        [GENERATOR, "generate", "--path", "openapi.json", "--config", "options.yml", "--fail-on-warning"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert made.returncode == 0, made.stdout + made.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder / "debt-client"))
        yield lambda name: importlib.import_module(f"debt_client.{name}")


def test_it_signs_up_founds_an_organization_and_lists_its_repositories(generated: Any, live_server: Any) -> None:
    models, clients = generated("models"), generated("client")
    base = f"{live_server.url}/v1"
    account = models.SignUp(email="dana@example.org", password=factories.PASSWORD, name="Dana Diaz")

    with clients.Client(base_url=base) as anybody:
        pair = call(generated, "accounts.sign_up_with_address_and_password").sync(client=anybody, body=account)
    with clients.AuthenticatedClient(base_url=base, token=pair.access_token) as dana:
        body = models.CreateOrganization(name="Acme")
        acme = call(generated, "organizations.found_organization").sync(client=dana, body=body)
        shop = Repository.objects.create(organization_id=acme.id, full_name="acme/shop", platform=Platform.GIT)
        listed = call(generated, "repositories.list_repositories").sync(client=dana)

    assert [repository.id for repository in listed] == [str(shop.pk)]
    assert (listed[0].full_name, listed[0].platform) == ("acme/shop", models.Platform.GIT)


def test_it_reads_refusals_as_the_one_error_type(generated: Any, live_server: Any) -> None:
    models, clients = generated("models"), generated("client")

    with clients.AuthenticatedClient(base_url=f"{live_server.url}/v1", token="made-up") as stranger:
        refusal = call(generated, "repositories.list_repositories").sync(client=stranger)

    assert refusal == models.Error(status_code=401, message="Unauthorized", error="Unauthorized")


def call(generated: Any, name: str) -> ModuleType:
    """The module of one operation."""
    return generated(f"api.{name}")
