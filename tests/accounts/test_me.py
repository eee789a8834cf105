"""GET /v1/auth/me"""


class TestMe:
    def test_the_profile_of_the_caller(self, as_owner, owner):
        response = as_owner.get("/v1/auth/me")

        assert response.status_code == 200
        body = response.json()
        assert body == {
            "id": str(owner.id),
            "email": "olivia@example.org",
            "name": "Olivia Owner",
            "avatarUrl": "",
            "provider": "email",
            "createdAt": body["createdAt"],
            "updatedAt": body["updatedAt"],
        }
        assert body["createdAt"].endswith("Z")

    def test_nobody_gets_401(self, anonymous, db):
        response = anonymous.get("/v1/auth/me")

        assert response.status_code == 401
        assert response.json() == {"statusCode": 401, "message": "Unauthorized", "error": "Unauthorized"}
        assert response["WWW-Authenticate"] == "Bearer"
