"""Runs one part against a server through the published Python client.

    python driver.py <part>

Prints the values in the client's own models, as one JSON value; the test of the part has the expectations.
"""

import datetime
import os
import sys
import tempfile
import time

import requests
from nextmv import cloud
from nextmv.cloud import account as account_module
from nextmv.cloud import (
    Application,
    BatchExperimentRun,
    Client,
    EvaluationRule,
    ManagedInput,
    RuleObjective,
    RuleTolerance,
    RuleToleranceType,
    RunGroup,
    Secret,
    SecretType,
)
from nextmv.cloud.acceptance_test import (
    Comparison,
    Metric,
    MetricParams,
    MetricTolerance,
    MetricToleranceType,
    MetricType,
    StatisticType,
)
from nextmv.cloud.scenario import Scenario, ScenarioConfiguration, ScenarioInput, ScenarioInputType
from nextmv.cloud.shadow import StartEvents, StopIntent, TerminationEvents
from nextmv.cloud.switchback import TestComparisonSingle
from nextmv.input import InputFormat
from nextmv.run import (
    Format,
    FormatInput,
    FormatOutput,
    RunConfiguration,
    RunQueuing,
    RunType,
    RunTypeConfiguration,
    TrackedRun,
    TrackedRunStatus,
)
from nextmv.safe import safe_name_and_id
from nextmv.status import StatusV2

from driver_setup import polling_options, print_result, push_files, refusal_status, write_files

POLLING = polling_options()

PYTHON_APP = {
    "app.yaml": """
type: python
runtime: ghcr.io/nextmv-io/runtime/python:3.11
files:
  - main.py
  - names.py
configuration:
  options:
    strict: true
    validation:
      enforce: all
    items:
      - name: factor
        option_type: int
        default: 2
        description: What the numbers are multiplied by.
        required: false
        additional_attributes: {min: 1, max: 100, step: 1}
        ui: {control_type: slider, display_name: Factor}
      - name: note
        option_type: string
        default: none
""",
    "names.py": 'APP = "multiplier"\n',
    "main.py": """
import argparse, json, sys, time
from names import APP

parser = argparse.ArgumentParser()
parser.add_argument("-factor", type=int, default=0)
parser.add_argument("-note", default="")
options = parser.parse_args()
text = sys.stdin.read()
try:
    given = json.loads(text)
except ValueError:
    given = {"numbers": [int(one) for one in text.split()]}
print(f"{APP} has {len(given.get('numbers', []))} numbers", file=sys.stderr, flush=True)
if given.get("wait"):
    time.sleep(600)
if given.get("fail"):
    sys.exit("there is no plan")
numbers = [number * options.factor for number in given["numbers"]]
output = {
    "options": {"factor": options.factor, "note": options.note},
    "solution": {"numbers": numbers, "padding": "x" * given.get("padding", 0)},
}
if given.get("metrics"):
    output["metrics"] = {"total": sum(numbers), "count": len(numbers)}
else:
    output["statistics"] = {"schema": "v1", "result": {"value": sum(numbers), "custom": {"count": len(numbers)}}}
json.dump(output, sys.stdout)
""",
}

FILES_APP = {
    "app.yaml": """
type: python
runtime: ghcr.io/nextmv-io/runtime/python:3.11
files:
  - main.py
configuration:
  content:
    format: multi-file
""",
    "main.py": """
import json, os

os.makedirs("outputs/solutions/more", exist_ok=True)
os.makedirs("outputs/statistics", exist_ok=True)
for name in sorted(os.listdir("inputs")):
    with open(os.path.join("inputs", name)) as given, open(f"outputs/solutions/more/{name}", "w") as made:
        made.write(given.read().upper())
with open("outputs/statistics/statistics.json", "w") as file:
    json.dump({"statistics": {"schema": "v1", "result": {"value": 7}}}, file)
print("all files are written")
""",
}

# Ends as its option says: with an output in its format, without one, with an error, or when it is canceled.
ENDING_APP = {
    "app.yaml": """
type: python
runtime: ghcr.io/nextmv-io/runtime/python:3.11
files:
  - main.py
""",
    "main.py": """
import os, sys, time

ending = sys.argv[-1]
if ending == "fails":
    sys.exit("there is no plan")
if ending == "waits":
    time.sleep(600)
if ending == "succeeds":
    for folder in ["outputs/solutions", "output"]:
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/out.csv", "w") as file:
            file.write("c,d")
    print('{"solution": {}}')
""",
}

SECRETS_APP = {
    "app.yaml": """
type: python
runtime: ghcr.io/nextmv-io/runtime/python:3.11
files:
  - main.py
""",
    "main.py": """
import json, os, sys

print("the key is", os.environ["API_KEY"], file=sys.stderr)
with open("licence.txt") as file:
    json.dump({"key": len(os.environ["API_KEY"]), "licence": file.read()}, sys.stdout)
""",
}


def read_files(folder):
    """Returns the texts below the folder, by relative path."""
    found = {}
    for root, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(root, name)
            with open(path, encoding="utf-8") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


def to_fields(value):
    """Returns the fields of a model of the client; other values unchanged."""
    return value.model_dump(mode="json", exclude={"client"}) if hasattr(value, "model_dump") else value


def wait_for_refusal(call):
    """Returns the status of the refusal, after a job of the server has removed the resource soon after its deletion."""
    for _ in range(100):
        status = refusal_status(call)
        if status is not None:
            return status
        time.sleep(0.1)
    return None


def push_new_app(client, id, files=PYTHON_APP):
    """Creates an application and pushes the files to it."""
    app = Application.new(client, name=f"App {id}", id=id)
    push_files(app, files)
    return app


