/** The types of events that webhooks deliver, apart from their schemas, which are large. */

/** Event types with the change that each reports. */
export const EVENT_TYPE_DESCRIPTIONS = {
  'run.status': 'The status of a run has changed.',
  'experiment.status': 'The status of an experiment has changed.',
} as const;

export type EventType = keyof typeof EVENT_TYPE_DESCRIPTIONS;

/** Event types that a webhook can subscribe to. */
export const EVENT_TYPES: readonly EventType[] = ['run.status', 'experiment.status'];
