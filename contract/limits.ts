/**
 * Every limit of the API, declared once, with its unit in the name. Sources: sections 5 and 9 of the specification;
 * where it is silent, decisions/0003-limits-of-our-own.md.
 */
export const API_VERSION = '1.7.0';

export const ID_CHARS_MAX = 64;
/** The longest address that can receive mail (RFC 5321). */
export const EMAIL_CHARS_MAX = 254;
export const NAME_CHARS_MIN = 3;
export const NAME_CHARS_MAX = 48;
export const DESCRIPTION_CHARS_MAX = 128;
export const RUN_NAME_CHARS_MAX = 256;
export const RUN_DESCRIPTION_CHARS_MAX = 1024;
/** As long as an id, because the published clients send the id as the default name. */
export const INPUT_NAME_CHARS_MIN = 1;
export const INPUT_NAME_CHARS_MAX = 64;
export const INPUT_SET_NAME_CHARS_MIN = 3;
export const INPUT_SET_NAME_CHARS_MAX = 64;
export const INPUT_SET_DESCRIPTION_CHARS_MAX = 256;
/** Individually listed inputs; lists show all of them. */
export const INPUT_SET_INPUTS_MAX = 500;
/** Maximum and default of `maximum_runs`. */
export const INPUT_SET_RUNS_MAX = 20;
/** Default start of the time window for the runs of an instance. */
export const INPUT_SET_WINDOW_DEFAULT_MS = 24 * 60 * 60 * 1000;
export const RUNTIME_CHARS_MIN = 3;
export const RUNTIME_CHARS_MAX = 256;
export const ERROR_CHARS_MAX = 2000;

export const PAGE_ITEMS_MAX = 50;
/** The runs of a list that are counted, newest first. */
export const COUNTED_RUNS_MAX = 10_000;
/** The latest runs that a summary of an application has. */
export const RECENT_RUNS_MAX = 15;
/** The tags of an application that are listed. */
export const LISTED_TAGS_MAX = 200;
/** Columns with options and indicators of a list of runs as CSV. */
export const RUNS_CSV_COLUMNS_MAX = 2000;
/** Lists of runs that one key reads as CSV at the same time. Each reads its runs twice, however many they are. */
export const KEY_CSV_MAX = 4;
/** Conditions of a filter for runs, and the size of a parameter with several. */
export const RUN_CONDITIONS_MAX = 10;
export const RUN_CONDITION_CHARS_MAX = 1024;
/** The values of one column that a list of runs can be filtered by. */
export const RUN_FILTER_VALUES_MAX = 20;
export const LIST_WINDOW_DEFAULT_MS = 365 * 24 * 60 * 60 * 1000;

/** The longest duration of an execution class. */
export const MAX_DURATION_SECONDS_MAX = 12 * 60 * 60;
export const PRIORITY_MIN = 1;
export const PRIORITY_MAX = 9;
export const PRIORITY_DEFAULT = 6;

