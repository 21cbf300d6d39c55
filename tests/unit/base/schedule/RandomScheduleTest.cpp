// The verifier against a brute-force checker.
//
// The checker reads the text of a table and shares nothing with the verifier: counts in a map,
// regular expressions for storage, and the transitive closure of "before" for order and deadlock.
// A send and its receive are one node of the closure, because they wait for one another.

#include "base/schedule/Csv.h"
#include "base/schedule/Passes.h"
#include "base/schedule/Verify.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>
#include <regex>
#include <set>
#include <sstream>

using namespace titan::schedule;

namespace {

using Cells = std::vector<std::vector<std::string>>;

std::vector<std::string> splitText(const std::string &text, char mark) {
  std::vector<std::string> parsed;
  std::istringstream stream(text);
  for (std::string item; std::getline(stream, item, mark);)
    parsed.push_back(item);
  return parsed;
}

/// The brute-force checker of one table.
class BruteForce {
public:
  explicit BruteForce(const std::string &table) {
    std::vector<std::string> lines = splitText(table, '\n');
    for (size_t rank = 0; rank < lines.size(); ++rank) {
      rows.emplace_back();
      for (const std::string &cell : splitText(lines[rank], ','))
        if (!cell.empty())
          addCell(rank, cell);
    }
    hasTransfers = uses("(SEND|RECV)_[FB]");
  }

  bool accepts() const {
    const bool hasRows = !rows.empty() && std::all_of(rows.begin(), rows.end(),
                                                      [](auto &row) { return !row.empty(); });
    return hasRows && isComplete() && transfersMatch() && storageIsBalanced() && hasOrder();
  }

private:
  struct Item {
    int stage;
    std::string kind;
    int microbatch;
    size_t rank, node;
    std::string text() const {
      return std::to_string(stage) + kind + (microbatch < 0 ? "" : std::to_string(microbatch));
    }
  };

  void addCell(size_t rank, const std::string &cell) {
    static const std::regex action("(\\d+)([A-Z_]*[A-Z])(\\d*)");
    const bool isPair = cell[0] == '(';
    std::string text = isPair ? cell.substr(1, cell.find(')') - 1) : cell;
    for (std::sregex_iterator at(text.begin(), text.end(), action), end; at != end; ++at) {
      const std::smatch &match = *at;
      Item item{std::stoi(match[1]), match[2], match[3].length() ? std::stoi(match[3]) : -1, rank,
                nodes};
      items.push_back(item);
      rows[rank].push_back(items.size() - 1);
      ++count[item.text()];
      stages = std::max(stages, item.stage + 1);
      microbatches = std::max(microbatches, item.microbatch + 1);
      ranksOf[item.stage].insert(rank);
    }
    ++nodes;
  }

  int getCount(int stage, const char *kind, int microbatch) const {
    auto found = count.find(Item{stage, kind, microbatch, 0, 0}.text());
    return found == count.end() ? 0 : found->second;
  }
  bool uses(const std::string &kinds) const {
    return std::any_of(items.begin(), items.end(), [&](const Item &item) {
      return std::regex_match(item.kind, std::regex(kinds));
    });
  }

  bool isComplete() const {
    for (int stage = 0; stage < stages; ++stage) {
      if (!ranksOf.contains(stage) || ranksOf.at(stage).size() != 1)
        return false;
      for (int m = 0; m < microbatches; ++m) {
        const int b = getCount(stage, "B", m), i = getCount(stage, "I", m),
                  w = getCount(stage, "W", m);
        const bool isWhole = b == 1 && i == 0 && w == 0, isSplit = b == 0 && i == 1 && w == 1;
        if (getCount(stage, "F", m) != 1 || !(isWhole || isSplit))
          return false;
      }
    }
    return true;
  }

  bool crosses(int stage) const { // the boundary before a stage
    return stage > 0 && stage < stages && ranksOf.at(stage - 1) != ranksOf.at(stage);
  }

  bool transfersMatch() const {
    if (!hasTransfers)
      return true;
    for (int stage = 0; stage < stages; ++stage)
      for (int m = 0; m < microbatches; ++m) {
        const int before = crosses(stage) ? 1 : 0, after = crosses(stage + 1) ? 1 : 0;
        if (getCount(stage, "RECV_F", m) != before || getCount(stage, "SEND_B", m) != before ||
            getCount(stage, "SEND_F", m) != after || getCount(stage, "RECV_B", m) != after)
          return false;
      }
    return true;
  }

  /// The actions of a stage as letters.
  std::string getLetters(int stage, const std::map<std::string, char> &letters) const {
    std::string word;
    for (const std::vector<size_t> &row : rows)
      for (size_t i : row)
        if (auto found = letters.find(items[i].kind);
            items[i].stage == stage && found != letters.end())
          word += found->second;
    return word;
  }

