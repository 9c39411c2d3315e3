"""Addresses of the pages for a table; `slug` is that of a party."""

from django.urls import path

from memory_site.play import pages, prepare_pages, reveals

urlpatterns = [
    path("prepare/", prepare_pages.prepare_page, name="prepare"),
    path("prepare/unknown/", prepare_pages.unknown_part, name="prepare-unknown"),
    path("prepare/notes/", prepare_pages.save_notes, name="prepare-notes"),
    path("play/", pages.play_page, name="play"),
    path("play/lookup/", pages.lookup, name="play-lookup"),
    path("play/scene/", pages.scene_part, name="play-scene"),
    path("play/scene/open/", pages.open_scene, name="play-open-scene"),
    path("play/scene/<uuid:scene>/", pages.change_scene, name="play-change-scene"),
    path("play/reveal/", reveals.reveal_part, name="play-reveal"),
    path("play/reveals/<uuid:entry>/undo/", reveals.undo, name="play-undo"),
]
