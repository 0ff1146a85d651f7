# `import dlt` is served by the runtime while it loads pipeline files; the editor takes the signatures from the engine.
from dlt_local.declarations.decorators import *
