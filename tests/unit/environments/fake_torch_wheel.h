// A wheel of a package "torch" that answers what the probe asks and holds real (empty) libraries, a
// source tree of a runner that links them, and a recipe that installs it: enough for every step of
// making an environment without PyTorch and without network.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/base/object_folder.h"
#include "common/plan/recipe.h"
#include "gtest/gtest.h"
#include "tests/unit/worker/scratch_dir.h"
#include "worker/environments/interpreter.h"
#include "worker/process/spawn.h"

namespace dynbench::worker {

inline constexpr char kMakeWheel[] = R"PY(
import os, subprocess, sys, zipfile
folder, version = sys.argv[1:3]
files = {
    "torch/__init__.py": "from . import version, _C, cuda, compiler\n__version__ = version.__version__\n",
    "torch/version.py": "__version__ = '%s'\ngit_version = 'abc%s'\n" % (version, version),
    "torch/_C.py": "_GLIBCXX_USE_CXX11_ABI = True\n",
    "torch/cuda.py": "def is_available(): return False\n",
    "torch/compiler.py": "FAST = 1\nSLOW = 2\n",
    "torch/empty.py": "", "torch/data.bin": "data\n",
    "torch-%s.dist-info/METADATA" % version: "Metadata-Version: 2.1\nName: torch\nVersion: %s\n" % version,
    "torch-%s.dist-info/WHEEL" % version:
        "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "torch-%s.dist-info/entry_points.txt" % version: "[console_scripts]\ntool = torch.compiler:main\n",
}
with zipfile.ZipFile(os.path.join(folder, "torch-%s-py3-none-any.whl" % version), "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
    for name in ("torch", "torch_cpu", "c10", "torch_python"):
        library = os.path.join(folder, "lib%s.so" % name)
        if not os.path.exists(library):
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", library], check=True)
        wheel.write(library, "torch/lib/lib%s.so" % name)
    wheel.writestr("torch-%s.dist-info/RECORD" % version, "")
)PY";

class FakeTorchWheel {
 public:
  FakeTorchWheel() {
    namespace fs = std::filesystem;
    fs::create_directories(dir_ / "src/worker/runner/shims");
    WriteText(dir_ / "src/worker/runner/sources.txt", "worker/runner/main.cc\n");
    WriteText(dir_ / "src/worker/runner/main.cc", "int main() { return 0; }\n");
    WriteText(dir_ / "src/worker/runner/shims/a.py", "pass\n");
    setenv("DYNBENCH_RUNNER_SOURCES", (dir_ / "src").c_str(), 1);
  }
  ~FakeTorchWheel() { unsetenv("DYNBENCH_RUNNER_SOURCES"); }

  // Empty when this machine has no python that can be embedded; the test is skipped then.
  std::string Python() {
    const auto interpreter = FindInterpreter("3");
    return interpreter.ok() ? interpreter->path : "";
  }

  plan::Recipe MakeRecipe(const std::string& version) {
    SpawnOptions options;
    options.argv = {Python(), "-c", kMakeWheel, dir_.path(), version};
    options.environment = {{"PATH", "/usr/bin:/bin"}};
    const auto made = RunCommand(options, 60'000);
    EXPECT_TRUE(made.ok() && made->exit.success()) << (made.ok() ? made->output : "");
    plan::Recipe recipe;
    recipe.name = "made";
    recipe.python = Python();
    recipe.wheels = {{"torch-" + version + "-py3-none-any.whl", ""}};
    const auto digest = Sha256OfFile(dir_ / recipe.wheels[0].file);
    EXPECT_TRUE(digest.ok()) << digest.status();
    recipe.wheels[0].sha256 = digest.ok() ? *digest : "";
    return recipe;
  }

  const std::string& folder() const { return dir_.path(); }

 private:
  ScratchDir dir_;
};

}  // namespace dynbench::worker
