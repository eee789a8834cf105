"""DELETE /v1/orgs/:id, and what it leaves for the worker."""

from datetime import timedelta

import pytest
from django.apps import apps
from django.utils import timezone

from organizations import farewells, services, tasks
from organizations.models import Farewell, Organization


@pytest.fixture
def kinds(monkeypatch):
    """No kind of farewell but those that a test registers."""
    known: dict = {}
    monkeypatch.setattr(farewells, "KINDS", known)
    return known


@pytest.fixture
def said(kinds):
    """A kind whose work always succeeds; what it was given stands in the list."""
    done: list = []
    farewells.register(
        "test.thing", note=lambda organization: [{"slug": organization.slug, "part": part} for part in (1, 2)],
        settle=done.append,
    )  # fmt: skip
    return done


def later(**step):
    Farewell.objects.update(next_at=timezone.now() - timedelta(**step or {"seconds": 1}))


class TestDelete:
    def test_everything_goes(self, as_owner, organization, invitation, token, kinds):
        response = as_owner.delete(f"/v1/orgs/{organization.pk}")

        assert (response.status_code, response.content) == (204, b"")
        for model in apps.get_models():
            for field in model._meta.get_fields():
                if field.is_relation and field.concrete and field.related_model is Organization:
                    assert model._base_manager.filter(**{field.name: organization.pk}).count() == 0, model
        assert as_owner.get("/v1/orgs").json() == []
        assert as_owner.delete(f"/v1/orgs/{organization.pk}").status_code == 404

    def test_other_organizations_stay(self, as_owner, owner, organization, kinds):
        other = services.create_organization(owner=owner, name="Other")

        as_owner.delete(f"/v1/orgs/{organization.pk}")

        assert [row["id"] for row in as_owner.get("/v1/orgs").json()] == [str(other.pk)]

    def test_the_slug_is_free_again(self, as_owner, organization, kinds):
        as_owner.delete(f"/v1/orgs/{organization.pk}")

        assert as_owner.post("/v1/orgs", {"name": "Again", "slug": organization.slug}).status_code == 201


class TestFarewells:
    def delete(self, organization, owner):
        services.delete_organization(organization=organization, actor=owner)

    def test_are_said_after_the_commit(self, organization, owner, said, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks() as callbacks:
            self.delete(organization, owner)
        assert said == []

        for callback in callbacks:
            callback()

        assert said == [{"slug": organization.slug, "part": 1}, {"slug": organization.slug, "part": 2}]
        assert Farewell.objects.count() == 0

    def test_are_found_by_the_sweeper_when_the_message_is_lost(self, organization, owner, said):
        self.delete(organization, owner)

        tasks.settle_due_farewells()

        assert len(said) == 2
        assert Farewell.objects.count() == 0

    def test_are_tried_again_until_done(self, organization, owner, kinds):
        answers = [ConnectionError("provider is away"), TimeoutError("provider is slow"), None]

        def cancel(notes):
            answer = answers.pop(0)
            if answer:
                raise answer

        farewells.register("test.thing", note=lambda organization: [{"id": "sub_1"}], settle=cancel)
        self.delete(organization, owner)

        tasks.settle_due_farewells()
        row = Farewell.objects.get()
        assert row.last_error == "ConnectionError: provider is away"
        assert timedelta(seconds=50) < row.next_at - timezone.now() <= timedelta(minutes=1)
        tasks.settle_due_farewells()
        assert len(answers) == 2, "nothing is due before the pause is over"

        later()
        tasks.settle_due_farewells()
        assert timedelta(seconds=110) < Farewell.objects.get().next_at - timezone.now() <= timedelta(minutes=2)
        later()
        tasks.settle_due_farewells()
        assert Farewell.objects.count() == 0

    @pytest.mark.parametrize("attempts", [12, 5000])
    def test_never_pause_longer_than_six_hours(self, db, kinds, attempts):
        farewells.register("test.thing", note=lambda organization: [], settle=lambda notes: {}["missing"])
        row = Farewell.objects.create(
            kind="test.thing", organization_id="01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21", notes={}, attempts=attempts
        )

        farewells.settle(row.pk)

        row.refresh_from_db()
        assert timedelta(hours=5, minutes=59) < row.next_at - timezone.now() <= timedelta(hours=6)

    def test_a_kind_that_nobody_knows_any_more_is_kept(self, db, kinds):
        row = Farewell.objects.create(
            kind="gone.thing", organization_id="01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21", notes={}
        )

        farewells.settle(row.pk)

        row.refresh_from_db()
        assert row.last_error == "KeyError: 'gone.thing'"

    def test_one_worker_at_a_time(self, db, said):
        row = Farewell.objects.create(
            kind="test.thing", organization_id="01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21", notes={}
        )
        assert farewells._claim(row.pk)

        farewells.settle(row.pk)

        assert said == []

    def test_are_not_written_when_the_deletion_fails(self, organization, admin, said):
        with pytest.raises(Exception, match="needs the role owner"):
            self.delete(organization, admin)

        assert Farewell.objects.count() == 0
