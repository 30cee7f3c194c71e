/** Messages between the runner and its launcher, sent as JSON over the channel between the two processes. */

import type { LaunchPlan } from '../sandbox/launch-plan.ts';
import type { Diagnostic, EndReason } from '../types.ts';

export type LauncherRequest =
  | { type: 'start'; plan: LaunchPlan }
  | { type: 'cancel'; key: string }
  /** Every run at once, without grace. */
  | { type: 'kill' }
  | { type: 'remove'; request: number; folder: string };

export interface EndReport {
  exitCode: number | null;
  signal: string | null;
  /** Set when the launcher ended the app, or could not start it; absent when it ended by itself. */
  reason?: EndReason;
  /** Message of the reason. */
  error?: string;
  /** As in Ended. */
  hostFault?: true;
  /** False when the app's own process never ran. */
  appRan: boolean;
  /** The user of the run alone, to whom all files of the app belong. */
  user?: number;
  startedAt: number;
  endedAt: number;
  executionMs: number;
  peakMemoryBytes?: number;
  stdoutBytes: number;
  stderrBytes: number;
  /** What the app had on disk at its end, or had removed from a disk of its own that still takes the space. */
  writtenBytes: number;
  /** Folder of the app on its own disk, in the mount namespace of the launcher. */
  disk?: string;
}

export type LauncherMessage =
  | { type: 'ready' }
  | { type: 'started'; key: string; pid: number; user?: number; at: number }
  | { type: 'ended'; key: string; report: EndReport }
  | { type: 'removed'; request: number; error?: string }
  | { type: 'diagnostic'; diagnostic: Diagnostic };
