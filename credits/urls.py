"""Addresses below /v1 of AI credits."""

from django.urls import path

from credits.views import CreditViewSet

urlpatterns = [
    path("credits/org/<str:organization_id>", CreditViewSet.as_view({"get": "retrieve"})),
    path("credits/org/<str:organization_id>/transactions", CreditViewSet.as_view({"get": "transactions"})),
    path("credits/org/<str:organization_id>/usage-by-operation", CreditViewSet.as_view({"get": "usage_by_operation"})),
]
