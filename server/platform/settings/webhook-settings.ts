/** The settings of webhooks: the networks that they may reach, and the thresholds of `queue.trouble`. server/platform/config.ts passes the variables. */
import { ConfigError } from '../config-error.ts';
import { parseNetworks } from './network-settings.ts';
import type { Environment } from './read-setting.ts';

/** The thresholds beyond which webhooks for `queue.trouble` get an event. */
export interface ProblemThresholds {
  /** Time that a run may wait in the queue. */
  waitingMs: number;
  /** Time that a growing queue may be without a start. */
  stalledMs: number;
  /** Faults of the host on queued runs. */
  hostFaults: number;
}

/** Parses `loopback`, `none`, or networks and addresses such as `10.1.0.0/16,fd00::/8,192.168.1.5`. */
export function readNetworks(env: Environment): string[] | null {
  const value = env.SWITCHYARD_WEBHOOK_NETWORKS;
  if (!value || value === 'loopback') return null;
  if (value === 'none') return [];
  return parseNetworks('SWITCHYARD_WEBHOOK_NETWORKS', value, 'loopback, none');
}

/** Parses `waiting=900,stalled=300,faults=3`: two numbers of seconds, and a number of faults. */
export function readProblemThresholds(env: Environment): ProblemThresholds {
  const thresholds = { waiting: 900, stalled: 300, faults: 3 };
  const text = env.SWITCHYARD_QUEUE_TROUBLE;
  const seen = new Set<string>();
  for (const part of text ? text.split(',') : []) {
    const match = /^\s*(waiting|stalled|faults)\s*=\s*(\d{1,7})\s*$/.exec(part);
    const name = (['waiting', 'stalled', 'faults'] as const).find((one) => one === match?.[1]);
    const value = Number(match?.[2]);
    if (name === undefined || value < 1 || seen.has(name))
      throw new ConfigError(
        `SWITCHYARD_QUEUE_TROUBLE has "${part.trim()}"; it must be seconds or faults from 1, each name once, such as waiting=900,stalled=300,faults=3.`,
      );
    seen.add(name);
    thresholds[name] = value;
  }
  const { waiting, stalled, faults } = thresholds;
  return { waitingMs: waiting * 1000, stalledMs: stalled * 1000, hostFaults: faults };
}