  bool storageIsBalanced() const {
    const std::map<std::string, char> storage = {{"UNSHARD", 'u'}, {"RESHARD", 'r'}, {"F", 'c'},
                                                 {"B", 'c'},       {"I", 'c'},       {"W", 'c'}};
    const std::map<std::string, char> gradients = {{"REDUCE_GRAD", 'd'}, {"B", 'g'}, {"W", 'g'}};
    for (int stage = 0; stage < stages; ++stage) {
      if (uses("UNSHARD|RESHARD") &&
          !std::regex_match(getLetters(stage, storage), std::regex("(uc*r)*")))
        return false;
      if (uses("REDUCE_GRAD") && !std::regex_match(getLetters(stage, gradients), std::regex("g*d")))
        return false;
    }
    return true;
  }

  /// Whether "before" has no cycle.
  bool hasOrder() const {
    std::vector<size_t> node(nodes);
    for (size_t i = 0; i < nodes; ++i)
      node[i] = i;
    for (const Item &send : items)
      for (const Item &receive : items)
        if ((send.kind == "SEND_F" && receive.kind == "RECV_F" && receive.stage == send.stage + 1 &&
             receive.microbatch == send.microbatch) ||
            (send.kind == "SEND_B" && receive.kind == "RECV_B" && receive.stage == send.stage - 1 &&
             receive.microbatch == send.microbatch))
          node[receive.node] = node[send.node];
    std::vector<std::vector<char>> before(nodes, std::vector<char>(nodes, 0));
    for (const std::vector<size_t> &row : rows)
      for (size_t i = 1; i < row.size(); ++i)
        if (items[row[i - 1]].node != items[row[i]].node)
          before[node[items[row[i - 1]].node]][node[items[row[i]].node]] = 1;
    for (const Item &a : items)
      for (const Item &b : items)
        if (feeds(a, b))
          before[node[a.node]][node[b.node]] = 1;
    for (size_t k = 0; k < nodes; ++k)
      for (size_t i = 0; i < nodes; ++i)
        for (size_t j = 0; before[i][k] && j < nodes; ++j)
          before[i][j] |= before[k][j];
    for (size_t i = 0; i < nodes; ++i)
      if (before[i][i])
        return false;
    return true;
  }

  /// Whether the first action computes or delivers what the second one reads.
  bool feeds(const Item &a, const Item &b) const {
    if (a.microbatch != b.microbatch)
      return false;
    static const std::set<std::pair<std::string, std::string>> sameStage = {
        {"F", "B"},      {"F", "I"},      {"I", "W"},      {"F", "SEND_F"}, {"B", "SEND_B"},
        {"I", "SEND_B"}, {"RECV_F", "F"}, {"RECV_B", "B"}, {"RECV_B", "I"}};
    if (a.stage == b.stage)
      return sameStage.contains({a.kind, b.kind});
    if (hasTransfers && crosses(std::max(a.stage, b.stage)))
      return false; // by a send and a receive
    const bool isBackward = (a.kind == "B" || a.kind == "I") && (b.kind == "B" || b.kind == "I");
    return (a.kind == "F" && b.kind == "F" && b.stage == a.stage + 1) ||
           (isBackward && b.stage == a.stage - 1);
  }

  std::vector<Item> items;
  std::vector<std::vector<size_t>> rows; ///< indices of items
  std::map<std::string, int> count;
  std::map<int, std::set<size_t>> ranksOf;
  size_t nodes = 0; ///< cells
  int stages = 0, microbatches = 0;
  bool hasTransfers = false;
};

using Random = std::mt19937;
int pick(Random &random, int count) {
  return static_cast<int>(random() % static_cast<unsigned>(count));
}

/// A valid schedule: computation in any order that dependencies allow, on any assignment of stages.
class RandomSchedule {
public:
  explicit RandomSchedule(Random &random) : random(random) {
    schedule.stages = 1 + pick(random, 4);
    schedule.microbatches = 1 + pick(random, 3);
    const int ranks = 1 + pick(random, std::min(3, schedule.stages));
    for (int stage = 0; stage < schedule.stages; ++stage)
      schedule.rankOf.push_back(stage < ranks ? stage : pick(random, ranks));
    std::shuffle(schedule.rankOf.begin(), schedule.rankOf.end(), random);
    schedule.ranks.resize(static_cast<size_t>(ranks));
  }

