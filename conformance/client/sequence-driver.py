"""One application from its creation to its removal through the published Python client.

    python sequence-driver.py sequence

The calls and their order are those of the client's own integration test: every kind of resource is created, read, listed,
changed and deleted, and the clean-up deletes the version while instances still name it. Two things differ, because a
version is not deleted under what uses it: all runs have ended by then, and no instance of it is the default any more.
Prints what a caller sees as one JSON value. The address and the key of the server are in NEXTMV_ENDPOINT and
NEXTMV_API_KEY.
"""

import contextlib
import datetime
import json
import os
import sys
import tempfile

import nextmv
import requests
from nextmv import cloud
from nextmv.polling import PollingOptions

POLLING = PollingOptions(initial_delay=0.02, delay=0.05, backoff=0.02, jitter=0, max_delay=0.3, max_duration=60)

APP = {
    "app.yaml": """
type: python
runtime: ghcr.io/nextmv-io/runtime/python:3.11
files:
  - main.py
configuration:
  options:
    items:
      - name: details
        option_type: bool
        default: true
""",
    "main.py": """
import json, sys

given = json.load(sys.stdin)
details = "false" not in sys.argv
if details:
    print("greeting", given["name"], file=sys.stderr)
print("done", file=sys.stderr)
value = given["radius"] * 2
json.dump({
    "solution": {"details": details},
    "statistics": {"schema": "v1", "result": {"value": value}},
}, sys.stdout)
""",
}

GIVEN = {"name": "world", "radius": 6378, "distance": 147.6}


def status_of(call):
    """The status of the response that refused the call; None when it was not refused."""
    try:
        call()
    except requests.HTTPError as error:
        return error.response.status_code
    return None


def renamed(update, **ids):
    """Whether an update returns the new words."""
    changed = update(name="New name", description="A new description of it.", **ids)
    return [changed.name, changed.description]


def run(app, **more):
    return app.new_run_with_result(input=GIVEN, polling_options=POLLING, **more)


