// Unit commitment: which power plants run in which hour, and with how much power, so that demand is met at least cost.
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <interfaces/highs_c_api.h>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

using Json = nlohmann::ordered_json;

// The columns of a plant, one for each hour.
struct Columns {
  std::vector<HighsInt> on, power, start;
};
using Model = std::map<std::string, Columns>;

// Any other status of HiGHS is an error, and the run fails.
std::string name_status(HighsInt status) {
  if (status == kHighsModelStatusOptimal) return "optimal";
  if (status == kHighsModelStatusTimeLimit) return "time_limit";
  if (status == kHighsModelStatusInfeasible || status == kHighsModelStatusUnboundedOrInfeasible) return "infeasible";
  throw std::runtime_error("HiGHS ended with the model status " + std::to_string(status));
}

// Returns the hours of each plant in the previous run that the caller named: true where it runs. Empty without one.
std::map<std::string, std::vector<bool>> read_previous() {
  std::map<std::string, std::vector<bool>> plan;
  const char* path = std::getenv("SWITCHYARD_PREVIOUS");
  if (!path) return plan;
  try {
    std::ifstream file(path);
    const Json output = Json::parse(file);
    for (const auto& entry : output.at("solution").at("plan"))
      for (const auto& power : entry.at("power")) plan[entry.at("plant")].push_back(power.get<double>() > 0);
  } catch (const Json::exception& error) {
    std::cerr << "Ignoring the previous run, whose output does not fit: " << error.what() << '\n';
    plan.clear();
  }
  return plan;
}

HighsInt add_column(void* highs, double cost, double upper, HighsInt type) {
  Highs_addCol(highs, cost, 0, upper, 0, nullptr, nullptr);
  const HighsInt column = Highs_getNumCol(highs) - 1;
  Highs_changeColIntegrality(highs, column, type);
  return column;
}

void add_row(void* highs, double lower, double upper, std::vector<HighsInt> columns, std::vector<double> values) {
  Highs_addRow(highs, lower, upper, static_cast<HighsInt>(columns.size()), columns.data(), values.data());
}

Model build(void* highs, const Json& input) {
  Model model;
  const double infinity = Highs_getInfinity(highs);
  const std::vector<double> demand = input.at("demand");
  std::vector<std::vector<HighsInt>> supply(demand.size());
  for (const auto& plant : input.at("plants")) {
    const double least = plant.at("min_power"), most = plant.at("max_power");
    auto& [on, power, start] = model[plant.at("id")];
    for (size_t hour = 0; hour < demand.size(); hour++) {
      on.push_back(add_column(highs, plant.at("hour_cost"), 1, kHighsVarTypeInteger));
      power.push_back(add_column(highs, plant.at("power_cost"), most, kHighsVarTypeContinuous));
      start.push_back(add_column(highs, plant.at("start_cost"), 1, kHighsVarTypeInteger));
      supply[hour].push_back(power.back());
      add_row(highs, -infinity, 0, {power.back(), on.back()}, {1, -most});
      add_row(highs, 0, infinity, {power.back(), on.back()}, {1, -least});
      // A plant that runs now and did not run before was started.
      if (hour == 0) add_row(highs, 0, infinity, {start.back(), on.back()}, {1, -1});
      else add_row(highs, 0, infinity, {start.back(), on.back(), on[hour - 1]}, {1, -1, 1});
    }
  }
  for (size_t hour = 0; hour < demand.size(); hour++)
    add_row(highs, demand[hour], demand[hour], supply[hour], std::vector<double>(supply[hour].size(), 1));
  return model;
}

// Passes the part of the previous plan that this input still has; HiGHS completes it.
void start_from(void* highs, const std::map<std::string, std::vector<bool>>& previous, const Model& model) {
  std::vector<HighsInt> columns;
  std::vector<double> values;
  for (const auto& [plant, hours] : previous) {
    const auto found = model.find(plant);
    if (found == model.end()) continue;
    for (size_t hour = 0; hour < hours.size() && hour < found->second.on.size(); hour++) {
      columns.push_back(found->second.on[hour]);
      values.push_back(hours[hour]);
    }
  }
  if (columns.empty()) return;
  std::cerr << "Starting from the previous plan for " << columns.size() << " plants and hours.\n";
  Highs_setSparseSolution(highs, static_cast<HighsInt>(columns.size()), columns.data(), values.data());
}

int main(int count, char** arguments) {
  Json options = {{"duration", 10.0}, {"seed", 1}, {"gap", 0.0001}};
  for (int i = 1; i + 1 < count; i += 2) options[arguments[i] + 1] = Json::parse(arguments[i + 1]);
  const Json input = Json::parse(std::cin);

  // Standard output is for the result. What the solver prints there goes to standard error, the log of the run, where
  // the server reads its progress.
  FILE* result_file = fdopen(dup(1), "w");
  dup2(2, 1);
  std::cerr << "Planning " << input.at("plants").size() << " plants over " << input.at("demand").size() << " hours.\n";

  const auto started = std::chrono::steady_clock::now();
  // The C interface works with HiGHS of any compiler.
  void* highs = Highs_create();
  Highs_setDoubleOptionValue(highs, "time_limit", options["duration"]);
  Highs_setIntOptionValue(highs, "random_seed", options["seed"]);
  Highs_setDoubleOptionValue(highs, "mip_rel_gap", options["gap"]);
  const Model model = build(highs, input);
  start_from(highs, read_previous(), model);
  Highs_run(highs);

  Json result = {{"custom", {{"status", name_status(Highs_getModelStatus(highs))}}}};
  Json solution = nullptr;
  HighsInt solution_status;
  Highs_getIntInfoValue(highs, "primal_solution_status", &solution_status);
  if (solution_status == kHighsSolutionStatusFeasible) {
    std::vector<double> values(Highs_getNumCol(highs));
    Highs_getSolution(highs, values.data(), nullptr, nullptr, nullptr);
    Json plan = Json::array();
    double starts = 0;
    for (const auto& [plant, columns] : model) {
      std::vector<double> power;
      for (const HighsInt column : columns.power) power.push_back(std::round(values[column] * 1000) / 1000 + 0.0);
      for (const HighsInt column : columns.start) starts += std::round(values[column]);
      plan.push_back({{"plant", plant}, {"power", power}});
    }
    solution = {{"plan", plan}};
    double bound;
    Highs_getDoubleInfoValue(highs, "mip_dual_bound", &bound);
    result["value"] = Highs_getObjectiveValue(highs);
    result["custom"]["bound"] = bound;
    result["custom"]["starts"] = starts;
  }
  const double duration = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const Json statistics = {{"schema", "v1"}, {"run", {{"duration", duration}}}, {"result", result}};
  const Json output = {{"options", options}, {"solution", solution}, {"statistics", statistics}};
  fprintf(result_file, "%s\n", output.dump().c_str());
  fclose(result_file);
}
