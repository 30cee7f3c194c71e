/**
 * The statuses of runs, experiments and acceptance tests, and the transitions between them.
 *
 * These tables are the source of truth. The transition modules of the server (`server/runs/store/transitions.ts` and
 * `server/experiments/store/transitions.ts`) accept only pairs of statuses that a table lists, which the compiler checks.
 * Triggers in the database refuse every other pair; a test compares them with these tables. The predicates below, the v1
 * status and the diagram in the documentation follow from the tables too.
 *
 * Uploads, deliveries to webhooks and planned runs have no status. A nullable or an empty column of their rows shows
 * whether they are complete, and each statement names that column in its condition.
 */
import { EXPERIMENT_TYPES, listTypesWith } from './experiment-types/experiment-types.ts';

export const RUN_STATUSES_V2 = ['none', 'queued', 'running', 'canceled', 'succeeded', 'failed'] as const;
export type RunStatusV2 = (typeof RUN_STATUSES_V2)[number];

export const RUN_STATUSES_V1 = ['running', 'succeeded', 'failed'] as const;
export type RunStatusV1 = (typeof RUN_STATUSES_V1)[number];

/** One allowed status change of a row, as the pairs that a table of transitions lists. */
type TableTransition<Table extends Record<string, readonly string[]>> = {
  [From in keyof Table]: { from: From; to: Table[From][number] };
}[keyof Table];

/**
 * An external run without a result is created as `none`; the server never executes it. With a result, it is created
 * with the status of that result. An ensemble run is created as `running`, and every other run as `queued`.
 *
 * `running → queued` requeues a run whose attempt was cut short, for example because its worker died; it keeps its
 * queue position. No run goes from `queued` to `failed`, because a run that cannot start fails on the worker that has
 * claimed it. A terminal status is final.
 */
export const RUN_TRANSITIONS = {
  none: ['succeeded', 'failed', 'canceled'],
  queued: ['running', 'canceled'],
  running: ['succeeded', 'failed', 'canceled', 'queued'],
  canceled: [],
  succeeded: [],
  failed: [],
} as const satisfies Record<RunStatusV2, readonly RunStatusV2[]>;

export type RunTransition = TableTransition<typeof RUN_TRANSITIONS>;

/** The statuses in which a caller may do an action. In other statuses it returns 400; only `cancel` succeeds without effect. */
export const RUN_ACTIONS = {
  cancel: ['none', 'queued', 'running'],
  readLogs: ['canceled', 'succeeded', 'failed'],
  readOutput: ['canceled', 'succeeded', 'failed'],
  submitResult: ['none'],
} as const satisfies Record<string, readonly RunStatusV2[]>;

const STATUSES_V1_BY_V2: Record<RunStatusV2, RunStatusV1> = {
  none: 'running',
  queued: 'running',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
};

/** Returns the older status with three values, which early clients read. */
export function toStatusV1(status: RunStatusV2): RunStatusV1 {
  return STATUSES_V1_BY_V2[status];
}

/** Returns true if the status is final. */
export function isTerminal(status: RunStatusV2): boolean {
  return RUN_TRANSITIONS[status].length === 0;
}

/** Returns true if a run may change from one status to the other. */
export function canTransition(from: RunStatusV2, to: RunStatusV2): boolean {
  const successors: readonly RunStatusV2[] = RUN_TRANSITIONS[from];
  return successors.includes(to);
}

/** Returns true if RUN_ACTIONS allows the action in the status. */
export function isActionAllowed(action: keyof typeof RUN_ACTIONS, status: RunStatusV2): boolean {
  const statuses: readonly RunStatusV2[] = RUN_ACTIONS[action];
  return statuses.includes(status);
}

/** The types of the experiments that runs belong to. */
export const RUN_OWNER_TYPES = listTypesWith('ownsRuns');
/** The types of the experiments whose changes webhooks receive. */
export const ANNOUNCED_TYPES = [...new Set([...RUN_OWNER_TYPES, ...EXPERIMENT_TYPES])];

export const EXPERIMENT_STATUSES = ['started', 'completed', 'failed', 'draft', 'canceled'] as const;
export type ExperimentStatus = (typeof EXPERIMENT_STATUSES)[number];

/**
 * A batch or scenario test is created as `started`. It completes when all of its runs have ended, and fails when none of
 * them succeeded. An acceptance test is created as `started` too, and gets the status of its batch once it is decided.
 */
export const BATCH_TRANSITIONS = {
  started: ['completed', 'failed'],
  completed: [],
  failed: [],
} as const satisfies Partial<Record<ExperimentStatus, readonly ExperimentStatus[]>>;

export type BatchTransition = TableTransition<typeof BATCH_TRANSITIONS>;

/** A shadow or switchback test is created as a draft and never fails as a whole. */
export const ONLINE_TEST_TRANSITIONS = {
  draft: ['started'],
  started: ['completed', 'canceled'],
  completed: [],
  canceled: [],
} as const satisfies Partial<Record<ExperimentStatus, readonly ExperimentStatus[]>>;

export type OnlineTestTransition = TableTransition<typeof ONLINE_TEST_TRANSITIONS>;

/**
 * A bisect experiment is created as `started`. It completes with any verdict, fails when a version cannot be run or
 * compared, and is canceled by a caller.
 */
export const BISECT_TRANSITIONS = {
  started: ['completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
} as const satisfies Partial<Record<ExperimentStatus, readonly ExperimentStatus[]>>;

export type BisectTransition = TableTransition<typeof BISECT_TRANSITIONS>;

const EXPERIMENT_TRANSITION_TABLES: readonly Partial<
  Record<ExperimentStatus, readonly ExperimentStatus[]>
>[] = [BATCH_TRANSITIONS, ONLINE_TEST_TRANSITIONS, BISECT_TRANSITIONS];

/** Returns true if the status is final, for an experiment of any type. */
export function isExperimentTerminal(status: ExperimentStatus): boolean {
  return EXPERIMENT_TRANSITION_TABLES.every((table) => (table[status] ?? []).length === 0);
}

/** The result of one attempt to deliver an event to a webhook. */
export const CONVERSATION_STATUSES = ['succeeded', 'timed_out', 'failed'] as const;
export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];
