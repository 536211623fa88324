"""What a model's installer does: says that it ran, and where it was."""

import os

if __name__ == "__main__":
    log = os.environ.get("INSTALL_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write("positional in %s\n" % os.path.basename(os.getcwd()))
    print("installed positional")
