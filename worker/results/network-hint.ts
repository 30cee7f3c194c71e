/**
 * Detects an app that failed because its sandbox has no network. Apps report an error of name resolution or routing, from
 * which no reader infers the setting of the instance.
 */

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

/** Returns the hint for the error of the run; empty when the end of its log has no message of a missing network. */
export function findNetworkHint(stderrEnd: string): string {
  return NETWORK_ERRORS.some((pattern) => pattern.test(stderrEnd)) ? HINT : '';
}
