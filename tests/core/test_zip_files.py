"""ZIP archives are recognised by their first bytes."""

import zipfile

from pacband.core.zip_files import begins_as_zip, is_zip


def test_an_archive_is_recognised_and_a_text_is_not(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", "b")
    (tmp_path / "a.csv").write_text("PK,y\n")
    assert begins_as_zip(tmp_path / "a.zip")
    assert is_zip((tmp_path / "a.zip").read_bytes())
    assert not begins_as_zip(tmp_path / "a.csv")
    assert not is_zip(b"PK")
