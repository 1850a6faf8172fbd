# Whose turn it is.
value = 1  # Of no interest, since only lines of comments are read