def applications(client):
    """Creates, finds, updates and deletes applications."""
    made = Application.new(client, name="Client's app", id="py-app", description="Made by the client.")
    again = Application.new(client, name="Not taken", id="py-app", exist_ok=True)
    generated = Application.new(client)
    updated = made.update(name="Renamed app", description="New words.", default_instance_id="latest")
    listed = cloud.list_applications(client)
    unpaged = cloud.list_applications(client, no_pagination=True)
    got = Application.get(client, "py-app")
    existed = [Application.exists(client, "py-app"), Application.exists(client, "no-such-app")]
    made.delete()
    return {
        "made": to_fields(made),
        "again": again.name,
        "generated": generated.id,
        "generated_name": generated.name,
        "updated": to_fields(updated),
        "got": to_fields(got),
        "listed": [app.id for app in listed],
        "unpaged": [app.id for app in unpaged],
        "existed": existed,
        "exists_after_delete": Application.exists(client, "py-app"),
        "get_after_delete": refusal_status(lambda: Application.get(client, "py-app")),
    }


def versions(client):
    """Pushes an app folder and creates versions of it."""
    app = push_new_app(client, "py-versions")
    made = app.new_version(id="v1", name="First version", description="The first one.")
    again = app.new_version(id="v1", name="Not taken", exist_ok=True)
    generated = app.new_version()
    updated = app.update_version(version_id="v1", name="Renamed version", description="New words.")
    listed = app.list_versions()
    unpaged = app.list_versions(no_pagination=True)
    got = app.version("v1")
    existed = [app.version_exists("v1"), app.version_exists("v2")]
    app.delete_version("v1")
    return {
        "made": to_fields(made),
        "again": again.name,
        "generated": to_fields(generated),
        "updated": to_fields(updated),
        "got": to_fields(got),
        "listed": [version.id for version in listed],
        "unpaged": [version.id for version in unpaged],
        "existed": existed,
        "exists_after_delete": app.version_exists("v1"),
    }


def instances(client):
    """Creates instances, updates them and runs the default one."""
    app = push_new_app(client, "py-instances")
    app.new_version(id="v1", name="First version")
    app.new_version(id="v2", name="Second version")
    made = app.new_instance(
        version_id="v1",
        id="prod",
        name="Production",
        description="Plans the tours.",
        configuration=cloud.InstanceConfiguration(
            execution_class="6c9500mb870s",
            options={"factor": "3"},
            queuing=RunQueuing(priority=2, disabled=False),
        ),
    )
    again = app.new_instance(version_id="v1", id="prod", name="Not taken", exist_ok=True)
    bare = app.new_instance(version_id="v1")
    updated = app.update_instance(
        id="prod",
        name="Renamed instance",
        version_id="v2",
        configuration=cloud.InstanceConfiguration(options={"factor": "5"}),
    )
    locks = [app.update_instance(id="prod", locked=True).locked]
    refused = refusal_status(lambda: app.update_instance(id="prod", name="Locked name"))
    locks.append(app.update_instance(id="prod", locked=False).locked)
    app.update(default_instance_id="prod")
    on_default = Application.get(client, "py-instances").new_run_with_result(
        input={"numbers": [1, 2]}, polling_options=POLLING
    )
    listed = app.list_instances()
    unpaged = app.list_instances(no_pagination=True)
    got = app.instance("prod")
    latest = app.instance("latest")
    existed = [app.instance_exists("prod"), app.instance_exists("nothing")]
    app.update(default_instance_id="latest")
    app.delete_instance("prod")
    return {
        "made": to_fields(made),
        "again": again.name,
        "bare": to_fields(bare),
        "updated": to_fields(updated),
        "locks": locks,
        "refused": refused,
        "on_default": to_fields(on_default),
        "listed": [instance.id for instance in listed],
        "unpaged": [instance.id for instance in unpaged],
        "got": to_fields(got),
        "latest": to_fields(latest),
        "existed": existed,
        "exists_after_delete": app.instance_exists("prod"),
    }


def runs(client):
    """Runs inputs with options and reads all results."""
    app = push_new_app(client, "py-runs")
    run = app.new_run(
        input={"numbers": [1, 2, 3]},
        instance_id="latest",
        name="Monday",
        description="The plan of Monday.",
        options={"factor": "10", "note": "two words"},
        configuration=RunConfiguration(execution_class="6c9500mb870s", queuing=RunQueuing(priority=3, disabled=False)),
    )
    result = app.run_result_with_polling(run_id=run, polling_options=POLLING)
    older = app.new_run_with_result(input={"numbers": [4]}, instance_id="devint", polling_options=POLLING)
    failed = app.new_run_with_result(input={"numbers": [], "fail": True}, polling_options=POLLING)
    return {
        "run": run,
        "result": to_fields(result),
        "information": to_fields(app.run_information(run)),
        "metadata": to_fields(app.run_metadata(run)),
        "output": app.run_output(run),
        "input": app.run_input(run),
        "logs": app.run_logs(run).log,
        "live": [one.log for one in app.run_logs_with_polling(run, polling_options=POLLING)],
        "older": to_fields(older),
        "failed": to_fields(failed),
        "refused_option": refusal_status(lambda: app.new_run(input={"numbers": []}, options={"unknown": "1"})),
        "missing": refusal_status(lambda: app.run_information("latest-9KzmD41Hg")),
    }


