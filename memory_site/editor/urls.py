"""Addresses of the world editor; `world` is the slug of a world."""

from functools import partial

from django.urls import path
from django.views.generic import RedirectView

from memory_site.editor import edit_pages as editing
from memory_site.editor import history_pages as history
from memory_site.editor import kind_pages as kinds
from memory_site.editor import relation_pages as relations
from memory_site.editor import thing_pages as things

moved = partial(RedirectView.as_view, permanent=True, query_string=True)
"""For the address that a page had before; the pattern's name is given as `pattern_name`."""

urlpatterns = [
    path("lore/new/", editing.new, name="lore-new"),
    path("lore/<str:slug>/", things.entry_page, name="lore-entry"),
    path("lore/<str:slug>/edit/", editing.edit_entry, name="lore-edit"),
    path("lore/<str:slug>/delete/", editing.delete_entry, name="lore-delete"),
    path("lore/<str:slug>/history/", history.entry_history, name="lore-history"),
    path("lore/<str:slug>/versions/", moved(pattern_name="lore-history")),
    path("lore/<str:slug>/comments/", history.add_comment, name="lore-comment"),
    path("comments/<uuid:comment>/resolve/", history.resolve_comment, name="comment-resolve"),
    path("lore/<str:slug>/relations/", relations.add_to_entry, name="lore-relation-add"),
    path("npcs/<str:slug>/", things.person_page, name="npc"),
    path("npcs/<str:slug>/mentions/", things.mentions_part, name="npc-mentions"),
    path("npcs/<str:slug>/edit/", editing.edit_person, name="npc-edit"),
    path("npcs/<str:slug>/delete/", editing.delete_person, name="npc-delete"),
    path("npcs/<str:slug>/history/", history.person_history, name="npc-history"),
    path("npcs/<str:slug>/versions/", moved(pattern_name="npc-history")),
    path("kinds/", kinds.kind_list, name="kinds"),
    path("kinds/new/", kinds.new_kind, name="kind-new"),
    path("kinds/own/<str:slug>/", kinds.edit_kind, name="kind-edit"),
    path("kinds/own/<str:slug>/delete/", kinds.remove_kind, name="kind-delete"),
    path("entities/<str:slug>/", things.entity_page, name="entity"),
    path("entities/<str:slug>/relations/", relations.add, name="relation-add"),
    path("entities/<str:slug>/relations/<uuid:fact>/", relations.change, name="relation"),
    path("relations/names/", relations.names, name="relation-names"),
    path("reveals/", relations.reveal_part, name="reveal"),
    path("reveals/<uuid:entry>/undo/", relations.undo, name="reveal-undo"),
]
