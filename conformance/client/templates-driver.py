"""Runs pushed templates through the published Python client, each with its sample input and with options.

    python templates-driver.py '[{"app": …, "folder": …, "options": …, "metric": …, "instance": …}, …]'

Prints the client's values of each run, and of an acceptance test over a metric of it, as one JSON value.
"""

import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from nextmv import cloud

from driver_setup import polling_options, print_result

POLLING = polling_options(max_duration=240)


def read_input(folder):
    """Returns the arguments for the sample input of the template: JSON, or a folder of files."""
    file = os.path.join(folder, "input.json")
    if os.path.exists(file):
        with open(file) as given:
            return {"input": json.load(given)}
    return {"input_dir_path": os.path.join(folder, "inputs"), "output_dir_path": tempfile.mkdtemp()}


def create_instance(client, app, id, configuration):
    """Creates an instance with settings that the client's classes lack, such as the network."""
    payload = {"id": id, "name": f"Instance {id}", "version_id": "version-1", "configuration": configuration}
    client.request("POST", f"{app.endpoint}/instances", payload=payload)


def workflow_settings(app):
    """Returns the settings of a workflow. Its steps are runs of other applications and need the address and the key."""
    secrets = [
        cloud.Secret(secret_type=cloud.SecretType.ENV, location=name, value=os.environ[name])
        for name in ("NEXTMV_API_KEY", "NEXTMV_ENDPOINT")
    ]
    return {"network": True, "secrets_collection_id": app.new_secrets_collection(secrets=secrets).collection_id}


def run_template(template):
    """Runs the template, and an acceptance test if it has a metric. Returns the values of both."""
    client = cloud.Client()
    app = cloud.Application.get(client=client, id=template["app"])
    app.new_version(id="version-1", name="Version 1")
    settings = workflow_settings(app) if template.get("workflow") else {}
    for id in ("baseline", "candidate"):
        create_instance(client, app, id, {**settings, "options": template["options"]})
    done = app.new_run_with_result(
        instance_id="baseline",
        run_options=template["options"],
        polling_options=POLLING,
        **read_input(template["folder"]),
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


def run_templates(templates):
    """Returns the values of each template, by application."""
    simple = [template for template in templates if not template.get("workflow")]
    with ThreadPoolExecutor(2) as pool:
        seen = dict(zip([one["app"] for one in simple], pool.map(run_template, simple)))
    # Sequentially, because a run of a workflow occupies its slot while it waits for the runs of its steps.
    for template in templates:
        if template.get("workflow"):
            seen[template["app"]] = run_template(template)
    return seen


if __name__ == "__main__":
    print_result(lambda: run_templates(json.loads(sys.argv[1])))