/** Characters of a label, and labels of a worker or of an instance. */
export const LABEL_CHARS_MAX = 64;
export const LABELS_MAX = 32;
/** Worker tokens of one account. */
export const WORKER_TOKENS_MAX = 100;
/** Registered workers of one worker token, and of all tokens of an account. A worker counts until it leaves or is dead. */
export const TOKEN_WORKERS_MAX = 1000;
export const ACCOUNT_WORKERS_MAX = 2000;
/** Worker tokens of subscribers to which a publisher gives its app. */
export const ALLOWED_WORKER_TOKENS_MAX = 100;
/** Cores of one worker. */
export const WORKER_CORES_MAX = 100_000;
/** Slots of one worker. */
export const WORKER_SLOTS_MAX = 100_000;
/** Attempts in one request of a worker. */
export const SYNC_ATTEMPTS_MAX = 10_000;
/** Attempts in one response to a worker. */
export const SYNC_JOBS_MAX = 32;
/** The largest fencing token. The numbers of the log chunks of its attempt are then still exact integers. */
export const FENCE_MAX = 9_999_999;
/** The latest instant of a `Date`, in milliseconds since the epoch. */
export const INSTANT_MS_MAX = 8_640_000_000_000_000;
/** Encoded times of the lines of an attempt. */
export const LINE_TIMES_BYTES_MAX = 1024 * 1024;
/** Request body of a remote worker: four chunks of a log whose every character is escaped, or small result files. */
export const WORKER_BODY_BYTES_MAX = 16 * 1024 * 1024;
/** Result files of an attempt up to this size together are part of the request that ends it. */
export const INLINE_RESULT_BYTES_MAX = 256 * 1024;
/** Result files of an attempt that the request that ends it has not used yet: twice the largest result with its log. */
export const ATTEMPT_FILES_BYTES_MAX = 1024 * 1024 * 1024;
export const ATTEMPT_FILES_MAX = 100;
/** An input or executable up to this size is part of the job. */
export const INLINE_CONTENT_BYTES_MAX = 64 * 1024;
/** Licences of an account, and their tokens. */
export const LICENSES_MAX = 50;
export const LICENSE_TOKENS_MAX = 1_000_000;

export const ASSETS_MAX = 1000;
export const ASSET_NAME_CHARS_MAX = 256;
export const ASSET_DESCRIPTION_CHARS_MAX = 1024;
/** Characters as JSON. The content has the data; these settings only describe the drawing. */
export const ASSET_VISUAL_CHARS_MAX = 16 * 1024;
/** Ten years, longer than any run. */
export const EXTERNAL_DURATION_MS_MAX = 10 * 365 * 24 * 60 * 60 * 1000;

export const DIRECT_INPUT_BYTES_MAX = 5 * 1024 * 1024;
export const DIRECT_OUTPUT_BYTES_MAX = 5 * 1024 * 1024;
/** Request body, unless the operation declares another limit. */
export const BODY_BYTES_MAX = 256 * 1024;
/** Bodies with many options, values or ids: 64 secrets of 1 KiB, with each byte escaped, are 400 kB. */
export const LARGE_BODY_BYTES_MAX = 1024 * 1024;
/** The body of a run fits the largest direct input plus the other fields. */
export const REQUEST_BODY_BYTES_MAX = DIRECT_INPUT_BYTES_MAX + 1024 * 1024;
/**
 * Lists, objects and fields of objects in a body, except in the input of a run. To parse a body takes a time for each, and
 * every other request waits meanwhile: 50 ms for as many lists, and 130 ms for as many fields.
 */
