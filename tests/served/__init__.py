"""Walks on the real server in a process of its own, by HTTP and sockets alone: what needs no browser to be seen."""
