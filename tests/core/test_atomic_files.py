"""Files are replaced whole, keep who may read them, and errors name the file that was asked for."""

import errno
import os
import stat
from pathlib import Path

import numpy as np
import pytest

import pacband
from pacband.core.atomic_files import draft_file, replace_file
from pacband.tables.files import open_files
from pacband.tables.writing import write_table


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def save_certificate(path):
    pacband.certify(np.arange(99.0), np.zeros(99), eps=0.1, delta=0.05).save(path)


def write_rows(path):
    """Write rows as the commands do."""
    rows = path.parent / "rows.csv"
    rows.write_text("x\n1\n")
    with open_files([rows]) as files, files.writing(str(path)):
        write_table(files.relation(), str(path))
    rows.unlink()


WRITERS = {
    "bytes": (lambda path: replace_file(path, b"new"), "out"),
    "certificate": (save_certificate, "cert.json"),
    "csv": (write_rows, "out.csv"),
    "parquet": (write_rows, "out.parquet"),
}


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_replaced_keeps_who_may_read_it(writer, kept, tmp_path, umask):
    write, name = WRITERS[writer]
    path = tmp_path / name
    path.write_text("old")
    path.chmod(kept)
    write(path)
    assert path.read_bytes() != b"old"
    assert mode(path) == kept
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_new_file_gets_the_mode_of_the_umask(writer, tmp_path, umask):
    write, name = WRITERS[writer]
    write(tmp_path / name)
    assert mode(tmp_path / name) == 0o666 & ~umask


def test_a_file_behind_a_link_keeps_its_mode_and_the_link(tmp_path):
    (tmp_path / "secret").write_text("old")
    (tmp_path / "secret").chmod(0o600)
    os.symlink("secret", tmp_path / "link")
    replace_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "secret").read_bytes() == b"new"
    assert mode(tmp_path / "secret") == 0o600


@pytest.mark.parametrize("writer", ["bytes", "csv", "parquet"])
def test_nobody_else_reads_the_draft_of_a_secret_file(writer, tmp_path, monkeypatch):
    name = WRITERS[writer][1]
    (tmp_path / name).write_text("old")
    (tmp_path / name).chmod(0o600)
    seen = []
    replace = os.replace

    def watch(draft, final):
        seen.append((mode(draft), os.stat(draft).st_size > 0))
        replace(draft, final)

    monkeypatch.setattr(os, "replace", watch)
    # Nor from its first moment on: the file that is written is the one that was made.
    with draft_file(tmp_path / name) as draft:
        assert mode(draft) == 0o600
        draft.write_bytes(b"new")
    WRITERS[writer][0](tmp_path / name)
    assert seen == [(0o600, True)] * 2


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("at", ["open", "write", "sync", "replace"])
def test_an_error_names_the_file_that_was_asked_for(number, at, tmp_path, monkeypatch):
    target = tmp_path / "out.txt"
    target.write_text("old")

    def broken(*args, **options):
        named = args[:1] if at in ("open", "replace") else ()
        more = (None, args[1]) if at == "replace" else ()
        raise OSError(number, os.strerror(number), *named, *more)

    def no_unlink(self, missing_ok=False):
        # As on a disk that became read-only.
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))

    owner, name = {"open": (os, "open"), "write": (Path, "write_bytes"), "sync": (os, "fsync"), "replace": (os, "replace")}[at]  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, broken)
        patch.setattr(Path, "unlink", no_unlink)
        with pytest.raises(OSError, match=r"out\.txt") as caught:
            replace_file(target, b"new")
    assert caught.value.errno == number
    assert caught.value.filename == str(target)
    assert str(caught.value) == f"[Errno {number}] {os.strerror(number)}: {str(target)!r}"
    assert target.read_text() == "old"


def test_an_error_about_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, draft_file(tmp_path / "out.txt"):
        (tmp_path / "nowhere" / "in.txt").read_bytes()
    assert caught.value.filename == str(tmp_path / "nowhere" / "in.txt")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES])
def test_a_directory_that_cannot_be_synchronized_is_no_failure(number, tmp_path, monkeypatch):
    sync = os.fsync

    def of_files_only(descriptor):
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, os.strerror(number))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", of_files_only)
    replace_file(tmp_path / "out.txt", b"new")
    assert (tmp_path / "out.txt").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out.txt"]
