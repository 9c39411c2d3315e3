"""Addresses of the pages for people; `world` is the slug of a world."""

from django.urls import include, path

from art import card_views as cards
from art import views as art
from episodes import views as episodes
from knowledge import rule_views as rules
from knowledge.graph import views as graph
from memories import views as npc_memories
from memory_site import decided, graph_page
from memory_site import views as site
from memory_site.archive import pages as archive
from memory_site.editor import link_pages
from memory_site.npc_merging import pages as npc_merge_pages
from memory_site.play.live import live
from memory_site.players import views as players
from memory_site.timeline import pages as timeline
from npcs import opinion_views
from npcs import views as npcs
from worlds import calendar_views as calendar
from worlds import key_views as keys
from worlds import people_views as people
from worlds import views as worlds

urlpatterns = [
    path("", site.home_page, name="world-home"),
    path("new/", players.new_page, name="player-new"),
    path("known/", players.known_page, name="player-known"),
    path("story/", players.story_page, name="player-story"),
    path("handouts/", players.handouts_page, name="player-handouts"),
    path("as/", worlds.view_as, name="view-as"),
    path("campaign/", worlds.choose_campaign, name="choose-campaign"),
    path("search/", site.search_page, name="find"),
    path("inbox/", site.inbox_page, name="inbox"),
    path("inbox/undo/<str:kind>/<str:pk>/", decided.undo_decided, name="decision-undo"),
    path("audit/", worlds.audit, name="audit"),
    path("people/", people.people, name="people"),
    path("people/party/", people.add_party, name="party-add"),
    path("people/character/", people.add_character, name="character-add"),
    path("people/<int:member>/change/", people.change, name="member-change"),
    path("people/<int:member>/remove/", people.remove, name="member-remove"),
    path("invitations/<uuid:invitation>/revoke/", people.revoke, name="invitation-revoke"),
    path("timeline/", timeline.timeline, name="timeline"),
    path("calendar/", calendar.calendar_page, name="calendar"),
    path("calendar/edit/", calendar.edit_calendar, name="calendar-edit"),
    path(
        "calendar/versions/<int:version>/restore/",
        calendar.restore_version,
        name="calendar-restore",
    ),
    path("keys/", keys.key_list, name="keys"),
    path("keys/<uuid:key>/revoke/", keys.revoke, name="key-revoke"),
    path("npcs/", npcs.npc_list, name="npcs"),
    path("npcs/changes/<int:change>/", npcs.rule, name="rule-on-change"),
    path("npcs/<str:slug>/merge/", npc_merge_pages.merge_page, name="npc-merge"),
    path("npcs/<str:slug>/correct/", npcs.correct, name="npc-correct"),
    path("npcs/<str:slug>/tell/", npc_memories.tell_another, name="npc-tell"),
    path(
        "npcs/<str:slug>/hearsay/<uuid:hearsay>/delete/",
        npc_memories.forget_hearsay,
        name="npc-hearsay-delete",
    ),
    path("disposition-rules/", opinion_views.rules_page, name="disposition-rules"),
    path("opinions/", opinion_views.add, name="opinion-add"),
    path("opinions/<int:change>/", opinion_views.rule, name="rule-on-opinion"),
    path("parties/<str:slug>/", npcs.party_page, name="party"),
    path("parties/<str:slug>/", include("memory_site.play.urls")),
    path("live/", live, name="live"),
    path("", include("memory_site.session_pages.urls")),
    path("sessions/", episodes.session_list, name="sessions"),
    path("sessions/<str:ref>/", episodes.session_page, name="session"),
    path("episodes/<str:ref>/", episodes.episode_page, name="episode"),
    path("pictures/", art.library, name="pictures"),
    path("pictures/", art.library, name="picture-upload"),
    path("pictures/unused/delete/", art.delete_unused, name="pictures-delete-unused"),
    path("pictures/uses/<uuid:use>/", art.change_use, name="picture-use"),
    path("pictures/<uuid:picture>/", art.picture_file, {"size": "file"}, name="picture"),
    path(
        "pictures/<uuid:picture>/preview/",
        art.picture_file,
        {"size": "preview"},
        name="picture-preview",
    ),
    path(
        "pictures/<uuid:picture>/thumbnail/",
        art.picture_file,
        {"size": "thumbnail"},
        name="picture-thumbnail",
    ),
    path("pictures/<uuid:picture>/edit/", art.edit_picture, name="picture-edit"),
    path("pictures/<uuid:picture>/place/", art.place, name="picture-place"),
    path("pictures/<uuid:picture>/delete/", art.delete_picture, name="picture-delete"),
    path("pictures/<uuid:picture>/restore/", art.restore_picture, name="picture-restore"),
    path("art/", cards.card_list, name="art-cards"),
    path("art/new/", cards.new_card, name="art-card-new"),
    path("art/<uuid:card>/", cards.edit_card, name="art-card"),
    path("import/", include("memory_site.imports.urls")),
    path("graph/", graph_page.graph, name="graph"),
    path("facts/<uuid:fact>/looked-at/", graph.remove_flag, name="fact-looked-at"),
    path("contradictions/<uuid:contradiction>/", graph.decide, name="decide-contradiction"),
    path("editor/", include("memory_site.editor.field_urls")),
    path("rules/", rules.house_rules, name="house-rules"),
    path("rules/system/", rules.choose_system, name="choose-system"),
    path("rules/new/", rules.write_house_rule, name="house-rule-new"),
    path("rules/<path:key>/replace/", rules.write_house_rule, name="house-rule-replacing"),
    path("rules/<path:key>/", rules.rule_page, name="rule"),
    path("", include("memory_site.lists.urls")),
    path("export/", archive.export_page, name="export"),
    path("export/archive/", archive.make_archive, name="export-archive"),
    path("export/archive/<uuid:run>/", archive.archive_page, name="archive"),
    path("export/archive/<uuid:run>/progress/", archive.archive_progress, name="archive-progress"),
    path("export/archive/<uuid:run>/file/", archive.download_archive, name="archive-file"),
    path("export/archive/<uuid:run>/delete/", archive.delete_archive, name="archive-delete"),
    path("export/vault/", archive.download_vault, name="export-vault"),
    path("links/", link_pages.links, name="links"),
    path("links/choose/", link_pages.link_choices, name="link-choices"),
    path("card/<str:kind>/<path:slug>/", link_pages.card, name="card"),
    path("", include("memory_site.editor.urls")),
]
