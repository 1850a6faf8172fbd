# Whose turn it is.
value = 1  # Of interest
