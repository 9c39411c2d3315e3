from django.contrib import admin
from django.urls import path

from memory_site.api import api
from memory_site.telemetry import prometheus_text

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("metrics", prometheus_text),
]
