// Method: texts as pip and venv write them, moved to places with and without blanks; names that
// only begin like the place must stay.
#include "worker/environments/relocate.h"

#include "gtest/gtest.h"

namespace dynbench::worker {
namespace {

TEST(Relocate, WholePathsAreReplacedAndLongerNamesStay) {
  EXPECT_EQ(
      Relocate("home=/a/env\nVIRTUAL_ENV='/a/env'\n/a/env/bin:/a/env-2:/a/env2", "/a/env", "/b"),
      "home=/b\nVIRTUAL_ENV='/b'\n/b/bin:/a/env-2:/a/env2");
  EXPECT_EQ(Relocate("nothing", "/a/env", "/b"), "nothing");
}

TEST(Relocate, AFirstLineStaysOneThatTheKernelCarriesOut) {
  const std::string script = "#!/a/env/bin/python3.11\nimport sys\n";
  EXPECT_EQ(Relocate(script, "/a/env", "/b"), "#!/b/bin/python3.11\nimport sys\n");
  const std::string blank =
      "#!/bin/sh\n'''exec' \"/b c/bin/python3.11\" \"$0\" \"$@\"\n' '''\n"
      "import sys\n";
  EXPECT_EQ(Relocate(script, "/a/env", "/b c"), blank);
  // And from there on to a third place.
  EXPECT_EQ(Relocate(blank, "/b c", "/d"),
            "#!/bin/sh\n'''exec' \"/d/bin/python3.11\" \"$0\" \"$@\"\n' '''\nimport sys\n");
  const std::string far(130, 'x');
  EXPECT_EQ(Relocate(script, "/a/env", "/" + far).substr(0, 10), "#!/bin/sh\n");
}

TEST(Relocate, OnlyTextsThatMayNameThePlaceAreLookedAt) {
  for (const char* path : {"bin/pip", "pyvenv.cfg", "lib/python3.11/site-packages/x.pth",
                           "lib/python3.11/site-packages/x.dist-info/direct_url.json"}) {
    EXPECT_TRUE(MayNameItsPlace(path)) << path;
  }
  for (const char* path : {"lib/python3.11/site-packages/torch/version.py", "lib/bin.so"}) {
    EXPECT_FALSE(MayNameItsPlace(path)) << path;
  }
}

}  // namespace
}  // namespace dynbench::worker