def contents(client):
    """Transfers texts, large contents, uploads and folders of files."""
    app = push_new_app(client, "py-contents")
    text = app.new_run_with_result(input="1 2\n39", polling_options=POLLING)
    large_input = {"numbers": [1], "note": "y" * (5 * 1024 * 1024)}
    large = app.new_run_with_result(input=large_input, polling_options=POLLING)
    padded = app.new_run_with_result(input={"numbers": [1], "padding": 6 * 1024 * 1024}, polling_options=POLLING)
    url = app.upload_url()
    app.upload_data(upload_url=url, data={"numbers": [21]})
    uploaded = app.new_run_with_result(upload_id=url.upload_id, polling_options=POLLING)

    files = push_new_app(client, "py-files", FILES_APP)
    with tempfile.TemporaryDirectory() as given, tempfile.TemporaryDirectory() as made:
        write_files({"a.txt": "alpha", "b.txt": "béta"}, given)
        multi = files.new_run_with_result(input_dir_path=given, output_dir_path=made, polling_options=POLLING)
        solutions = read_files(made)
    with tempfile.TemporaryDirectory() as back:
        files.run_input(multi.id, output_dir_path=back)
        inputs = read_files(back)
    return {
        "text": to_fields(text),
        "text_input": app.run_input(text.id),
        "large_size": large.metadata.input_size,
        "large_output": large.output["solution"]["numbers"],
        "large_input_same": app.run_input(large.id) == large_input,
        "padded_size": padded.metadata.output_size,
        "padded_output": len(padded.output["solution"]["padding"]),
        "uploaded": uploaded.output["solution"]["numbers"],
        "multi": to_fields(multi),
        "solutions": solutions,
        "inputs": inputs,
        "logs": files.run_logs(multi.id).log,
    }


def end_of(app, ending, **given):
    """Returns what the client shows of a run that ends like this."""
    with tempfile.TemporaryDirectory() as made:
        run = app.new_run(options={"ending": ending}, **given)
        if ending == "waits":
            app.cancel_run(run)
        result = app.run_result_with_polling(run, polling_options=POLLING, output_dir_path=made)
        files = read_files(made)
    log = result.error_log
    return {
        "status": result.metadata.status_v2.value,
        "output": result.output,
        "files": files,
        "stderr": log.stderr if log else None,
    }


def endings(client):
    """Reads runs of every format with every final status."""
    seen = {}
    for format in ["json", "multi-file", "csv-archive"]:
        app = push_new_app(
            client,
            f"py-ends-{format}",
            {**ENDING_APP, "app.yaml": ENDING_APP["app.yaml"] + f"configuration: {{content: {{format: {format}}}}}\n"},
        )
        with tempfile.TemporaryDirectory() as folder:
            write_files({"in.csv": "a,b"}, folder)
            given = {"input": {}} if format == "json" else {"input_dir_path": folder}
            for ending in ["succeeds", "omits", "fails", "waits"]:
                seen[f"{format} {ending}"] = end_of(app, ending, **given)
    return seen


def changes(client):
    """Cancels, lists, compares, clones and deletes runs."""
    app = push_new_app(client, "py-changes")
    # The client cannot compare runs with nested statistics in their metadata; it accepts flat metrics.
    ended, other = [
        app.new_run_with_result(
            input={"numbers": [number], "metrics": True},
            run_options={"factor": factor},
            polling_options=POLLING,
        )
        for number, factor in [(1, "4"), (2, "6")]
    ]
    waiting = app.new_run(input={"numbers": [1], "wait": True})
    # Account.queue() of this version fails before its request; its model of the response works.
    queue = cloud.Queue.from_dict(client.request(method="GET", endpoint="v1/account/queue").json())
    app.cancel_run(waiting)
    canceled = app.run_result_with_polling(waiting, polling_options=POLLING)
    app.cancel_run(ended.id)
    listed = app.list_runs()
    compared = app.compare_runs([ended.id, other.id])
    unpaged = [run.id for run in app.list_runs(no_pagination=True)]
    succeeded = [run.id for run in app.list_runs(status=StatusV2.succeeded)]
    cloned = app.clone_run_with_result(ended.id, run_options={"factor": "5"}, polling_options=POLLING)
    app.delete_run(other.id)
    return {
        "ids": [ended.id, other.id, waiting],
        "queue": to_fields(queue),
        "canceled": to_fields(canceled),
        "after_cancel": to_fields(app.run_information(ended.id)),
        "listed": [to_fields(run) for run in listed],
        "unpaged": unpaged,
        "succeeded": succeeded,
        "compared": to_fields(compared),
        "cloned": to_fields(cloned),
        "after_delete": refusal_status(lambda: app.run_information(other.id)),
        "left": [run.id for run in app.list_runs()],
    }


def tracked(client):
    """Tracks external runs, with assets, statistics and metrics."""
    app = Application.new(client, name="Tracked runs", id="py-tracked")
    chart = {"name": "chart", "content": {"data": [1]}, "content_type": "json",
             "visual": {"schema": "plotly", "label": "Chart", "type": "custom-tab"}}
    done = app.track_run_with_result(
        TrackedRun(
            status=TrackedRunStatus.SUCCEEDED,
            input={"stops": 3},
            output={
                "solution": {"route": [1, 2, 3]},
                "statistics": {"schema": "v1", "result": {"value": 12}},
                "assets": [chart],
            },
            duration=5000,
            name="On my machine",
            description="Made elsewhere.",
            logs=["begun", "found"],
        ),
        polling_options=POLLING,
    )
    assets = app.list_assets(done.id)
    broken = app.track_run(
        TrackedRun(status=TrackedRunStatus.FAILED, input={"stops": 0}, error="There is no stop.", duration=10)
    )
    with tempfile.TemporaryDirectory() as given, tempfile.TemporaryDirectory() as made:
        write_files({"in.csv": "a,b"}, given)
        write_files({"out.csv": "c,d"}, made)
        files = app.track_run(
            TrackedRun(
                status=TrackedRunStatus.SUCCEEDED,
                input_dir_path=given,
                output_dir_path=made,
                duration=7,
                statistics={"schema": "v1", "result": {"value": 3}},
                metrics={"cost": 4},
                assets=[chart],
            ),
            configuration=RunConfiguration(
                format=Format(
                    format_input=FormatInput(input_type=InputFormat.MULTI_FILE),
                    format_output=FormatOutput(output_type="multi-file"),
                )
            ),
        )
    with tempfile.TemporaryDirectory() as folder:
        app.run_result(files, output_dir_path=folder)
        solutions = read_files(folder)
    return {
        "done": to_fields(done),
        "input": app.run_input(done.id),
        "logs": app.run_logs(done.id).log,
        "assets": [to_fields(one) for one in assets],
        "chart": app.download_asset_content(assets[0]),
        "broken": to_fields(app.run_result(broken)),
        "files": to_fields(app.run_information(files)),
        "file_assets": [one.name for one in app.list_assets(files)],
        "solutions": solutions,
        "listed": [to_fields(one) for one in app.list_runs()],
    }


