/**
 * The hint that a failed run gets when its app could not reach the network because the sandbox has none. Apps report this
 * as trouble of name resolution or routing, which nobody connects with a setting of the instance. Pure.
 */

/** What libraries and tools print when there is no network, by where it comes from. */
const SIGNS: readonly RegExp[] = [
  // C library (EAI_AGAIN, EAI_NONAME, ENETUNREACH), Python, curl with the C library's words.
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

/** The hint, or empty when the end of the log shows no sign of it. */
export function findNetworkHint(stderrEnd: string): string {
  return SIGNS.some((sign) => sign.test(stderrEnd)) ? HINT : '';
}
