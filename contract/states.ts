/**
 * The states of a run as a table: which status follows which, and what may be done in each. Predicates, the v1 status
 * and the diagram in the documentation are derived from these tables; nothing else decides about states.
 */
export const RUN_STATUSES_V2 = ['none', 'queued', 'running', 'canceled', 'succeeded', 'failed'] as const;
export type RunStatusV2 = (typeof RUN_STATUSES_V2)[number];

export const RUN_STATUSES_V1 = ['running', 'succeeded', 'failed'] as const;
export type RunStatusV1 = (typeof RUN_STATUSES_V1)[number];

/**
 * `running → queued` is the one step back: the worker that held the run died, so nothing is known about it and it is
 * queued again at its old place. What cannot be started fails in the hands of the worker that has claimed it, so nothing
 * goes from `queued` to `failed`. `none` is an external run, which is never executed here. A terminal status never changes.
 */
export const RUN_TRANSITIONS: Record<RunStatusV2, readonly RunStatusV2[]> = {
  none: ['succeeded', 'failed', 'canceled'],
  queued: ['running', 'canceled'],
  running: ['succeeded', 'failed', 'canceled', 'queued'],
  canceled: [],
  succeeded: [],
  failed: [],
};

/** What a caller may do to a run in which states; an action outside its states answers 400, except `cancel`, which then changes nothing. */
export const RUN_ACTIONS = {
  cancel: ['none', 'queued', 'running'],
  readLogs: ['canceled', 'succeeded', 'failed'],
  readOutput: ['canceled', 'succeeded', 'failed'],
  submitResult: ['none'],
} as const satisfies Record<string, readonly RunStatusV2[]>;

const V1: Record<RunStatusV2, RunStatusV1> = {
  none: 'running',
  queued: 'running',
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  canceled: 'failed',
};

/** The older three-valued status that early clients read. */
export function toStatusV1(status: RunStatusV2): RunStatusV1 {
  return V1[status];
}

export function isTerminal(status: RunStatusV2): boolean {
  return RUN_TRANSITIONS[status].length === 0;
}

export function canTransition(from: RunStatusV2, to: RunStatusV2): boolean {
  return RUN_TRANSITIONS[from].includes(to);
}

export function isActionAllowed(action: keyof typeof RUN_ACTIONS, status: RunStatusV2): boolean {
  return (RUN_ACTIONS[action] as readonly RunStatusV2[]).includes(status);
}

/** Kinds of experiment; an acceptance test is a view on one of the type batch. */
export const EXPERIMENT_TYPES = ['batch', 'scenario', 'shadow', 'switchback'] as const;
export type ExperimentType = (typeof EXPERIMENT_TYPES)[number];

export const EXPERIMENT_STATUSES = ['started', 'completed', 'failed', 'draft', 'canceled'] as const;
export type ExperimentStatus = (typeof EXPERIMENT_STATUSES)[number];

/** Batch and scenario tests are born started; shadow and switchback tests are drafts first, and never fail as a whole. */
export const EXPERIMENT_TRANSITIONS: Record<ExperimentStatus, readonly ExperimentStatus[]> = {
  draft: ['started'],
  started: ['completed', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
};

export function isExperimentTerminal(status: ExperimentStatus): boolean {
  return EXPERIMENT_TRANSITIONS[status].length === 0;
}

/** How an attempt to deliver an event to a webhook has ended. */
export const CONVERSATION_STATUSES = ['succeeded', 'timed_out', 'failed'] as const;
export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];
