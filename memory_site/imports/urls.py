"""Addresses of the import pages, under `/w/<world>/import/`."""

from django.urls import path

from memory_site.imports import views

urlpatterns = [
    path("", views.import_list, name="imports"),
    path("<uuid:run>/", views.run_page, name="import-run"),
    path("<uuid:run>/progress/", views.progress, name="import-progress"),
    path("<uuid:run>/check/", views.check, name="import-check"),
    path("<uuid:run>/write/", views.write, name="import-write"),
    path("<uuid:run>/undo/", views.undo, name="import-undo"),
    path("<uuid:run>/delete/", views.delete, name="import-delete"),
]
