/**
 * Every number the API promises, once, with its unit in the name. Sources: the product's specification, sections 5 and 9;
 * where it is silent, decisions/0003-limits-of-our-own.md.
 */
export const API_VERSION = '1.7.0';

export const ID_CHARS_MAX = 64;
/** The longest address that mail can be sent to (RFC 5321). */
export const EMAIL_CHARS_MAX = 254;
export const NAME_CHARS_MIN = 3;
export const NAME_CHARS_MAX = 48;
export const DESCRIPTION_CHARS_MAX = 128;
export const RUN_NAME_CHARS_MAX = 256;
export const RUN_DESCRIPTION_CHARS_MAX = 1024;
/** As long as an id, which the published clients send for a name that they are not given. */
export const INPUT_NAME_CHARS_MIN = 1;
export const INPUT_NAME_CHARS_MAX = 64;
export const INPUT_SET_NAME_CHARS_MIN = 3;
export const INPUT_SET_NAME_CHARS_MAX = 64;
export const INPUT_SET_DESCRIPTION_CHARS_MAX = 256;
/** Inputs that are named one by one; lists show all of them. */
export const INPUT_SET_INPUTS_MAX = 500;
/** `maximum_runs` at its highest, and its default. */
export const INPUT_SET_RUNS_MAX = 20;
/** How long before now the runs of an instance are looked for when no time is given. */
export const INPUT_SET_WINDOW_DEFAULT_MS = 24 * 60 * 60 * 1000;
export const RUNTIME_CHARS_MIN = 3;
export const RUNTIME_CHARS_MAX = 256;
export const ERROR_CHARS_MAX = 2000;

export const PAGE_ITEMS_MAX = 50;
export const LIST_WINDOW_DEFAULT_MS = 365 * 24 * 60 * 60 * 1000;

export const PRIORITY_MIN = 1;
export const PRIORITY_MAX = 9;
export const PRIORITY_DEFAULT = 6;

export const ASSETS_MAX = 1000;
export const ASSET_NAME_CHARS_MAX = 256;
export const ASSET_DESCRIPTION_CHARS_MAX = 1024;
/** Written as JSON. What is to be drawn is the content; this only says how. */
export const ASSET_VISUAL_CHARS_MAX = 16 * 1024;
/** Ten years: what no run takes. */
export const EXTERNAL_DURATION_MS_MAX = 10 * 365 * 24 * 60 * 60 * 1000;

export const DIRECT_INPUT_BYTES_MAX = 5 * 1024 * 1024;
export const DIRECT_OUTPUT_BYTES_MAX = 5 * 1024 * 1024;
/** Of a request body, unless its operation declares another limit. */
export const BODY_BYTES_MAX = 256 * 1024;
/** Of bodies with many options, values or ids in them: 64 secrets of 1 KiB, each byte written as an escape, are 400 kB. */
export const LARGE_BODY_BYTES_MAX = 1024 * 1024;
/** The body of a run may be as large as the largest direct input plus the fields around it. */
export const REQUEST_BODY_BYTES_MAX = DIRECT_INPUT_BYTES_MAX + 1024 * 1024;
/** Lists and objects in each other. A million of them took the server 1.4 s to parse, a hundred thousand 74 ms. */
export const REQUEST_BODY_DEPTH_MAX = 100_000;
/** The same where no token is asked for: a name, an address, an invite. */
export const PUBLIC_BODY_BYTES_MAX = 64 * 1024;
/** 500 MB, which the published clients read as 500 MiB. */
export const UPLOAD_BYTES_MAX = 500 * 1024 * 1024;
export const OUTPUT_BYTES_MAX = 100 * 1024 * 1024;
export const UPLOAD_URL_TTL_SECONDS = 10 * 60;
export const DOWNLOAD_URL_TTL_SECONDS = 10 * 60;

export const STATISTICS_BYTES_MAX = 10_000;
/** Of `metrics`, written as JSON. */
export const METRICS_CHARS_MAX = 1024 * 1024;
/** Objects and lists in each other; what is kept is shown with every run, and must not be too deep to be written. */
export const METRICS_DEPTH_MAX = 64;
/** Each indicator repeats the path to it, so that a small block can make very many of them. */
export const INDICATORS_CHARS_MAX = 64 * 1024;
export const LOG_LINE_BYTES_MAX = 64 * 1024;
export const LOG_BYTES_MAX = 50 * 1024 * 1024;
export const LIVE_LOG_RETENTION_MS = 24 * 60 * 60 * 1000;
export const LIVE_LOG_LINES_PER_PAGE = 1000;

