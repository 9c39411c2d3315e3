from django.contrib import admin
from django.contrib.staticfiles.storage import staticfiles_storage
from django.urls import include, path
from django.views.generic import RedirectView

from memory_site import account_views, error_pages, health
from memory_site.api import api
from memory_site.archive import pages as archive
from memory_site.guide import guide
from memory_site.telemetry import prometheus_text
from worlds import people_views as people
from worlds import views as worlds

urlpatterns = [
    path("health/live", health.live, name="health-live"),
    path("health/ready", health.ready, name="health-ready"),
    path("", worlds.worlds, name="worlds"),
    path("w/<str:world>/", include("memory_site.gm_urls")),
    path("favicon.ico", RedirectView.as_view(url=staticfiles_storage.url("memory37/icon.svg"))),
    path("look/", worlds.choose_look, name="look"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("worlds/new/", people.new_world, name="world-new"),
    path("worlds/restore/", archive.restore_page, name="world-restore"),
    path("worlds/restore/<uuid:run>/", archive.restoration_page, name="restoration"),
    path(
        "worlds/restore/<uuid:run>/progress/",
        archive.restoration_progress,
        name="restoration-progress",
    ),
    path(
        "worlds/restore/<uuid:run>/delete/", archive.delete_restoration, name="restoration-delete"
    ),
    path("invitation/<str:token>/", account_views.invitation, name="invitation"),
    path("", include("memory_site.account_urls")),
    path("admin/", admin.site.urls),
    path("api/v1/guide", guide, name="api-guide"),
    path("api/v1/guide/<str:name>", guide, name="api-guide"),
    path("api/v1/", api.urls),
    path("metrics", prometheus_text),
]

handler400 = error_pages.bad_request
handler403 = error_pages.permission_denied
handler404 = error_pages.not_found
handler500 = error_pages.server_error
