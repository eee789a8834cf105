"""The staff's pages about people, sign-ins and letters."""

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from accounts import services
from accounts.models import Letter, PasswordReset, Session, SignInProvider, User
from tests import factories

pytestmark = pytest.mark.django_db
PAGES = ["user", "session", "letter", "passwordreset"]


@pytest.fixture
def staff(client):
    client.force_login(factories.user("root@example.org", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def rows(owner):
    for number in range(3):
        services.open_session(user=owner, provider=SignInProvider.EMAIL, address="192.0.2.7")
        Letter.objects.create(kind="password_reset", key=str(number), recipient=owner.email, context={})
        expires_at = timezone.now()
        PasswordReset.objects.create(user=owner, token_hash=f"secret-hash-{number}", expires_at=expires_at)


def run(client, model, action, *objects):
    body = {"action": action, "confirmed": "yes", "_selected_action": [str(row.pk) for row in objects]}
    return client.post(f"/admin/accounts/{model}/", body, follow=True)


class TestPages:
    @pytest.mark.parametrize("model", PAGES)
    def test_lists_cost_the_same_for_more_rows(self, staff, rows, model, django_assert_max_num_queries):
        for number in range(10):
            somebody = factories.user()
            services.open_session(user=somebody, provider=SignInProvider.EMAIL)
            Letter.objects.create(kind="x", key=f"more {number}", recipient=somebody.email)
            PasswordReset.objects.create(user=somebody, token_hash=f"more {number}", expires_at=timezone.now())

        with django_assert_max_num_queries(9):
            assert staff.get(f"/admin/accounts/{model}/").status_code == 200

    @pytest.mark.parametrize("model", PAGES)
    def test_nothing_secret_is_shown(self, staff, rows, owner, model):
        secrets = [owner.password, *Session.objects.values_list("current_jti", flat=True), "secret-hash"]
        row = {"user": User, "session": Session, "letter": Letter, "passwordreset": PasswordReset}[
            model
        ].objects.first()

        pages = [staff.get(f"/admin/accounts/{model}/{end}").content.decode() for end in ("", f"{row.pk}/change/")]

        assert not [secret for secret in secrets for page in pages if secret in page]

    def test_staff_read_what_a_password_needs_where_they_change_their_own(self, staff):
        page = staff.get("/admin/password_change/").content.decode()

        assert "8 to 128 characters with an uppercase letter, a lowercase letter and a number." in page

    def test_a_person_shows_the_last_sign_ins(self, staff, rows, owner):
        page = staff.get(f"/admin/accounts/user/{owner.pk}/change/").content.decode()

        assert page.count("from 192.0.2.7") == 3

    @pytest.mark.parametrize(
        "app", ["socialaccount/socialapp", "socialaccount/socialtoken", "account/emailaddress", "auth/group"]
    )
    def test_pages_of_the_sign_in_library_are_not_there(self, staff, app):
        assert staff.get(f"/admin/{app}/").status_code == 404

    def test_staff_made_on_the_command_line_come_in_by_password(self, client):
        User.objects.create_superuser("root@example.org", factories.PASSWORD, name="Root")
        form = {"username": "root@example.org", "password": factories.PASSWORD}

        response = client.post("/admin/login/?next=/admin/", form)

        assert response.status_code == 302
        assert client.get("/admin/accounts/user/").status_code == 200

    def test_others_are_not_let_in(self, client, owner):
        client.force_login(owner)

        assert client.get("/admin/accounts/user/").status_code == 302

    def test_only_a_superuser_makes_somebody_staff(self, client, owner):
        helper = factories.user("helper@example.org", is_staff=True)
        helper.user_permissions.set(Permission.objects.filter(content_type__app_label="accounts"))
        client.force_login(helper)

        client.post(f"/admin/accounts/user/{owner.pk}/change/", {"name": "New", "is_active": "on", "is_staff": "on"})

        owner.refresh_from_db()
        assert (owner.name, owner.is_staff) == ("New", False)

    def test_a_superuser_says_what_others_may_look_at(self, staff, client, owner):
        looks = Permission.objects.get(codename="view_letter")
        form = {"name": owner.name, "is_active": "on", "is_staff": "on", "user_permissions": [looks.pk]}

        staff.post(f"/admin/accounts/user/{owner.pk}/change/", form)

        client.force_login(User.objects.get(pk=owner.pk))
        assert client.get("/admin/accounts/letter/").status_code == 200
        assert client.get("/admin/accounts/session/").status_code == 403

    def test_the_choice_is_of_pages_that_are_there(self, staff, owner):
        page = staff.get(f"/admin/accounts/user/{owner.pk}/change/")

        offered = {each.codename for each in page.context["adminform"].form.fields["user_permissions"].queryset}
        assert {"view_letter", "change_run", "view_logentry"} <= offered
        assert not {"view_socialtoken", "view_group", "view_violation"} & offered

    def test_nobody_gives_permissions_to_themselves(self, client):
        helper = factories.user("helper@example.org", is_staff=True)
        helper.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "change_user"]))
        client.force_login(helper)
        more = Permission.objects.get(codename="change_run")

        form = {"name": "Helper", "is_active": "on", "user_permissions": [more.pk]}
        client.post(f"/admin/accounts/user/{helper.pk}/change/", form)

        assert set(helper.user_permissions.values_list("codename", flat=True)) == {"view_user", "change_user"}


class TestActions:
    def test_revoke_sessions(self, staff, as_owner):
        run(staff, "session", "revoke", Session.objects.get())

        assert as_owner.get("/v1/auth/me").status_code == 401

    def test_sign_out_everywhere(self, staff, as_owner, as_member, owner):
        run(staff, "user", "sign_out_everywhere", owner)

        assert as_owner.get("/v1/auth/me").status_code == 401
        assert as_member.get("/v1/auth/me").status_code == 200

    def test_disable(self, staff, as_owner, owner, anonymous):
        run(staff, "user", "disable", owner)

        assert as_owner.get("/v1/auth/me").status_code == 401
        body = {"email": owner.email, "password": factories.PASSWORD}
        assert anonymous.post("/v1/auth/login", body).status_code == 401

    def test_send_a_letter_again(self, staff, owner, postbox):
        letter = Letter.objects.create(kind="password_reset", key="k", recipient=owner.email, attempts=8, due_at=None)

        run(staff, "letter", "send_again", letter)

        assert len(postbox()) == 1
