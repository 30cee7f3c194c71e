/** Causes of the end of an app, as the runner finds them and a remote worker reports them. */
export const END_REASONS = [
  'exit',
  'signal',
  'duration',
  'memory',
  'output',
  'disk',
  'processes',
  'canceled',
  /** The host lacks the runtime. */
  'runtime-missing',
  /** No entry point, wrong architecture, missing working directory or invalid location of a secret. */
  'not-startable',
  'bad-input-archive',
  'bad-executable',
  /** The host failed: disk full, permission. The app is not the cause; a retry may succeed. */
  'host',
] as const;

export type EndReason = (typeof END_REASONS)[number];
