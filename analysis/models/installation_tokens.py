"""What we hold of App installations at a code host."""

from django.db import models

from config.models import BaseModel


class InstallationToken(BaseModel):
    """The present access token of one installation, encrypted (`analysis.codehosts.tokens`)."""

    installation_id = models.CharField(max_length=64, unique=True)
    sealed = models.BinaryField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"token of installation {self.installation_id}"
