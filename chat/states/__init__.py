"""The state machines as tables: what may follow what, for a generation and for a tool call.

Takes a state and a trigger; gives the next state. Knows no database: `journal.py` moves the rows.
"""
