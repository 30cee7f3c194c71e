"""Runs the life cycle of one application through the published Python client.

    python sequence-driver.py sequence

The calls and their order are those of the client's own integration test: it creates, reads, lists, updates and deletes
every kind of resource, and deletes the version while instances still refer to it. Two things differ, because the server
refuses to delete a version in use: all runs have ended by then, and no instance of it is the default. Prints the values
that a caller sees as one JSON value.
"""

import datetime

import nextmv
from nextmv import cloud

from driver_setup import polling_options, print_result, push_files, refusal_status

POLLING = polling_options(delay=0.05)

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
import json, sys, time

given = json.load(sys.stdin)
time.sleep(given.get("wait_seconds", 0))
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

INPUT = {"name": "world", "radius": 6378, "distance": 147.6}


def rename(update, **ids):
    """Updates name and description, and returns those in the response."""
    changed = update(name="New name", description="A new description of it.", **ids)
    return [changed.name, changed.description]


def run(app, **more):
    """Runs the input and waits for its result."""
    return app.new_run_with_result(input=INPUT, polling_options=POLLING, **more)


def run_sequence(client):
    """Returns the values that the caller sees, by the step that produces them."""
    seen = {}
    app = cloud.Application.new(client=client, id="sequence")
    seen["exists"] = cloud.Application.exists(client=client, id=app.id)
    seen["app"] = rename(app.update)
    seen["apps"] = [one.id for one in cloud.list_applications(client)]
    push_files(app, APP)

    version, extra = app.new_version(), app.new_version()
    seen["versions"] = {one.id for one in app.list_versions()} == {version.id, extra.id}
    seen["version"] = rename(app.update_version, version_id=version.id)
    app.delete_version(version_id=extra.id)
    seen["version_exists"] = [app.version_exists(version.id), app.version_exists(extra.id)]

    first, second, third = [app.new_instance(version_id=version.id) for _ in range(3)]
    seen["instances"] = {one.id for one in app.list_instances()} == {first.id, second.id, third.id}
    seen["instance"] = rename(app.update_instance, id=first.id)
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
            "input": app.run_input(run_id=one.id) == INPUT,
            "log": app.run_logs(run_id=one.id).log,
            "details": app.run_result(run_id=one.id).output["solution"]["details"],
        }
        for one in runs
    ]
    seen["listed_runs"] = {one.id for one in app.list_runs()} == {one.id for one in runs}
    canceled = app.new_run(input={**INPUT, "wait_seconds": 600})
    app.cancel_run(run_id=canceled)
    seen["canceled"] = app.run_result_with_polling(canceled, polling_options=POLLING).metadata.status_v2.value

    now = datetime.datetime.now(datetime.timezone.utc)
    inputs = app.new_input_set(run_ids=[one.id for one in runs])
    recent = app.new_input_set(
        instance_id=first.id, maximum_runs=20, start_time=now - datetime.timedelta(days=1), end_time=now
    )
    seen["input_sets"] = {one.id for one in app.list_input_sets()} == {inputs.id, recent.id}
    seen["input_set"] = rename(app.update_input_set, id=inputs.id)
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
    seen["scenario_test"] = rename(app.update_scenario_test, scenario_test_id=scenarios)
    app.delete_scenario_test(scenario_test_id=scenarios)

    shadow = app.new_shadow_test(
        comparisons={first.id: [second.id]}, termination_events=cloud.TerminationEvents(maximum_runs=4)
    ).shadow_test_id
    seen["shadow"] = run_online_test(app, "shadow", shadow, first.id)

    switchback = app.new_switchback_test(
        comparison=cloud.TestComparisonSingle(baseline_instance_id=first.id, candidate_instance_id=second.id),
        unit_duration_minutes=1,
        units=1,
    ).switchback_test_id
    seen["switchback"] = run_online_test(app, "switchback", switchback, first.id)

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
        "updated": rename(app.update_acceptance_test, acceptance_test_id=acceptance.id),
    }
    app.delete_acceptance_test(acceptance_test_id=acceptance.id)

    secret = cloud.Secret(secret_type=cloud.SecretType.ENV, location="ENTRANCE", value="two lefts")
    collection = app.new_secrets_collection(secrets=[secret]).collection_id
    seen["secret"] = app.secrets_collection(secrets_collection_id=collection).secrets[0].value
    seen["collections"] = [one.collection_id for one in app.list_secrets_collections()] == [collection]
    seen["collection"] = rename(app.update_secrets_collection, secrets_collection_id=collection)
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
    seen["ensemble"] = rename(app.update_ensemble_definition, id=ensemble)
    run_type = nextmv.RunTypeConfiguration(run_type=nextmv.RunType.ENSEMBLE, definition_id=ensemble)
    run(app, configuration=nextmv.RunConfiguration(run_type=run_type))
    app.delete_ensemble_definition(ensemble_definition_id=ensemble)

    seen["delete_in_use"] = refusal_status(lambda: app.delete_version(version_id=version.id))
    app.update(default_instance_id="latest")
    app.delete_version(version_id=version.id)
    for instance in (first, second):
        app.delete_instance(instance_id=instance.id)
    app.delete_input_set(input_set_id=inputs.id)
    app.delete()
    seen["after_delete"] = refusal_status(lambda: cloud.Application.get(client=client, id=app.id))
    return seen


def run_online_test(app, kind, id, baseline):
    """Runs a shadow or switchback test from its draft to its deletion, with two runs of its baseline."""

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
    print_result(lambda: run_sequence(cloud.Client()))
