"""Runs pushed templates through the published Python client, each with its sample input and with options set.

    python templates-driver.py '[{"app": …, "folder": …, "options": …, "metric": …, "instance": …}, …]'

Prints what the client holds of each run, and of an acceptance test over a metric of it, as one JSON value. The address and
the key of the server are in NEXTMV_ENDPOINT and NEXTMV_API_KEY.
"""

import contextlib
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from nextmv import cloud
from nextmv.polling import PollingOptions

POLLING = PollingOptions(initial_delay=0.05, delay=0.1, backoff=0.05, jitter=0, max_delay=0.5, max_duration=240)


def input_of(folder):
    file = os.path.join(folder, "input.json")
    if os.path.exists(file):
        with open(file) as given:
            return {"input": json.load(given)}
    return {"input_dir_path": os.path.join(folder, "inputs"), "output_dir_path": tempfile.mkdtemp()}


def instance_with(client, app, id, configuration):
    """An instance with settings that the client's classes do not know, such as the network."""
    payload = {"id": id, "name": f"Instance {id}", "version_id": "version-1", "configuration": configuration}
    client.request("POST", f"{app.endpoint}/instances", payload=payload)


def workflow_settings(app):
    """Steps of a workflow are runs of other applications, which take the key and the address of the server."""
    secrets = [
        cloud.Secret(secret_type=cloud.SecretType.ENV, location=name, value=os.environ[name])
        for name in ("NEXTMV_API_KEY", "NEXTMV_ENDPOINT")
    ]
    return {"network": True, "secrets_collection_id": app.new_secrets_collection(secrets=secrets).collection_id}


def run(template):
    client = cloud.Client()
    app = cloud.Application.get(client=client, id=template["app"])
    app.new_version(id="version-1", name="Version 1")
    settings = workflow_settings(app) if template.get("workflow") else {}
    for id in ("baseline", "candidate"):
        instance_with(client, app, id, {**settings, "options": template["options"]})
    done = app.new_run_with_result(
        instance_id="baseline",
        run_options=template["options"],
        polling_options=POLLING,
        **input_of(template["folder"]),
    )
    seen = {
        "status": done.metadata.status_v2.value,
        "options": done.metadata.options.request_options,
        "metrics": done.metadata.metrics,
        "log": app.run_logs(done.id).log,
    }
    metric = template.get("metric")
    if metric is None or seen["status"] != "succeeded":
        return seen
    inputs = app.new_input_set(id="sample", name="Sample", run_ids=[done.id])
    test = app.new_acceptance_test_with_result(
        candidate_instance_id="candidate",
        baseline_instance_id="baseline",
        id="acceptance",
        name="Acceptance",
        input_set_id=inputs.id,
        metrics=[
            cloud.Metric(
                field=metric,
                metric_type=cloud.MetricType.direct_comparison,
                params=cloud.MetricParams(
                    operator=cloud.Comparison.greater_than_or_equal_to,
                    tolerance=cloud.MetricTolerance(type=cloud.MetricToleranceType.undefined, value=0),
                ),
                statistic=cloud.StatisticType.mean,
            )
        ],
        polling_options=POLLING,
    )
    decided = test.results.metric_results[0].statistics
    seen["acceptance"] = {
        "passed": test.results.passed,
        "means": [
            side.distribution_summary_statistics.mean for side in (decided.control, decided.candidate)
        ],
        "counts": [
            side.distribution_summary_statistics.count for side in (decided.control, decided.candidate)
        ],
    }
    return seen


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr), ThreadPoolExecutor(2) as pool:
        templates = json.loads(sys.argv[1])
        simple = [template for template in templates if not template.get("workflow")]
        seen = dict(zip([one["app"] for one in simple], pool.map(run, simple)))
        # One after the other: a run of a workflow keeps its slot while it waits for the runs of its steps.
        for template in templates:
            if template.get("workflow"):
                seen[template["app"]] = run(template)
    json.dump(seen, sys.stdout)
