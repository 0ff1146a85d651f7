"""Documents in MongoDB's extended JSON: their fields by path, and what an update says of them."""