export const REQUEST_BODY_VALUES_MAX = 150_000;
/** Nested lists and objects. */
export const REQUEST_BODY_DEPTH_MAX = 100_000;
/** Bodies of operations without a token: a name, an address, an invite. */
export const PUBLIC_BODY_BYTES_MAX = 64 * 1024;
/** 500 MB, which the published clients read as 500 MiB. */
export const UPLOAD_BYTES_MAX = 500 * 1024 * 1024;
/** Parts of one upload: each is a blob and a row. 1,000 parts of the largest upload have 512 KiB each. */
export const UPLOAD_PARTS_MAX = 1000;
/** Largest file of an executable whose text a response has. A person reads no longer one. */
export const FILE_TEXT_BYTES_MAX = 1024 * 1024;
export const OUTPUT_BYTES_MAX = 100 * 1024 * 1024;
/** Validity of a link that signs in to the console. */
export const SIGN_IN_LINK_MINUTES = 10;
/** Validity of the codes of a sign-in from another device. */
export const DEVICE_AUTHORIZATION_SECONDS = 900;
/** Seconds between two reads of its status. RFC 8628 proposes 5; a read costs one row, and a person waits for it. */
export const DEVICE_POLL_SECONDS = 2;
/** Without vowels, so that no code spells a word (RFC 8628, section 6.1). Eight letters have 34 random bits. */
export const USER_CODE_ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
export const USER_CODE_LETTERS = 8;
/** Sign-ins from other devices that may be open at the same time, on the server and from one network. */
export const DEVICE_AUTHORIZATIONS_MAX = 2000;
export const NETWORK_DEVICE_AUTHORIZATIONS_MAX = 50;
/** A provider's code has at most about 2,000 characters; the limit of most servers for an address is 8 KiB. */
export const SIGN_ON_CALLBACK_CHARS_MAX = 8192;
/** A session ends after this time without a request. */
export const SESSION_IDLE_DAYS = 7;
/** A session ends this long after its sign-in. */
export const SESSION_DAYS = 30;
/** Sessions of one key; a new one ends the oldest. */
export const KEY_SESSIONS_MAX = 50;
/** Ten years. */
export const RETENTION_DAYS_MAX = 3650;
/** Runs in a preview of a retention policy. */
export const RETENTION_EXAMPLES_MAX = 10;
/** A preview reads this many runs at most, in about two seconds. */
export const RETENTION_PREVIEW_RUNS_MAX = 200_000;
/** Share links of one run. */
export const SHARES_MAX = 50;
export const SHARE_HOURS_DEFAULT = 7 * 24;
export const SHARE_HOURS_MAX = 90 * 24;
export const RUN_TAGS_MAX = 20;
/** Saved views of one member in one application. */
export const RUN_VIEWS_MAX = 50;
export const RUN_VIEW_NAME_CHARS_MAX = 64;
export const RUN_VIEW_COLUMNS_MAX = 30;
export const RUN_VIEW_COLUMN_CHARS_MAX = 256;
export const RUN_TAG_CHARS_MAX = 64;
/** Days of a range of usage: a leap year. */
export const USAGE_DAYS_MAX = 366;
export const USAGE_DAYS_DEFAULT = 30;
/** Groups in one response of usage. */
export const USAGE_ROWS_MAX = 10_000;
export const UPLOAD_URL_TTL_SECONDS = 10 * 60;
export const DOWNLOAD_URL_TTL_SECONDS = 10 * 60;

export const STATISTICS_BYTES_MAX = 10_000;
/** Characters of `metrics` as JSON. */
export const METRICS_CHARS_MAX = 1024 * 1024;
/** Nesting depth of objects and lists. Every response with the run repeats the block, so it must stay serialisable. */
export const METRICS_DEPTH_MAX = 64;
/** Each indicator repeats its path, so a small block can produce very many indicators. */
export const INDICATORS_CHARS_MAX = 64 * 1024;
export const LOG_LINE_BYTES_MAX = 64 * 1024;
export const LOG_BYTES_MAX = 50 * 1024 * 1024;
/** Lines of the logs of an attempt. With lines of 50 characters, a log reaches its limit in bytes first. */
export const LOG_LINES_MAX = 1_000_000;
/** Remarks of the runner in logs that it cuts: one in each cut line of 64 KiB, and a line in each of the two logs. */
export const LOG_REMARK_LINES_MAX = 4;
const LOG_REMARK_CHARS_MAX = 1024 * 1024;
/** Characters of all lines of an attempt: those of stdout and of stderr, and the remarks. */
export const ATTEMPT_LOG_CHARS_MAX = 2 * LOG_BYTES_MAX + LOG_REMARK_CHARS_MAX;
/** Characters of the lines of one stored chunk. Readers hold a few chunks in memory. */
export const LOG_CHUNK_CHARS_MAX = 256 * 1024;
export const LOG_CHUNK_LINES_MAX = 1000;
/** Characters of lines after which a page of a live log ends. */
export const LIVE_LOG_PAGE_CHARS_MAX = 1024 * 1024;
export const LIVE_LOG_RETENTION_MS = 24 * 60 * 60 * 1000;
export const LIVE_LOG_LINES_PER_PAGE = 1000;
/** Characters of the text of a search in logs. */
export const LOG_SEARCH_CHARS_MAX = 200;
/** Bytes of logs and number of runs that one request of a search examines. */
export const LOG_SEARCH_BYTES_MAX = 16 * 1024 * 1024;
export const LOG_SEARCH_RUNS_MAX = 500;
/** Lines in one response of a search in the log of a run. */
export const LOG_MATCHES_DEFAULT = 100;
export const LOG_MATCHES_MAX = 1000;
/** Runs in one response of a search in the logs of an application. */
export const LOG_SEARCH_ITEMS_DEFAULT = 20;
export const LOG_SEARCH_ITEMS_MAX = 100;
/** Characters of a line in the response of a search. */
export const LOG_EXCERPT_CHARS_MAX = 1000;
/** Points of one series of a run. */
export const SERIES_POINTS_MAX = 2000;
/**
 * Series of a run: 20 whose names the app chooses, three of its resources, and four of each of its last solves. Those of earlier
 * solves make room for them.
 */
