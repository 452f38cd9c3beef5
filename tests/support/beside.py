"""What workers of a test do. They import it by its name."""

import os
import time


def where(seconds):
    """Return the process that takes this long."""
    time.sleep(seconds)
    return os.getpid()


def fail_elsewhere(here):
    """Raise in any process but one."""
    if os.getpid() != here:
        raise ValueError("not here")
    time.sleep(0.5)


def die_elsewhere(here):
    """End any process but one."""
    if os.getpid() != here:
        os._exit(1)
    time.sleep(0.2)
    return os.getpid()


def interrupt_here(here):
    """Interrupt one process while the others are busy."""
    if os.getpid() == here:
        time.sleep(0.5)
        raise KeyboardInterrupt
    time.sleep(60)
