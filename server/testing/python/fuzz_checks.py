"""What schemathesis' own checks cannot know of this API, as checks that take their place.

A document says what a well-formed request is, not which ids exist or which of them go together. So where a request that
the document allows is refused, the sentence of the refusal must be one of those below, each a rule that no document of
this kind can state. And a method that a path does not have is answered with 404, as everything that is not there.
"""

import re
import uuid

import schemathesis
from schemathesis.generation.meta import CoveragePhaseData, CoverageScenario

RULES = [
    # References: what is named must be there and belong together, and what is used stays.
    r"; it must be (a version|an instance|an upload|a run|a managed input|a secrets collection) of (the|this) application",
    r"^The application .* has no executable yet; push one first",
    r"^id is .*, which (another .*|every application) has( already)?; choose another",
    r"^The default instance .* does not exist; set default_instance",
    r"^The (version|secrets collection) .* of the instance .* does not exist; give the instance another",
    r"^The (version|secrets collection) .* is used by the instance",
    r"^The instance .* is the default instance of the application; set default_instance",
    # Tokens are opaque, and belong to one list or one effect.
    r"^(pagetoken|since) is .*; it must be the next_page_token of the (page|call) before",
    r"^The Idempotency-Key header is .*, which another request had",
    # States: what has been uploaded, what has ended, what is never changed.
    r"^No executable was uploaded; ask for an upload URL",
    r"^upload_id is .*; nothing has been PUT to its URL yet",
    r"^The run is \w+; its log can be read here once it has ended",
    r"^The key .* is the last (root|admin) key of the account",
    r"^The member .* is the last (root|admin) of the account who has come in",
    r"^Among the keys of the member .* is the last (root|admin) key of the account",
    r"^role is .*, but the key .* of .* has the role",
    r"^role is .*, which has rights that the member .* does not have",
    r"^email is .*, which another member has; renew that invite",
    r"^account_id is .*, the account of your own key",
    r"^The instance .* always runs the executable pushed last; it cannot be changed or deleted",
    # Relations of two fields, and keys of a map.
    r"^start is .*, which is not before end",
    r"^(input|upload_id|input_id) .*are given; the input of a run is one of",
    r"^input_id is .*, whose format is .*; the app takes",
    r"^result is given and configuration.run_type.type is .*; only an external run has a result",
    r"^result: the run .* is .*; (a result is given once|only an external run is given its result)",
    r"^result: the run .* has ended meanwhile",
    r"^queuing_priority is .*, and that of the run is .*; only a queued run changes its place",
    r"^result\.\w+_upload_id is .*; nothing has been PUT to its URL yet",
    r"^configuration.run_type.definition_id is (missing; a run of the type ensemble names|.*has no such ensemble definition)",
    r"^batch_experiment_id is .* has no such batch experiment",
    r"^upload_id is .* and run_id is .*; give one of them",
    r"^upload_id and run_id are both absent; give one of them",
    r"^The format of the input is .*; upload an archive and give its upload_id",
    r"^input is .*; for the format text it must be text",
    r"^secrets\.\d+\.location is ",
    r"^operations\.\d+\.location is .*, and there is (a|no) secret of type \w+ there",
    r"^operations\.\d+\.value is missing; to \w+ a secret it is needed",
    r"^With operations the collection would have \d+ secrets",
    r"names of options may contain letters, digits and periods",
]


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Sequences of calls get keys of their own: under one used before, POST answers what it made then, deleted or not."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.meta.phase.name.value == "stateful" and "Idempotency-Key" in (case.headers or {}):
        case.headers["Idempotency-Key"] = uuid.uuid4().hex


def _is_other_method(case):
    data = case.meta.phase.data if case.meta else None
    return isinstance(data, CoveragePhaseData) and data.scenario == CoverageScenario.UNSPECIFIED_HTTP_METHOD


@schemathesis.check
def refuses_valid_requests_by_rule(ctx, response, case):
    """A request that the document allows is refused only by a rule that a document cannot state."""
    if case.meta is None or not case.meta.generation.mode.is_positive or _is_other_method(case):
        return
    if response.status_code != 400:
        return
    sentence = response.json().get("error", "")
    if not any(re.search(rule, sentence) for rule in RULES):
        raise AssertionError(f"The document allows this request, and the server refuses it: {sentence}")


@schemathesis.check
def unknown_methods_are_not_found(ctx, response, case):
    """A method that a path does not have is 404, in the shape of every 404."""
    if not _is_other_method(case) or response.request.method in ("OPTIONS", "HEAD"):
        return
    if response.status_code != 404:
        raise AssertionError(f"{response.request.method} must be answered with 404, not {response.status_code}")
    body = response.json()
    if set(body) != {"status", "error"} or body["status"] != "Not Found":
        raise AssertionError(f"A 404 must be a status and an error, not {sorted(body)}")
