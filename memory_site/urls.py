from django.contrib import admin
from django.urls import path

from memory_site import health
from memory_site.api import api
from memory_site.telemetry import prometheus_text

urlpatterns = [
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("metrics", prometheus_text),
]
