"""Bodies that the OpenAPI document shows."""

ORGANIZATION_ID = "01997f1e-2c4b-7a10-9d53-6a1f0c3b7e21"
USER_ID = "01997f1d-88aa-7c31-8b02-94d1f5e6a7c8"
CREATED_AT = "2026-11-20T18:33:00.123Z"

CREATED = {
    "id": ORGANIZATION_ID,
    "name": "Acme",
    "slug": "acme",
    "ownerId": USER_ID,
    "planId": "free",
    "createdAt": CREATED_AT,
}
LIST_ITEM = {
    "id": ORGANIZATION_ID,
    "name": "Acme",
    "slug": "acme",
    "role": "owner",
    "planId": "pro",
    "memberCount": 4,
    "repoCount": 7,
}
DETAIL = {
    "id": ORGANIZATION_ID,
    "name": "Acme Limited",
    "slug": "acme",
    "ownerId": USER_ID,
    "planId": "pro",
    "memberCount": 4,
    "repoCount": 7,
    "createdAt": CREATED_AT,
    "updatedAt": "2026-11-21T08:00:00.000Z",
}
MEMBER = {
    "userId": USER_ID,
    "name": "Dana Diaz",
    "email": "dana@example.org",
    "role": "member",
    "joinedAt": CREATED_AT,
}
INVITATION = {
    "id": "01997f20-0d6e-7f45-a1b2-3c4d5e6f7a8b",
    "email": "dana@example.org",
    "role": "member",
    "status": "pending",
    "expiresAt": "2026-11-27T18:33:00.123Z",
    "createdAt": CREATED_AT,
}
LISTED_INVITATION = INVITATION | {
    "invitedBy": {"userId": USER_ID, "name": "Olivia Owner", "email": "olivia@example.org"}
}
JOINED = {"orgId": ORGANIZATION_ID, "orgName": "Acme", "role": "member"}
AUDIT_ENTRY = {
    "id": "01997f21-5b7c-7d8e-8f90-1a2b3c4d5e6f",
    "action": "member.role_changed",
    "actor": {"userId": USER_ID, "name": "Olivia Owner", "email": "olivia@example.org"},
    "subject": "dana@example.org",
    "details": {"from": "member", "to": "admin"},
    "createdAt": CREATED_AT,
}
AUDIT_PAGE = {"data": [AUDIT_ENTRY], "total": 1, "page": 1, "perPage": 20, "totalPages": 1}
