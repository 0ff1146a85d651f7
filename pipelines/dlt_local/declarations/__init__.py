"""What source files declare: the decorators, SQL statements, and the registry that collects declarations."""
