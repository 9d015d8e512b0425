"""The strict layer of the local cloud: access rules, AWS limits, injected faults and a mailbox.

The layer runs in the emulator's process and environment, so it imports only what this environment
contains, and modules of the app that need nothing else.
"""
