"""Calls every public method of the client's `cloud` module. Prints the outcome of each as JSON."""

import inspect
import os
import sys
import tempfile

from recorder import APP, Recorder

from driver_setup import polling_options, print_result, push_files
from nextmv import cloud
from nextmv.base_model import BaseModel
from nextmv.cloud.acceptance_test import Comparison, MetricParams, MetricToleranceType, MetricType
from nextmv.cloud.scenario import ScenarioInputType
from nextmv.cloud.switchback import TestComparisonSingle
from nextmv.run import RunConfiguration, RunType, RunTypeConfiguration, TrackedRun, TrackedRunStatus

POLLING = polling_options()


def find_methods():
    """Returns owner and attribute by name, of functions of the module and public methods of its classes.

    Conversions that every model inherits, such as `to_dict`, and hooks of pydantic send no request.
    """
    found = {}
    for name, value in inspect.getmembers(cloud):
        if name.startswith("_"):
            continue
        if inspect.isfunction(value):
            found[name] = (cloud, name)
        elif inspect.isclass(value):
            for method, function in inspect.getmembers(value, callable):
                is_own = str(getattr(function, "__module__", "")).startswith("nextmv.cloud")
                is_hidden = method.startswith("_") or method == "model_post_init" or hasattr(BaseModel, method)
                if is_own and not is_hidden and not inspect.isclass(function):
                    found[f"{name}.{method}"] = (value, method)
    return found


def record_methods():
    """Replaces every method by one that is recorded. Returns the recorder."""
    methods = find_methods()
    recorder = Recorder(methods)
    for name, (owner, attribute) in methods.items():
        original = inspect.getattr_static(owner, attribute)
        function = recorder.wrap(name, getattr(original, "__func__", original))
        setattr(owner, attribute, type(original)(function) if hasattr(original, "__func__") else function)
    return recorder


def applications(client, attempt):
    """Returns an application with an executable, two versions and two instances."""
    app = attempt(lambda: cloud.Application.new(client, name="Coverage", id="methods"), lambda app: app.id == "methods")
    attempt(lambda: cloud.list_applications(client), lambda apps: "methods" in [one.id for one in apps])
    attempt(lambda: cloud.Application.exists(client, "methods"), lambda exists: exists is True)
    attempt(lambda: cloud.Application.get(client, "methods"), lambda app: app.name == "Coverage")
    attempt(lambda: app.update(description="Every method."), lambda app: app.description == "Every method.")
    attempt(lambda: push_files(app, APP))
    for id in ("v1", "v2"):
        attempt(lambda: app.new_version(id=id), lambda version: version.id == id)
    attempt(lambda: app.version("v1"), lambda version: version.executable.requirements.executable_type == "binary")
    attempt(app.list_versions, lambda versions: len(versions) == 2)
    attempt(lambda: app.version_exists("v3"), lambda exists: exists is False)
    attempt(lambda: app.update_version("v1", description="First."), lambda version: version.description == "First.")
    for id in ("baseline", "candidate", "spare"):
        attempt(lambda: app.new_instance("v1", id=id), lambda instance: instance.version_id == "v1")
    attempt(lambda: app.instance("baseline"), lambda instance: instance.application_id == "methods")
    attempt(app.list_instances, lambda instances: len(instances) == 3)
    attempt(lambda: app.instance_exists("baseline"), lambda exists: exists is True)
    attempt(lambda: app.update_instance("spare", version_id="v2"), lambda instance: instance.version_id == "v2")
    attempt(lambda: app.delete_instance("spare"))
    attempt(lambda: app.delete_version("v2"))
    return app


