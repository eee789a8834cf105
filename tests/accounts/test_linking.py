"""From a provider's profile to an account: linked, found by its address, or made."""

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount

from accounts.models import PasswordReset, Session, SignInProvider, User
from accounts.services import AccountDisabled, EmailUnverified, Profile, mint_reset, sign_in_with_provider
from tests import factories
from tests.conftest import client_of

pytestmark = pytest.mark.django_db


def profile(*emails, provider=SignInProvider.IDP2, uid="dana", name="Dana", avatar_url=""):
    return Profile(provider, uid=uid, emails=list(emails), name=name, avatar_url=avatar_url)


def test_a_new_person_is_known_by_the_first_address_and_has_proved_it():
    sign_in_with_provider(profile=profile("dana@example.org", "other@example.org"), address="10.0.0.1")

    user = User.objects.get()
    assert (user.email, user.provider, user.has_usable_password()) == ("dana@example.org", "idp2", False)
    assert EmailAddress.objects.values_list("email", "verified", "primary").get() == (user.email, True, True)
    assert Session.objects.values_list("provider", "address").get() == ("idp2", "10.0.0.1")


def test_the_second_provider_finds_the_person_of_the_first_and_locks_nobody_out(owner):
    sign_in_with_provider(profile=profile(owner.email))
    owner.refresh_from_db()
    owner.set_password(factories.PASSWORD)
    owner.save()

    sign_in_with_provider(profile=profile(owner.email, provider=SignInProvider.CODEHOST1))

    owner.refresh_from_db()
    assert owner.check_password(factories.PASSWORD)
    assert owner.sessions.filter(revoked_at=None).count() == 2
    assert SocialAccount.objects.filter(user=owner).count() == 2


@pytest.mark.parametrize("proved", [False, True])
def test_whoever_waits_at_an_address_that_was_never_proved_is_locked_out(owner, member, proved):
    for user in (owner, member):
        EmailAddress.objects.create(user=user, email=user.email, verified=proved, primary=True)
    session, of_another = client_of(owner), client_of(member)
    mint_reset(email=owner.email)
    mint_reset(email=member.email)

    sign_in_with_provider(profile=profile(owner.email))

    owner.refresh_from_db()
    assert owner.has_usable_password() == proved
    assert session.get("/v1/auth/me").status_code == (200 if proved else 401)
    assert PasswordReset.objects.filter(user=owner).count() == proved
    assert of_another.get("/v1/auth/me").status_code == 200
    assert PasswordReset.objects.filter(user=member).exists()


@pytest.mark.parametrize(
    ("held", "told", "shown"),
    [
        ("", "https://p.example/1", "https://p.example/1"),
        ("https://p.example/0", "https://p.example/1", "https://p.example/0"),
        ("https://p.example/0", None, "https://p.example/0"),
    ],
)
def test_a_picture_is_taken_over_where_there_is_none(owner, held, told, shown):
    User.objects.filter(pk=owner.pk).update(avatar_url=held)

    sign_in_with_provider(profile=profile(owner.email, avatar_url=told))

    owner.refresh_from_db()
    assert owner.avatar_url == shown
    assert SocialAccount.objects.get().extra_data == {"name": owner.name, "avatar_url": shown}


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("https://p.example/" + "a" * 482, True),
        ("https://p.example/" + "a" * 483, False),
        ("http://p.example/1", True),
        ("ftp://p.example/1", False),
        (["https://p.example/1"], False),
    ],
    ids=["500 characters", "501", "plain http", "another scheme", "a list"],
)
def test_a_picture_is_a_web_address_of_up_to_500_characters(told, kept):
    sign_in_with_provider(profile=profile("dana@example.org", avatar_url=told))

    assert User.objects.get().avatar_url == (told if kept else "")


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("", "dana"),
        (" \n ", "dana"),
        (7, "dana"),
        ("x" * 101, "x" * 100),
        (" D\x00a\ud800na ", "Dana"),
        ("\u202eDana\u2066", "Dana"),
        ("\u200b", "dana"),
    ],
    ids=["none", "blanks", "no words", "too long", "signs that are none", "signs that deceive", "nothing to see"],
)
def test_a_name_is_made_fit_or_taken_from_the_address(told, name):
    sign_in_with_provider(profile=profile("dana@example.org", name=told))

    assert User.objects.get().name == name


def test_nobody_comes_in_without_a_verified_address_or_into_a_disabled_account(owner):
    with pytest.raises(EmailUnverified):
        sign_in_with_provider(profile=profile())
    User.objects.update(is_active=False)
    with pytest.raises(AccountDisabled):
        sign_in_with_provider(profile=profile(owner.email))

    assert not SocialAccount.objects.exists() and not Session.objects.exists()


@pytest.mark.parametrize("words", ['INTO "accounts_user"', 'INTO "socialaccount_socialaccount"'])
def test_one_who_comes_in_through_two_doors_at_once_comes_in(just_before, words):
    """The other door's rows share this test's transaction, so they go with what is tried a second time."""
    person = profile("dana@example.org")

    with just_before(words, lambda: sign_in_with_provider(profile=person)):
        sign_in_with_provider(profile=person)

    assert User.objects.get().sessions.count() == SocialAccount.objects.count() == 1
