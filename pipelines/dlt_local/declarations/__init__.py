"""What source files declare: decorators, SQL, and the registry they write to."""
