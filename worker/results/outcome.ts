/** Computes the outcome of a run from the end of its app. */
import { OUTPUT_BYTES_MAX } from '@switchyard/contract/limits.ts';
import type { EndedRun } from '@switchyard/runner';
import type { Mask } from '../log/mask.ts';
import { readMaskedEnd } from './read-masked-end.ts';

/** Only the last lines of stderr are searched for a missing network. */
const STDERR_BYTES_MAX = 16 * 1024;

/** Messages of libraries and tools without a network, by their source. */
const NETWORK_ERRORS: readonly RegExp[] = [
  // C library (EAI_AGAIN, EAI_NONAME, ENETUNREACH), Python, and curl, which quotes the C library.
  /Temporary failure in name resolution/i,
  /Name or service not known/i,
  /Network is unreachable/i,
  // Node.
  /\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH)\b/,
  // curl, git, pip.
  /Could not resolve (?:host|proxy)/i,
  /NameResolutionError|Failed to resolve '/,
  // Go, Java.
  /dial (?:tcp|udp)\b.*(?:lookup .*: |network is unreachable)/i,
  /UnknownHostException|NoRouteToHostException/,
];

const HINT =
  'Its log shows that it could not reach the network. Runs reach no network unless the configuration of their instance has "network": true.';

export interface RunOutcome {
  status: 'succeeded' | 'failed' | 'canceled';
  /** The error message of the run; empty when it succeeded. */
  error: string;
}

/** Returns the outcome of the run. `outputError` is the error message about the output; empty for a valid one. */
export function computeOutcome(
  ended: Pick<EndedRun, 'succeeded' | 'reason' | 'error'>,
  outputError: string,
): RunOutcome {
  if (ended.reason === 'canceled') return { status: 'canceled', error: ended.error };
  if (!ended.succeeded) return { status: 'failed', error: ended.error };
  return outputError === '' ? { status: 'succeeded', error: '' } : { status: 'failed', error: outputError };
}

/** Adds a hint to the error of a run without network, when its log shows that the app tried to reach one. */
export async function addNetworkHint(
  outcome: RunOutcome,
  ended: Pick<EndedRun, 'containment' | 'stderr'>,
  { network, mask }: { network: boolean; mask: Mask },
): Promise<RunOutcome> {
  const hadNetwork = network || ended.containment !== 'sandbox';
  if (outcome.status !== 'failed' || hadNetwork || ended.stderr.bytes === 0) return outcome;
  const hint = findNetworkHint((await readMaskedEnd(ended.stderr, STDERR_BYTES_MAX, mask)).toString('utf8'));
  return hint === '' ? outcome : { ...outcome, error: `${outcome.error} ${hint}` };
}

/** Returns the error message for an output above OUTPUT_BYTES_MAX; empty for a smaller one. */
export function outputSizeError(bytes: number): string {
  return bytes > OUTPUT_BYTES_MAX ? `The output has ${bytes} bytes; it may have ${OUTPUT_BYTES_MAX}.` : '';
}

/**
 * Returns the hint for the error of the run; empty when the end of its log has no message of a missing network. Apps
 * report an error of name resolution or routing, from which no reader infers the setting of the instance.
 */
export function findNetworkHint(stderrEnd: string): string {
  return NETWORK_ERRORS.some((pattern) => pattern.test(stderrEnd)) ? HINT : '';
}
