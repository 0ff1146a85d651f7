"""Tools for those who work on the project: test servers, the real connector, the demo's captures.

They fetch their JVM parts as the local engine does, so ``pipelines/`` is put on the path for them.
"""

import sys
from pathlib import Path

_PIPELINES = str(Path(__file__).resolve().parents[1] / "pipelines")
if _PIPELINES not in sys.path:
    sys.path.insert(0, _PIPELINES)
