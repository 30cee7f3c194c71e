/** Finds the limit that an app exceeded when it ended without being stopped by the launcher. */
import { countHostOomKills } from '../process/oom-score.ts';
import { computeFileSizeLimitBytes } from '../sandbox/command-chain.ts';
import type { LaunchPlan } from '../sandbox/launch-plan.ts';
import {
  createDiskBreach,
  createHostMemoryBreach,
  createOutputBreach,
  HOST_OUT_OF_MEMORY_MESSAGE,
  type LimitBreach,
  type Watchdog,
} from './watchdog.ts';

/** End of an app and its state before the start. */
interface AppExit {
  exitCode: number | null;
  signal: string | null;
  plan: LaunchPlan;
  stdoutBytes: number;
  watchdog: Watchdog | undefined;
  /** Result of countHostOomKills before the app started. */
  oomKillsAtStart: number;
}

/** Returns a limit that the kernel enforced, or that the app exceeded after the last sample; undefined without one. */
export function findBreachAtEnd(exit: AppExit): LimitBreach | undefined {
  const { exitCode, signal, plan, stdoutBytes, watchdog } = exit;
  const { limits, stdoutIsLog } = plan;
  if (!stdoutIsLog && stdoutBytes > limits.outputBytes) {
    return createOutputBreach(stdoutBytes, limits.outputBytes);
  }
  const onDisk = watchdog?.findDiskBreach();
  if (onDisk !== undefined || exitCode === 0) return onDisk;
  const memory = watchdog?.findOomBreach() ?? findHostOomBreach(exit);
  if (memory !== undefined) return memory;
  const isFileTooLarge = signal === 'SIGXFSZ' || exitCode === 128 + 25;
  return isFileTooLarge ? createDiskBreach(computeFileSizeLimitBytes(plan), limits.fileBytes) : undefined;
}

/** Returns a breach when SIGKILL, not sent by the launcher, ended the app while the kernel killed for lack of memory. */
function findHostOomBreach({ exitCode, signal, oomKillsAtStart }: AppExit): LimitBreach | undefined {
  const isKilled = signal === 'SIGKILL' || exitCode === 128 + 9;
  if (!isKilled || countHostOomKills() === oomKillsAtStart) return undefined;
  return createHostMemoryBreach(HOST_OUT_OF_MEMORY_MESSAGE);
}
