/** The apps of the simulated world: the input of a run says how its app behaves. */
import type { EndReason } from '@switchyard/contract/workers/end-reasons.ts';

/** How an app ends. */
export const APP_ENDS = [
  'success',
  'infeasible',
  'exit',
  'signal',
  'memory',
  'host-memory',
  'output',
  'disk',
  'endless',
  'no-json',
  'large',
  'host',
  'not-startable',
] as const;
export type AppEnd = (typeof APP_ENDS)[number];

/** The input of a run. */
export interface AppInput {
  n: number;
  /** The time that the app takes. */
  ms: number;
  end: AppEnd;
}

/** What the runner reports about an app that ended by itself. */
export interface AppResult {
  succeeded: boolean;
  reason: EndReason;
  error: string;
  exitCode: number | null;
  signal: string | null;
  isHostFault: boolean;
  stdout: string;
}

/** More than the server stores in a row, so that the output becomes a blob. */
const LARGE_CHARS = 70_000;

/** Returns the output that an app prints for its input. */
export function computeOutput({ n, end }: AppInput): object {
  return {
    n,
    ...(end === 'large' ? { pad: 'x'.repeat(LARGE_CHARS) } : {}),
    assets: [{ name: 'n', content: n }],
    statistics: {
      schema: 'v1',
      result: { value: n * n, custom: { status: end === 'infeasible' ? 'infeasible' : 'optimal' } },
    },
  };
}

const FAILURES: Partial<Record<AppEnd, Pick<AppResult, 'reason' | 'error'> & Partial<AppResult>>> = {
  exit: { reason: 'exit', exitCode: 3, error: 'The app ended with exit code 3.' },
  signal: { reason: 'signal', signal: 'SIGSEGV', error: 'The app was ended by signal SIGSEGV.' },
  memory: { reason: 'memory', signal: 'SIGKILL', error: 'The app used more memory than it may.' },
  'host-memory': {
    ...{ reason: 'memory', signal: 'SIGKILL', error: 'The host had no memory left.' },
    isHostFault: true,
  },
  output: { reason: 'output', signal: 'SIGKILL', error: 'The app printed more than it may.' },
  disk: { reason: 'disk', signal: 'SIGKILL', error: 'The app wrote more than it may.' },
  host: { reason: 'host', error: 'The disk of the host is full.', isHostFault: true },
  'not-startable': { reason: 'not-startable', error: 'The executable has no entry point.' },
};

/** Returns the end of an app by itself. `isFirstAttempt` is false for an app that a fault of its host ended before. */
export function endApp(input: AppInput): AppResult {
  const failure = FAILURES[input.end];
  const none = { exitCode: null, signal: null, isHostFault: false };
  if (failure) return { succeeded: false, ...none, stdout: '', ...failure };
  const stdout = input.end === 'no-json' ? '{"n": ' : JSON.stringify(computeOutput(input));
  return { succeeded: true, reason: 'exit', error: '', ...none, exitCode: 0, stdout };
}