def repeated(client):
    """Runs managed inputs, and repeats runs."""
    app = push_new_app(client, "py-repeated")
    url = app.upload_url()
    app.upload_data(upload_url=url, data={"numbers": [6, 7]})
    managed = app.new_managed_input(id="numbers", name="Numbers", upload_id=url.upload_id)
    first = app.new_run_with_result(managed_input_id="numbers", polling_options=POLLING)
    second = app.new_run_with_result(input=managed, polling_options=POLLING)
    clone = app.clone_run_with_result(first.id, run_options={"factor": "5"}, polling_options=POLLING)
    return {"first": to_fields(first), "second": to_fields(second), "clone": to_fields(clone)}


def secrets(client):
    """Creates and updates secrets collections, and runs an app that gets them."""
    app = push_new_app(client, "py-secrets", SECRETS_APP)
    made = app.new_secrets_collection(
        id="keys",
        name="Keys",
        secrets=[
            Secret(secret_type=SecretType.ENV, location="API_KEY", value="open-sesame"),
            Secret(secret_type=SecretType.FILE, location="licence.txt", value="line one"),
        ],
    )
    used = app.new_run_with_result(
        input={}, configuration=RunConfiguration(secrets_collection_id="keys"), polling_options=POLLING
    )
    renamed = app.update_secrets_collection("keys", name="Renamed keys")
    app.update_secrets_collection(
        "keys", secrets=[Secret(secret_type=SecretType.ENV, location="OTHER", value="new")], keep_existing=True
    )
    kept = app.secrets_collection("keys")
    app.update_secrets_collection(
        "keys", secrets=[Secret(secret_type=SecretType.ENV, location="API_KEY", value="changed")]
    )
    replaced = app.secrets_collection("keys")
    listed = [one.collection_id for one in app.list_secrets_collections()]
    app.delete_secrets_collection("keys")
    return {
        "made": to_fields(made),
        "output": used.output,
        "logs": app.run_logs(used.id).log,
        "renamed": to_fields(renamed),
        "kept": to_fields(kept),
        "replaced": to_fields(replaced),
        "listed": listed,
        "after_delete": refusal_status(lambda: app.secrets_collection("keys")),
    }


def managed_inputs(client):
    """Creates managed inputs from uploads and from runs, also as the scenario tests of the client do."""
    app = push_new_app(client, "py-inputs")
    url = app.upload_url()
    app.upload_data(upload_url=url, data={"numbers": [1, 2]})
    made = app.new_managed_input(id="monday", name="Monday", description="Its peak.", upload_id=url.upload_id)
    generated = app.new_managed_input(upload_id=url.upload_id)
    short = app.new_managed_input(id="a", upload_id=url.upload_id)
    long = app.new_managed_input(id="l" * 64, upload_id=url.upload_id)
    name, id = safe_name_and_id(prefix="man-input", entity_id="a scenario with a name that is rather long")
    scenario = app.new_managed_input(
        id=id, name=name, description=f"Automatically created from scenario test: {id}", upload_id=url.upload_id
    )
    texts = app.upload_url()
    app.upload_data(upload_url=texts, data="5 6")
    text = app.new_managed_input(
        id="text",
        upload_id=texts.upload_id,
        format=Format(format_input=FormatInput(input_type=InputFormat.TEXT)),
    )
    run = app.new_run_with_result(input="1 2\n39", polling_options=POLLING)
    from_run = app.new_managed_input(id="from-run", run_id=run.id)
    listed = app.list_managed_inputs()
    unpaged = app.list_managed_inputs(no_pagination=True)
    got = app.managed_input("monday")
    # The client parses the response to the update, which has no body by the API.
    try:
        updated = to_fields(app.update_managed_input("monday", name="Renamed input", description="New words."))
    except requests.JSONDecodeError as error:
        updated = type(error).__name__
    after_update = app.managed_input("monday")
    app.delete_managed_input("monday")
    return {
        "upload": url.upload_id,
        "run": run.id,
        "made": to_fields(made),
        "generated": to_fields(generated),
        "short": short.name,
        "long": long.name,
        "scenario": [to_fields(scenario), name, id],
        "text": to_fields(text),
        "from_run": to_fields(from_run),
        "listed": [one.id for one in listed],
        "unpaged": [one.id for one in unpaged],
        "got": to_fields(got),
        "updated": updated,
        "after_update": to_fields(after_update),
        "get_after_delete": refusal_status(lambda: app.managed_input("monday")),
        "left": [one.id for one in app.list_managed_inputs()],
    }


