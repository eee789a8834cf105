"""The settings as git's limits."""

from django.conf import settings

from analysis.git.limits import GitLimits


def git_limits() -> GitLimits:
    """Where clones may come from here; the caps on sizes and times are the defaults."""
    return GitLimits(
        allowed_schemes=frozenset(settings.CLONE_ALLOWED_SCHEMES),
        allowed_hosts=frozenset(host.lower() for host in settings.CLONE_ALLOWED_HOSTS),
        allow_private_addresses=settings.CLONE_ALLOW_PRIVATE_ADDRESSES,
    )
