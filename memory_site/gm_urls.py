"""Addresses of the pages for people; `world` is the slug of a world."""

from django.urls import path

from episodes import views as episodes
from knowledge import views as knowledge
from knowledge.graph import views as graph
from memory_site import views as site
from npcs import views as npcs
from worlds import views as worlds

urlpatterns = [
    path("", site.home_page, name="world-home"),
    path("as/", worlds.view_as, name="view-as"),
    path("search/", site.search_page, name="find"),
    path("inbox/", site.inbox_page, name="inbox"),
    path("audit/", worlds.audit, name="audit"),
    path("npcs/", npcs.npc_list, name="npcs"),
    path("npcs/changes/<int:change>/", npcs.rule, name="rule-on-change"),
    path("npcs/<str:slug>/", npcs.npc_page, name="npc"),
    path("npcs/<str:slug>/correct/", npcs.correct, name="npc-correct"),
    path("parties/<str:slug>/", npcs.party_page, name="party"),
    path("sessions/", episodes.session_list, name="sessions"),
    path("sessions/<str:ref>/", episodes.session_page, name="session"),
    path("episodes/<str:ref>/", episodes.episode_page, name="episode"),
    path("graph/", graph.graph, name="graph"),
    path("facts/<uuid:fact>/looked-at/", graph.remove_flag, name="fact-looked-at"),
    path("contradictions/<uuid:contradiction>/", graph.decide, name="decide-contradiction"),
    path("lore/", knowledge.lore_list, name="lore"),
    path("lore/<str:slug>/", knowledge.lore_entry, name="lore-entry"),
]
