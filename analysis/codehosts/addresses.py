"""Where people look: pages of the front end, and files at the code hosts."""

from urllib.parse import quote

from django.conf import settings

from analysis.models import Platform, PullRequest, Repository


def page_of(pull_request: PullRequest) -> str:
    """The front end's page about a pull request."""
    return f"{settings.APP_URL}/repos/{pull_request.repository_id}/prs/{pull_request.number}"


def files_at(repository: Repository, sha: str) -> str:
    """The address of the repository's files at a commit, to which a path is added; empty without a web address."""
    name = quote(repository.full_name)
    if repository.platform == Platform.CODEHOST1 and settings.CODEHOST1_URL:
        return f"{settings.CODEHOST1_URL.rstrip('/')}/{name}/blob/{sha}"
    if repository.platform == Platform.CODEHOST2 and settings.CODEHOST2_URL:
        return f"{settings.CODEHOST2_URL.rstrip('/')}/{name}/-/blob/{sha}"
    return ""
