"""The parts of the site: apps, middleware, effects of episodes, kinds of rows with links, and the
worker's schedule. What an installation may choose is in `settings.py`."""

from typing import Any

INSTALLED_APPS = [
    # Both by their configuration: the admin's site is our own, a subclass of unfold's.
    "unfold.apps.BasicAppConfig",
    "unfold.contrib.filters",
    "unfold.contrib.forms",
    "unfold.contrib.simple_history",
    "memory_site.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "corsheaders",
    "django.contrib.humanize",
    "simple_history",
    "django_htmx",
    "axes",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "ninja",
    "memory_site",
    "retrieval",
    "worlds",
    "knowledge",
    "episodes",
    "npcs",
    "art",
    "memories",
]

MIDDLEWARE = [
    "memory_site.middleware.RequestIds",
    "memory_site.middleware.MonitoringAnswers",
    "memory_site.middleware.TraceContext",
    "memory_site.database.replica.ReplicaReads",
    "memory_site.middleware.CompressedAnswers",
    "memory_site.middleware.ConditionalReads",
    "corsheaders.middleware.CorsMiddleware",
    "memory_site.middleware.ApiProblems",
    "django.middleware.security.SecurityMiddleware",
    "memory_site.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "simple_history.middleware.HistoryRequestMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memory_site.middleware.PageProblems",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
]

EPISODE_EFFECTS = [
    "episodes.lore_effects.LoreMentions",
    "episodes.lore_effects.LoreReveals",
    "npcs.episode_effects.Appearances",
    "npcs.episode_effects.DispositionChanges",
    "npcs.episode_effects.OpinionChanges",
    "npcs.episode_effects.NPCReveals",
    "episodes.links.EpisodeLinkRows",
    "episodes.loose_ends.LooseEnds",
    # after the effects on NPCs, which say who was there and what it did to them
    "memories.witnesses.effect.Witnesses",
    # last: they may lock the world's graph until the transaction ends
    "episodes.lore_effects.GraphFacts",
    "npcs.scene_facts.SceneFacts",
]
# Copies of episodes (docs/decisions/0071).
EPISODE_FOLLOWERS = ["memories.witnesses.effect.Witnesses", "npcs.scene_facts.SceneFacts"]
# Rows with linked texts, or with names that links mean (docs/decisions/0040). Texts come first.
LINKED_KINDS = [
    "knowledge.links.sources.LoreLinks",
    "knowledge.links.sources.RuleLinks",
    "npcs.links.NPCLinks",
    "episodes.links.EpisodeLinks",
    "knowledge.links.sources.EntityNames",
]
LINK_RESOLVER = "knowledge.links.link_resolver"

CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "sweep passages": {"task": "retrieval.tasks.sweep", "schedule": 60.0},
    "prune cached vectors": {"task": "retrieval.tasks.prune_vectors", "schedule": 86_400.0},
    "count words": {"task": "retrieval.tasks.count_words", "schedule": 86_400.0},
    "update rules": {"task": "knowledge.tasks.update_rules", "schedule": 3_600.0},
    "mirror graph": {"task": "knowledge.tasks.mirror_graph", "schedule": 10.0},
    "expire threads": {"task": "episodes.tasks.expire_threads", "schedule": 300.0},
    "embed intent examples": {
        "task": "memories.tasks.embed_intent_examples",
        "schedule": 86_400.0,
    },
    "reflect on episodes": {"task": "memories.tasks.reflect", "schedule": 300.0},
    "delete old records": {"task": "worlds.tasks.delete_old_records", "schedule": 3_600.0},
    "purge pictures": {"task": "art.tasks.purge_pictures", "schedule": 86_400.0},
    "remember episodes": {"task": "memories.tasks.remember_episodes", "schedule": 300.0},
    "expire memories": {"task": "memories.tasks.expire_memories", "schedule": 300.0},
    "read unread texts": {"task": "memory_site.tasks.read_unread_texts", "schedule": 300.0},
    "resume archives": {"task": "memory_site.tasks.resume_archives", "schedule": 60.0},
    "resume imports": {"task": "memory_site.tasks.resume_imports", "schedule": 60.0},
    "resume reports": {"task": "memory_site.tasks.resume_reports", "schedule": 60.0},
    "delete old archives": {"task": "memory_site.tasks.delete_old_archives", "schedule": 3_600.0},
    "delete old sign-ins": {"task": "memory_site.tasks.delete_old_sign_ins", "schedule": 3_600.0},
    "delete old uploads": {"task": "memory_site.tasks.delete_old_uploads", "schedule": 3_600.0},
}
