// Method: files as upstream's writer leaves them, whole and damaged, in; one row and notes out. The
// last test cuts a good file at every byte: no prefix of it may give another number than the file.
#include "common/formats/upstream_read.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace dynbench::formats {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr char kPerformance[] =
    "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,eager_peak_mem,"
    "dynamo_peak_mem,calls_captured,unique_graphs,fallbacks_to_eager,graph_breaks,"
    "unique_graph_breaks,autograd_captures,autograd_compiles,cudagraph_skips\n";
constexpr char kRow[] =
    "cpu,m,8,1.500000,2.250000,-0.125000,0.900000,0.500000,0.555556,21,1,0,2,1,0,0,0\n";
constexpr char kAccuracy[] =
    "dev,name,batch_size,accuracy,calls_captured,unique_graphs,fallbacks_to_eager,graph_breaks,"
    "unique_graph_breaks,autograd_captures,autograd_compiles,cudagraph_skips,compilation_latency\n";

UpstreamReading Read(const std::string& csv, plan::Test test = plan::Test::kPerformance,
                     const std::string& json = "") {
  UpstreamFiles files;
  files.csv = csv;
  files.json = json;
  return ReadUpstream(files, test, "m");
}

TEST(UpstreamRead, UnitsAndTypes) {
  const auto reading = Read(std::string(kPerformance) + kRow);
  ASSERT_TRUE(reading.row);
  EXPECT_EQ(reading.row->status, "measured");
  EXPECT_EQ(reading.row->batch_size, 8);
  const plan::Metrics& m = reading.row->metrics;
  EXPECT_DOUBLE_EQ(*m.speedup, 1.5);
  EXPECT_DOUBLE_EQ(*m.abs_latency_ms, 2.25);
  EXPECT_DOUBLE_EQ(*m.compilation_latency_s, -0.125)
      << "a difference of two times: may be negative";
  EXPECT_DOUBLE_EQ(*m.eager_peak_memory_bytes, 5e8);
  EXPECT_EQ(*m.graph_breaks, 2);
  EXPECT_EQ(*m.cudagraph_skips, 0) << "a counter's zero is a count";
  EXPECT_THAT(reading.notes, IsEmpty());
}

TEST(UpstreamRead, TheZerosOfAFailureRowAreNoMeasurement) {
  const auto reading =
      Read(std::string(kPerformance) + "cpu,m,0,0.000000,0.000000,0,0,0,0,0,0,0,0,0,0,0,0\n");
  ASSERT_TRUE(reading.row);
  EXPECT_EQ(reading.row->status, "");
  EXPECT_EQ(reading.row->metrics, plan::Metrics());
  const auto accuracy =
      Read(std::string(kAccuracy) + "cpu,m,0,eager_1st_run_OOM,0,0,0,0,0,0,0,0,0\n",
           plan::Test::kAccuracy);
  ASSERT_TRUE(accuracy.row);
  EXPECT_EQ(accuracy.row->status, "eager_1st_run_OOM");
  EXPECT_EQ(accuracy.row->metrics, plan::Metrics());
}

TEST(UpstreamRead, OldHeadersRowsBeforeATagAndPaddingAreReadByMeaning) {
  std::string old_header = kPerformance,
              old_row = "cpu,m,8,1.500000,2.250000,4.0,0.9,0.5,0.55,21,1,2,1,0,0,0\n";
  old_header.erase(old_header.find("fallbacks_to_eager,"), 19);
  const auto old = Read(old_header + old_row);
  ASSERT_TRUE(old.row);
  EXPECT_EQ(*old.row->metrics.graph_breaks, 2);
  EXPECT_FALSE(old.row->metrics.fallbacks_to_eager);

  std::string tagged = kPerformance;
  tagged.insert(tagged.find("speedup"), "tag,");
  std::string padded = kRow;
  padded.insert(padded.size() - 1, ",0");
  const auto before_tag = Read(tagged + padded);
  ASSERT_TRUE(before_tag.row);
  EXPECT_DOUBLE_EQ(*before_tag.row->metrics.speedup, 1.5);
  EXPECT_THAT(before_tag.notes, Contains(HasSubstr("older than its header's tag")));

  const auto short_row =
      Read(std::string(kPerformance) + "cpu,m,8,1.500000,2.250000,0,0,0,0,0,0,0,0,0,0,0,0\n");
  ASSERT_TRUE(short_row.row);
  EXPECT_FALSE(short_row.row->metrics.compilation_latency_s) << "a bare 0 is padding";
}

TEST(UpstreamRead, AStatusUnderTheTagIsFound) {
  std::string tagged = kAccuracy;
  tagged.insert(tagged.find("accuracy"), "tag,");
  const auto reading =
      Read(tagged + "cpu,m,0,fail_to_run,0,0,0,0,0,0,0,0,0,0\n", plan::Test::kAccuracy);
  ASSERT_TRUE(reading.row);
  EXPECT_EQ(reading.row->status, "fail_to_run");
  EXPECT_THAT(reading.notes, Contains(HasSubstr("another column")));
}

TEST(UpstreamRead, DoubledHeadersAndRows) {
  const std::string once = std::string(kPerformance) + kRow;
  const auto twice = Read(once + once);
  ASSERT_TRUE(twice.row);
  EXPECT_THAT(twice.notes, Contains("the CSV has 2 headers"));
  EXPECT_THAT(twice.notes, Contains(HasSubstr("2 times; it is counted once")));
  const auto differ = Read(once + "cpu,m,8,3.000000,1.000000\n");
  ASSERT_TRUE(differ.row);
  EXPECT_DOUBLE_EQ(*differ.row->metrics.speedup, 3);
  EXPECT_THAT(differ.notes, Contains(HasSubstr("cpu,m,8,1.500000")));
}

