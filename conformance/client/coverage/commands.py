"""Calls every command of the client's command line in one process. Prints the outcome of each as JSON."""

import json
import os
import re
import sys
import tempfile

import typer.main
from recorder import APP, WORKS, Recorder, describe
from typer.testing import CliRunner

from driver_setup import polling_options, print_result, write_files
from nextmv import cloud
from nextmv.cli.main import app as command_line

POLLING = polling_options()
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
APP_ID = ["--app-id", "commands"]

METRIC = {
    "field": "metrics.value",
    "metric_type": "direct-comparison",
    "params": {"operator": "le", "tolerance": {"type": "absolute", "value": 0}},
    "statistic": "mean",
}
RULE = {
    "id": "best",
    "statistics_path": "$.result.value",
    "objective": "minimize",
    "tolerance": {"value": 0, "type": "absolute"},
    "index": 0,
}
SCENARIO = {
    "instance_id": "baseline",
    "scenario_input": {"scenario_input_type": "input_set", "scenario_input_data": "pair"},
}


def find_commands(command, path=()):
    """Returns the names of all commands below the command, such as `cloud app list`."""
    children = getattr(command, "commands", None)
    if children is None:
        return [" ".join(path)]
    return [name for key, child in children.items() for name in find_commands(child, (*path, key))]


class CommandLine:
    """Runs commands and records their outcomes."""

    def __init__(self):
        self.recorder = Recorder(find_commands(typer.main.get_command(command_line)))
        self._runner = CliRunner()

    def run(self, name, *args, check=None, **options):
        """Runs a command and returns its output, parsed where it is JSON. `check` returns False for a wrong output."""
        result = self._runner.invoke(command_line, [*name.split(), *args], input=options.get("input", ""))
        text = ESCAPES.sub("", result.output if options.get("all") else result.stdout)
        failure = WORKS
        if result.exit_code != 0:
            is_exit = result.exception is None or isinstance(result.exception, SystemExit)
            failure = " ".join(ESCAPES.sub("", result.output).split()) if is_exit else describe(result.exception)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        if failure == WORKS and check is not None:
            try:
                failure = WORKS if check(value) else f"unexpected output: {text}"
            except (KeyError, IndexError, TypeError, AttributeError) as error:
                failure = f"{describe(error)} in the output: {text}"
        self.recorder.record(name, failure[:500])
        return value if failure == WORKS else {}

    def cloud(self, name, *args, check=None, **options):
        """Runs a command on the application."""
        return self.run(f"cloud {name}", *APP_ID, *args, check=check, **options)


def id_is(id):
    """Returns a check of the id of an object."""
    return lambda value: value["id"] == id


def has_ids(*ids):
    """Returns a check of the ids of a list, in any order."""
    return lambda values: sorted(value["id"] for value in values) == sorted(ids)


def has_succeeded(run):
    """Returns True for a run that succeeded."""
    return run["metadata"]["status_v2"] == "succeeded"


def deployments(line):
    """Applications, executables, versions and instances."""
    line.run("cloud app create", *APP_ID, "--name", "By command", check=id_is("commands"))
    line.run("cloud app list", check=lambda values: "commands" in [value["id"] for value in values])
    line.cloud("app get", check=id_is("commands"))
    line.cloud("app exists", check=lambda value: value["exists"] is True)
    line.cloud("app update", "--description", "Changed.", check=lambda value: value["description"] == "Changed.")
    line.cloud("app push", "--app-dir", "app", "--version-id", "v1", "--create-instance-id", "baseline")
    line.cloud("version create", "--version-id", "v2", check=id_is("v2"))
    line.cloud("version list", check=has_ids("v1", "v2"))
    line.cloud("version get", "--version-id", "v1", check=id_is("v1"))
    line.cloud("version exists", "--version-id", "v1", check=lambda value: value["exists"] is True)
    line.cloud("version update", "--version-id", "v2", "--description", "Second.", check=id_is("v2"))
    line.cloud("version delete", "--version-id", "v2", "--yes")
    for id in ("candidate", "spare"):
        line.cloud("instance create", "--version-id", "v1", "--instance-id", id, check=id_is(id))
    line.cloud("instance list", check=has_ids("baseline", "candidate", "spare"))
    line.cloud("instance get", "--instance-id", "spare", check=id_is("spare"))
    line.cloud("instance exists", "--instance-id", "spare", check=lambda value: value["exists"] is True)
    line.cloud("instance update", "--instance-id", "spare", "--locked", check=lambda value: value["locked"] is True)
    line.cloud("instance update", "--instance-id", "spare", "--unlocked", check=lambda value: value["locked"] is False)
    line.cloud("instance delete", "--instance-id", "spare", "--yes")


