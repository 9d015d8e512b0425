"""The use cases that the HTTP API and the queue functions run. The command line also uses them."""