TEST(UpstreamRead, NoRowIsNoRow) {
  EXPECT_FALSE(Read("").row);
  EXPECT_FALSE(Read(kPerformance).row);
  const auto other = Read(std::string(kPerformance) + "cpu,another,8,1.5,2.5\n");
  EXPECT_FALSE(other.row);
  EXPECT_THAT(other.notes, Contains("rows that are not of this model: another"));
  EXPECT_FALSE(Read(std::string("\0\xff\xfe,,,\n\"", 8)).row);
}

TEST(UpstreamRead, ColumnsThatItDoesNotKnowSurviveAndTheRuleIsKept) {
  std::string header = kAccuracy;
  header.insert(header.size() - 1, ",rule,distance,mood");
  const auto reading =
      Read(header + "cpu,m,4,fail_accuracy,21,1,0,0,0,0,0,0,3.250000,rmse,0.004000,fine\n",
           plan::Test::kAccuracy);
  ASSERT_TRUE(reading.row);
  EXPECT_EQ(reading.row->accuracy_rule, "rmse");
  EXPECT_DOUBLE_EQ(*reading.row->metrics.accuracy_distance, 0.004);
  EXPECT_THAT(reading.row->other, Contains(Pair("mood", "fine")));
  EXPECT_DOUBLE_EQ(*reading.row->metrics.compilation_latency_s, 3.25);
}

TEST(UpstreamRead, WordsInNumbersPlacesAreNotesAndNothingIsInvented) {
  const auto reading =
      Read(std::string(kPerformance) + "cpu,m,eight,1.500000,nan,inf,-,0.5,0.5,2.5\n");
  ASSERT_TRUE(reading.row);
  EXPECT_EQ(reading.row->batch_size, 0);
  EXPECT_FALSE(reading.row->metrics.abs_latency_ms);
  EXPECT_FALSE(reading.row->metrics.calls_captured);
  EXPECT_THAT(reading.notes, Contains("column abs_latency holds no number: nan"));
  EXPECT_THAT(reading.notes, Contains("column calls_captured is a count and holds 2.5"));
}

TEST(UpstreamRead, TheJsonFillsWhatTheCsvLacks) {
  const std::string record =
      R"({"model":{"name":"m"},"metric":{"name":"compression_ratio","benchmark_values":[0.75]}})";
  const std::string status =
      R"({"model":{"name":"m"},"metric":{"name":"accuracy","benchmark_values":[],)"
      R"("extra_info":{"benchmark_values":["pass"]}}})";
  const auto filled = Read("dev,name,batch_size,speedup,abs_latency\ncpu,m,8,1.500000,2.0\n",
                           plan::Test::kPerformance, record + "\nno json\n[1]\n");
  ASSERT_TRUE(filled.row);
  EXPECT_DOUBLE_EQ(*filled.row->metrics.compression_ratio, 0.75);
  EXPECT_DOUBLE_EQ(*Read(std::string(kPerformance) + kRow, plan::Test::kPerformance, record)
                        .row->metrics.compression_ratio,
                   0.9)
      << "the CSV wins";
  const auto alone = Read("", plan::Test::kAccuracy, "[" + status + "]");
  ASSERT_TRUE(alone.row);
  EXPECT_EQ(alone.row->status, "pass");
  EXPECT_FALSE(Read("", plan::Test::kPerformance, R"({"model":{"name":"m"},"metric":7})").row);
}

TEST(UpstreamRead, TheCompilersReport) {
  UpstreamFiles files;
  files.csv = std::string(kPerformance) + kRow;
  files.compilation_metrics = "dev,name,batch_size,entire_frame_compile,note\ncpu,m,8,2.5,text\n";
  files.graph_breaks = "model,reason,user_stack\nm,\"call, of print\",\"[a\nb]\"\nother,x,y\n";
  files.stats = "dev,name,batch_size,total_aot_graphs,ok_aot_graphs\ncpu,m,8,3,2\n";
  const auto reading = ReadUpstream(files, plan::Test::kPerformance, "m");
  const auto report = nlohmann::json::parse(reading.compiler_report);
  EXPECT_DOUBLE_EQ(report["compile_phases_s"]["entire_frame_compile"].get<double>(), 2.5);
  ASSERT_EQ(report["graph_breaks"].size(), 1u);
  EXPECT_EQ(report["graph_breaks"][0]["reason"], "call, of print");
  EXPECT_EQ(*reading.row->metrics.total_aot_graphs, 3);
}

TEST(UpstreamRead, NoPrefixOfAFileGivesAnotherNumber) {
  const std::string file = std::string(kPerformance) + kRow;
  const plan::Metrics whole = Read(file).row->metrics;
  for (size_t size = 0; size < file.size(); ++size) {
    SCOPED_TRACE(size);
    const auto reading = Read(file.substr(0, size));
    if (!reading.row) continue;
    EXPECT_EQ(reading.row->metrics.speedup, whole.speedup);
    EXPECT_EQ(reading.row->metrics.cudagraph_skips.value_or(0), 0);
    EXPECT_EQ(reading.row->metrics.autograd_compiles, whole.autograd_compiles);
  }
}

}  // namespace
}  // namespace dynbench::formats