def runs(line, app):
    """Runs. Returns the ids of two."""
    options = ["--input", "input.json", "--options", "factor=2"]
    ids = [line.cloud("run create", *options, check=lambda value: value["run_id"]).get("run_id") for _ in range(2)]
    for id in ids:
        app.run_result_with_polling(id, polling_options=POLLING)
    run = ["--run-id", ids[0]]
    stops = {"stops": [1, 2]}
    line.cloud("run get", *run, check=lambda value: value["output"]["solution"] == stops)
    line.cloud("run information", *run, check=id_is(ids[0]))
    line.cloud("run metadata", *run, check=lambda value: value["metadata"]["status_v2"] == "succeeded")
    line.cloud("run input", *run, check=lambda value: value == {"flat": True})
    line.cloud("run logs", *run, all=True, check=lambda text: "solving" in text)
    clone = ["--cloned-run-id", ids[0], "--input", "input.json"]
    copy = line.cloud("run clone", *clone, check=lambda value: value["run_id"] not in ids).get("run_id")
    line.cloud("run compare", "--run-ids", ",".join(ids), "--flat", check=lambda value: ids[0] in json.dumps(value))
    app.run_result_with_polling(copy, polling_options=POLLING)
    line.cloud("run delete", "--run-id", copy, "--yes")
    line.cloud("run list", check=has_ids(*ids))
    waiting = app.new_run(input={"wait": True})
    line.cloud("run cancel", "--run-id", waiting)
    # The command reads its input from stdin when that is no terminal.
    tracked = ["--status", "succeeded", "--output", "output.json", "--metrics", "metrics.json"]
    line.cloud("run track", *tracked, input='{"stops": 1}', check=lambda value: value["run_id"])
    return ids


def inputs(line, ids):
    """Uploads, managed inputs and input sets."""
    upload = line.cloud("upload create", check=lambda value: value["upload_url"])
    line.cloud("data upload", "--upload-url", upload.get("upload_url", ""), input='{"stops": 4}')
    monday = ["--managed-input-id", "monday"]
    line.cloud("managed-input create", *monday, "--upload-id", upload.get("upload_id", ""), check=id_is("monday"))
    line.cloud("managed-input list", check=has_ids("monday"))
    line.cloud("managed-input get", *monday, check=id_is("monday"))
    line.cloud("managed-input update", *monday, "--description", "Changed.")
    runs = [part for id in ids for part in ("--run-ids", id)]
    line.cloud("input-set create", "--input-set-id", "pair", *runs, check=id_is("pair"))
    managed = ["--managed-inputs", '[{"id": "monday"}]']
    line.cloud("input-set create", "--input-set-id", "managed", *managed, check=id_is("managed"))
    line.cloud("input-set list", check=has_ids("pair", "managed"))
    line.cloud("input-set get", "--input-set-id", "managed", check=id_is("managed"))
    line.cloud("input-set update", "--input-set-id", "managed", "--name", "Renamed", check=id_is("managed"))
    line.cloud("input-set delete", "--input-set-id", "managed", "--yes")
    line.cloud("managed-input delete", *monday, "--yes")


def experiments(line, app, ids):
    """Batch experiments, scenario tests and acceptance tests."""
    batch = ["--batch-experiment-id", "batch"]
    plan = json.dumps([{"instance_id": "baseline", "input_id": id} for id in ids])
    line.cloud("batch create", *batch, "--input-set-id", "pair", "--runs", plan)
    app.batch_experiment_with_polling("batch", polling_options=POLLING)
    line.cloud("batch get", *batch, check=lambda value: value["status"] == "completed")
    line.cloud("batch metadata", *batch, check=lambda value: value["status"] == "completed")
    line.cloud("batch list", check=has_ids("batch"))
    line.cloud("batch update", *batch, "--name", "Renamed", check=lambda value: value["name"] == "Renamed")
    line.cloud("batch delete", *batch, "--yes")
    scenario = ["--scenario-test-id", "scenario"]
    line.cloud("scenario create", *scenario, "--scenarios", json.dumps(SCENARIO))
    app.scenario_test_with_polling("scenario", polling_options=POLLING)
    line.cloud("scenario get", *scenario, check=lambda value: value["status"] == "completed")
    line.cloud("scenario metadata", *scenario, check=lambda value: value["status"] == "completed")
    line.cloud("scenario list", check=has_ids("scenario"))
    line.cloud("scenario update", *scenario, "--name", "Renamed", check=lambda value: value["name"] == "Renamed")
    line.cloud("scenario delete", *scenario, "--yes")
    accept = ["--acceptance-test-id", "accept"]
    sides = ["--candidate-instance-id", "candidate", "--baseline-instance-id", "baseline", "--input-set-id", "pair"]
    line.cloud("acceptance create", *accept, *sides, "--metrics", json.dumps(METRIC))
    app.acceptance_test_with_polling("accept", polling_options=POLLING)
    line.cloud("acceptance get", *accept, check=lambda value: value["results"]["passed"] is True)
    line.cloud("acceptance list", check=has_ids("accept"))
    line.cloud("acceptance update", *accept, "--name", "Renamed", check=lambda value: value["name"] == "Renamed")
    line.cloud("acceptance delete", *accept, "--yes")


