// Method: bad input of every kind, one case each; the message must begin with file:line:column and
// say what to do. Then what a good file keeps: text as it was written.
#include "common/plan/yaml_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynbench::plan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string ErrorOf(const std::string& text) {
  return std::string(ParseYaml(text, "s.yaml").status().message());
}

TEST(ParseYaml, RefusesWithThePlaceAndTheFix) {
  struct Case {
    const char* text;
    const char* starts;
    const char* says;
  };
  const Case cases[] = {
      {"a: 1\nb: 2\na: 3\n", "s.yaml:3:1: ", "\"a\" is given twice, in line 1 and in line 3"},
      {"m:\n  - x: 1\n    x: 2\n", "s.yaml:3:5: ", "twice, in line 2 and in line 3"},
      {"{a: 1, \"a\": 2}\n", "s.yaml:1:8: ", "twice"},
      {"a:\n\tb: 1\n", "s.yaml:2:1: ", "a tab in the indentation"},
      {"a:\n  \tb: 1\n", "s.yaml:2:3: ", "a tab in the indentation"},
      {"a: [1, 2\nb: 3\n", "s.yaml:", "not valid YAML"},
      {"a: \"open\n", "s.yaml:", "not valid YAML"},
      {"a: 1\n b: 2\n", "s.yaml:2:", "not valid YAML"},
      {"a: &x 1\nb: *x\n", "s.yaml:1:", "anchor"},
      {"a: *x\n", "s.yaml:1:", "not valid YAML"},
      {"a: {b: 1}\n<<: {c: 2}\n", "s.yaml:2:1: ", "merge key"},
      {"a: !!int 1\n", "s.yaml:1:4: ", "tag"},
      {"[a, b]: 1\n", "s.yaml:1:", "a key must be plain text"},
      {"a: 1\n---\nb: 2\n", "s.yaml: ", "second document"},
      {"", "s.yaml:1:1: ", "empty"},
  };
  for (const Case& c : cases) {
    const std::string error = ErrorOf(c.text);
    EXPECT_THAT(error, StartsWith(c.starts)) << c.text;
    EXPECT_THAT(error, HasSubstr(c.says)) << c.text;
  }
}

TEST(ParseYaml, KeepsTextAsWritten) {
  const auto root =
      ParseYaml("version: 1.10\ncommit: 0123e4\nword: no\nquoted: 'a: b'\nlist: [007]\n", "s.yaml");
  ASSERT_TRUE(root.ok()) << root.status();
  ASSERT_EQ(root->entries.size(), 5u);
  EXPECT_EQ(root->entries[0].value.text, "1.10");
  EXPECT_EQ(root->entries[1].value.text, "0123e4");
  EXPECT_EQ(root->entries[2].value.text, "no");
  EXPECT_EQ(root->entries[3].value.text, "a: b");
  EXPECT_EQ(root->entries[4].value.items[0].text, "007");
  EXPECT_EQ(root->entries[1].line, 2);
  EXPECT_EQ(root->entries[1].value.column, 9);
}

// Reads one mapping with every getter; the first error is what Finish gives.
std::string ReadError(const std::string& text) {
  const auto root = ParseYaml(text, "s.yaml");
  if (!root.ok()) return std::string(root.status().message());
  MapReader reader(*root, "thing \"t\"", "s.yaml");
  std::string name;
  int size = 0;
  double tolerance = 0;
  bool flag = false;
  std::map<std::string, std::string> map;
  std::vector<std::string> list;
  reader.Text("name", &name, MapReader::kRequired);
  reader.Integer("batch_size", 1, 100, &size);
  reader.Positive("tolerance", &tolerance);
  reader.Bool("cosine", &flag);
  reader.TextMap("config", &map);
  reader.TextList("preload", &list);
  return std::string(reader.Finish().message());
}

TEST(MapReader, NamesObjectRuleAndFix) {
  EXPECT_EQ(ReadError("name: t\nbatch_size: 8\ntolerance: 1e-3\ncosine: true\n"), "");
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"name: t\nbatchsize: 8\n",
       "s.yaml:2:1: thing \"t\": unknown key \"batchsize\" (did you mean \"batch_size\"?)"},
      {"nmae: t\n", "s.yaml:1:1: thing \"t\": unknown key \"nmae\" (did you mean \"name\"?)"},
      {"name: t\nzzz: 1\n",
       "s.yaml:2:1: thing \"t\": unknown key \"zzz\"; known here: name, batch_size, tolerance, "
       "cosine, config, preload"},
      {"cosine: true\n", "s.yaml:1:1: thing \"t\": the key \"name\" is missing; add it"},
      {"name:\n", "s.yaml:1:1: thing \"t\": \"name\" has no value; give one or remove the key"},
      {"name: \"\"\n", "s.yaml:1:7: thing \"t\": \"name\" is empty; give a text or remove the key"},
      {"name: [a]\n", "s.yaml:1:7: thing \"t\": \"name\" wants a text, not a list"},
      {"name: t\nbatch_size: 1.5\n",
       "s.yaml:2:13: thing \"t\": \"batch_size\" wants a whole number from 1 to 100, not \"1.5\""},
      {"name: t\nbatch_size: 101\n",
       "s.yaml:2:13: thing \"t\": \"batch_size\" wants a whole number from 1 to 100, not \"101\""},
      {"name: t\ntolerance: -1\n",
       "s.yaml:2:12: thing \"t\": \"tolerance\" wants a number greater than 0, not \"-1\""},
      {"name: t\ntolerance: nan\n",
       "s.yaml:2:12: thing \"t\": \"tolerance\" wants a number greater than 0, not \"nan\""},
      {"name: t\ncosine: yes\n",
       "s.yaml:2:9: thing \"t\": \"cosine\" wants true or false, not \"yes\""},
      {"name: t\nconfig: 3\n",
       "s.yaml:2:9: thing \"t\": \"config\" wants a mapping (name: value), not a plain value"},
      {"name: t\npreload: x\n",
       "s.yaml:2:10: thing \"t\": \"preload\" wants a list ([a, b]), not a plain value"},
      {"- a\n", "s.yaml:1:1: thing \"t\": a mapping (key: value) is wanted here, not a list"},
  };
  for (const Case& c : cases) EXPECT_EQ(ReadError(c.text), c.message);
}

}  // namespace
}  // namespace dynbench::plan
