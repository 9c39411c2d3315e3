"""Addresses that the editor field asks; templates/editor/parts/field.html gives them to it."""

from django.urls import path

from memory_site.editor import field_views as views

urlpatterns = [
    path("complete/", views.complete, name="editor-complete"),
    path("audiences/", views.audiences, name="editor-audiences"),
    path("preview/", views.preview, name="editor-preview"),
    path("cut/", views.preview_passages, name="editor-cut"),
    path("draft/", views.draft, name="editor-draft"),
]