def input_sets(client):
    """Creates input sets in the three ways of the client, and as its scenario tests do."""
    app = push_new_app(client, "py-sets")
    runs = [app.new_run_with_result(input={"numbers": [n]}, polling_options=POLLING).id for n in (1, 2, 3)]
    for id in ("one", "two"):
        url = app.upload_url()
        app.upload_data(upload_url=url, data={"numbers": [1, 2]})
        app.new_managed_input(id=id, name=f"Input {id}", description="Told.", upload_id=url.upload_id)
    of_runs = app.new_input_set(id="of-runs", name="Of runs", description="Two.", run_ids=runs[:2])
    now = datetime.datetime.now(datetime.timezone.utc)
    hour = datetime.timedelta(hours=1)
    of_instance = app.new_input_set(
        id="of-instance", instance_id="latest", start_time=now - hour, end_time=now + hour, maximum_runs=2
    )
    generated = app.new_input_set(instance_id="latest")
    of_inputs = app.new_input_set(id="of-inputs", inputs=[app.managed_input("two"), app.managed_input("one")])
    name, id = safe_name_and_id(prefix="inpset", entity_id="a scenario with a name that is rather long")
    scenario = app.new_input_set(
        id=id,
        name=name,
        description=f"Automatically created from scenario test: {id}",
        maximum_runs=20,
        inputs=[ManagedInput.from_dict(data={"id": "one"})],
    )
    listed = app.list_input_sets()
    unpaged = app.list_input_sets(no_pagination=True)
    renamed = app.update_input_set("of-runs", name="Renamed set", description="New words.")
    app.delete_managed_input("two")
    kept = app.update_input_set("of-inputs", description="As it was.")
    replaced = app.update_input_set("of-runs", inputs=[app.managed_input("one")])
    app.delete_input_set("of-instance")
    return {
        "runs": runs,
        "of_runs": to_fields(of_runs),
        "of_instance": to_fields(of_instance),
        "generated": to_fields(generated),
        "of_inputs": to_fields(of_inputs),
        "scenario": [to_fields(scenario), name, id],
        "got": to_fields(app.input_set("of-runs")),
        "listed": [one.id for one in listed],
        "unpaged": [one.id for one in unpaged],
        "renamed": to_fields(renamed),
        "kept": to_fields(kept),
        "replaced": to_fields(replaced),
        "mixed": refusal_status(lambda: app.new_input_set(run_ids=runs, instance_id="latest", start_time=now)),
        "get_after_delete": refusal_status(lambda: app.input_set("of-instance")),
        "left": [one.id for one in app.list_input_sets()],
    }


def ensembles(client):
    """Creates ensembles, and runs one that selects the best of three runs."""
    app = push_new_app(client, "py-ensembles")
    groups = [
        RunGroup(id="small", instance_id="latest", options={"factor": "2"}),
        RunGroup(id="large", instance_id="latest", options={"factor": "5"}, repetitions=2),
    ]
    rules = [
        EvaluationRule(
            id="total",
            statistics_path="$.result.value",
            objective=RuleObjective.MAXIMIZE,
            tolerance=RuleTolerance(value=0.1, type=RuleToleranceType.RELATIVE),
            index=0,
        )
    ]
    made = app.new_ensemble_definition(groups, rules, id="largest", name="The largest", description="Of three.")
    generated = app.new_ensemble_definition(groups, rules)
    run_type = RunTypeConfiguration(run_type=RunType.ENSEMBLE, definition_id="largest")
    # The defaults of the client: it names formats, and the instance `latest`.
    configuration = RunConfiguration(
        format=Format(format_input=FormatInput(), format_output=FormatOutput()), run_type=run_type
    )
    result = app.new_run_with_result(
        input={"numbers": [1, 2, 3]}, configuration=configuration, polling_options=POLLING, instance_id="latest"
    )
    ensemble = client.request("GET", f"{app.endpoint}/runs/{result.id}/ensemble").json()
    children = [to_fields(app.run_metadata(one["id"])) for one in ensemble["child_runs"]]
    updated = app.update_ensemble_definition("largest", name="Renamed one")
    got = app.ensemble_definition("largest")
    listed = app.list_ensemble_definitions()
    unpaged = app.list_ensemble_definitions(no_pagination=True)
    app.delete_ensemble_definition("largest")
    return {
        "made": to_fields(made),
        "generated": to_fields(generated),
        "result": to_fields(result),
        "ensemble": ensemble,
        "children": children,
        "updated": to_fields(updated),
        "got": to_fields(got),
        "listed": [one.id for one in listed],
        "unpaged": [one.id for one in unpaged],
        "get_after_delete": refusal_status(lambda: app.ensemble_definition("largest")),
        "left": [one.id for one in app.list_ensemble_definitions()],
        "runs": [one.id for one in app.list_runs()],
    }


def shadow_tests(client):
    """Runs a shadow test from its draft to its end, on runs of the client."""
    app = push_new_app(client, "py-shadow")
    version = app.new_version(id="v1", name="Version one")
    app.new_instance(version.id, id="baseline", name="Baseline")
    now = datetime.datetime.now(datetime.timezone.utc)
    made = app.new_shadow_test(
        comparisons={"baseline": ["latest"]},
        termination_events=TerminationEvents(maximum_runs=2, time=now + datetime.timedelta(hours=1)),
        start_events=StartEvents(time=now - datetime.timedelta(hours=1)),
        shadow_test_id="shadow",
        name="Shadow",
        description="Compares the newest executable with the baseline.",
    )
    generated = app.new_shadow_test(
        comparisons={"baseline": ["latest"]}, termination_events=TerminationEvents(maximum_runs=1)
    )
    app.start_shadow_test("shadow")
    runs = [
        app.new_run_with_result(input={"numbers": [n]}, instance_id="baseline", polling_options=POLLING).id
        for n in (1, 2)
    ]
    while app.shadow_test_metadata("shadow").status.value != "completed":
        time.sleep(0.1)
    updated = app.update_shadow_test("shadow", name="Renamed", description="New words.")
    got = app.shadow_test("shadow")
    app.start_shadow_test(generated.shadow_test_id)
    app.stop_shadow_test(generated.shadow_test_id, StopIntent("cancel"))
    canceled = app.shadow_test_metadata(generated.shadow_test_id)
    listed = [one.shadow_test_id for one in app.list_shadow_tests()]
    unpaged = [one.shadow_test_id for one in app.list_shadow_tests(no_pagination=True)]
    app.delete_shadow_test(generated.shadow_test_id)
    return {
        "made": to_fields(made),
        "generated": to_fields(generated),
        "originals": runs,
        "updated": to_fields(updated),
        "got": to_fields(got),
        "canceled": to_fields(canceled),
        "listed": listed,
        "unpaged": unpaged,
        "left": [one.shadow_test_id for one in app.list_shadow_tests()],
    }