def live_tests(line):
    """Shadow and switchback tests."""
    shadow = ["--shadow-test-id", "shadow"]
    comparisons = ["--comparisons", '{"baseline": ["candidate"]}', "--termination-maximum-runs", "5"]
    line.cloud("shadow create", *shadow, *comparisons)
    turns = ["--switchback-test-id", "turns"]
    sides = ["--baseline-instance-id", "baseline", "--candidate-instance-id", "candidate"]
    line.cloud("switchback create", *turns, *sides, "--unit-duration-minutes", "30", "--units", "4")
    for kind, id in (("shadow", shadow), ("switchback", turns)):
        line.cloud(f"{kind} start", *id)
        line.cloud(f"{kind} get", *id, check=lambda value: value["status"] == "started")
        line.cloud(f"{kind} stop", *id, "--intent", "cancel")
        line.cloud(f"{kind} metadata", *id, check=lambda value: value["status"] == "canceled")
        line.cloud(f"{kind} update", *id, "--name", "Renamed", check=lambda value: value["name"] == "Renamed")
        line.cloud(f"{kind} list", check=lambda values: len(values) == 1)
        line.cloud(f"{kind} delete", *id, "--yes")


def collections(line):
    """Ensembles and secrets."""
    best = ["--ensemble-definition-id", "best"]
    groups = json.dumps({"id": "both", "instance_id": "baseline"})
    line.cloud("ensemble create", *best, "--run-groups", groups, "--rules", json.dumps(RULE), check=id_is("best"))
    line.cloud("ensemble get", *best, check=id_is("best"))
    line.cloud("ensemble list", check=has_ids("best"))
    line.cloud("ensemble update", *best, "--name", "Renamed", check=lambda value: value["name"] == "Renamed")
    line.cloud("ensemble delete", *best, "--yes")
    keys = ["--secrets-collection-id", "keys"]
    secret = json.dumps({"type": "env", "location": "API_KEY", "value": "open-sesame"})
    line.cloud("secrets create", *keys, "--secrets", secret, check=id_is("keys"))
    line.cloud("secrets get", *keys, check=id_is("keys"))
    line.cloud("secrets list", check=has_ids("keys"))
    line.cloud("secrets update", *keys, "--name", "Renamed")
    line.cloud("secrets delete", *keys, "--yes")


def account_services(line, client):
    """The account, the marketplace, community apps and the administration of single sign-on."""
    id = client.request("GET", "v1/internal/me/organization").json()[0]["id"]
    line.run("cloud account get", "--account-id", id, check=id_is(id))
    line.run("cloud account update", "--account-id", id, "--name", "Renamed", check=id_is(id))
    made = line.run("cloud account create", "--name", "By command", "--admins", "eve@example.com")
    line.run("cloud account delete", "--account-id", made.get("id", "second"), "--yes")
    published = ["--app-id", "commands-published", "--partner-id", id]
    reference = ["--reference-app-id", "commands", "--title", "Published"]
    line.run("cloud marketplace app create", *published, *reference, check=id_is("commands-published"))
    line.run("cloud marketplace app get", *published, check=id_is("commands-published"))
    line.run("cloud marketplace app list", "--partner-id", id, check=has_ids("commands-published"))
    version = [*published, "--version-id", "v1", "--change-log", "First."]
    line.run("cloud marketplace version create", *version, "--reference-version-id", "v1", check=id_is("v1"))
    line.run("cloud marketplace version get", *published, "--version-id", "v1", check=id_is("v1"))
    line.run("cloud marketplace version list", *published, check=has_ids("v1"))
    line.run("cloud marketplace version update", *version, check=id_is("v1"))
    line.run("cloud marketplace app update", *published, "--state", "released")
    # Another account publishes it.
    subscription = ["--subscription-id", sys.argv[1]]
    line.run("cloud marketplace subscription create", *subscription)
    line.run("cloud marketplace subscription get", *subscription)
    line.run("cloud marketplace subscription list", check=lambda values: len(values) == 1)
    line.run("cloud marketplace subscription delete", *subscription, "--yes")
    listed = line.run("community list", "--flat", check=lambda text: len(text.split()) > 0)
    app = listed.split()[0] if listed else "bin-packing"
    line.run("community clone", "--app", app, "--directory", "cloned")
    for name in ("create", "get", "update", "enable", "disable", "delete"):
        more = {"create": ["--metadata-url", "https://idp.example.com"], "update": ["--metadata-url", "https://a.example.com"]}
        yes = ["--yes"] if name in ("enable", "disable", "delete") else []
        line.run(f"cloud sso {name}", *more.get(name, []), *yes)
    line.run("cloud sso domain delete", "--domain", "example.com", "--yes")


