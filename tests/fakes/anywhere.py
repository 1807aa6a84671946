"""A provider that plays its scripts at whatever address is asked, so that every wire of the product finds it.

Takes scripts, gives bytes; keeps the records of the scripted provider. Knows no wire.
"""

from tests.fakes.provider import Record, ScriptedProvider
from tests.fakes.script import Script


class AnywhereProvider(ScriptedProvider):
    """One script for all, or one after the other, whatever the path and the method."""

    def take(self, record: Record) -> Script:
        """The script for this request."""
        self.requests.append(record)
        if self.queue:
            return self.queue.popleft()
        if self.script is None:
            raise LookupError(f"no script is left for {record.method} {record.path}")
        return self.script
