import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.ortools.Loader;
import com.google.ortools.sat.BoolVar;
import com.google.ortools.sat.CpModel;
import com.google.ortools.sat.CpSolver;
import com.google.ortools.sat.CpSolverStatus;
import com.google.ortools.sat.LinearExpr;
import com.google.ortools.sat.LinearExprBuilder;
import com.google.ortools.sat.Literal;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

/** Workload balancing: each task goes to one worker, so that all tasks fit and the assignment costs least. */
public final class Main {
  record Input(List<Worker> workers, List<Task> tasks) {}

  record Worker(String id, long hours) {}

  /** {@code cost} has a value for each worker who can do the task. */
  record Task(String id, long hours, Map<String, Long> cost) {}

  /** The variable that is true when the worker does the task. */
  record Pair(String worker, Task task, BoolVar variable) {}

  public static void main(String[] args) throws IOException {
    double started = System.nanoTime() / 1e9;
    JsonObject options = JsonParser.parseString("{'duration': 10, 'seed': 1, 'workers': 1}").getAsJsonObject();
    for (int i = 0; i + 1 < args.length; i += 2) {
      options.add(args[i].substring(1), JsonParser.parseString(args[i + 1]));
    }
    Gson gson = new GsonBuilder().serializeNulls().create();
    Input input = gson.fromJson(new InputStreamReader(System.in, StandardCharsets.UTF_8), Input.class);
    System.err.printf("Assigning %d tasks to %d workers.%n", input.tasks().size(), input.workers().size());

    Loader.loadNativeLibraries();
    CpModel model = new CpModel();
    List<Pair> pairs = build(model, input);
    startFrom(model, readPrevious(), pairs);
    CpSolver solver = new CpSolver();
    solver.getParameters()
        .setMaxTimeInSeconds(options.get("duration").getAsDouble())
        .setRandomSeed(options.get("seed").getAsInt())
        .setNumWorkers(options.get("workers").getAsInt())
        .setLogSearchProgress(true)
        .setLogToStdout(false);
    // Standard error is the log of the run, where the server reads the progress of the solver.
    solver.setLogCallback(System.err::println);
    CpSolverStatus status = solver.solve(model);

    JsonObject custom = new JsonObject();
    custom.addProperty("status", nameStatus(status));
    JsonObject result = new JsonObject();
    JsonObject solution = null;
    if (status == CpSolverStatus.OPTIMAL || status == CpSolverStatus.FEASIBLE) {
      Map<String, String> assignment = new LinkedHashMap<>();
      for (Pair pair : pairs) {
        if (solver.booleanValue(pair.variable())) assignment.put(pair.task().id(), pair.worker());
      }
      solution = new JsonObject();
      solution.add("assignment", gson.toJsonTree(assignment));
      result.addProperty("value", solver.objectiveValue());
      custom.addProperty("bound", solver.bestObjectiveBound());
      custom.addProperty("workers_used", assignment.values().stream().distinct().count());
    }
    result.add("custom", custom);
    JsonObject run = new JsonObject();
    run.addProperty("duration", System.nanoTime() / 1e9 - started);
    JsonObject statistics = new JsonObject();
    statistics.addProperty("schema", "v1");
    statistics.add("run", run);
    statistics.add("result", result);
    JsonObject output = new JsonObject();
    output.add("options", options);
    output.add("solution", solution);
    output.add("statistics", statistics);
    System.out.println(gson.toJson(output));
  }

  /** Any other status of CP-SAT is an error, and the run fails. */
  static String nameStatus(CpSolverStatus status) {
    return switch (status) {
      case OPTIMAL -> "optimal";
      case FEASIBLE, UNKNOWN -> "time_limit";
      case INFEASIBLE -> "infeasible";
      default -> throw new IllegalStateException("CP-SAT ended with " + status);
    };
  }

  /** Returns the worker of each task in the previous run that the caller named; empty without one. */
  static Map<String, String> readPrevious() {
    Map<String, String> workers = new LinkedHashMap<>();
    String path = System.getenv("SWITCHYARD_PREVIOUS");
    if (path == null) return workers;
    try {
      JsonObject output = JsonParser.parseString(Files.readString(Path.of(path))).getAsJsonObject();
      JsonObject assignment = output.getAsJsonObject("solution").getAsJsonObject("assignment");
      for (Map.Entry<String, JsonElement> entry : assignment.entrySet()) {
        workers.put(entry.getKey(), entry.getValue().getAsString());
      }
    } catch (IOException | RuntimeException error) {
      System.err.println("Ignoring the previous run, whose output does not fit: " + error);
    }
    return workers;
  }

  /** Returns the variables of all pairs of a task and a worker who can do it. */
  static List<Pair> build(CpModel model, Input input) {
    List<Pair> pairs = new ArrayList<>();
    LinearExprBuilder cost = LinearExpr.newBuilder();
    for (Task task : input.tasks()) {
      List<Literal> choices = new ArrayList<>();
      for (Map.Entry<String, Long> entry : task.cost().entrySet()) {
        BoolVar variable = model.newBoolVar(task.id() + " by " + entry.getKey());
        pairs.add(new Pair(entry.getKey(), task, variable));
        choices.add(variable);
        cost.addTerm(variable, entry.getValue());
      }
      model.addExactlyOne(choices);
    }
    for (Worker worker : input.workers()) {
      List<Pair> mine = pairs.stream().filter(pair -> pair.worker().equals(worker.id())).toList();
      Literal[] variables = mine.stream().map(Pair::variable).toArray(Literal[]::new);
      LongStream hours = mine.stream().mapToLong(pair -> pair.task().hours());
      model.addLessOrEqual(LinearExpr.weightedSum(variables, hours.toArray()), worker.hours());
    }
    model.minimize(cost);
    return pairs;
  }

  /** Passes the part of the previous plan that this input still has; CP-SAT completes it. */
  static void startFrom(CpModel model, Map<String, String> previous, List<Pair> pairs) {
    List<Pair> known = pairs.stream().filter(pair -> previous.containsKey(pair.task().id())).toList();
    if (known.isEmpty()) return;
    System.err.println("Starting from the previous plan.");
    for (Pair pair : known) {
      model.addHint(pair.variable(), previous.get(pair.task().id()).equals(pair.worker()));
    }
  }
}