def switchback_tests(client):
    """Runs a switchback test from its plan to its end, on a run of the client."""
    app = push_new_app(client, "py-switchback")
    version = app.new_version(id="v1", name="Version one")
    app.new_instance(version.id, id="baseline", name="Baseline")
    sides = TestComparisonSingle(baseline_instance_id="baseline", candidate_instance_id="latest")
    made = app.new_switchback_test(sides, 30, 4, switchback_test_id="turns", name="Turns")
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    generated = app.new_switchback_test(sides, 1, 1000, start=later)
    app.start_switchback_test("turns")
    run = app.new_run_with_result(input={"numbers": [1]}, instance_id="baseline", polling_options=POLLING).id
    got = app.switchback_test("turns")
    app.stop_switchback_test("turns", StopIntent("complete"))
    updated = app.update_switchback_test("turns", name="Renamed")
    listed = [one.switchback_test_id for one in app.list_switchback_tests()]
    unpaged = [one.switchback_test_id for one in app.list_switchback_tests(no_pagination=True)]
    app.delete_switchback_test(generated.switchback_test_id)
    return {
        "made": to_fields(made),
        "generated": [generated.switchback_test_id, len(generated.plan.units)],
        "run": run,
        "got": to_fields(got),
        "stopped": app.switchback_test_metadata("turns").status.value,
        "updated": to_fields(updated),
        "listed": listed,
        "unpaged": unpaged,
        "left": [one.switchback_test_id for one in app.list_switchback_tests()],
    }


def create_comparison_app(client, id, **more):
    """Creates an app with two instances, and an input set `three` of runs on 1, 2 and 3. Returns the app and the runs."""
    app = push_new_app(client, id)
    app.new_version(id="v1", name="Version 1")
    for id, factor in (("baseline", "2"), ("candidate", "3")):
        app.new_instance(
            version_id="v1", id=id, name=f"The {id}", configuration=cloud.InstanceConfiguration(options={"factor": factor})
        )
    runs = [app.new_run_with_result(input={"numbers": [n], **more}, polling_options=POLLING).id for n in (1, 2, 3)]
    app.new_input_set(id="three", name="Three", run_ids=runs)
    return app, runs


def direct_metric(comparison, statistic, tolerance=None, field="result.value"):
    return Metric(
        field=field,
        metric_type=MetricType.direct_comparison,
        params=MetricParams(
            operator=comparison,
            tolerance=tolerance or MetricTolerance(type=MetricToleranceType.undefined, value=0),
        ),
        statistic=statistic,
    )


def batch_experiments(client):
    """Creates batch experiments as the client builds them: run by run, with option sets, and of versions."""
    app, inputs = create_comparison_app(client, "py-batch")
    runs = [
        BatchExperimentRun(input_id=input, instance_id=instance, option_set="noted", input_set_id="three", repetition=0)
        for instance in ("baseline", "candidate")
        for input in inputs
    ]
    made = app.new_batch_experiment(
        id="noted",
        name="Noted runs",
        description="Both of the instances on three inputs.",
        option_sets={"noted": {"note": "seen"}},
        runs=runs,
    )
    polled = app.batch_experiment_with_polling(made, polling_options=POLLING)
    generated = app.new_batch_experiment_with_result(
        input_set_id="three",
        runs=[{"version_id": "v1", "input_id": inputs[0]}, {"instance_id": "baseline"}],
        polling_options=POLLING,
    )
    nowhere = refusal_status(lambda: app.new_batch_experiment(id="nowhere", runs=[{"instance_id": "nowhere"}]))
    again = refusal_status(lambda: app.new_batch_experiment(id="noted", input_set_id="three", runs=[{"instance_id": "latest"}]))
    metadata = app.batch_experiment_metadata("noted")
    listed = app.list_batch_experiments()
    unpaged = app.list_batch_experiments(no_pagination=True)
    scenarios = app.list_scenario_tests()
    updated = app.update_batch_experiment("noted", name="Renamed batch", description="New words.")
    got = app.batch_experiment("noted")
    app.delete_batch_experiment("noted")
    return {
        "inputs": inputs,
        "made": made,
        "polled": to_fields(polled),
        "generated": to_fields(generated),
        "nowhere": nowhere,
        "again": again,
        "metadata": to_fields(metadata),
        "listed": [to_fields(one) for one in listed],
        "unpaged": [one.id for one in unpaged],
        "scenarios": [one.id for one in scenarios],
        "updated": to_fields(updated),
        "got": to_fields(got),
        "get_after_delete": refusal_status(lambda: app.batch_experiment("noted")),
        "metadata_after_delete": refusal_status(lambda: app.batch_experiment_metadata("noted")),
        "run_after_delete": wait_for_refusal(lambda: app.run_metadata(got.runs[0].id)),
        "left": [one.id for one in app.list_batch_experiments()],
    }


