"""Models with the interface of TorchBench, for tests. The settings are read from a file beside this
one: who imports the package need not be in its folder."""

import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "settings.json"), encoding="utf-8") as file:
    WIDTH = json.load(file)["width"]
