"""POST, GET and DELETE of /v1/orgs/:id/invitations, POST /v1/orgs/invitations/:token/accept"""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Letter
from organizations import services
from organizations.models import AuditEntry, Invitation
from tests import factories


@pytest.fixture
def url(organization):
    return f"/v1/orgs/{organization.pk}/invitations"


def lapse(invitation):
    Invitation.objects.filter(pk=invitation.pk).update(expires_at=timezone.now() - timedelta(seconds=1))


class TestInvite:
    def test_is_pending_for_seven_days(self, as_admin, url):
        response = as_admin.post(url, {"email": "Dana@Example.org"})

        body = response.json()
        invitation = Invitation.objects.get()
        assert response.status_code == 201
        assert body == {
            "id": str(invitation.pk),
            "email": "dana@example.org",
            "role": "member",
            "status": "pending",
            "expiresAt": body["expiresAt"],
            "createdAt": body["createdAt"],
        }
        assert timedelta(days=6, hours=23) < invitation.expires_at - timezone.now() <= timedelta(days=7)

    def test_as_admin(self, as_admin, url):
        assert as_admin.post(url, {"email": "dana@example.org", "role": "admin"}).json()["role"] == "admin"

    def test_a_member_cannot_be_invited(self, as_admin, url):
        response = as_admin.post(url, {"email": "MIA@example.org"})

        assert response.status_code == 400
        assert response.json()["message"] == "email: belongs to a member of the organization already"

    def test_a_second_invitation_to_the_same_address_conflicts(self, as_admin, url):
        as_admin.post(url, {"email": "dana@example.org"})

        response = as_admin.post(url, {"email": "Dana@example.org"})

        assert response.status_code == 409
        assert response.json()["message"] == "An invitation is already pending for this email"

    def test_the_same_address_may_be_pending_in_two_organizations(self, as_admin, admin, url, invitation):
        mine = factories.organization(owner=admin)

        response = as_admin.post(f"/v1/orgs/{mine.pk}/invitations", {"email": invitation.email})

        assert response.status_code == 201

    def test_a_lapsed_invitation_does_not_block_a_new_one(self, as_admin, url, invitation):
        lapse(invitation)

        assert as_admin.post(url, {"email": invitation.email}).status_code == 201
        invitation.refresh_from_db()
        assert invitation.status == "expired"

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"email": "nobody"},
            {"email": None},
            {"email": 5},
            {"email": f"{'x' * 250}@example.org"},
            {"email": "a@example.org\nBcc: b@example.org"},
            {"email": "a@example.org", "role": "owner"},
            {"email": "a@example.org", "role": None},
        ],
    )
    def test_nonsense_is_refused(self, as_admin, url, body):
        assert as_admin.post(url, body).status_code == 400
        assert Letter.objects.count() == 0


class TestMaxMembers:
    def test_pending_invitations_count(self, as_owner, organization, url):
        organization.plan.__class__.objects.filter(pk="solo").update(max_members=5)
        organization.plan_id = "solo"
        organization.save(update_fields=["plan_id"])
        as_owner.post(url, {"email": "one@example.org"})
        as_owner.post(url, {"email": "two@example.org"})

        response = as_owner.post(url, {"email": "three@example.org"})

        assert response.status_code == 403
        assert response.json()["message"] == "The plan Solo is full: it allows 5 members; the plan Pro allows more"

    def test_the_free_plan_has_room_for_its_owner_alone(self, as_stranger, stranger):
        mine = factories.organization(owner=stranger, plan="free")

        response = as_stranger.post(f"/v1/orgs/{mine.pk}/invitations", {"email": "one@example.org"})

        assert response.status_code == 403
        assert response.json()["message"] == "The plan Free is full: it allows 1 member; the plan Pro allows more"

    def test_lapsed_and_cancelled_ones_do_not_count(self, as_owner, organization, url):
        organization.plan.__class__.objects.filter(pk="solo").update(max_members=4)
        organization.plan_id = "solo"
        organization.save(update_fields=["plan_id"])
        first = as_owner.post(url, {"email": "one@example.org"}).json()
        as_owner.delete(f"{url}/{first['id']}")
        second = as_owner.post(url, {"email": "two@example.org"})
        lapse(Invitation.objects.get(pk=second.json()["id"]))

        assert as_owner.post(url, {"email": "three@example.org"}).status_code == 201