export const SERIES_MAX = 128;
/** Points of all series of a run: as many as 32 series of `SERIES_POINTS_MAX` have. More series have fewer points each. */
export const SERIES_TOTAL_POINTS_MAX = 64_000;
export const SERIES_NAME_CHARS_MAX = 64;
/** Points of a series in one write, which happens five times a second. */
export const SERIES_WRITE_POINTS_MAX = 200;
/** Stored writes of points before a worker merges them. */
export const SERIES_ROWS_MAX = 100;
/** Phases of solvers in one run: four for each solve. */
export const SERIES_PHASES_MAX = 400;
/** Solves of a run that are listed. */
export const SERIES_SOLVES_MAX = 400;
/** Open event streams of one key. */
export const KEY_STREAMS_MAX = 100;
/** Runs in one event of an account's stream. */
export const STREAM_CHANGES_MAX = 50;
/** A stream ends after this time, so that a revoked key or an ended session reads no further. */
export const STREAM_MINUTES_MAX = 5;

/** How long the archive of an unused executable stays. */
export const UNUSED_ARCHIVE_RETENTION_MS = 60 * 60 * 1000;
export const UPLOAD_RETENTION_MS = 24 * 60 * 60 * 1000;

export const ARCHIVE_ENTRIES_MAX = 20_000;
export const ARCHIVE_UNPACKED_BYTES_MAX = 2 * 1024 * 1024 * 1024;
export const MANIFEST_BYTES_MAX = 1024 * 1024;

export const OPTIONS_MAX = 256;
export const OPTION_NAME_CHARS_MAX = 128;
export const OPTION_VALUE_CHARS_MAX = 8192;
/** Characters of all options together, as JSON: lists of runs show them three times for every run. */
export const OPTIONS_CHARS_MAX = 64 * 1024;
export const OPTION_TEMPLATE_PARTS_MAX = 16;
export const OPTION_TEMPLATE_CHARS_MAX = 256;

/** 1 KB, in the units of the other sizes. */
export const SECRET_VALUE_BYTES_MAX = 1024;
export const SECRET_LOCATION_CHARS_MAX = 256;
export const SECRETS_MAX = 64;
/** The values that are masked in the log of a run: its secrets and its run token, whose characters are fewer. */
export const MASKED_VALUES_MAX = SECRETS_MAX + 1;
export const MASKED_VALUE_CHARS_MAX = 4096;

/** Queue positions above this are not counted, so that the query costs the same for any length of the queue. */
export const QUEUE_POSITION_MAX = 1000;
/** The order of the queue depends on the slots that accounts and applications used in these last minutes. */
export const RECENT_USE_MINUTES = 10;
/**
 * Waiting runs with a predicted start, for each group of classes that share slots. The time of a prediction grows with the
 * number, and its range with the position: far back it says little.
 */
