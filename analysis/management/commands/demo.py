"""`manage.py demo REPOSITORY`: from nothing to a served, scanned repository (what `make run` calls)."""

import multiprocessing
import os
import secrets
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from accounts.models import User
from analysis.models import Platform, Repository, Run, RunStatus
from analysis.services.repositories import connect_repository
from analysis.services.runs import request_run
from config.errors import Refusal
from config.lifeline import die_with
from config.processes import all_commands, become
from organizations.models import Membership, Organization, Role

DEMO_EMAIL = "demo@example.org"
DEMO_SLUG = "demo"
POLL_SECONDS = 0.3


class Command(BaseCommand):
    help = "Create a demo account, connect a repository, serve, and show the scan's progress"

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("repository", help="a folder that holds a git repository, or a clone address")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        os.environ.setdefault("LOG_LEVEL", "WARNING")  # for the processes below: progress is what people want to see
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        password = _demo_password()
        run = _request_scan(_demo_account(password), options["repository"])
        connection.close()
        watcher = multiprocessing.get_context("fork").Process(
            target=self._watch, args=(run, password, started, os.getpid())
        )
        watcher.start()
        become(all_commands())

    def _watch(self, run: Run, password: str, started: float, parent: int) -> None:
        die_with(parent)
        shown = ""
        while not run.is_finished:
            line = f"{run.progress:3d} %  {run.phase}"
            if line != shown:
                self._say(f"Scanning {run.repository.full_name}: {line}")
                shown = line
            time.sleep(POLL_SECONDS)
            run = Run.objects.select_related("repository").get(pk=run.pk)
        connection.close()
        self._say(_summary(run, password, time.monotonic() - started))

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _demo_password() -> str:
    """The same on every start: kept in `var/`, readable by its owner alone."""
    file = settings.VAR_DIR / "demo-password"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(f"Demo-{secrets.token_urlsafe(12)}-1")
    return file.read_text()


def _demo_account(password: str) -> User:
    user = User.objects.filter(email=DEMO_EMAIL).first()
    if user is None:
        return User.objects.create_user(DEMO_EMAIL, password, name="Demo")
    if not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    return user


def _request_scan(user: User, address: str) -> Run:
    organization = _demo_organization(user)
    full_name, clone_url = _name_and_address(address)
    repository = Repository.objects.named(full_name).filter(organization=organization).first()
    try:
        if repository is None:
            repository = connect_repository(
                organization=organization,
                full_name=full_name,
                platform=Platform.GIT,
                clone_url=clone_url,
                connected_by=user,
            )
            assert repository.first_run is not None  # noqa: S101 - connecting queues it
            return repository.first_run
        return request_run(repository=repository, requested_by=user)
    except Refusal as refusal:
        raise CommandError(refusal.message) from refusal


def _demo_organization(user: User) -> Organization:
    membership = Membership.objects.filter(user=user, role=Role.OWNER).select_related("organization").first()
    if membership:
        return membership.organization
    from organizations.services.organizations import create_organization

    organization = create_organization(owner=user, name="Demo", slug=DEMO_SLUG)
    # The demo shows what the service can do: badges, gates and the graph need a paid plan.
    Organization.objects.filter(pk=organization.pk).update(plan="enterprise")
    return organization


def _name_and_address(address: str) -> tuple[str, str]:
    folder = Path(address).expanduser()
    if not folder.is_dir():
        parts = [part for part in address.removesuffix(".git").rstrip("/").split("/") if part]
        return "/".join(parts[-2:]), address
    folder = folder.resolve()
    name = folder.name.removesuffix(".git") or folder.parent.name
    return f"local/{name}", folder.as_uri()


def _summary(run: Run, password: str, seconds: float) -> str:
    repository = run.repository
    repository.refresh_from_db()
    if run.status != RunStatus.SUCCEEDED:
        return f"\nThe scan of {repository.full_name} ended {run.status}: {run.error}\nServing at {settings.BASE_URL}."
    return f"""
{repository.full_name} is scanned: health {repository.health_score}/100, {repository.total_violations} violations, \
production risk {repository.production_risk} ({run.files_analyzed} files, {run.files_from_cache} from the cache, \
{(run.duration_ms or 0) / 1000:.1f} s; {seconds:.1f} s since the start).

  Look at it     {settings.APP_URL}/repos/{repository.pk}
  Sign in as     {DEMO_EMAIL} with the password {password}
  The API        {settings.BASE_URL}/docs
  Results        {settings.BASE_URL}/api/repos/{repository.pk}/overview
  Badge          {settings.BASE_URL}/badge/{repository.full_name}
  From a shell   TOKEN=$(curl -s {settings.BASE_URL}/auth/login -H 'Content-Type: application/json' \\
                   -d '{{"email":"{DEMO_EMAIL}","password":"{password}"}}' | sed 's/.*accessToken":"\\([^"]*\\).*/\\1/')
                 curl -s {settings.BASE_URL}/api/repos/{repository.pk}/overview -H "Authorization: Bearer $TOKEN"

Stop with Ctrl-C; the next start is quick and keeps everything.
"""