  Schedule make() {
    for (int stage = 0; stage < schedule.stages; ++stage)
      for (int m = 0; m < schedule.microbatches; ++m) {
        waiting.push_back({Kind::Forward, stage, m});
        const bool isSplit = pick(random, 2) == 0;
        waiting.push_back({isSplit ? Kind::Dgrad : Kind::Backward, stage, m});
        if (isSplit)
          waiting.push_back({Kind::Wgrad, stage, m});
      }
    while (!waiting.empty())
      runOne();
    if (pick(random, 2))
      schedule = addTransfers(schedule);
    if (pick(random, 3) == 0)
      schedule = addUnshards(schedule, pick(random, 2) ? Residency::Step : Residency::Microbatch);
    if (pick(random, 3) == 0)
      schedule = addGradientReductions(schedule);
    return schedule;
  }

private:
  bool hasRun(const char *kinds, int stage, int m) const {
    return std::any_of(done.begin(), done.end(), [&](const Action &action) {
      return action.stage == stage && action.microbatch == m &&
             std::string_view(kinds).find(getName(action.kind)) != std::string_view::npos;
    });
  }
  bool isReady(const Action &a) const {
    if (a.kind == Kind::Forward)
      return a.stage == 0 || hasRun("F", a.stage - 1, a.microbatch);
    if (a.kind == Kind::Wgrad)
      return hasRun("I", a.stage, a.microbatch);
    return hasRun("F", a.stage, a.microbatch) &&
           (a.stage == schedule.stages - 1 || hasRun("BI", a.stage + 1, a.microbatch));
  }
  void runOne() {
    std::shuffle(waiting.begin(), waiting.end(), random);
    auto next = std::find_if(waiting.begin(), waiting.end(),
                             [&](const Action &action) { return isReady(action); });
    append(schedule.ranks[static_cast<size_t>(schedule.getRankOfStage(next->stage))], *next);
    done.push_back(*next);
    waiting.erase(next);
  }

  Random &random;
  Schedule schedule;
  std::vector<Action> waiting, done;
};

/// One change of a table, which may or may not break it.
class Mutation {
public:
  Mutation(Random &random, Cells &cells) : random(random), cells(cells) {}

  void apply() {
    std::vector<std::string> &row = cells[pickIndex(cells.size())];
    if (row.empty())
      return;
    const size_t at = pickIndex(row.size());
    std::vector<std::string> &target = pick(random, 3) ? row : cells[pickIndex(cells.size())];
    switch (pick(random, 6)) {
    case 0: // neighbours change places
      std::swap(row[at], row[std::min(at + 1, row.size() - 1)]);
      break;
    case 1:
      std::swap(row[at], row[pickIndex(row.size())]);
      break;
    case 2: { // a cell moves
      std::string cell = row[at];
      row.erase(row.begin() + static_cast<std::ptrdiff_t>(at));
      insert(target, cell);
      break;
    }
    case 3:
      pick(random, 2) ? insert(target, row[at])
                      : void(row.erase(row.begin() + static_cast<std::ptrdiff_t>(at)));
      break;
    case 4:
      alter(row[at]);
      break;
    default:
      overlap(row, at);
    }
  }

private:
  size_t pickIndex(size_t size) {
    return static_cast<size_t>(pick(random, static_cast<int>(size)));
  }
  void insert(std::vector<std::string> &row, const std::string &cell) {
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(pickIndex(row.size() + 1)), cell);
  }
  void alter(std::string &cell) {
    std::optional<Action> action = parseAction(cell);
    if (!action)
      return;
    if (pick(random, 2))
      action->kind = static_cast<Kind>(pick(random, 11));
    else
      action->stage = pick(random, 3);
    action->microbatch = hasMicrobatch(action->kind) ? std::max(0, action->microbatch) : -1;
    cell = toText(*action);
  }
  void overlap(std::vector<std::string> &row, size_t at) {
    if (at + 1 == row.size())
      return;
    std::optional<Action> first = parseAction(row[at]), second = parseAction(row[at + 1]);
    if (!first || !second || first->kind != Kind::Forward ||
        (second->kind != Kind::Backward && second->kind != Kind::Dgrad))
      return;
    row[at] = "(" + row[at] + ";" + row[at + 1] + ")OVERLAP_F_B";
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }

  Random &random;
  Cells &cells;
};

std::string mutate(Random &random, const std::string &table) {
  Cells cells;
  for (const std::string &line : splitText(table, '\n'))
    cells.push_back(splitText(line, ','));
  for (int i = 0, count = 1 + pick(random, 2); i < count; ++i)
    Mutation(random, cells).apply();
  std::string text;
  for (const std::vector<std::string> &row : cells) {
    for (size_t i = 0; i < row.size(); ++i)
      text += (i ? "," : "") + row[i];
    text += '\n';
  }
  return text;
}

bool verifierAccepts(const std::string &table) {
  std::vector<ScheduleFault> faults;
  Schedule schedule = readTable(table, faults);
  return faults.empty() && verify(schedule).empty();
}

TEST(RandomSchedules, VerifierAgreesWithBruteForce) {
  Random random(29);
  int valid = 0, invalid = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string table = writeTable(RandomSchedule(random).make());
    ASSERT_TRUE(BruteForce(table).accepts()) << table;
    ASSERT_TRUE(verifierAccepts(table)) << table;
    table = mutate(random, table);
    const bool isValid = BruteForce(table).accepts();
    ++(isValid ? valid : invalid);
    ASSERT_EQ(verifierAccepts(table), isValid) << table;
  }
  // If most mutations were valid, or nearly none, the test would show nothing.
  EXPECT_GT(valid, 150);
  EXPECT_GT(invalid, 500);
}

} // namespace