def local_programs(line, app):
    """Commands on a local app and its runs, which then become external runs of the application."""
    source = ["--app-src", os.path.abspath("local")]
    line.run("manifest init", "--type", "binary", "--content-format", "json", "--dirpath", "fresh", "--options-no")
    line.run("manifest validate", "--dirpath", "local")
    line.run("local app register", *source, "--app-id", "mine")
    line.run("local app registered", *source)
    line.run("local app list", check=lambda values: "mine" in [value["app_id"] for value in values])
    line.run("local app get", *source)
    line.run("local app update", *source, "--description", "Changed.")
    made = line.run("local run create", *source, "--input", "input.json", "--wait", check=has_succeeded)
    run = [*source, "--run-id", made["id"]]
    line.run("local run list", *source, check=has_ids(made["id"]))
    line.run("local run get", *run, check=has_succeeded)
    line.run("local run information", *run, check=has_succeeded)
    line.run("local run metadata", *run, check=has_succeeded)
    line.run("local run input", *run, check=lambda value: value == {"flat": True})
    line.run("local run logs", *run, all=True, check=lambda text: "solving" in text)
    # It draws assets of two schemas only, by libraries that take seconds to import.
    line.run("local run visuals", *run, check=lambda value: value == [])
    clone = ["--cloned-run-id", made["id"], "--input", "input.json", "--wait"]
    copy = line.run("local run clone", *source, *clone, check=has_succeeded)
    both = f"{made['id']},{copy['id']}"
    line.run("local run compare", *source, "--run-ids", both, "--flat", check=lambda value: copy["id"] in json.dumps(value))
    before = len(app.list_runs())
    line.run("local app sync", *source, "--target-app-id", "commands", check=lambda _: len(app.list_runs()) == before + 2)
    line.run("local app delete", *source, "--yes")


def configure(line):
    """Creates the profiles of the command line, which accepts no address with a scheme from the environment."""
    endpoint, key = os.environ.pop("NEXTMV_ENDPOINT"), os.environ.pop("NEXTMV_API_KEY")
    where = ["--endpoint", endpoint, "--api-key", key]
    line.run("configuration create", *where)
    line.run("configuration create", *where, "--profile", "other")
    line.run("configuration list", all=True, check=lambda text: "other" in text)


def settings(line):
    """Profiles, sign-in, the cache and the version."""
    line.run("configuration delete", "--profile", "other", "--yes")
    line.run("auth login")
    line.run("auth logout")
    line.run("cache get")
    line.run("cache delete", "--yes")
    line.run("version", all=True, check=lambda text: "1." in text)


def call_every_command():
    """Returns the outcome of each command by its name. The argument of the program is the id of a subscription."""
    line = CommandLine()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("app", "local", "fresh"):
            os.mkdir(name)
        for name in ("app", "local"):
            write_files(APP, name)
            os.chmod(os.path.join(name, "main"), 0o755)
        write_files({"input.json": '{"flat": true}', "output.json": '{"solution": {}}', "metrics.json": '{"value": 1}'}, ".")
        configure(line)
        client = cloud.Client()
        deployments(line)
        app = cloud.Application(client=client, id="commands")
        ids = runs(line, app)
        inputs(line, ids)
        experiments(line, app, ids)
        live_tests(line)
        collections(line)
        account_services(line, client)
        local_programs(line, app)
        settings(line)
        line.run("init", all=True, check=lambda text: "template initialized" in text)
        line.cloud("app delete", "--yes")
        os.chdir("/")
    return line.recorder.outcomes


if __name__ == "__main__":
    print_result(call_every_command)
