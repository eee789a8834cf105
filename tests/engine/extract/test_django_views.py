"""Functions that Django's routes name, or that take a request and give back an answer, are entered by requests."""

import pytest

from analysis.engine.extract import extract


def entries(source):
    return [(each.function, each.kind) for each in extract(source.encode(), "python").entries]


@pytest.mark.parametrize(
    ("route", "function"),
    [
        ('path("pay/", views.pay)', "views.pay"),
        ('path("pay/", views.pay, name="pay")', "views.pay"),
        ('re_path(r"^pay/$", pay)', "pay"),
        ('path("pay/", csrf_exempt(views.pay))', "views.pay"),
    ],
)
def test_a_route_names_its_view(route, function):
    source = f"from django.urls import path, re_path\nfrom shop import views\nurlpatterns = [{route}]\n"
    assert entries(source) == [(function, "request")]


def test_routes_of_others_name_none():
    assert entries('from django.urls import include, path\nurlpatterns = [path("a/", include("shop.urls"))]\n') == []
    assert entries('from shop.routing import path\nurlpatterns = [path("a/", pay)]\n') == []


@pytest.mark.parametrize("answer", ["HttpResponse()", "JsonResponse({})", 'render(request, "a.html")', 'redirect("/")'])
def test_a_view_takes_a_request_and_answers(answer):
    source = "from django.http import HttpResponse, JsonResponse\nfrom django.shortcuts import redirect, render\n\n\n"
    assert entries(source + f"def pay(request):\n    return {answer}\n") == [("pay", "request")]
    assert entries(source + f"def pay(order):\n    return {answer}\n") == []
    assert entries(source + "def user_of(request):\n    return request.user\n") == []
