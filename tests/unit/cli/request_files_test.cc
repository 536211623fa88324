// Method: tables of small texts, good and bad; the bad ones must name line and rule.
#include "tools/dynbenchctl/request_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dynbench::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(BatchSizes, LinesOfNameAndSize) {
  const auto sizes = ParseBatchSizes("# comment\n\n a.b , 4 \r\nc,8", "f");
  ASSERT_TRUE(sizes.ok()) << sizes.status();
  EXPECT_THAT(*sizes, ElementsAre(Pair("a.b", 4), Pair("c", 8)));
}

TEST(BatchSizes, WrongLinesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"a,1\nb 2\n", "f:2: "},   {"a,-1\n", "f:1: "}, {"a,0\n", "f:1: "},
      {"a,1\n\na,2\n", "f:3: "}, {"a,x\n", "f:1: "},  {",1\n", "f:1: "},
      {"# nothing\n", "f: "}};
  for (const auto& [text, where] : cases) {
    const auto sizes = ParseBatchSizes(text, "f");
    EXPECT_FALSE(sizes.ok()) << text;
    EXPECT_THAT(std::string(sizes.status().message()), HasSubstr(where)) << text;
  }
}

TEST(Pairs, KeepEverythingAfterTheFirstEqualsSign) {
  const auto pairs = ParsePairs("--set-env", {"A=b=c", "B="});
  ASSERT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_THAT(*pairs, ElementsAre(Pair("A", "b=c"), Pair("B", "")));
  EXPECT_FALSE(ParsePairs("--set-env", {"A"}).ok());
  EXPECT_FALSE(ParsePairs("--set-env", {"=b"}).ok());
  EXPECT_FALSE(ParsePairs("--set-env", {"A=1", "A=1"}).ok());
}

TEST(PathModel, UpstreamsSpelling) {
  const auto model = ParsePathModel("path:/a b/x.py,class:Net");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->path, "/a b/x.py");
  EXPECT_EQ(model->class_name, "Net");
  EXPECT_TRUE(ParsePathModel("class:Net,path:/x.py").ok()) << "in any order";
  for (const char* text : {"path:x.py,class:Net", "path:/x.py", "path:/x.py,class:",
                           "path:/x.py,klass:Net", "path:/x.py,path:/y.py,class:Net", "path:"}) {
    EXPECT_FALSE(ParsePathModel(text).ok()) << text;
  }
  EXPECT_FALSE(IsPathModel("mobilenetv2_100"));
}

}  // namespace
}  // namespace dynbench::cli
