"""`manage.py smoke` calls everything, and everything answers."""

import pytest

from memory_site.smoke import run
from memory_site.toolbox import TOOLS


@pytest.mark.django_db(transaction=True)
def test_every_public_function_answers_in_a_fresh_database() -> None:
    calls = list(run())
    assert [call for call in calls if call.is_error] == []
    assert {tool.name for tool in TOOLS} <= {call.name for call in calls}
    assert next(call for call in calls if call.name == "session_fetch").result.startswith(
        "episodes=1"
    )
