"""A file that is followed while it is rotated."""

from pacband.monitoring.following import FollowedFile
from pacband.monitoring.streams import RowStream
from support.monitor_command import csv_rows


def test_files_that_take_the_name_while_the_first_is_read_wait_for_their_turn(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text(csv_rows(20))
    found = []
    with FollowedFile(str(log)) as file:
        source = file.source
        while len(found) < 41:
            for rows in RowStream(source, ["y", "p"], []).batches(5, follow=True, file=file):
                found += rows.columns["y"]
                if len(found) in (5, 10, 15):
                    # The log is rotated three times while its first file is read; only the last two are kept.
                    log.rename(tmp_path / "old")
                    log.write_text(csv_rows(7, len(found)))
                if len(found) == 41:
                    break
            else:
                source = file.advance()
    assert found == [0.0] * 20 + [5.0] * 7 + [10.0] * 7 + [15.0] * 7
    assert source.closed
