"""Posters with the QR code of a form's page."""
