"""Addresses below /v1 of plans and billing."""

from django.urls import path

from billing.views import (
    CheckoutViewSet,
    InvoiceViewSet,
    PaymentProviderViewSet,
    PlanUseViewSet,
    PlanViewSet,
    SubscriptionViewSet,
)

urlpatterns = [
    path("plans", PlanViewSet.as_view({"get": "list"})),
    path("plans/<str:plan_id>", PlanViewSet.as_view({"get": "retrieve"})),
    path("plans/org/<str:organization_id>/usage", PlanUseViewSet.as_view({"get": "usage"})),
    path("plans/org/<str:organization_id>/can-use/<str:feature>", PlanUseViewSet.as_view({"get": "can_use"})),
    path("plans/org/<str:organization_id>/enforcement", PlanUseViewSet.as_view({"get": "enforcement"})),
    path("billing/providers", PaymentProviderViewSet.as_view({"get": "list"})),
    path("billing/checkout", CheckoutViewSet.as_view({"post": "cardpay"})),
    path("billing/walletpay/checkout", CheckoutViewSet.as_view({"post": "walletpay"})),
    path("billing/portal", SubscriptionViewSet.as_view({"post": "portal"})),
    path("billing/subscription/<str:organization_id>", SubscriptionViewSet.as_view({"get": "retrieve"})),
    path("billing/cancel", SubscriptionViewSet.as_view({"post": "cancel"})),
    path("billing/reactivate", SubscriptionViewSet.as_view({"post": "reactivate"})),
    path("billing/change-plan", SubscriptionViewSet.as_view({"post": "change_plan"})),
    path("billing/preview-change", SubscriptionViewSet.as_view({"post": "preview_change"})),
    path("billing/invoices/<str:organization_id>", InvoiceViewSet.as_view({"get": "list"})),
]
