/**
 * A process of the lowest priority that uses as much processor time as the readers of the streams do. It runs in the rounds
 * without streams, so that the rounds differ by the work of the server alone. It receives the share of a core, and ends
 * after the next message.
 */
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';

/** The readers wake up so often, too. */
const INTERVAL_MS = 20;
/** Behind its share, it does not work longer at a time. */
const WORK_MS_MAX = 40;

setPriority(constants.priority.PRIORITY_LOW);
const [coreShare]: number[] = await once(process, 'message');
const before = process.cpuUsage();
const beganAt = performance.now();
const timer = setInterval(() => {
  const wokenAt = performance.now();
  const wantedMs = (wokenAt - beganAt) * (coreShare ?? 0);
  while (readUsedMs() < wantedMs && performance.now() - wokenAt < WORK_MS_MAX);
}, INTERVAL_MS);
process.send?.('open');
await once(process, 'message');
clearInterval(timer);
process.disconnect?.();

function readUsedMs(): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
