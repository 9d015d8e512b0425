"""The operations of the service, which the HTTP API, queue functions and command line share."""
