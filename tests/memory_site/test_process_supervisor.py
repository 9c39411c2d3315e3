"""The processes of `make up`: one that ends starts again, the others go on, all end together."""

import contextlib
import io
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from memory_site import process_supervisor, supervised_process
from memory_site.process_supervisor import PrefixedLog, end_processes
from memory_site.supervised_process import SupervisedProcess

SLEEP = (sys.executable, "-c", "import time; time.sleep(600)")
DEAF = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf'); time.sleep(600)",
)
SUPERVISOR = textwrap.dedent(
    """
    import sys, threading
    from memory_site.process_supervisor import PrefixedLog, supervise
    from memory_site.supervised_process import SupervisedProcess
    log = PrefixedLog(sys.stdout)
    code = "import os, time; print('pid', os.getpid()); time.sleep(600)"
    supervise(
        [SupervisedProcess(name, (sys.executable, "-c", code), log.write_line) for name in "ab"],
        log.stop,
    )
    """
)


@pytest.fixture
def log() -> PrefixedLog:
    return PrefixedLog(io.StringIO())


@pytest.fixture
def pair(log: PrefixedLog) -> Iterator[list[SupervisedProcess]]:
    processes = [SupervisedProcess(name, SLEEP, log.write_line) for name in ("web", "worker")]
    for process in processes:
        process.start()
    yield processes
    end_processes(processes)


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def pid_of(process: SupervisedProcess) -> int:
    assert process.child is not None
    return process.child.pid


def has_ended(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def run_until(processes: list[SupervisedProcess], condition: Callable[[], bool]) -> bool:
    def look() -> bool:
        for process in processes:
            process.keep_running()
        return condition()

    return wait_for(look)


def test_a_killed_worker_starts_again_and_the_web_process_goes_on(
    pair: list[SupervisedProcess], log: PrefixedLog
) -> None:
    web, worker = pair
    first_web, first_worker = pid_of(web), pid_of(worker)
    os.kill(first_worker, signal.SIGKILL)
    assert run_until(pair, lambda: worker.is_running() and pid_of(worker) != first_worker)
    assert pid_of(web) == first_web
    assert web.is_running()
    assert "worker was killed by signal 9; it is started again in 1 s" in log.output.getvalue()


def test_each_failure_makes_the_wait_longer_up_to_a_limit(
    log: PrefixedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(supervised_process, "monotonic", lambda: now)
    process = SupervisedProcess("web", (sys.executable, "-c", "exit(3)"), log.write_line)
    for _start in range(6):
        process.keep_running()
        assert process.child is not None
        process.child.wait()
        process.keep_running()
        assert process.child is None
        now += supervised_process.LONGEST_WAIT_SECONDS
    waits = re.findall(r"exit code 3; it is started again in (\d+) s", log.output.getvalue())
    assert waits == ["1", "2", "4", "8", "15", "15"]


def test_a_process_that_has_done_its_work_is_not_started_again(log: PrefixedLog) -> None:
    about = SupervisedProcess("about", (sys.executable, "-c", ""), log.write_line, may_end=True)
    run_until([about], lambda: about.child is not None)
    assert about.child is not None
    about.child.wait()
    for _look in range(3):
        about.keep_running()
    assert about.child is None


def test_a_process_that_does_not_end_is_killed_in_time(log: PrefixedLog) -> None:
    deaf = SupervisedProcess("worker", DEAF, log.write_line)
    deaf.start()
    assert wait_for(lambda: "deaf" in log.output.getvalue())
    pid, begin = pid_of(deaf), time.monotonic()
    end_processes([deaf])
    assert time.monotonic() - begin < process_supervisor.STOP_SECONDS + 1
    assert wait_for(lambda: has_ended(pid), seconds=5)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_stays_behind_when_the_supervisor_ends(number: signal.Signals) -> None:
    if number == signal.SIGKILL and sys.platform != "linux":
        pytest.skip("only Linux ends the children of a killed process")
    supervisor = subprocess.Popen(
        [sys.executable, "-c", SUPERVISOR], stdout=subprocess.PIPE, text=True
    )
    assert supervisor.stdout is not None
    pids = [int(supervisor.stdout.readline().split()[-1]) for _process in range(2)]
    supervisor.send_signal(number)
    supervisor.wait(timeout=process_supervisor.STOP_SECONDS + 5)
    assert wait_for(lambda: all(map(has_ended, pids)), seconds=5)


def test_when_nobody_reads_the_log_all_is_stopped() -> None:
    class Closed(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    log = PrefixedLog(Closed())
    threading.Thread(target=log.write_line, args=("web", "a line")).start()
    assert log.stop.wait(5)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the platform has no full device")
def test_a_full_disk_under_the_log_stops_nothing(log: PrefixedLog) -> None:
    # What the file object could not write it tries again when it is closed.
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:
        log.output = full
        log.write_line("web", "first")
        log.write_line("worker", "second")
        log.output = io.StringIO()
        log.write_line("web", "third")
    assert "2 lines found no room" in log.output.getvalue()
    assert log.output.getvalue().endswith("web    | third\n")
    assert not log.stop.is_set()


def test_a_worker_that_is_started_again_does_not_load_the_pages_to_check_them() -> None:
    """`up` has checked them; with the checks a worker is back a third later."""
    code = """
        import os, sys
        os.environ["DJANGO_SETTINGS_MODULE"] = "memory_site.settings"
        from celery.fixups.django import DjangoWorkerFixup
        from memory_site.celery import app
        DjangoWorkerFixup(app).validate_models()
        print("pages loaded:", "memory_site.urls" in sys.modules)
        """
    lines = list[str]()
    command = (sys.executable, "-c", textwrap.dedent(code))
    worker = SupervisedProcess("worker", command, lambda _name, line: lines.append(line))
    worker.start()
    assert worker.child is not None
    assert worker.child.wait(120) == 0, lines
    assert wait_for(lambda: "pages loaded: False" in lines), lines
