"""Streams of rows that violate a certificate where a test wants it."""

import threading

import numpy as np

import pacband

EPS, ALPHA = 0.05, 0.01


def certificate(rng, **options):
    return pacband.certify(rng.standard_normal(2000), np.zeros(2000), eps=EPS, delta=1e-3, **options)


def stream(rates, rng):
    """A certificate, and predictions that violate it just where wanted."""
    cert = certificate(rng)
    violated = rng.random(len(rates)) < rates
    return cert, np.where(violated, 2 * cert.gamma, 0.5 * cert.gamma), np.zeros(len(rates)), violated


def positions(violated):
    return np.flatnonzero(violated).astype(np.int64)


def detector_by_rows(detector, violated):
    """M of every alternative after each row, by its definition."""
    m, path = np.zeros(3), []
    for hit in violated:
        p = detector.alternatives
        m = m * p / EPS + 1 / EPS if hit else m * (1 - p) / (1 - EPS)
        path.append(m.mean())
    return np.array(path)


def in_threads(n_threads, work):
    """Run a function of the thread's number in all threads at once; return what each returned."""
    barrier, found = threading.Barrier(n_threads), [None] * n_threads

    def run(k):
        barrier.wait()
        found[k] = work(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found
