"""The models that examples of rules over queries are about."""

DJANGO_SHOP = {
    "shop/models.py": """
from django.db import models


class Customer(models.Model):
    email = models.CharField(max_length=99)


class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE, related_name="orders")
    reference = models.CharField(max_length=40)
    is_paid = models.BooleanField()


class Line(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="lines")
    amount = models.IntegerField()
"""
}