def runs(app, attempt):
    """Returns the ids of two runs that ended, after every method on runs."""
    first = attempt(lambda: app.new_run(input={"stops": 2}))
    value = {"stops": [1, 2]}
    attempt(
        lambda: app.run_result_with_polling(first, polling_options=POLLING),
        lambda result: result.output["solution"] == value,
    )
    second = attempt(
        lambda: app.new_run_with_result(input={"stops": 3}, polling_options=POLLING),
        lambda result: result.metadata.status_v2.value == "succeeded",
    ).id
    attempt(lambda: app.run_result(first), lambda result: result.output["solution"] == value)
    attempt(lambda: app.run_output(first), lambda output: output["output"]["solution"] == value)
    attempt(lambda: app.run_input(first), lambda input: input == {"stops": 2})
    attempt(lambda: app.run_information(first), lambda information: information.id == first)
    attempt(lambda: app.run_metadata(first), lambda metadata: metadata.metadata.metrics == {"value": 7})
    attempt(lambda: app.run_logs(first), lambda logs: logs.log == "solving\n")
    attempt(
        lambda: app.run_logs_with_polling(first, polling_options=POLLING),
        lambda lines: [line.log for line in lines] == ["solving"],
    )
    assets = attempt(lambda: app.list_assets(first), lambda assets: [asset.name for asset in assets] == ["chart"])
    attempt(lambda: app.download_asset_content(assets[0]), lambda content: content["type"] == "bar")
    attempt(lambda: app.clone_run(first), lambda id: id != first)
    cloned = attempt(
        lambda: app.clone_run_with_result(first, run_options={"factor": "2"}, polling_options=POLLING),
        lambda result: result.metadata.options.request_options == {"factor": "2"},
    )
    flat = [app.new_run_with_result(input={"flat": True}, polling_options=POLLING).id for _ in range(2)]
    attempt(lambda: app.compare_runs(flat), lambda comparison: comparison.run_ids == flat)
    attempt(lambda: app.delete_run(cloned.id))
    waiting = app.new_run(input={"wait": True})
    attempt(lambda: app.cancel_run(waiting))
    ended = TrackedRun(status=TrackedRunStatus.SUCCEEDED, input={"stops": 1}, output={"solution": {}}, duration=5)
    tracked = attempt(lambda: app.track_run(ended))
    attempt(
        lambda: app.track_run_with_result(ended, polling_options=POLLING),
        lambda result: result.metadata.run_type.run_type == RunType.EXTERNAL,
    )
    attempt(app.list_runs, lambda runs: {first, second, waiting, tracked} < {run.id for run in runs})
    return [first, second]


def inputs(app, ids, attempt):
    """Uploads content; creates managed inputs and input sets of it and of the runs."""
    url = attempt(app.upload_url)
    attempt(lambda: app.upload_data(url, data={"stops": 4}))
    attempt(lambda: app.upload_large_input({"stops": 5}, app.upload_url()))
    made = attempt(lambda: app.new_managed_input(id="monday", upload_id=url.upload_id))
    attempt(lambda: app.managed_input("monday"), lambda input: input.id == "monday")
    attempt(app.list_managed_inputs, lambda inputs: [input.id for input in inputs] == ["monday"])
    attempt(lambda: app.update_managed_input("monday", description="Changed."))
    attempt(lambda: app.new_input_set(id="pair", run_ids=ids), lambda set: len(set.input_ids) == 2)
    app.new_input_set(id="managed", inputs=[made])
    attempt(lambda: app.input_set("managed"), lambda set: set.inputs[0].id == "monday")
    attempt(app.list_input_sets, lambda sets: len(sets) == 2)
    attempt(lambda: app.update_input_set("managed", description="Changed."), lambda set: set.description == "Changed.")
    attempt(lambda: app.delete_input_set("managed"))
    attempt(lambda: app.delete_managed_input("monday"))


