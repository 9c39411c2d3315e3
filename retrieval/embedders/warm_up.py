"""The models that come with the product are loaded before the first question needs them."""

import logging
import os
import threading

from retrieval.embedders.vector_cache import SHIPPED, embedder_path, get_configured_embedder
from retrieval.errors import EmbedderDown

logger = logging.getLogger(__name__)
# Any text in Latin script: all models take part in its vector.
TEXT = "lantern"
_lock = threading.Lock()
_started: set[tuple[int, str]] = set()


def load_models_soon() -> None:
    """Start loading the models of the embedder of the settings, once in each process. It takes
    seconds, which somebody who opens a page spends on reading it. A hosted model is not called."""
    path = embedder_path()
    with _lock:
        key = (os.getpid(), path)
        if path not in SHIPPED.values() or key in _started:
            return
        _started.add(key)
    threading.Thread(target=_embed_text, name="load-models", daemon=True).start()


def _embed_text() -> None:
    try:
        get_configured_embedder().inner.embed_query([TEXT])
    except (EmbedderDown, OSError) as fault:
        # The first question says what is missing, and the health page does.
        logger.warning("The embedding models were not loaded: %s", fault)
