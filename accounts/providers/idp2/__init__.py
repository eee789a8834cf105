"""Sign-in with the identity provider: OpenID Connect, everything found by discovery."""
