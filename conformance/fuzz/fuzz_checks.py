"""Checks that replace those of schemathesis that do not fit this API.

A document defines well-formed requests, but not which ids exist or which of them belong together. When the server refuses
a request that the document allows, its error message must match one of the rules below, which no document of this kind
can state. An unknown method returns 404, like every unknown path.
"""

import json
import re
import uuid

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

# The longest wait for the end of a run that a request of the fuzzer asks for, and the longest that the server accepts.
LONGEST_WAIT_SECONDS = 1
MAXIMUM_WAIT_SECONDS = 50

RULES = [
    # References: named resources must exist and belong together, and used resources cannot be deleted.
    r"; it must be (a version|an instance|an upload|a run|a managed input|a secrets collection) of (the|this) application",
    r"^The application .* has no executable yet; push one first",
    r"^id is .*, which (another .*|every application) has( already)?; choose another",
    r"^The default instance .* does not exist; set default_instance",
    r"^The secrets collection .* of the instance .* does not exist; give the instance another",
    r"^The version .* of the instance .* was deleted; give the instance another version",
    r"^The (version|secrets collection) .* is used by the (instance|\w+ experiment|\w+ test)",
    r"^(The (version|application) .* cannot be deleted\. )?The instance .* is locked: .* locked it at",
    r"^The instance .* is the default instance of the application; set default_instance",
    # Tokens are opaque, and belong to one list or one request.
    r"^(pagetoken|since) is .*; it must be the next_page_token of the (page|call) before",
    r"^The Idempotency-Key header is .*, which another request had",
    r"^Last-Event-ID is .*; it must be the id of an event of this stream",
    # Device codes are opaque, and come in a header that a document cannot make a condition of this response.
    r"^The header x-switchyard-device-code is absent",
    r"^Nobody has approved the code yet",
    # States: missing uploads, unfinished runs, immutable resources.
    r"^No executable was uploaded; request an upload URL",
    r"^upload_id is .*; nothing has been PUT to its URL yet",
    r"^The run is \w+; its log can be read here once it has ended",
    r"^The key .* is the last (root|admin) key of the account",
    r"^The member .* is the last (root|admin) of the account who has joined",
    r"^The keys of the member .* include the last (root|admin) key of the account",
    r"^The key .* and the keys that it created include the last (root|admin) key of the account",
    r"^role is .*, but the key .* of .* has the role",
    r"^role is .*, which has rights that the member .* does not have",
    r"^email is .*, which another member has; renew that invite",
    r"^account_id is .*, the account of your own key",
    r"^The instance .* always runs the executable pushed last; it cannot be changed or deleted",
    # Allowed URLs of webhooks.
    r"^endpoint_url is .*; (it must (be a whole|begin with|have no user)|\S+ is not a public address)",
    r"^id is .*, which another webhook of the account has",
    r"^name is .*, which another of your views has",
    r"^name is .*, which is blank, so nobody would see the view",
    # Bisect experiments, plans and replays: the runs, versions and inputs that they name, and their states.
    r"^Give either input_set_id or input_ids",
    r"^input_set_id is .*, which has \d+ inputs; a bisect experiment has at most",
    r"^input_ids (names .* twice; name each|has .*; each must be a managed input)",
    r"^bad_version_id is .*; it must be a version that was created after",
    r"^There are more than \d+ versions from .* to .*; give versions closer",
    r"^There is no version .* of application",
    r"^difference\.value is 0",
    r"^maximum_runs is \d+; a search over \d+ versions with \d+ inputs needs at least",
    r"^The bisect experiment .* is \w+; only a started one can be stopped",
    r"^experiment_id is .*(; it must be a .* of this application|, the id of experiments of the types|shows no spread of)",
    r"^experiment_id is missing, and so are between_inputs",
    r"^(units|inputs|repetitions) is \d+(, and \w+ is given too| without inputs|, but (the plan|a shadow test))",
    r"^(between_inputs|within_input|between_units) is .*, and (\w+ is given too|experiment_id names)",
    r"^The run .* (is external: its program|is the run of an ensemble\. Replay|is \w+; a replay repeats)",
    r"^The (executable|secrets collection) .* of the run was (removed|deleted)",
    # Settings of experiments that belong together.
    r"^seed_option is .*, but seeds is absent",
    r"^seeds and (runs|repetitions) are both given",
    r"^seeds\.\d+ is .*, as seeds\.\d+ is; a run with the same seed",
    r"^option_sets\..* has the option .*, which seeds sets",
    r"^\S+ is given, but (this plan|a plan of .*) can never give a ",
    r"^objectives\..*\.(margin\.type|shift) is .*, but measure is",
    r"^objectives\..*\.failure_value is .*, but a switchback test",
    r"^objectives\..*\.tie_tolerance is .*, above the margin of .*; give a margin of at least",
    r"^(primary|guardrails\.\d+) is .*, which (has no direction|is also primary|guardrails names already)",
    r"^generate_random_plan\.burn_in_minutes is .*; it must be less than unit_duration_minutes",
    # Relations of two fields, and keys of a map.
    r"^start is .*, which is not before end",
    r"^from is .*(, which is after to|: more than \d+ days; give a shorter range)",
    r"^keep_days is missing, and the application has no policy",
    # Words of a filter, and structured fields, which a document describes as text.
    r"^text is .*, without a letter or a digit",
    r"^The query has \d+ conditions; it may have \d+",
    r"^Upload-(Offset|Length|Complete) is .*; it must be",
    r"^text (and level are missing; give at least one of them|has a line break; a search finds)",
    r"^\w+ is .*; give .*, several separated by commas",
    r"^sort is .*; give one of .* before it for descending order",
    r"^option is .*; give NAME:VALUE or NAME:MIN\.\.MAX",
    r"^(cluster_by|features)\.\d+ is .*(; it must be (content|bytes)|; name each property once)",
    r"^(cluster_by|features) names .*(no input comes from a run|no input has such a field)",
    r"^start_time is .*, which is not before end_time",
    r"^(run_ids|instance_id|inputs).* are given; an input set has one source",
    r"^run_ids, instance_id and inputs are all absent; give one of them",
    r"^(start_time|end_time) is .* and instance_id is absent; a time range needs",
    r"^(run_ids|inputs) and (start_time|end_time) are given; a time range can be combined only with instance_id",
    r"^(run_ids|inputs) has \d+ items and maximum_runs is \d+; name no more",
    r"^(run_ids\.\d+|inputs\.\d+\.id) is .*, as .* is; name each once",
    r"^No run of the instance .* has succeeded, and an input set needs at least one",
    r"^comparisons? (is missing; it must name|and comparisons are both given|has \d+ baselines)",
    r"^comparisons?(\..*)? is .*; it must be (an instance of the application|another instance)",
    r"^comparisons?(\..*)? is .*, which is also the baseline; name another instance",
    r"^comparisons\..* has .* twice; name each candidate once",
    r"^termination_events\.time is .*(which is in the past|it must be after start_events\.time)",
    r"^generate_random_plan\.start is .*, which is in the past; give a time in the future",
    r"^The (shadow|switchback) test .* is (a draft|started|completed|canceled)",
    r"^The runs of the instance .* belong to the (shadow|switchback) test .*, which has started",
    r"^The plan ended at .*; create another test",
    r"^id is .*, which another (shadow|switchback) test of the application has",
    r"^(input|upload_id|input_id) .*are given; the input of a run is one of",
    r"^input_id is .*, whose format is .*; the app takes",
    r"^result is given and configuration.run_type.type is .*; only an external run has a result",
    r"^result: the run .* (has already ended|ended during the request)",
    r"^result: the run .* is of the type \w+\. Only an external run accepts a result",
    r"^queuing_priority is .*, and that of the run is .*; only a queued run changes its place",
    r"^(control|candidate)\.instance_id is missing, and so is (control|candidate)\.ensemble_id",
    r"^(control|candidate)\.(instance_id|version_id) is .*; it must be (an instance|a version) of this application",
    r"^(control|candidate)\.(instance_id|version_id) is .* batch experiment .* has no run of ",
    r"^candidate\.instance_id is .*, which is also the control; name another",
    r"^(control|candidate|runs\.\d+)\.ensemble_id is .*; (the run groups of an ensemble name its instances|it must be an ensemble of)",
    r"^metrics\.\d+\.hypothesis is .*non-inferiority",
    r"^metrics\.\d+\.statistic is .*; it must be one of min, max",
    r"^metrics\.\d+\.params\.tolerance\.(value|type) is ",
    r"^metrics\.\d+ repeats metrics\.\d+; give each rule once",
    r"^experiment_id is .*, (which is a scenario test|and no batch experiment has that id|which was deleted during the request)",
    r"^experiment_id is .*; a new batch experiment has an id of",
    r"^(input_set_id|repetitions) is .*, but the batch experiment .* exists already",
    r"^result\.\w+_upload_id is .*; nothing has been PUT to its URL yet",
    r"^configuration.run_type.definition_id is (missing; a run of the type ensemble names|.*has no such ensemble definition)",
    r"^configuration.run_type.definition_id is .* and the run is of the type \w+; only a run of the type ensemble",
    r"^batch_experiment_id is .* the run of an ensemble cannot join a batch experiment",
    r"^configuration\.(execution_class|secrets_collection_id|queuing\.disabled) is .*; the instances of the run groups decide it",
    r"^configuration.format.output.type is .*; its app returns \S+ for",
    r"^The run group .* of the ensemble .* cannot run\.",
    r"^(run_groups|rules)\.\d+\.(id|index) is .*, which .* also has; each must have its own",
    r"^run_groups have options of \d+ characters",
    r"^run_groups request \d+ runs, .*; request at most \d+",
    r"^rules\.\d+\.statistics_path is .*; it must name an indicator",
    r"^The run .* is of the type \w+; it is not an ensemble run",
    r"^batch_experiment_id is .* has no such batch experiment",
    r"^batch_experiment_id is .*(a run can only join a batch experiment that|the maximum of a batch experiment)",
    r"^instance_ids and runs are both (absent; give one of them|given; leave one of them out)",
    r"^(instance_ids|runs) is empty; name at least one",
    r"^instance_ids\.\d+ is .*(, which instance_ids\.\d+ names already|it must be an instance of this application)",
    r"^input_set_id is (absent; name the input set|.*; it must be an input set of this application)",
    r"^repetitions is \d+, but runs is given",
    r"^runs\.\d+ (has neither instance_id nor version_id|requests the same run as)",
    r"^runs\.\d+\.input_set_id is (absent, and so is input_set_id|.*; it must be an input set)",
    r"^runs\.\d+\.(option_set|scenario_id|input_id|instance_id|version_id) is .*; it (must be|may contain)",
    r"^option_sets has (the key .*; a key has|\d+ sets; it may have)",
    r"^objectives has (the indicator .*; a name has|\d+ indicators; it may have)",
    r"^(\d+ inputs on )?\d+ instances with .* a batch experiment may have",
    r"^runs expands to more than \d+ runs",
    r"^(option_sets\..*, for|For) the (instance|version) .*: ",
    r"^The input .* of the input set .* has the format .*; the app of",
    r"^upload_id is .* and run_id is .*; give one of them",
    r"^upload_id and run_id are both absent; give one of them",
    r"^The format of the input is .*; upload an archive and give its upload_id",
    r"^input is .*; for the format text it must be text",
    r"^secrets\.\d+\.location is ",
    r"^operations\.\d+\.location is .*, and there is (a|no) secret of type \w+ there",
    r"^operations\.\d+\.value is missing; to \w+ a secret it is needed",
    r"^With operations the collection would have \d+ secrets",
    r"^name is .*, \d+ characters long; it must have \d+ to \d+ characters, or be the id",
    r"names of options may contain letters, digits and periods",
    # Accounts and the marketplace.
    r"^admins has .* twice; name each address once",
    r"^licenses has .* twice; a licence has one total",
    r"^id is .* and ref_app_id is .*; you have published an app with that id, or that application, already",
    r"^id is .*, which another version of the app has; choose another",
    r"^ref_app_version_id is .*; it must be a version of the published application",
    r"^state is .*, and the app .* (is|has no version)",
    r"^subscription_id is .*; it must be that of a released app of the marketplace",
]


