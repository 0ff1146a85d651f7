# The engine serves `import dlt` while it loads pipeline files; the editor takes the signatures from its decorators.
<<<<<<< HEAD
=======
from dlt_local.declarations.auto_cdc_decorators import *
>>>>>>> h
from dlt_local.declarations.decorators import *
