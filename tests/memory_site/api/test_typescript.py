"""The TypeScript client against the site, and the types that generators make of the OpenAPI
document."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from npcs.score import label_of
from tests.memory_site.api.npm import install, run

pytestmark = [pytest.mark.django_db, pytest.mark.node, pytest.mark.timeout(400)]
CLIENT = Path(settings.BASE_DIR) / "clients" / "typescript"
SCRIPTS = Path(__file__).parent / "typescript"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    call_command("export_openapi_schema", api="memory_site.api.api", output=path)
    return path


def test_the_generated_types_are_those_of_this_server(document: Path, tmp_path: Path) -> None:
    made = tmp_path / "openapi.ts"
    run(install(CLIENT) / "openapi-typescript", document, "--output", made, cwd=CLIENT)
    committed = (CLIENT / "src" / "generated" / "openapi.ts").read_text()
    assert made.read_text() == committed, "renew the types with `make clients`"


def test_the_client_passes_its_tests_against_the_site(site: dict[str, Any]) -> None:
    run(install(CLIENT) / "tsc", "--project", ".", cwd=CLIENT)
    output = run("npm", "test", cwd=CLIENT, MEMORY37_URL=site["url"], MEMORY37_API_KEY=site["key"])
    assert "# skipped 0" in output or "skipped 0" in output, output


def test_the_client_needs_no_other_package() -> None:
    package = json.loads((CLIENT / "package.json").read_text())
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(package)


def test_a_natural_script_runs_with_the_types_of_both_generators(
    document: Path, site: dict[str, Any]
) -> None:
    programs, made = install(SCRIPTS), SCRIPTS / "generated"
    run(programs / "openapi-typescript", document, "--output", made / "openapi.d.ts", cwd=SCRIPTS)
    run(newer_node(), programs / "openapi-ts", *hey_api(document, made), cwd=SCRIPTS)
    emitted = made / "programs"
    emit = ["--noEmit", "false", "--outDir", emitted]
    assert run(programs / "tsc", "--project", ".", *emit, cwd=SCRIPTS) == ""
    liking = label_of(12)
    told = carry_out(emitted / "hey_api.js", site)
    assert f"Ada Crane {liking} 12 0 They saved her life." in told
    told = carry_out(emitted / "openapi_typescript.js", site)
    assert f"Bo Reed {liking} 12 0 They saved his life." in told


def carry_out(program: Path, site: dict[str, Any]) -> str:
    """Run a compiled script against the site and return what it printed."""
    access = {"MEMORY37_URL": site["url"], "MEMORY37_API_KEY": site["key"]}
    loader = ["--no-warnings", "--loader", "./resolve.mjs"]
    world = site["world"].slug
    return run(newer_node(), *loader, program, cwd=SCRIPTS, **access, MEMORY37_WORLD=world)


def hey_api(document: Path, made: Path) -> list[str]:
    return ["--input", str(document), "--output", str(made / "hey_api")]


def newer_node() -> Path:
    """Return Node 22, which this generator needs; the package exists for Linux alone."""
    packaged = SCRIPTS / "node_modules" / "node22" / "bin" / "node"
    return packaged if packaged.exists() else Path(shutil.which("node") or "node")
