from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.contrib.staticfiles.storage import staticfiles_storage
from django.urls import include, path
from django.views.generic import RedirectView

from memory_site import health
from memory_site.api import api
from memory_site.telemetry import prometheus_text
from worlds import views as worlds

urlpatterns = [
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("", worlds.worlds, name="worlds"),
    path("w/<str:world>/", include("memory_site.gm_urls")),
    path("favicon.ico", RedirectView.as_view(url=staticfiles_storage.url("memory37/icon.svg"))),
    path("look/", worlds.choose_look, name="look"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("login/", LoginView.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    path("metrics", prometheus_text),
]