export const PREDICTED_STARTS_MAX = 200;
/** Runs in the slots that the waiting reason of a queued run names. */
export const SLOT_HOLDERS_MAX = 5;
/** Runs in a response of the queue without paging. */
export const QUEUE_RUNS_MAX = 1000;

export const ATTEMPTS_MAX = 5;
/** The number of backups that a list has. */
export const BACKUPS_MAX = 100;
/** Largest quotas of an account. */
export const CONCURRENT_RUNS_MAX = 1_000_000;
export const CORE_HOURS_MAX = 1_000_000_000;
/** The longest wait for the end of a run in one request. Proxies and load balancers close a request after 60 idle seconds. */
export const RUN_WAIT_SECONDS_MAX = 50;
export const LEASE_DURATION_MS = 30_000;
/** Within this time an active worker has sent a heartbeat, even when it is a little late. */
export const HEARTBEAT_TIMEOUT_MS = LEASE_DURATION_MS / 3;
export const CANCEL_GRACE_MS = 5_000;

/** Batch, shadow and switchback tests, when they have a description. */
export const EXPERIMENT_DESCRIPTION_CHARS_MIN = 30;
/** As many runs as one response can contain. */
export const BATCH_RUNS_MAX = 10_000;
/** Runs in the response of a batch experiment itself; the list of its runs has all of them. */
export const BATCH_RUNS_EMBEDDED_MAX = 1000;
export const OPTION_SETS_MAX = 1000;
/** Characters of all option sets of a batch experiment as JSON: lists show them. */
export const OPTION_SETS_CHARS_MAX = 256 * 1024;
/** Characters of the options of all runs of a batch experiment as JSON: each run stores its own. */
export const BATCH_OPTIONS_CHARS_MAX = 64 * 1024 * 1024;
/** Longer than an id: clients build keys from the id of a scenario and a number. */
export const OPTION_SET_KEY_CHARS_MAX = 128;
export const SCENARIO_ID_CHARS_MAX = 64;
/** Entries for runs that could not be created, so that an experiment without any run stays readable. */
export const REFUSED_RUNS_EMBEDDED_MAX = 50;
export const FAILURES_EMBEDDED_MAX = 20;
export const SHADOW_RUNS_MAX = 300;
export const SHADOW_CANDIDATES_MAX = 10;
export const SWITCHBACK_UNITS_MAX = 1000;
export const SWITCHBACK_UNIT_MINUTES_MAX = 10_080;
/** Versions of a bisect experiment, which needs about ten tests for a thousand. */
export const BISECT_VERSIONS_MAX = 1000;
export const BISECT_INPUTS_MAX = 50;
/** Inputs, originals or units of a plan; an experiment can have fewer. */
export const PLANNED_SIZE_MAX = 1_000_000;
/** Differences to plan for, and standard deviations: their squares are finite and above 0. */
export const PLANNED_DIFFERENCE_MIN = 1e-100;
export const PLANNED_DIFFERENCE_MAX = 1e100;
/** Clusterings and features of the inputs of a batch experiment, each a field of the input or a property of its source. */
export const CLUSTERINGS_MAX = 4;
export const FEATURES_MAX = 8;
/** Ids of inputs in all groups of the interactions of a result. */
export const INTERACTION_INPUTS_MAX = 20_000;
export const INPUT_PROPERTY_CHARS_MAX = 255;
/** Fields are read from inputs of at most this size, and of this size together: creating the experiment waits for them. */
export const FIELD_INPUT_BYTES_MAX = 20 * 1024 * 1024;
export const FIELD_INPUTS_BYTES_MAX = 256 * 1024 * 1024;
/** Configurations of a race: every pair of them is compared after each input. */
export const RACED_CONFIGURATIONS_MAX = 200;
export const METRICS_MAX = 100;
export const METRIC_CHARS_MAX = 255;
/** Largest declared change of one input, as a share of the control. A larger one bounds nothing, and products overflow. */
export const LARGEST_LOSS_MAX = 1_000_000;

