/** Messages between the runner and its launcher, sent as JSON over the channel between the two processes. */
import type { EndReason } from '@switchyard/contract/workers/end-reasons.ts';
import type { LaunchPlan } from '../sandbox/launch-plan.ts';
import type { Diagnostic, ResourceUsage } from '../types.ts';

/** Request of the runner to its launcher. */
export type LauncherRequest =
  /** `user`: the user id of this run alone, where the confinement has a range of them. */
  | { type: 'start'; plan: LaunchPlan; user?: number }
  | { type: 'cancel'; key: string }
  /** Kills every run, without a grace period. */
  | { type: 'kill' }
  | { type: 'remove'; request: number; folder: string };

/** How an app ended, as the launcher observed it. */
export interface EndReport {
  exitCode: number | null;
  signal: string | null;
  /** Set when the launcher ended the app or could not start it; absent when the app ended by itself. */
  reason?: EndReason;
  /** Message of the reason. */
  error?: string;
  /** As in EndedRun. */
  hostFault?: true;
  /** False when the app's own process never ran. */
  appRan: boolean;
  /** User id of this run alone, which owns all files of the app. */
  user?: number;
  startedAt: number;
  endedAt: number;
  executionMs: number;
  peakMemoryBytes?: number;
  stdoutBytes: number;
  stderrBytes: number;
  /** Largest disk space that the app held at its end, removed files that still occupy its own disk included. */
  writtenBytes: number;
  /** Folder of the app on its own disk, in the mount namespace of the launcher. */
  disk?: string;
}

/** Message of the launcher to the runner. */
export type LauncherMessage =
  | { type: 'ready' }
  | { type: 'started'; key: string; pid: number; user?: number; at: number }
  | { type: 'usage'; key: string; usage: ResourceUsage }
  | { type: 'ended'; key: string; report: EndReport }
  | { type: 'removed'; request: number; error?: string }
  | { type: 'diagnostic'; diagnostic: Diagnostic };
