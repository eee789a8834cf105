"""What organizations should do, in plain Python: the reference that the state machine compares the service with.

Each method takes names, does the same to its own dictionaries, and answers the HTTP status the service should give.
"""

from dataclasses import dataclass, field
from itertools import count

# Limits by plan; the test gives pro room for three, so that walks reach it.
MAX_ORGS = {"free": 1, "pro": 3, "team": 10}
MAX_MEMBERS = {"free": 1, "pro": 3, "team": 1000}
RANK = {"member": 0, "admin": 1, "owner": 2}


@dataclass
class Team:
    """One organization: roles by person, pending invitations by address, and what became of the others."""

    plan: str = "free"
    roles: dict[str, str] = field(default_factory=dict)
    invitations: dict[int, "Asked"] = field(default_factory=dict)

    @property
    def pending(self) -> dict[str, "Asked"]:
        return {asked.email: asked for asked in self.invitations.values() if asked.status == "pending"}

    @property
    def owner(self) -> str:
        (owner,) = [person for person, role in self.roles.items() if role == "owner"]
        return owner

    def refuses(self, actor: str, at_least: str) -> int:
        """404 for strangers, 403 for a role too low, else 0."""
        if actor not in self.roles:
            return 404
        return 403 if RANK[self.roles[actor]] < RANK[at_least] else 0


@dataclass
class Asked:
    """One invitation."""

    email: str
    role: str
    status: str = "pending"


class Reference:
    """All organizations, by number."""

    def __init__(self) -> None:
        self.teams: dict[int, Team] = {}
        self.numbers = count(1)

    def create(self, actor: str) -> tuple[int, int]:
        """Status and the new organization's number."""
        owned = [team.plan for team in self.teams.values() if team.owner == actor]
        if len(owned) >= max((MAX_ORGS[plan] for plan in owned), default=1):
            return 403, 0
        number = next(self.numbers)
        self.teams[number] = Team(roles={actor: "owner"})
        return 201, number

    def invite(self, number: int, actor: str, email: str, role: str) -> tuple[int, int]:
        """Status and the new invitation's number."""
        team = self.teams[number]
        if refused := team.refuses(actor, "admin"):
            return refused, 0
        if email in team.roles:
            return 400, 0
        if email in team.pending:
            return 409, 0
        if len(team.roles) + len(team.pending) >= MAX_MEMBERS[team.plan]:
            return 403, 0
        asked = next(self.numbers)
        team.invitations[asked] = Asked(email, role)
        return 201, asked

    def accept(self, number: int, asked: int, actor: str) -> int:
        if number not in self.teams:
            return 404
        team = self.teams[number]
        invitation = team.invitations[asked]
        if invitation.status != "pending" or actor in team.roles:
            return 400
        if len(team.roles) >= MAX_MEMBERS[team.plan]:
            return 403
        invitation.status = "accepted"
        team.roles[actor] = invitation.role
        return 200

    def cancel(self, number: int, asked: int, actor: str) -> int:
        if number not in self.teams:
            return 404
        team = self.teams[number]
        if refused := team.refuses(actor, "admin"):
            return refused
        if team.invitations[asked].status != "pending":
            return 404
        team.invitations[asked].status = "cancelled"
        return 204

    def lapse(self, number: int, asked: int) -> None:
        if number in self.teams and self.teams[number].invitations[asked].status == "pending":
            self.teams[number].invitations[asked].status = "expired"

    def change_role(self, number: int, actor: str, target: str, role: str) -> int:
        team = self.teams[number]
        if refused := team.refuses(actor, "admin"):
            return refused
        if role == "owner":
            return 400
        if target not in team.roles:
            return 404
        if team.roles[target] == "owner":
            return 403
        team.roles[target] = role
        return 200

    def remove(self, number: int, actor: str, target: str) -> int:
        team = self.teams[number]
        if refused := team.refuses(actor, "admin"):
            return refused
        if target not in team.roles:
            return 404
        if team.roles[target] == "owner":
            return 403
        del team.roles[target]
        return 204

    def leave(self, number: int, actor: str) -> int:
        team = self.teams[number]
        if refused := team.refuses(actor, "member"):
            return refused
        if team.roles[actor] == "owner":
            return 403
        del team.roles[actor]
        return 200

    def transfer(self, number: int, actor: str, heir: str) -> int:
        team = self.teams[number]
        if refused := team.refuses(actor, "owner"):
            return refused
        if heir not in team.roles:
            return 404
        if heir == actor:
            return 400
        team.roles |= {actor: "admin", heir: "owner"}
        return 200

    def delete(self, number: int, actor: str) -> int:
        if refused := self.teams[number].refuses(actor, "owner"):
            return refused
        del self.teams[number]
        return 204
