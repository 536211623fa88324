// Method: a job in which everything happens, against the text that upstream's reader expects:
// its columns, its order, six decimals, 10^9 bytes; and what must be quoted.
#include "common/formats/upstream_csv.h"

#include "tests/unit/formats/rows_testing.h"

namespace dynbench::formats {
namespace {

using testing::HasSubstr;

TEST(UpstreamCsv, PerformanceHasUpstreamsColumnsAndZeroRowsForFailures) {
  EXPECT_EQ(UpstreamCsv(plan::Test::kPerformance, EveryKindOfRow()),
            "dev,name,batch_size,speedup,abs_latency,compilation_latency,compression_ratio,"
            "eager_peak_mem,dynamo_peak_mem,calls_captured,unique_graphs,fallbacks_to_eager,"
            "graph_breaks,unique_graph_breaks,autograd_captures,autograd_compiles,cudagraph_skips\n"
            "cpu,mobilenetv2_100,128,1.420085,21.210000,17.250000,0.975000,1.500000,1.538000,155,1,"
            "0,2,1,0,0,3\n"
            "cpu,repvgg_a2,128,0.868421,9.500000,17.250000,0.975000,1.500000,1.538000,155,1,0,2,1,"
            "0,0,3\n"
            "cpu,ghostnet_100,0,0.000000,0.000000,0,0,0,0,0,0,0,0,0,0,0,0\n"
            "cpu,nfnet_l0,0,0.000000,0.000000,0,0,0,0,0,0,0,0,0,0,0,0\n");
}

TEST(UpstreamCsv, AccuracyHasTheStatusWordAndKeepsCountersOfWrongResults) {
  EXPECT_EQ(UpstreamCsv(plan::Test::kAccuracy, EveryKindOfRow()),
            "dev,name,batch_size,accuracy,calls_captured,unique_graphs,fallbacks_to_eager,"
            "graph_breaks,unique_graph_breaks,autograd_captures,autograd_compiles,cudagraph_skips,"
            "compilation_latency\n"
            "cpu,mobilenetv2_100,8,pass,155,1,0,0,0,0,0,0,9.500000\n"
            "cpu,repvgg_a2,8,fail_accuracy,0,0,0,0,0,0,0,0,0\n");
}

TEST(UpstreamCsv, QuotesWhatWouldBreakALine) {
  store::ResultRow row = Accuracy("odd,\"name\"\n", plan::Outcome::kFailed, "fail_to_run");
  row.result->metrics = {};
  EXPECT_THAT(UpstreamCsv(plan::Test::kAccuracy, {row}),
              HasSubstr("\ncpu,\"odd,\"\"name\"\"\n\",8,fail_to_run,0,0,0,0,0,0,0,0,0\n"));
}

}  // namespace
}  // namespace dynbench::formats
