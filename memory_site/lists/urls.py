"""Addresses of the pages for work with many entries; `world` comes from the address above."""

from django.urls import path

from memory_site.fact_proposals import pages as fact_proposals
from memory_site.lists import (
    bulk_pages,
    lore_list,
    proposal_pages,
    recent,
    trash_pages,
)

urlpatterns = [
    path("lore/", lore_list.lore_list, name="lore"),
    path("lore/bulk/", bulk_pages.bulk_change, name="lore-bulk"),
    path("lore/bulk/<uuid:change>/undo/", bulk_pages.undo_bulk, name="lore-bulk-undo"),
    path("lore/filters/", lore_list.save_filter, name="lore-filter-save"),
    path("lore/filters/<uuid:saved>/delete/", lore_list.delete_filter, name="lore-filter-delete"),
    path("proposals/<uuid:proposal>/", proposal_pages.proposal_page, name="proposal"),
    path(
        "proposals/<uuid:proposal>/decide/", proposal_pages.decide_proposal, name="proposal-decide"
    ),
    path("from-texts/", fact_proposals.fact_proposals, name="fact-proposals"),
    path("from-texts/read/", fact_proposals.read_for_facts, name="fact-proposals-read"),
    path("from-texts/decide/", fact_proposals.decide_fact_proposals, name="fact-proposals-decide"),
    path(
        "from-texts/<uuid:proposal>/change/",
        fact_proposals.change_fact_proposal,
        name="fact-proposal-change",
    ),
    path("lore/<str:slug>/trash/", trash_pages.trash_entry, name="lore-trash"),
    path("npcs/<str:slug>/trash/", trash_pages.trash_npc, name="npc-trash"),
    path("recent/", recent.recent_page, name="recent"),
    path("drafts/", recent.drafts_page, name="drafts"),
    path("trash/", trash_pages.trash_page, name="trash"),
    path("trash/<str:kind>/<uuid:pk>/restore/", trash_pages.restore_row, name="trash-restore"),
]
