"""Tools for developing the project: test servers, the real connector, the demo's captures.

They fetch jars with the local engine's code, so ``pipelines/`` is added to the path.
"""

import sys
from pathlib import Path

_PIPELINES = str(Path(__file__).resolve().parents[1] / "pipelines")
if _PIPELINES not in sys.path:
    sys.path.insert(0, _PIPELINES)
