// Method: lines of /proc/locks as the kernel writes them; then a real reader, this process, which
// holds a transaction open and must be named.
#include "common/store/wal_readers.h"

#include <unistd.h>

#include "gmock/gmock.h"
#include "tests/unit/store/fixture.h"

namespace dynbench::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(WalReadersTest, OnlyReadLocksOfThatFileAndThoseBytesCount) {
  const std::string locks =
      "1: POSIX  ADVISORY  READ  41 08:01:77 124 124\n"
      "2: POSIX  ADVISORY  READ  41 08:01:77 123 123\n"
      "3: POSIX  ADVISORY  WRITE 42 08:01:77 120 120\n"
      "4: POSIX  ADVISORY  READ  43 08:01:77 128 128\n"
      "5: POSIX  ADVISORY  READ  44 08:01:78 124 124\n"
      "6: FLOCK  ADVISORY  WRITE 45 08:01:77 0 EOF\n"
      "6: -> POSIX  ADVISORY  READ  46 08:01:77 124 124\n"
      "7: POSIX  ADVISORY  READ  47 00:2a:77 127 127\n"
      "nonsense\n";
  EXPECT_THAT(ReadersIn(locks, 77), ElementsAre(41, 47));
  EXPECT_THAT(ReadersIn("", 77), IsEmpty());
}

class RealReaderTest : public StoreTest {};

TEST_F(RealReaderTest, WhoHoldsATransactionIsNamed) {
  Submit(MakeJob({"a"}));
  EXPECT_GT(WalBytes(Path()), 0);
  const auto reader = OpenOrDie(Path(), Access::kReadOnly);
  EXPECT_THAT(WalReaders(Path()), IsEmpty());
  ASSERT_OK(Execute(reader->handle(), "BEGIN; SELECT * FROM job"));
  const std::vector<WalReader> readers = WalReaders(Path());
  ASSERT_EQ(readers.size(), 1u);
  EXPECT_EQ(readers.front().pid, getpid());
  EXPECT_THAT(Describe(readers), HasSubstr("process " + std::to_string(getpid()) + " ("));
}

}  // namespace
}  // namespace dynbench::store