def batches(app, attempt):
    """Creates batch experiments and scenario tests on the input set."""
    plan = [{"instance_id": "baseline"}, {"instance_id": "candidate"}]
    attempt(lambda: app.new_batch_experiment(id="batch", input_set_id="pair", runs=plan), lambda id: id == "batch")
    attempt(
        lambda: app.batch_experiment_with_polling("batch", polling_options=POLLING),
        lambda batch: batch.status.value == "completed",
    )
    attempt(lambda: app.batch_experiment("batch"), lambda batch: batch.id == "batch")
    attempt(lambda: app.batch_experiment_metadata("batch"), lambda metadata: metadata.status.value == "completed")
    attempt(
        lambda: app.new_batch_experiment_with_result(input_set_id="pair", runs=plan[:1], polling_options=POLLING),
        lambda batch: batch.status.value == "completed",
    )
    attempt(app.list_batch_experiments, lambda batches: len(batches) == 2)
    attempt(lambda: app.update_batch_experiment("batch", name="Renamed"), lambda batch: batch.name == "Renamed")
    attempt(lambda: app.delete_batch_experiment("batch"))
    input = cloud.ScenarioInput(scenario_input_type=ScenarioInputType.INPUT_SET, scenario_input_data="pair")
    varied = [cloud.ScenarioConfiguration(name="factor", values=["1", "2"])]
    scenario = cloud.Scenario(scenario_input=input, instance_id="baseline", configuration=varied)
    attempt(scenario.option_combinations, lambda options: len(options) == 2)
    attempt(lambda: app.new_scenario_test([scenario], id="scenario"), lambda id: id == "scenario")
    attempt(
        lambda: app.scenario_test_with_polling("scenario", polling_options=POLLING),
        lambda test: test.status.value == "completed",
    )
    attempt(lambda: app.scenario_test("scenario"), lambda test: test.id == "scenario")
    attempt(lambda: app.scenario_test_metadata("scenario"), lambda metadata: metadata.status.value == "completed")
    attempt(
        lambda: app.new_scenario_test_with_result([scenario], polling_options=POLLING),
        lambda test: test.status.value == "completed",
    )
    attempt(app.list_scenario_tests, lambda tests: len(tests) == 2)
    attempt(lambda: app.update_scenario_test("scenario", name="Renamed"), lambda test: test.name == "Renamed")
    attempt(lambda: app.delete_scenario_test("scenario"))


def acceptance_tests(app, attempt):
    """Creates acceptance tests of the two instances."""
    metric = cloud.Metric(
        field="result.value",
        metric_type=MetricType.direct_comparison,
        params=MetricParams(
            operator=Comparison.less_than_or_equal_to,
            tolerance=cloud.MetricTolerance(type=MetricToleranceType.absolute, value=0),
        ),
        statistic=cloud.StatisticType.mean,
    )
    sides = {"candidate_instance_id": "candidate", "baseline_instance_id": "baseline", "metrics": [metric]}
    attempt(lambda: app.new_acceptance_test(**sides, id="accept", input_set_id="pair"))
    attempt(
        lambda: app.acceptance_test_with_polling("accept", polling_options=POLLING),
        lambda test: test.status.value == "completed",
    )
    attempt(lambda: app.acceptance_test("accept"), lambda test: test.results.passed is True)
    attempt(
        lambda: app.new_acceptance_test_with_result(**sides, input_set_id="pair", polling_options=POLLING),
        lambda test: test.results.passed is True,
    )
    attempt(app.list_acceptance_tests, lambda tests: len(tests) == 2)
    attempt(lambda: app.update_acceptance_test("accept", name="Renamed"), lambda test: test.name == "Renamed")
    attempt(lambda: app.delete_acceptance_test("accept"))


def live_tests(app, attempt):
    """Creates, starts and stops a shadow and a switchback test."""
    end = cloud.TerminationEvents(maximum_runs=5)
    attempt(lambda: app.new_shadow_test({"baseline": ["candidate"]}, end, shadow_test_id="shadow"))
    attempt(lambda: app.start_shadow_test("shadow"))
    attempt(lambda: app.shadow_test("shadow"), lambda test: test.status.value == "started")
    attempt(lambda: app.stop_shadow_test("shadow", cloud.StopIntent.COMPLETE))
    attempt(lambda: app.shadow_test_metadata("shadow"), lambda metadata: metadata.status.value == "completed")
    attempt(lambda: app.update_shadow_test("shadow", name="Renamed"), lambda test: test.name == "Renamed")
    attempt(app.list_shadow_tests, lambda tests: len(tests) == 1)
    attempt(lambda: app.delete_shadow_test("shadow"))
    sides = TestComparisonSingle(baseline_instance_id="baseline", candidate_instance_id="candidate")
    attempt(lambda: app.new_switchback_test(sides, 30, 4, switchback_test_id="turns"))
    attempt(lambda: app.start_switchback_test("turns"))
    attempt(lambda: app.switchback_test("turns"), lambda test: test.status.value == "started")
    attempt(lambda: app.stop_switchback_test("turns", cloud.StopIntent.CANCEL))
    attempt(lambda: app.switchback_test_metadata("turns"), lambda metadata: metadata.status.value == "canceled")
    attempt(lambda: app.update_switchback_test("turns", name="Renamed"), lambda test: test.name == "Renamed")
    attempt(app.list_switchback_tests, lambda tests: len(tests) == 1)
    attempt(lambda: app.delete_switchback_test("turns"))


