"""A study as an archive that anybody can check: text-free tables in a BagIt bag."""