/** Child runs of an ensemble run: they wait for each other, and their inputs stay stored until the last is created. */
export const ENSEMBLE_RUNS_MAX = 100;
export const ENSEMBLE_RULES_MAX = 20;
export const RULE_INDEX_MAX = 1_000_000;
export const RULE_PATH_CHARS_MAX = 255;
/** Ids within a resource: of run groups and rules. */
export const NESTED_ID_CHARS_MAX = 64;

export const IDEMPOTENCY_KEY_CHARS_MAX = 255;
export const IDEMPOTENCY_KEY_TTL_MS = 24 * 60 * 60 * 1000;

/** Items of each kind in the inventory of a member. */
export const INVENTORY_ITEMS_MAX = 200;
/** Keys of one member or one service. */
export const MEMBER_KEYS_MAX = 100;
export const MARKETPLACE_DESCRIPTION_CHARS_MAX = 4000;
/** Categories, and features, of an app of the marketplace. */
export const MARKETPLACE_LABELS_MAX = 20;
/** Published versions of one app: every subscriber has a copy of each. */
export const MARKETPLACE_VERSIONS_MAX = 100;
/** Versions in the response of an app. */
export const LATEST_VERSIONS_MAX = 10;
export const CHANGE_LOG_ENTRIES_MAX = 50;
export const CHANGE_LOG_ENTRY_CHARS_MAX = 500;
/** Admins whom the request for a new account invites. */
export const ORGANIZATION_ADMINS_MAX = 50;
export const INVITE_TTL_SECONDS = 7 * 24 * 60 * 60;

/** Webhooks of one account. */
export const WEBHOOKS_MAX = 100;
/** Runs, and workers, that an event of a problem names. */
export const QUEUE_PROBLEM_IDS_MAX = 10;
export const ENDPOINT_URL_CHARS_MAX = 2048;
/** Bytes of a receiver's response; the rest is not read. */
export const WEBHOOK_RESPONSE_BYTES_MAX = 64 * 1024;
/** A delivery without a response within this time is retried. */
export const WEBHOOK_TIMEOUT_MS = 15_000;
/** Pauses between attempts: ten attempts within 76 hours. */
export const WEBHOOK_RETRY_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;
/** Default and maximum overlap of the previous and the new secret. */
export const SECRET_OVERLAP_HOURS_DEFAULT = 24;
export const SECRET_OVERLAP_HOURS_MAX = 168;
export const CONVERSATION_RETENTION_DAYS = 30;

/** Applications that the configuration of an instance can name for API access. */
export const API_ACCESS_APPLICATIONS_MAX = 50;
/** Levels of workflows that start workflows. Each has its own bound, so that no level waits for itself. */
export const WORKFLOW_DEPTH_MAX = 3;
/** Workflows of one level that a worker executes at once: those that wait hold no slot, but memory. */
export const WORKFLOWS_PER_WORKER_MAX = 16;
/** Child runs of one run. */
export const CHILD_RUNS_MAX = 10_000;
/** Uploads that the app of one run can request, one for each child run, and the bytes after which it gets no further one. */
export const RUN_UPLOADS_MAX = 10_000;
export const RUN_UPLOADS_BYTES_MAX = 50 * 1024 * 1024 * 1024;
/** A graph as JSON. One of 500 nodes that nextpipe sends has 100 kB. */
export const FLOW_BYTES_MAX = 2 * 1024 * 1024;
export const FLOW_STEPS_MAX = 500;
export const FLOW_NODES_MAX = 5000;
export const FLOW_ID_CHARS_MAX = 256;
/** nextpipe cuts documentation at 1,000 characters and appends three points. */
export const FLOW_DOCS_CHARS_MAX = 4096;
