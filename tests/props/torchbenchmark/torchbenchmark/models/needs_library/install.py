import sys

sys.exit("a_library_that_nobody_has cannot be had")
