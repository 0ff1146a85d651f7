# `import dlt` is served by the runtime while it loads pipeline files; the editor takes the signatures from the engine.
from dlt_local.api import *
from dlt_local.api_cdc import *