def ensembles(app, attempt):
    """Creates ensemble definitions, also by the misspelt name that the client keeps, and runs one."""
    parts = {
        "run_groups": [cloud.RunGroup(id="both", instance_id="baseline", repetitions=1)],
        "rules": [
            cloud.EvaluationRule(
                id="best",
                statistics_path="$.result.value",
                objective=cloud.RuleObjective.MINIMIZE,
                tolerance=cloud.RuleTolerance(value=0, type=cloud.RuleToleranceType.ABSOLUTE),
                index=0,
            )
        ],
    }
    attempt(lambda: app.new_ensemble_definition(id="best", **parts), lambda ensemble: ensemble.id == "best")
    attempt(lambda: app.new_ensemble_defintion(id="other", **parts), lambda ensemble: ensemble.id == "other")
    attempt(lambda: app.ensemble_definition("best"), lambda ensemble: len(ensemble.run_groups) == 1)
    attempt(app.list_ensemble_definitions, lambda ensembles: len(ensembles) == 2)
    configuration = RunConfiguration(run_type=RunTypeConfiguration(run_type=RunType.ENSEMBLE, definition_id="best"))
    attempt(
        lambda: app.new_run_with_result(input={"stops": 1}, configuration=configuration, polling_options=POLLING),
        lambda result: result.metadata.status_v2.value == "succeeded",
    )
    attempt(lambda: app.update_ensemble_definition("best", name="Renamed"), lambda ensemble: ensemble.name == "Renamed")
    attempt(lambda: app.delete_ensemble_definition("best"))


def secrets(app, attempt):
    """Creates, reads, changes and deletes a secrets collection."""
    secret = cloud.Secret(secret_type=cloud.SecretType.ENV, location="API_KEY", value="open-sesame")
    attempt(lambda: app.new_secrets_collection([secret], id="keys"), lambda summary: summary.collection_id == "keys")
    attempt(lambda: app.secrets_collection("keys"), lambda collection: collection.secrets[0].location == "API_KEY")
    attempt(app.list_secrets_collections, lambda collections: len(collections) == 1)
    attempt(lambda: app.update_secrets_collection("keys", name="Renamed"), lambda summary: summary.name == "Renamed")
    attempt(lambda: app.delete_secrets_collection("keys"))


def requests(client, attempt):
    """Uses the client below the application."""
    attempt(lambda: client.request("GET", "v1/applications"), lambda response: response.status_code == 200)
    endpoint = "v1/applications/methods/versions"
    attempt(lambda: client.request_with_pagination("GET", endpoint), lambda response: len(response.json()["items"]) == 1)
    attempt(lambda: client.iter_with_pagination("GET", endpoint), lambda pages: len(pages) == 1)
    url = client.request("POST", "v1/applications/methods/runs/uploadurl").json()["upload_url"]
    attempt(lambda: client.upload_to_presigned_url({"stops": 1}, url))
    attempt(lambda: cloud.get_size({"stops": 1}), lambda size: size == len('{"stops":1}'))


def account(client, attempt):
    """Reads and changes the account, and creates and deletes another one. Returns the id of the account."""
    id = client.request("GET", "v1/internal/me/organization").json()[0]["id"]
    own = cloud.Account(account_id=id, client=client)
    attempt(lambda: cloud.Account.get(client, id), lambda account: account.account_id == id)
    attempt(own.queue, lambda queue: queue.runs == [])
    attempt(lambda: own.update(name="Renamed"), lambda account: account.name == "Renamed")
    made = attempt(lambda: cloud.Account.new(client, name="Second account", admins=["ada@example.com"]))
    attempt((made or cloud.Account(account_id="second", client=client)).delete)
    return id


