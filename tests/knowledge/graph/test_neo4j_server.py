"""The server of the tests is a real one."""

import neo4j
import pytest

pytestmark = pytest.mark.neo4j


def test_it_is_neo4j_5_26_community(neo4j_server):
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        (row,) = driver.execute_query("CALL dbms.components()").records
    assert row["edition"] == "community"
    assert row["versions"][0].startswith("5.26.")


def test_what_it_acknowledged_survives_a_kill(neo4j_server):
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        driver.execute_query("CREATE (:Survivor {name: 'Mira Voss'})")
    neo4j_server.kill()
    neo4j_server.start()
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        (row,) = driver.execute_query(
            "MATCH (s:Survivor) WITH s, s.name AS name DELETE s RETURN name"
        ).records
    assert row["name"] == "Mira Voss"
