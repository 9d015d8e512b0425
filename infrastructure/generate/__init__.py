"""Generate files from the function manifest, the models and the catalogues of words."""