def marketplace(client, partner, offered, attempt):
    """Publishes the application with a version, and subscribes to `offered`, which another account publishes."""
    where = {"partner_id": partner, "app_id": "published"}
    app = attempt(
        lambda: cloud.MarketplaceApplication.new(client, partner, "methods", "Published", app_id="published")
    ) or cloud.MarketplaceApplication(client=client, title="Published", state="released", **where)
    attempt(lambda: cloud.MarketplaceApplication.get(client, **where), lambda app: app.title == "Published")
    attempt(lambda: app.new_version(["First."], "v1", "v1"), lambda version: version.version_id == "v1")
    attempt(lambda: app.version("v1"), lambda version: version.change_log == ["First."])
    attempt(lambda: app.update_version("v1", ["Changed."]), lambda version: version.change_log == ["Changed."])
    attempt(app.list_versions, lambda versions: len(versions) == 1)
    attempt(lambda: app.update(state="released"), lambda app: app.state.value == "released")
    attempt(lambda: cloud.list_marketplace_applications(client), lambda apps: len(apps) == 2)
    subscription = attempt(
        lambda: cloud.MarketplaceSubscription.new(client, offered)
    ) or cloud.MarketplaceSubscription(client=client, subscription_id=offered, partner_name="", app_title="")
    attempt(lambda: cloud.MarketplaceSubscription.get(client, offered), lambda one: one.app_title == "Offered")
    attempt(lambda: cloud.list_marketplace_subscriptions(client), lambda subscriptions: len(subscriptions) == 1)
    attempt(subscription.delete)


def community(client, attempt):
    """Lists the community apps and clones one."""
    apps = attempt(lambda: cloud.list_community_apps(client), lambda apps: len(apps) > 0)
    known = cloud.CommunityApp(description="", name="app", app_type="python", app_versions=["v1"])
    attempt(lambda: known.has_version("v1"), lambda has: has is True)
    name = apps[0].name if apps else "bin-packing"
    attempt(
        lambda: cloud.clone_community_app(client, name, directory="cloned"),
        lambda _: os.path.exists("cloned/app.yaml"),
    )


def declined(client, attempt):
    """Calls the methods of services that the server does not have."""
    sso = cloud.SSOConfiguration(client=client)
    attempt(lambda: cloud.SSOConfiguration.get(client))
    attempt(lambda: cloud.SSOConfiguration.new(client, metadata_url="https://idp.example.com/metadata"))
    attempt(lambda: sso.update(metadata_url="https://idp.example.com/metadata"))
    attempt(sso.enable)
    attempt(sso.disable)
    attempt(lambda: sso.delete_domain("example.com"))
    attempt(sso.delete)
    integration = cloud.Integration(client=client, integration_id="warehouse")
    parts = {"integration_type": "runtime", "exec_types": ["python"], "provider": "dbx", "provider_config": {}}
    attempt(lambda: cloud.Integration.new(client, **parts, is_global=True))
    attempt(lambda: cloud.Integration.get(client, "warehouse"))
    attempt(lambda: integration.update(name="Renamed"))
    attempt(integration.delete)
    attempt(lambda: cloud.list_integrations(client))


def call_every_method():
    """Returns the outcome of each method by its name. The argument of the program is the id of a subscription."""
    client = cloud.Client()
    recorder = record_methods()
    attempt = recorder.attempt
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        app = applications(client, attempt)
        ids = runs(app, attempt)
        inputs(app, ids, attempt)
        batches(app, attempt)
        acceptance_tests(app, attempt)
        live_tests(app, attempt)
        ensembles(app, attempt)
        secrets(app, attempt)
        requests(client, attempt)
        marketplace(client, account(client, attempt), sys.argv[1], attempt)
        community(client, attempt)
        declined(client, attempt)
        attempt(app.delete)
        os.chdir("/")
    return recorder.outcomes


if __name__ == "__main__":
    print_result(call_every_method)