def scenario_tests(client):
    """Creates scenario tests on every kind of input of the client, with varying options and repetitions."""
    app, inputs = create_comparison_app(client, "py-scenario")
    url = app.upload_url()
    app.upload_data(upload_url=url, data={"numbers": [4, 5]})
    app.new_managed_input(id="nine", upload_id=url.upload_id)
    made = app.new_scenario_test(
        id="every-kind",
        name="Every kind of input",
        description="Of an input set, of a managed input and of new data.",
        repetitions=1,
        scenarios=[
            Scenario(
                scenario_input=ScenarioInput(
                    scenario_input_type=ScenarioInputType.INPUT_SET, scenario_input_data="three"
                ),
                instance_id="baseline",
            ),
            Scenario(
                scenario_input=ScenarioInput(scenario_input_type=ScenarioInputType.INPUT, scenario_input_data=["nine"]),
                instance_id="latest",
                scenario_id="managed",
                configuration=[
                    ScenarioConfiguration(name="factor", values=["5", "7"]),
                    ScenarioConfiguration(name="note", values=["a", "b"]),
                ],
            ),
            Scenario(
                scenario_input=ScenarioInput(
                    scenario_input_type=ScenarioInputType.NEW,
                    scenario_input_data=[{"numbers": [100]}, {"numbers": [200]}],
                ),
                instance_id="candidate",
                scenario_id="new-data",
            ),
        ],
    )
    polled = app.scenario_test_with_polling(made, polling_options=POLLING)
    one = Scenario(
        scenario_input=ScenarioInput(scenario_input_type=ScenarioInputType.INPUT_SET, scenario_input_data="three"),
        instance_id="baseline",
    )
    generated = app.new_scenario_test_with_result([one], content_type="json", polling_options=POLLING)
    metadata = app.scenario_test_metadata("every-kind")
    listed = app.list_scenario_tests()
    unpaged = app.list_scenario_tests(no_pagination=True)
    batches = app.list_batch_experiments()
    updated = app.update_scenario_test("every-kind", name="Renamed scenarios", description="New words.")
    got = app.scenario_test("every-kind")
    app.delete_scenario_test("every-kind")
    return {
        "inputs": inputs,
        "made": made,
        "polled": to_fields(polled),
        "generated": to_fields(generated),
        "metadata": to_fields(metadata),
        "listed": [one.id for one in listed],
        "unpaged": [one.id for one in unpaged],
        "batches": [one.id for one in batches],
        "updated": to_fields(updated),
        "got": [got.name, len(got.runs)],
        "get_after_delete": refusal_status(lambda: app.scenario_test("every-kind")),
        "left": [one.id for one in app.list_scenario_tests()],
    }


def acceptance_of_a_batch(client):
    """Creates an acceptance test of an existing batch experiment, with every operator and statistic of the client."""
    app, inputs = create_comparison_app(client, "py-first")
    runs = [
        BatchExperimentRun(input_id=input, instance_id=instance, input_set_id="three")
        for instance in ("candidate", "baseline")
        for input in inputs
    ]
    batch = app.new_batch_experiment(id="batch-first", runs=runs)
    metrics = [direct_metric(operator, statistic) for operator in Comparison for statistic in StatisticType]
    test = app.new_acceptance_test_with_result(
        candidate_instance_id="candidate",
        baseline_instance_id="baseline",
        id="batch-first",
        metrics=[*metrics, direct_metric(Comparison.greater_than, StatisticType.mean, field="result.custom.absent")],
        polling_options=POLLING,
    )
    found = app.batch_experiment(batch)
    app.delete_acceptance_test("batch-first")
    return {
        "inputs": inputs,
        "test": to_fields(test),
        "statistics": len(StatisticType),
        "runs": [to_fields(run) for run in found.runs],
        "batch_after_delete": refusal_status(lambda: app.batch_experiment("batch-first")),
    }


def acceptance_on_metrics(client):
    """Creates an acceptance test of an app that reports only metrics."""
    app, inputs = create_comparison_app(client, "py-metrics", metrics=True)
    test = app.new_acceptance_test_with_result(
        candidate_instance_id="candidate",
        baseline_instance_id="baseline",
        id="on-metrics",
        name="On metrics",
        input_set_id="three",
        metrics=[direct_metric(Comparison.greater_than, StatisticType.mean, field=field) for field in ("total", "metrics.total")],
        polling_options=POLLING,
    )
    return {"test": to_fields(test), "run": to_fields(next(run for run in app.list_runs() if run.id == inputs[0]))}


def create_non_inferiority_test(app, metric, experiment_id):
    """Creates a test with a rule that the client cannot express, as another caller would. Returns its id when it is decided."""
    tolerance = {"type": "relative", "value": 0.5}
    rule = {**to_fields(metric), "hypothesis": "non-inferiority", "params": {"operator": "ge", "tolerance": tolerance}}
    payload = {
        "id": "non-inferiority",
        "name": "Non-inferiority",
        "experiment_id": experiment_id,
        "control": {"instance_id": "baseline"},
        "candidate": {"instance_id": "candidate"},
        "metrics": [rule],
    }
    app.client.request("POST", f"{app.endpoint}/experiments/acceptance", payload=payload)
    return app.acceptance_test_with_polling("non-inferiority", polling_options=POLLING).id


def acceptance_tests(client):
    """Creates acceptance tests on an input set, waits for them, finds, updates and deletes them."""
    app, _ = create_comparison_app(client, "py-accept")
    greater = direct_metric(Comparison.greater_than, StatisticType.mean)
    within = direct_metric(
        Comparison.less_than_or_equal_to,
        StatisticType.p95,
        MetricTolerance(type=MetricToleranceType.relative, value=0.1),
    )
    sides = {"candidate_instance_id": "candidate", "baseline_instance_id": "baseline"}
    with_set = app.new_acceptance_test_with_result(
        **sides,
        id="on-a-set",
        name="On a set",
        input_set_id="three",
        description="Made with its batch in one step.",
        metrics=[greater, within],
        polling_options=POLLING,
    )
    generated = app.new_acceptance_test(**sides, input_set_id="three", metrics=[greater])
    polled = app.acceptance_test_with_polling(generated.id, polling_options=POLLING)
    try:
        without = to_fields(app.new_acceptance_test(**sides, id="nothing", metrics=[greater]))
    except ValueError as error:
        without = str(error)
    listed = app.list_acceptance_tests()
    unpaged = app.list_acceptance_tests(no_pagination=True)
    updated = app.update_acceptance_test("on-a-set", name="Renamed test", description="New words.")
    app.delete_acceptance_test("on-a-set")
    left = [one.id for one in app.list_acceptance_tests()]
    non_inferiority = create_non_inferiority_test(app, greater, experiment_id=generated.id)
    return {
        "with_set": to_fields(with_set),
        "generated": to_fields(generated),
        "polled": to_fields(polled),
        "without": without,
        "listed": [one.id for one in listed],
        "unpaged": [one.results.passed for one in unpaged],
        "updated": to_fields(updated),
        "get_after_delete": refusal_status(lambda: app.acceptance_test("on-a-set")),
        "batch_after_delete": refusal_status(lambda: app.batch_experiment("on-a-set")),
        "left": left,
        "non_inferiority": to_fields(app.acceptance_test(non_inferiority)),
        "listed_with_non_inferiority": [one.id for one in app.list_acceptance_tests()],
    }


