# The engine serves `import dlt` while it loads pipeline files; the editor takes the signatures from its decorators.
from dlt_local.declarations.decorators import *