@schemathesis.deserializer("text/event-stream")
def parse_events(ctx, response):
    """Returns the events of a stream with their data as JSON. The document describes that JSON; schemathesis reads text."""
    events = []
    for block in response.content.decode("utf-8").split("\n\n"):
        lines = [line for line in block.split("\n") if ": " in line and not line.startswith(":")]
        fields = dict(line.split(": ", 1) for line in lines)
        if "data" in fields:
            events.append({**fields, "data": json.loads(fields["data"])})
    return events


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Adjusts a request before it is sent."""
    _shorten_wait(case)
    _renew_key(case)


def _shorten_wait(case):
    """Bounds the wait for the end of a run: an external run without a result never ends, so the request takes it all."""
    query = case.query if isinstance(case.query, dict) else {}
    wait = str(query.get("wait_seconds", ""))
    # A value above the maximum is refused at once.
    if wait.isdecimal() and LONGEST_WAIT_SECONDS < int(wait) <= MAXIMUM_WAIT_SECONDS:
        query["wait_seconds"] = LONGEST_WAIT_SECONDS


def _renew_key(case):
    """Gives calls of a sequence a new key: with a known one, POST returns the stored response, even of a deleted resource."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.meta.phase.name.value == "stateful" and "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = uuid.uuid4().hex


def _is_other_method(case):
    data = case.meta.phase.data if case.meta else None
    return isinstance(data, CoveragePhaseData) and data.scenario == CoverageScenario.UNSPECIFIED_HTTP_METHOD


@schemathesis.check
def refuses_valid_requests_by_rule(ctx, response, case):
    """The server refuses a request that the document allows only by a rule that a document cannot state."""
    if case.meta is None or not case.meta.generation.mode.is_positive or _is_other_method(case):
        return
    if response.status_code != 400:
        return
    message = response.json().get("error", "")
    if not any(re.search(rule, message) for rule in RULES):
        raise AssertionError(f"The document allows this request, and the server refuses it: {message}")


@schemathesis.check
def unknown_methods_are_not_found(ctx, response, case):
    """An unknown method returns 404, with the body of every 404."""
    if not _is_other_method(case) or response.request.method in ("OPTIONS", "HEAD"):
        return
    if response.status_code != 404:
        raise AssertionError(f"{response.request.method} must return 404, not {response.status_code}")
    body = response.json()
    if set(body) != {"status", "error"} or body["status"] != "Not Found":
        raise AssertionError(f"A 404 must be a status and an error, not {sorted(body)}")
