from django.urls import path

from accounts.views import EntranceViewSet, OAuthViewSet, SessionViewSet

urlpatterns = [
    path("auth/signup", EntranceViewSet.as_view({"post": "sign_up"})),
    path("auth/login", EntranceViewSet.as_view({"post": "log_in"})),
    path("auth/refresh", EntranceViewSet.as_view({"post": "refresh"})),
    path("auth/logout", SessionViewSet.as_view({"post": "log_out"})),
    path("auth/providers", EntranceViewSet.as_view({"get": "providers"})),
    path("auth/forgot-password", EntranceViewSet.as_view({"post": "forgot_password"})),
    path("auth/reset-password", EntranceViewSet.as_view({"post": "reset_password"})),
    path("auth/me", SessionViewSet.as_view({"get": "me"})),
    path("auth/codehost1", OAuthViewSet.as_view({"get": "start"}, provider="codehost1")),
    path("auth/codehost1/callback", OAuthViewSet.as_view({"get": "callback"}, provider="codehost1")),
    path("auth/idp2", OAuthViewSet.as_view({"get": "start"}, provider="idp2")),
    path("auth/idp2/callback", OAuthViewSet.as_view({"get": "callback"}, provider="idp2")),
]