class TestList:
    def test_shows_the_pending_ones_alone(self, as_admin, url):
        ids = [as_admin.post(url, {"email": f"{name}@example.org"}).json()["id"] for name in ("one", "two", "three")]
        as_admin.delete(f"{url}/{ids[0]}")
        lapse(Invitation.objects.get(pk=ids[1]))

        body = as_admin.get(url).json()

        assert [(row["id"], row["status"]) for row in body] == [(ids[2], "pending")]
        assert set(body[0]) == {"id", "email", "role", "status", "expiresAt", "createdAt", "invitedBy"}

    def test_names_who_sent_each_also_when_that_person_is_gone(self, as_admin, as_owner, admin, organization, url):
        as_admin.post(url, {"email": "dana@example.org"})
        as_owner.delete(f"/v1/orgs/{organization.pk}/members/{admin.pk}")

        [listed] = as_owner.get(url).json()

        assert listed["status"] == "pending"
        assert listed["invitedBy"] == {"userId": str(admin.pk), "name": admin.name, "email": admin.email}

    def test_names_nobody_whose_account_is_deleted(self, as_admin, as_owner, admin, url):
        as_admin.post(url, {"email": "dana@example.org"})
        admin.delete()

        assert as_owner.get(url).json()[0]["invitedBy"] is None


class TestCancel:
    def test_its_link_is_dead(self, as_admin, as_stranger, url, invitation, token):
        assert as_admin.delete(f"{url}/{invitation.pk}").status_code == 204

        assert as_stranger.post(f"/v1/orgs/invitations/{token}/accept").status_code == 400
        assert as_admin.delete(f"{url}/{invitation.pk}").status_code == 404

    def test_one_that_is_accepted_a_moment_before_is_not_cancelled(
        self, as_admin, as_stranger, url, invitation, token, just_before
    ):
        def accept():
            assert as_stranger.post(f"/v1/orgs/invitations/{token}/accept").status_code == 200

        with just_before('UPDATE "organizations_invitation"', accept):
            response = as_admin.delete(f"{url}/{invitation.pk}")

        assert response.status_code == 404
        assert not AuditEntry.objects.filter(action="member.invitation_cancelled").exists()

    def test_a_lapsed_one_is_no_longer_there(self, as_admin, url, invitation):
        lapse(invitation)

        assert as_admin.delete(f"{url}/{invitation.pk}").status_code == 404


