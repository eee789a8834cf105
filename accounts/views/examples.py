"""Values that the examples of the OpenAPI document share."""

ACCESS = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0eXBlIjoiYWNjZXNzIn0.signature"
REFRESH = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0eXBlIjoicmVmcmVzaCJ9.signature"
PAIR = {"accessToken": ACCESS, "refreshToken": REFRESH}
USER = {
    "id": "019363a1-7c1e-7d7a-9f2c-3b1f0d6a4e55",
    "email": "dana@example.org",
    "name": "Dana Doe",
    "createdAt": "2026-11-20T18:33:00.123Z",
}
PROFILE = {**USER, "avatarUrl": "", "provider": "email", "updatedAt": "2026-11-20T18:33:00.123Z"}