def accounts(client):
    """Creates an account, renames it, reads the queue, and deletes the account."""
    made = cloud.Account.new(client=client, name="Night shift", admins=["sam@example.com"])
    got = cloud.Account.get(client=client, account_id=made.account_id)
    updated = got.update(name="Day shift")
    app = push_new_app(client, "py-queue")
    run = app.new_run(input={"numbers": [], "wait": True})
    own = cloud.Account.get(client=client, account_id=client.request("GET", "v1/account").json()["id"])
    # Release 1.13.0 calls the module of this name in place of its function, before it sends the request.
    account_module.deprecated = lambda **_: None
    queue = [queued.id for queued in own.queue().runs]
    app.cancel_run(run)
    updated.delete()
    return {
        "made": to_fields(made),
        "got": to_fields(got),
        "updated": to_fields(updated),
        "own": to_fields(own),
        "queue": queue,
        "run": run,
        "get_after_delete": refusal_status(lambda: cloud.Account.get(client=client, account_id=made.account_id)),
    }


def marketplace(client):
    """Publishes an app with a version, subscribes to it from another account, runs it there, and ends the subscription."""
    partner = client.request("GET", "v1/account").json()["id"]
    push_new_app(client, "py-offer").new_version(id="first")
    offered = cloud.MarketplaceApplication.new(
        client=client,
        partner_id=partner,
        reference_app_id="py-offer",
        title="Multiplier",
        app_id="multiplier",
        description="Multiplies numbers.",
        categories=["numbers"],
        features=["fast"],
    )
    version = offered.new_version(change_log=["First version"], reference_version_id="first", version_id="v1")
    released = offered.update(state=cloud.MarketplaceState.RELEASED)
    account = {"name": "Subscriber", "email": "subscriber@example.com"}
    token = client.request("POST", "v1/accounts", payload=account).json()["token"]
    other = Client(api_key=token, url=client.url)
    listed = [app.app_id for app in cloud.list_marketplace_applications(client=other)]
    of_partner = cloud.list_marketplace_applications(client=other, partner_id=partner)
    seen = cloud.MarketplaceApplication.get(client=other, partner_id=partner, app_id="multiplier")
    changed = offered.update_version("v1", change_log=["Better words"])
    subscription = cloud.MarketplaceSubscription.new(client=other, subscription_id=f"{partner}-multiplier")
    app = Application.get(client=other, id="multiplier")
    result = app.new_run_with_result(input={"numbers": [3]}, run_options={"factor": "5"}, polling_options=POLLING)
    got = cloud.MarketplaceSubscription.get(client=other, subscription_id=subscription.subscription_id)
    subscribed = [one.subscription_id for one in cloud.list_marketplace_subscriptions(client=other)]
    pushed = refusal_status(lambda: push_files(app, PYTHON_APP))
    subscription.delete()
    return {
        "partner": partner,
        "offered": to_fields(offered),
        "version": to_fields(version),
        "released": to_fields(released),
        "listed": listed,
        "of_partner": [app.app_id for app in of_partner],
        "seen": to_fields(seen),
        "seen_versions": [to_fields(one) for one in seen.list_versions()],
        "seen_version": to_fields(seen.version("v1")),
        "changed": changed.change_log,
        "subscription": to_fields(got),
        "type": app.type.value,
        "app_subscription": app.subscription_id,
        "output": result.output,
        "subscribed": subscribed,
        "pushed": pushed,
        "left": [one.subscription_id for one in cloud.list_marketplace_subscriptions(client=other)],
        "run_after_end": refusal_status(lambda: app.new_run(input={"numbers": [3]})),
        "output_after_end": app.run_result(result.id).output,
    }


def pages(client):
    """Reads a list of several pages to its end."""
    app = push_new_app(client, "py-pages")
    made = [app.new_version(id=f"v{number}", name=f"Version {number}").id for number in range(55)]
    listed = [version.id for version in app.list_versions()]
    return {"made": made, "listed": listed}


def formats(client):
    """Runs an input with explicit formats."""
    app = push_new_app(client, "py-formats")
    configuration = RunConfiguration(
        format=Format(
            format_input=FormatInput(input_type=InputFormat.TEXT),
            format_output=FormatOutput(),
        )
    )
    result = app.new_run_with_result(input="5 6", configuration=configuration, polling_options=POLLING)
    return {"result": to_fields(result)}


PARTS = {
    part.__name__: part
    for part in [
        applications,
        versions,
        instances,
        runs,
        contents,
        endings,
        changes,
        tracked,
        repeated,
        secrets,
        managed_inputs,
        input_sets,
        ensembles,
        shadow_tests,
        switchback_tests,
        batch_experiments,
        scenario_tests,
        acceptance_on_metrics,
        acceptance_tests,
        acceptance_of_a_batch,
        accounts,
        marketplace,
        pages,
        formats,
    ]
}

if __name__ == "__main__":
    print_result(lambda: PARTS[sys.argv[1]](Client()))
