/** The types of events that webhooks deliver, apart from their schemas, which are large. */

/** Event types with the change that each reports. */
export const EVENT_TYPE_DESCRIPTIONS = {
  'run.status': 'The status of a run has changed.',
  'experiment.status': 'The status of an experiment or acceptance test has changed.',
  'queue.trouble': 'The queue or a worker has a problem, or the problem has ended.',
} as const;

export type EventType = keyof typeof EVENT_TYPE_DESCRIPTIONS;

/** Event types that a webhook can subscribe to. */
export const EVENT_TYPES: readonly EventType[] = ['run.status', 'experiment.status', 'queue.trouble'];

/** Kinds of problems with the condition of each. */
export const QUEUE_PROBLEM_DESCRIPTIONS = {
  run_waiting: 'a run has waited in the queue for too long',
  queue_stalled: 'runs are added to the queue while none starts',
  worker_lost: 'a worker sends no heartbeat',
  host_faults: 'faults of the host end runs, again and again',
} as const;

export type QueueProblemKind = keyof typeof QUEUE_PROBLEM_DESCRIPTIONS;

export const QUEUE_PROBLEM_KINDS: readonly QueueProblemKind[] = [
  'run_waiting',
  'queue_stalled',
  'worker_lost',
  'host_faults',
];
