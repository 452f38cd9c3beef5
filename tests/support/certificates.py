"""Certificates that state something else than they were made with."""


def changed(certificate, **values):
    """Return the certificate with other values in its file, by the name that they have there."""
    return type(certificate).from_dict({**certificate.to_dict(), **values})
