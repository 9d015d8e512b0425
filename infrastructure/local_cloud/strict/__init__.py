"""The strict layer of the local cloud: access rules, AWS limits and injected faults.

The layer runs in the emulator's process and environment, so it imports only the standard library
and the emulator.
"""
