"""The read-only tools over rules and lore."""

from knowledge.presenters import SearchAnswer
from knowledge.schemas import LoreQuestion, RulesQuestion
from knowledge.search import find_lore, find_rules
from worlds.callers import Caller


def rules_lookup(ask: RulesQuestion, caller: Caller) -> SearchAnswer:
    """Look up the rules of the game: spells, monsters, conditions, actions, items. Use before
    ruling on anything; not for the story or the world (lore_search).
    Example: {"term": "can I cast a spell while grappled?"}"""
    return find_rules(ask, caller)


def lore_search(ask: LoreQuestion, caller: Caller) -> SearchAnswer:
    """Search the world's lore: places, factions, people, history, items. Use before describing any
    of it; not for rules (rules_lookup) or what the party did (session_fetch).
    Example: {"query": "who runs the ferry?", "k": 3}"""
    return find_lore(ask, caller)