class TestAccept:
    def accept(self, client, token):
        return client.post(f"/v1/orgs/invitations/{token}/accept")

    def test_anybody_with_the_token_joins_with_the_invited_role(self, as_stranger, as_admin, organization, url):
        as_admin.post(url, {"email": "dana@example.org", "role": "admin"})
        token = services.invitations.mint_token(Invitation.objects.get().pk)

        response = self.accept(as_stranger, token)

        assert response.status_code == 200
        assert response.json() == {"orgId": str(organization.pk), "orgName": organization.name, "role": "admin"}
        assert as_stranger.get(f"/v1/orgs/{organization.pk}/invitations").status_code == 200
        assert Invitation.objects.get().status == "accepted"

    def test_once(self, as_stranger, token):
        self.accept(as_stranger, token)
        latecomer = factories.user()

        with pytest.raises(services.invitations.InvitationOver):
            services.accept_invitation(token=token, user=latecomer)
        assert self.accept(as_stranger, token).json()["message"] == "This invitation has expired or was already used"

    def test_not_when_it_has_lapsed(self, as_stranger, invitation, token):
        lapse(invitation)

        assert self.accept(as_stranger, token).status_code == 400

    @pytest.mark.parametrize("token", ["unknown", "x" * 3000, "%00", "ä"])
    def test_not_with_an_unknown_token(self, as_stranger, invitation, token):
        assert self.accept(as_stranger, token).status_code == 404

    def test_not_with_a_token_that_reads_like_a_part_of_an_address(self, as_stranger):
        assert self.accept(as_stranger, "invitations").status_code == 404

    def test_not_by_a_member(self, as_member, token):
        response = self.accept(as_member, token)

        assert response.status_code == 400
        assert response.json()["message"] == "You are a member of this organization already"

    def test_not_when_the_plan_is_full_by_now(self, as_stranger, organization, token):
        organization.plan_id = "free"
        organization.save(update_fields=["plan_id"])

        response = self.accept(as_stranger, token)

        assert response.status_code == 403
        assert organization.invitations.pending().count() == 1

    def test_not_after_the_organization_is_gone(self, as_stranger, as_owner, organization, token):
        as_owner.delete(f"/v1/orgs/{organization.pk}")

        assert self.accept(as_stranger, token).status_code == 404


class TestLetter:
    def test_brings_the_link_in_text_and_html(self, as_admin, as_stranger, organization, url, postbox, settings):
        as_admin.post(url, {"email": "dana@example.org"})

        (mail,) = postbox()

        html = mail.alternatives[0].content
        link = re.search(rf"{re.escape(settings.APP_URL)}/invitations/(\S+)", mail.body)
        assert mail.to == ["dana@example.org"]
        assert mail.subject == f"Adam Admin invites you to {organization.name}"
        assert max(map(len, mail.body.replace(link[0], "").splitlines())) < 80
        assert f'href="{link[0]}"' in html
        assert 'name="viewport"' in html
        assert as_stranger.post(f"/v1/orgs/invitations/{link[1]}/accept").status_code == 200

    def test_leaves_after_the_commit(self, as_admin, url, mailoutbox, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks() as callbacks:
            as_admin.post(url, {"email": "dana@example.org"})
        assert mailoutbox == []

        for callback in callbacks:
            callback()

        assert len(mailoutbox) == 1

    def test_only_a_hash_of_the_token_is_stored(self, as_admin, url, postbox):
        as_admin.post(url, {"email": "dana@example.org"})
        token = re.search(r"invitations/(\S+)", postbox()[0].body)[1]

        stored = Invitation.objects.values().get() | Letter.objects.values().get()

        assert token not in str(stored)
        assert len(stored["token_hash"]) == 64

    def test_a_letter_that_leaves_twice_brings_the_same_link_twice(self, invitation):
        first, second = (services.invitations.mint_token(invitation.pk) for _ in range(2))

        assert first == second

    def test_a_new_secret_key_kills_no_link_on_its_way(self, stranger, token, settings):
        settings.SECRET_KEY = "another key"

        assert services.accept_invitation(token=token, user=stranger).role == "member"

    def test_does_not_leave_for_a_cancelled_invitation(self, as_admin, url, invitation, postbox):
        as_admin.delete(f"{url}/{invitation.pk}")

        assert postbox() == []

    def test_names_cannot_smuggle_anything_into_it(self, as_admin, admin, organization, url, postbox):
        organization.name = "<img src=x> & {{ link }}"
        organization.save(update_fields=["name"])
        admin.name = "Eve\u2028"
        admin.save(update_fields=["name"])
        as_admin.post(url, {"email": "dana@example.org"})

        (mail,) = postbox()

        assert "<img" not in mail.alternatives[0].content
        assert "{{ link }}" in mail.body
        assert "\n" not in mail.subject


def test_lapsed_invitations_are_marked_by_the_worker(invitation):
    lapse(invitation)

    assert services.expire_lapsed() == 1
    assert services.expire_lapsed() == 0
    invitation.refresh_from_db()
    assert invitation.status == "expired"
