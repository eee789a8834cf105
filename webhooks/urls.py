"""Where providers send their events."""

from django.urls import path

from webhooks.views import WebhookViewSet

urlpatterns = [
    path("billing/webhook/cardpay", WebhookViewSet.as_view({"post": "cardpay"})),
    path("billing/webhook/walletpay", WebhookViewSet.as_view({"post": "walletpay"})),
    path("webhooks/codehost1", WebhookViewSet.as_view({"post": "codehost1"})),
    path("webhooks/codehost2", WebhookViewSet.as_view({"post": "codehost2"})),
]
