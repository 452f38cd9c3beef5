"""Excel workbooks as small as Excel reads them, written without a library for it."""

import zipfile
from datetime import datetime
from xml.sax.saxutils import escape

TYPES = """<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>
</Types>"""
RELATIONS = """<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>"""
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STYLES = (
    f"""<styleSheet xmlns="{MAIN}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22"/></cellXfs></styleSheet>"""
)


def write_workbook(path, sheets):
    """Write sheets, each a list of rows of cells, to a workbook."""
    listed = "".join(f'<sheet name="{escape(name)}" sheetId="{k}" r:id="r{k}"/>' for k, name in enumerate(sheets, 1))
    relations = "".join(
        f'<Relationship Id="r{k}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{k}.xml"/>'
        for k in range(1, len(sheets) + 1)
    )
    relations += f'<Relationship Id="s" Type="{OFFICE}/styles" Target="styles.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        start = f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
        archive.writestr("_rels/.rels", RELATIONS.format(start))
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>'
        )
        archive.writestr("xl/_rels/workbook.xml.rels", RELATIONS.format(relations))
        archive.writestr("xl/styles.xml", STYLES)
        for k, rows in enumerate(sheets.values(), 1):
            cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            archive.writestr(
                f"xl/worksheets/sheet{k}.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
            )


def _cell(value):
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, datetime):
        return f'<c s="1"><v>{(value - datetime(1899, 12, 30)).total_seconds() / 86400!r}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f"<c><v>{float(value)!r}</v></c>"