/** How long the archive of an executable is kept that nothing can execute any more. */
export const UNUSED_ARCHIVE_RETENTION_MS = 60 * 60 * 1000;
export const UPLOAD_RETENTION_MS = 24 * 60 * 60 * 1000;

export const ARCHIVE_ENTRIES_MAX = 20_000;
export const ARCHIVE_UNPACKED_BYTES_MAX = 2 * 1024 * 1024 * 1024;
export const MANIFEST_BYTES_MAX = 1024 * 1024;

export const OPTIONS_MAX = 256;
export const OPTION_NAME_CHARS_MAX = 128;
export const OPTION_VALUE_CHARS_MAX = 8192;
/** Of all options together, written as JSON: lists of runs show them three times for every run. */
export const OPTIONS_CHARS_MAX = 64 * 1024;
export const OPTION_TEMPLATE_PARTS_MAX = 16;
export const OPTION_TEMPLATE_CHARS_MAX = 256;

/** 1KB, counted as every other size here. */
export const SECRET_VALUE_BYTES_MAX = 1024;
export const SECRET_LOCATION_CHARS_MAX = 256;
export const SECRETS_MAX = 64;

/** The place in the queue is counted to here, so that asking for it costs the same however long the queue is. */
export const QUEUE_POSITION_MAX = 1000;
/** Runs in the slots that the waiting reason of a queued run names. */
export const SLOT_HOLDERS_MAX = 5;
/** Runs that the queue answers to callers that do not page. */
export const QUEUE_RUNS_MAX = 1000;

export const ATTEMPTS_MAX = 5;
export const LEASE_DURATION_MS = 30_000;
export const CANCEL_GRACE_MS = 5_000;

/** Of batch, shadow and switchback tests, when a description is given. */
export const EXPERIMENT_DESCRIPTION_CHARS_MIN = 30;
/** As many runs as one answer can hold. */
export const BATCH_RUNS_MAX = 10_000;
/** Runs that stand in a batch experiment itself; the list of its runs has all of them. */
export const BATCH_RUNS_EMBEDDED_MAX = 1000;
export const OPTION_SETS_MAX = 1000;
/** Of all option sets of a batch experiment, written as JSON: lists show them. */
export const OPTION_SETS_CHARS_MAX = 256 * 1024;
/** Of the options of all runs of a batch experiment, written as JSON: each run keeps its own. */
export const BATCH_OPTIONS_CHARS_MAX = 64 * 1024 * 1024;
/** Longer than an id: clients make keys of the id of a scenario and a number. */
export const OPTION_SET_KEY_CHARS_MAX = 128;
export const SCENARIO_ID_CHARS_MAX = 64;
/** Of the runs that could not be made, so that an experiment of which none could is still read at a glance. */
export const REFUSED_RUNS_EMBEDDED_MAX = 50;
export const FAILURES_EMBEDDED_MAX = 20;
export const SHADOW_RUNS_MAX = 300;
export const SHADOW_CANDIDATES_MAX = 10;
export const SWITCHBACK_UNITS_MAX = 1000;
export const SWITCHBACK_UNIT_MINUTES_MAX = 10_080;
export const METRICS_MAX = 100;
export const METRIC_CHARS_MAX = 255;

/** Of runs that one run of an ensemble makes: they wait for each other, and their inputs are held until the last is made. */
export const ENSEMBLE_RUNS_MAX = 100;
export const ENSEMBLE_RULES_MAX = 20;
export const RULE_INDEX_MAX = 1_000_000;
export const RULE_PATH_CHARS_MAX = 255;
/** Ids within a resource: of run groups and rules. */
export const NESTED_ID_CHARS_MAX = 64;

export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
export const IDEMPOTENCY_KEY_TTL_MS = 24 * 60 * 60 * 1000;

/** Of one member, or one service. */
export const MEMBER_KEYS_MAX = 100;
export const INVITE_TTL_SECONDS = 7 * 24 * 60 * 60;

/** Of one account. */
export const WEBHOOKS_MAX = 100;
export const ENDPOINT_URL_CHARS_MAX = 2048;
/** Of what a receiver answers; the rest is not read. */
export const WEBHOOK_RESPONSE_BYTES_MAX = 64 * 1024;
/** A receiver that has not answered by then is tried again. */
export const WEBHOOK_TIMEOUT_MS = 15_000;
/** From one attempt to the next: ten attempts within 76 hours. */
export const WEBHOOK_RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
/** For how long the secret before the newest signs, too, when nothing is said, and at most. */
export const SECRET_OVERLAP_HOURS_DEFAULT = 24;
export const SECRET_OVERLAP_HOURS_MAX = 168;
export const CONVERSATION_RETENTION_DAYS = 30;