def sequence(client):
    seen = {}
    app = cloud.Application.new(client=client, id="sequence")
    seen["exists"] = cloud.Application.exists(client=client, id=app.id)
    seen["app"] = renamed(app.update)
    seen["apps"] = [one.id for one in cloud.list_applications(client)]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in APP.items():
            with open(os.path.join(folder, name), "w") as file:
                file.write(text)
        app.push(app_dir=folder)

    version, extra = app.new_version(), app.new_version()
    seen["versions"] = {one.id for one in app.list_versions()} == {version.id, extra.id}
    seen["version"] = renamed(app.update_version, version_id=version.id)
    app.delete_version(version_id=extra.id)
    seen["version_exists"] = [app.version_exists(version.id), app.version_exists(extra.id)]

    first, second, third = [app.new_instance(version_id=version.id) for _ in range(3)]
    seen["instances"] = {one.id for one in app.list_instances()} == {first.id, second.id, third.id}
    seen["instance"] = renamed(app.update_instance, id=first.id)
    app.delete_instance(instance_id=third.id)
    seen["instance_exists"] = [app.instance_exists(first.id), app.instance_exists(third.id)]
    app.update(default_instance_id=first.id)

    runs = [
        run(app),
        run(app, instance_id=first.id),
        run(app, instance_id=second.id),
        run(app, instance_id="latest"),
        run(app, run_options={"details": "false"}),
    ]
    seen["runs"] = [
        {
            "status": app.run_information(run_id=one.id).metadata.status_v2.value,
            "input": app.run_input(run_id=one.id) == GIVEN,
            "log": app.run_logs(run_id=one.id).log,
            "details": app.run_result(run_id=one.id).output["solution"]["details"],
        }
        for one in runs
    ]
    seen["listed_runs"] = {one.id for one in app.list_runs()} == {one.id for one in runs}
    canceled = app.new_run(input=GIVEN)
    app.cancel_run(run_id=canceled)
    seen["canceled"] = app.run_result_with_polling(canceled, polling_options=POLLING).metadata.status_v2.value

    now = datetime.datetime.now(datetime.timezone.utc)
    inputs = app.new_input_set(run_ids=[one.id for one in runs])
    recent = app.new_input_set(
        instance_id=first.id, maximum_runs=20, start_time=now - datetime.timedelta(days=1), end_time=now
    )
    seen["input_sets"] = {one.id for one in app.list_input_sets()} == {inputs.id, recent.id}
    seen["input_set"] = renamed(app.update_input_set, id=inputs.id)
    app.delete_input_set(input_set_id=recent.id)

    scenarios = app.new_scenario_test(
        scenarios=[
            cloud.Scenario(
                scenario_input=cloud.ScenarioInput(
                    scenario_input_type=cloud.ScenarioInputType.INPUT_SET, scenario_input_data=inputs.id
                ),
                instance_id=first.id,
            )
        ],
        repetitions=0,
    )
    seen["scenario_runs"] = app.scenario_test_metadata(scenario_test_id=scenarios).number_of_runs
    seen["scenario_tests"] = [one.id for one in app.list_scenario_tests()] == [scenarios]
    seen["scenario_test"] = renamed(app.update_scenario_test, scenario_test_id=scenarios)
    app.delete_scenario_test(scenario_test_id=scenarios)

    shadow = app.new_shadow_test(
        comparisons={first.id: [second.id]}, termination_events=cloud.TerminationEvents(maximum_runs=4)
    ).shadow_test_id
    seen["shadow"] = live(app, "shadow", shadow, first.id)

    switchback = app.new_switchback_test(
        comparison=cloud.TestComparisonSingle(baseline_instance_id=first.id, candidate_instance_id=second.id),
        unit_duration_minutes=1,
        units=1,
    ).switchback_test_id
    seen["switchback"] = live(app, "switchback", switchback, first.id)

    acceptance = app.new_acceptance_test_with_result(
        baseline_instance_id=first.id,
        candidate_instance_id=second.id,
        metrics=[
            cloud.Metric(
                field="result.value",
                metric_type=cloud.MetricType.direct_comparison,
                params=cloud.MetricParams(
                    operator=cloud.Comparison.equal_to,
                    tolerance=cloud.MetricTolerance(type=cloud.MetricToleranceType.absolute, value=0.01),
                ),
                statistic=cloud.StatisticType.mean,
            )
        ],
        input_set_id=inputs.id,
        polling_options=POLLING,
    )
    decided = acceptance.results.metric_results[0].statistics
    seen["acceptance"] = {
        "passed": acceptance.results.passed,
        "means": [
            side.distribution_summary_statistics.mean for side in (decided.control, decided.candidate)
        ],
        "listed": acceptance.id in {one.id for one in app.list_acceptance_tests()},
        "updated": renamed(app.update_acceptance_test, acceptance_test_id=acceptance.id),
    }
    app.delete_acceptance_test(acceptance_test_id=acceptance.id)

    secret = cloud.Secret(secret_type=cloud.SecretType.ENV, location="ENTRANCE", value="two lefts")
    collection = app.new_secrets_collection(secrets=[secret]).collection_id
    seen["secret"] = app.secrets_collection(secrets_collection_id=collection).secrets[0].value
    seen["collections"] = [one.collection_id for one in app.list_secrets_collections()] == [collection]
    seen["collection"] = renamed(app.update_secrets_collection, secrets_collection_id=collection)
    run(app, configuration=nextmv.RunConfiguration(secrets_collection_id=collection))
    app.delete_secrets_collection(secrets_collection_id=collection)

    ensemble = app.new_ensemble_definition(
        run_groups=[cloud.RunGroup(id="group", instance_id=first.id)],
        rules=[
            cloud.EvaluationRule(
                id="rule",
                statistics_path="result.value",
                objective=cloud.RuleObjective.MAXIMIZE,
                tolerance=cloud.RuleTolerance(value=0.01, type=cloud.RuleToleranceType.ABSOLUTE),
                index=0,
            )
        ],
    ).id
    seen["ensembles"] = [one.id for one in app.list_ensemble_definitions()] == [ensemble]
    seen["ensemble"] = renamed(app.update_ensemble_definition, id=ensemble)
    run_type = nextmv.RunTypeConfiguration(run_type=nextmv.RunType.ENSEMBLE, definition_id=ensemble)
    run(app, configuration=nextmv.RunConfiguration(run_type=run_type))
    app.delete_ensemble_definition(ensemble_definition_id=ensemble)

    seen["delete_in_use"] = status_of(lambda: app.delete_version(version_id=version.id))
    app.update(default_instance_id="latest")
    app.delete_version(version_id=version.id)
    for instance in (first, second):
        app.delete_instance(instance_id=instance.id)
    app.delete_input_set(input_set_id=inputs.id)
    app.delete()
    seen["after_delete"] = status_of(lambda: cloud.Application.get(client=client, id=app.id))
    return seen


def live(app, kind, id, baseline):
    """A shadow or switchback test from its draft to its removal, with two runs of its baseline."""

    def call(method, **more):
        return getattr(app, method.format(kind))(**{f"{kind}_test_id": id}, **more)

    def status():
        return call("{}_test_metadata").status.value

    seen = {"statuses": [status()]}
    seen["listed"] = id in {getattr(one, f"{kind}_test_id") for one in getattr(app, f"list_{kind}_tests")()}
    changed = call("update_{}_test", name="New name", description="A new description of it.")
    seen["updated"] = [changed.name, changed.description]
    call("start_{}_test")
    seen["statuses"].append(status())
    for _ in range(2):
        run(app, instance_id=baseline)
    call("stop_{}_test", intent=cloud.StopIntent("complete"))
    seen["statuses"].append(status())
    seen["has_runs"] = len(call("{}_test").runs) > 0
    call("delete_{}_test")
    return seen


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        value = sequence(cloud.Client())
    json.dump(value, sys.stdout)
