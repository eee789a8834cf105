"""Sign-in with the first code host: OAuth 2.0 at the addresses that the public host has."""
