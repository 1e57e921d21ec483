"""`bin/dev`: the whole service on one machine, for somebody who has just cloned it."""
