"""Workers: programs beside this one."""

import os
import signal
import sys
import time

import numpy as np
import pytest
from joblib.externals import loky
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pacband.candidates.fitting import fit_folds, fit_together, n_parallel
from pacband.candidates.smooth import SmoothProcess
from pacband.candidates.workers import Workers
from support.automatic import draw
from support.beside import die_elsewhere, fail_elsewhere, interrupt_here, where
from support.shell import start

BOOSTING = HistGradientBoostingRegressor(max_iter=5, random_state=0)
HERE = os.getpid()


def started():
    """Return two workers that are ready."""
    workers = Workers(3)
    workers.start()
    assert workers.n_programs == 1
    workers._ready.result(timeout=120)
    return workers


@pytest.fixture(scope="module")
def ready():
    with started() as workers:
        yield workers


def test_each_program_takes_the_next_task(ready):
    assert ready.n_programs == 3
    took = ready.run(where, [0.5] * 6)
    assert HERE in took
    assert len(set(took)) == 3
    assert ready.run(where, [0.0]) == [HERE]
    assert ready.run(where, []) == []


def test_results_come_in_the_order_of_the_tasks(ready):
    assert ready.run(abs, range(-20, 0)) == list(range(20, 0, -1))


@pytest.mark.parametrize(
    "model",
    [
        BOOSTING,
        TransformedTargetRegressor(BOOSTING),
        make_pipeline(StandardScaler(), SmoothProcess(40, 80, random_state=0)),
    ],
    ids=["boosting", "transformed", "process"],
)
def test_a_worker_fits_the_same_to_the_last_bit(ready, rng, model):
    X, y = draw(rng, 120)
    folds = list(KFold(4).split(X))
    assert n_parallel(model, X, ready) == 3
    for here, beside in zip(
        *(fit_folds(model, X, y, folds, workers=w) for w in (Workers(1), ready)),
        strict=True,
    ):
        np.testing.assert_array_equal(here.predictions, beside.predictions)
    here, beside = (fit_together([model] * 3, X, [y, 2 * y, -y], workers=w) for w in (Workers(1), ready))
    for one, other in zip(here, beside, strict=True):
        np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_the_error_of_a_worker_is_raised_and_the_workers_go_on(ready):
    with pytest.raises(ValueError, match="not here"):
        ready.run(fail_elsewhere, [HERE] * 3)
    assert ready.run(abs, [-1, -2, -3]) == [1, 2, 3]


def test_what_a_killed_worker_leaves_is_done_here():
    with started() as workers:
        assert workers.run(die_elsewhere, [HERE] * 5) == [HERE] * 5
        assert workers.n_programs == 1
        assert workers.run(where, [0.0, 0.0]) == [HERE, HERE]


def test_an_interrupt_ends_the_workers_at_once():
    with started() as workers:
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            workers.run(interrupt_here, [HERE] * 9)
        assert time.monotonic() - start < 30
        assert workers.n_programs == 1


@pytest.mark.parametrize("error", [OSError, NotImplementedError, ImportError])
def test_a_system_that_allows_no_workers_fits_here(monkeypatch, error):
    def refuse(*_, **__):
        raise error("not here")

    monkeypatch.setattr(loky, "ProcessPoolExecutor", refuse)
    with Workers(2) as workers:
        workers.start()
        assert workers.n_programs == 1
        assert workers.run(where, [0.0, 0.0]) == [HERE, HERE]


def test_one_job_starts_no_workers(monkeypatch):
    monkeypatch.setattr(loky, "ProcessPoolExecutor", None)
    with Workers(1) as workers:
        workers.start()
        assert workers.n_programs == 1


SEARCH = """
import numpy as np
from pacband.candidates.automatic import auto_candidates
from pacband.candidates.workers import Workers

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (2000, 4))
y = X[:, 0] + np.exp(X[:, 1]) * rng.standard_normal(2000)

def ready(self, start=Workers.start):
    start(self)
    self._ready.result()
    print("ready", flush=True)

Workers.start = ready
family = auto_candidates(X, y, eps=0.1, delta=0.05, n_jobs=2)
print(family.ended)
"""


def is_alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(os.name == "nt", reason="a group of processes is interrupted")
def test_ctrl_c_in_a_script_returns_the_best_so_far(tmp_path):
    (tmp_path / "search.py").write_text(SEARCH)
    with start([sys.executable, "search.py"], cwd=tmp_path, start_new_session=True) as program:
        assert program.stdout.readline() == "ready\n"
        time.sleep(3)
        # As a terminal does: the workers get it, too.
        os.killpg(program.pid, signal.SIGINT)
        out, error = program.communicate(timeout=120)
    assert out.startswith("The search was interrupted after "), error
    assert "Traceback" not in error
    deadline = time.monotonic() + 60
    while is_alive(program.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_alive(program.pid)
