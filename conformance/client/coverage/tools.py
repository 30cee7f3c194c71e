"""Calls every tool of the client's MCP server, over stdio. Prints the outcome of each as JSON.

    NEXTMV_COMMAND=<path of the command line> python tools.py <folder with the packages of the extra `mcp`>
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from commands import METRIC, RULE, SCENARIO
from recorder import APP, WORKS, Recorder

from driver_setup import polling_options, print_result, write_files
from nextmv import cloud

POLLING = polling_options()
PROTOCOL = "2025-06-18"


class ToolServer:
    """`nextmv mcp serve`, with the protocol of line-separated JSON-RPC messages over its standard streams."""

    def __init__(self, packages):
        command = [sys.executable, "-c", "from nextmv.cli.main import main; main()", "mcp", "serve"]
        environment = {**os.environ, "PYTHONPATH": packages}
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._last_id = 0
        client = {"name": "coverage", "version": "1"}
        self._request("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client})
        self._send({"method": "notifications/initialized"})
        self.recorder = Recorder(tool["name"] for tool in self._request("tools/list", {})["tools"])

    def _send(self, message):
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._process.stdin.flush()

    def _request(self, method, params):
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._last_id:
                if "error" in message:
                    raise ValueError(message["error"])
                return message["result"]
        raise ValueError("The server ended before it responded.")

    def call(self, name, check=None, /, **arguments):
        """Calls a tool and returns its result. `check` returns False for a wrong result."""
        result = self._request("tools/call", {"name": name, "arguments": arguments})
        text = "\n".join(part.get("text", "") for part in result["content"])
        content = result.get("structuredContent")
        value = text if content is None else content.get("result", content)
        failure = WORKS
        # Some tools return the text of an error as if it were their result.
        if result.get("isError") or text.startswith("Error"):
            failure = " ".join(text.split())
        elif check is not None:
            try:
                failure = WORKS if check(value) else f"unexpected result: {value!r}"
            except (KeyError, IndexError, TypeError, AttributeError, OSError, ValueError) as error:
                failure = f"{type(error).__name__} {error} in the result {value!r}"
        self.recorder.record(name, failure[:500])
        return value if failure == WORKS else {}

    def close(self):
        """Ends the server as its client does."""
        self._process.stdin.close()
        self._process.wait(timeout=30)


def saved(text):
    """Returns the content of the file that a result names."""
    path = re.search(r"(?:saved to|Downloaded:) (\S+)", text).group(1)
    with open(path, encoding="utf-8") as file:
        content = file.read()
    return json.loads(content) if path.endswith(".json") else content


def has_ids(*ids):
    """Returns a check of the ids of a list, in any order."""
    return lambda values: sorted(value["id"] for value in values) == sorted(ids)


class Tools:
    """Calls of tools on the application."""

    def __init__(self, server):
        self.server = server

    def __call__(self, name, check=None, /, **arguments):
        return self.server.call(name, check, app_id="tools", **arguments)


def deployments(server, on_app):
    """Profiles, applications, executables, versions and instances."""
    server.call("cloud_list_profiles")
    server.call("cloud_set_profile", profile="default")
    server.call("cloud_get_profile", lambda value: value == "default")
    server.call("nextmv_workflow_guide", lambda text: "nextmv" in text)
    on_app("cloud_create_app", lambda value: value["id"] == "tools", name="By tool")
    server.call("cloud_list_apps", lambda values: "tools" in [value["id"] for value in values])
    on_app("cloud_get_app", lambda value: value["name"] == "By tool")
    on_app("cloud_app_exists", lambda value: value is True)
    on_app("cloud_update_app", lambda value: value["description"] == "Changed.", description="Changed.")
    on_app("cloud_push_app", app_dir=os.path.abspath("app"))
    for id in ("v1", "v2"):
        on_app("cloud_create_version", lambda value: value["id"] == id, version_id=id)
    on_app("cloud_list_versions", has_ids("v1", "v2"))
    on_app("cloud_get_version", lambda value: value["id"] == "v1", version_id="v1")
    on_app("cloud_update_version", lambda value: value["description"] == "Second.", version_id="v2", description="Second.")
    on_app("cloud_delete_version", version_id="v2")
    for id in ("baseline", "candidate", "spare"):
        on_app("cloud_create_instance", lambda value: value["id"] == id, version_id="v1", instance_id=id)
    on_app("cloud_list_instances", has_ids("baseline", "candidate", "spare"))
    on_app("cloud_get_instance", lambda value: value["id"] == "spare", instance_id="spare")
    on_app("cloud_update_instance", lambda value: value["name"] == "Renamed", instance_id="spare", name="Renamed")
    on_app("cloud_delete_instance", instance_id="spare")


def runs(on_app, app):
    """Runs, and inputs of them. Returns their ids."""
    stops = {"stops": [1, 2]}
    on_app("cloud_run", lambda text: saved(text)["output"]["solution"] == stops, input={"stops": 1})
    second = on_app("cloud_run_submit", lambda id: len(id) > 0, input={"stops": 2})
    app.run_result_with_polling(second, polling_options=POLLING)
    first = next(run.id for run in app.list_runs() if run.id != second)
    on_app("cloud_run_status", lambda value: value["metadata"]["status_v2"] == "succeeded", run_id=second)
    on_app("cloud_run_result", lambda text: saved(text)["output"]["solution"] == stops, run_id=second)
    on_app("cloud_run_input", lambda text: saved(text) == {"stops": 2}, run_id=second)
    on_app("cloud_run_logs", lambda text: "solving" in saved(text), run_id=second)
    on_app("cloud_poll_run_logs", run_id=second)
    waiting = app.new_run(input={"wait": True})
    on_app("cloud_cancel_run", run_id=waiting)
    on_app("cloud_list_runs", has_ids(first, second, waiting))
    on_app("cloud_create_managed_input", lambda value: value["id"] == "monday", managed_input_id="monday", input={"stops": 3})
    on_app("cloud_get_managed_input", lambda value: value["id"] == "monday", managed_input_id="monday")
    on_app("cloud_list_managed_inputs", has_ids("monday"))
    on_app("cloud_create_input_set", lambda value: value["id"] == "pair", input_set_id="pair", run_ids=[first, second])
    on_app("cloud_create_input_set", input_set_id="managed", managed_input_ids=["monday"])
    on_app("cloud_get_input_set", lambda value: value["id"] == "managed", input_set_id="managed")
    on_app("cloud_list_input_sets", has_ids("pair", "managed"))
    on_app("cloud_update_input_set", lambda value: value["name"] == "Renamed", input_set_id="managed", name="Renamed")
    on_app("cloud_delete_input_set", input_set_id="managed")
    on_app("cloud_delete_managed_input", managed_input_id="monday")


def experiments(on_app, app):
    """Batch experiments, scenario tests and acceptance tests."""
    batch = on_app("cloud_create_batch", input_set_id="pair", name="Batch", option_sets={"two": {"factor": "2"}})
    app.new_batch_experiment(id="batch", input_set_id="pair", runs=[{"instance_id": "baseline"}])
    app.batch_experiment_with_polling("batch", polling_options=POLLING)
    ids = ["batch", *([batch] if batch else [])]
    on_app("cloud_get_batch", lambda text: saved(text)["status"] == "completed", batch_id="batch")
    on_app("cloud_batch_metadata", lambda text: saved(text)["status"] == "completed", batch_id="batch")
    on_app("cloud_list_batches", has_ids(*ids))
    for id in ids:
        on_app("cloud_delete_batch", batch_id=id)
    on_app("cloud_create_scenario_test", lambda id: id == "scenario", scenario_test_id="scenario", scenarios=[SCENARIO])
    app.scenario_test_with_polling("scenario", polling_options=POLLING)
    on_app("cloud_get_scenario_test", lambda text: saved(text)["status"] == "completed", scenario_test_id="scenario")
    on_app("cloud_list_scenario_tests", has_ids("scenario"))
    on_app("cloud_delete_scenario_test", scenario_test_id="scenario")
    sides = {"candidate_instance_id": "candidate", "baseline_instance_id": "baseline", "input_set_id": "pair"}
    on_app("cloud_create_acceptance_test", acceptance_test_id="accept", metrics=[METRIC], **sides)
    app.acceptance_test_with_polling("accept", polling_options=POLLING)
    on_app(
        "cloud_get_acceptance_test", lambda text: saved(text)["results"]["passed"] is True, acceptance_test_id="accept"
    )
    on_app("cloud_list_acceptance_tests", has_ids("accept"))
    on_app("cloud_delete_acceptance_test", acceptance_test_id="accept")


def live_tests(on_app, app):
    """Shadow and switchback tests."""
    sides = {"baseline": ["candidate"]}
    on_app("cloud_create_shadow_test", shadow_test_id="tool", comparisons=sides, termination_events={"maximum_runs": 5})
    # The tool that creates a shadow test does not work in this version.
    app.new_shadow_test(sides, cloud.TerminationEvents(maximum_runs=5), shadow_test_id="live")
    sides = {"baseline_instance_id": "baseline", "candidate_instance_id": "candidate"}
    on_app("cloud_create_switchback_test", switchback_test_id="live", unit_duration_minutes=30, units=4, **sides)
    for kind in ("shadow_test", "switchback_test"):
        id = {f"{kind}_id": "live"}
        on_app(f"cloud_start_{kind}", **id)
        on_app(f"cloud_get_{kind}", lambda text: saved(text)["status"] == "started", **id)
        on_app(f"cloud_stop_{kind}", intent="complete", **id)
        on_app(f"cloud_list_{kind}s", lambda values: len(values) == 1)
        on_app(f"cloud_delete_{kind}", **id)


def collections(on_app, app):
    """Ensembles and secrets."""
    groups = [{"id": "both", "instance_id": "baseline", "repetitions": 1}]
    on_app("cloud_create_ensemble", lambda value: value["id"] == "best", ensemble_id="best", run_groups=groups, rules=[RULE])
    on_app("cloud_get_ensemble", lambda text: saved(text)["id"] == "best", ensemble_id="best")
    on_app("cloud_list_ensembles", has_ids("best"))
    on_app(
        "cloud_ensemble_run",
        lambda text: saved(text)["metadata"]["status_v2"] == "succeeded",
        ensemble_id="best",
        input={"stops": 1},
    )
    on_app("cloud_ensemble_run_submit", lambda id: len(id) > 0, ensemble_id="best", input={"stops": 2})
    on_app("cloud_delete_ensemble", ensemble_id="best")
    secret = {"type": "env", "location": "API_KEY", "value": "open-sesame"}
    on_app("cloud_create_secrets_collection", secrets_collection_id="tool", secrets=[secret])
    # The tool that creates a collection does not work in this version.
    made = cloud.Secret(secret_type=cloud.SecretType.ENV, location="API_KEY", value="open-sesame")
    app.new_secrets_collection([made], id="keys")
    on_app("cloud_get_secrets_collection", secrets_collection_id="keys")
    on_app("cloud_list_secrets_collections", has_ids("keys"))
    on_app("cloud_delete_secrets_collection", secrets_collection_id="keys")


def account_services(server, client):
    """The account, community apps and the administration of single sign-on."""
    id = client.request("GET", "v1/internal/me/organization").json()[0]["id"]
    server.call("cloud_get_account", lambda value: value["id"] == id, account_id=id)
    server.call("cloud_get_queue", lambda value: value["runs"] == [], account_id=id)
    apps = server.call("community_list", lambda values: len(values) > 0)
    server.call("community_clone", app_name=apps[0]["name"] if apps else "bin-packing", target_dir=os.path.abspath("cloned"))
    server.call("cloud_sso_delete_domain", domain="example.com")


def local_programs(server):
    """Tools on a local app and its runs, which then become external runs of the application."""
    source = {"app_dir": os.path.abspath("local")}
    server.call("manifest_init", manifest_type="binary", content_format="json", dirpath=os.path.abspath("fresh"))
    server.call("local_run", lambda text: saved(text)["metadata"]["status_v2"] == "succeeded", input={"stops": 1}, **source)
    run = {**source, "run_id": server.call("local_run_submit", lambda id: len(id) > 0, input={"stops": 2}, **source)}
    server.call("local_run_poll_result", lambda text: saved(text)["metadata"]["status_v2"] == "succeeded", **run)
    server.call("local_run_status", lambda value: value["metadata"]["status_v2"] == "succeeded", **run)
    server.call("local_run_result", lambda text: saved(text)["id"] == run["run_id"], **run)
    server.call("local_run_input", lambda text: saved(text) == {"stops": 2}, **run)
    server.call("local_run_logs", lambda text: "solving" in saved(text), **run)
    server.call("local_list_runs", lambda values: len(values) == 2, **source)
    server.call("local_sync", cloud_app_id="tools", **source)


def call_every_tool():
    """Returns the outcome of each tool by its name."""
    client = cloud.Client()
    server = ToolServer(sys.argv[1])
    on_app = Tools(server)
    app = cloud.Application(client=client, id="tools")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("app", "local", "fresh"):
            os.mkdir(name)
        for name in ("app", "local"):
            write_files(APP, name)
            os.chmod(os.path.join(name, "main"), 0o755)
        deployments(server, on_app)
        runs(on_app, app)
        experiments(on_app, app)
        live_tests(on_app, app)
        collections(on_app, app)
        account_services(server, client)
        local_programs(server)
        on_app("cloud_delete_app")
        server.close()
        os.chdir("/")
    return server.recorder.outcomes


if __name__ == "__main__":
    print_result(call_every_tool)
