/** The settings of an account that clients set and read, each with a single value. */
import { ACCOUNTS, APPLICATION, LICENSE, LICENSE_TOTAL } from '../world/setup.ts';
import type { World } from '../world/world.ts';
import type { Answer } from './client.ts';

/** More tokens than all runs of a plan need. */
export const LICENSES_MAX = 100;

export const SETTINGS = ['licenses', 'quotas', 'quotas of the application', 'version of main'] as const;
export type Setting = (typeof SETTINGS)[number];
type Value = number | string;

interface Access {
  path: string;
  /** The value in a new world. */
  first: Value;
  write(value: Value): object;
  read(body: unknown): Value;
}

const APPLICATION_PATH = `/v1/applications/${APPLICATION}`;
/** No quota is a 0 here. */
const QUOTAS = {
  first: 0,
  write: (value: Value) => ({ concurrent_runs: value || null, core_hours_per_month: null }),
  read: (body: unknown) => (body as { concurrent_runs: number | null }).concurrent_runs ?? 0,
};

const ACCESS: Record<Setting, Access> = {
  licenses: {
    path: '/v1/account/licenses',
    first: LICENSE_TOTAL,
    write: (total) => ({ licenses: [{ name: LICENSE, total }] }),
    read: (body) => (body as { licenses: { total: number }[] }).licenses[0]?.total ?? 0,
  },
  quotas: { ...QUOTAS, path: '/v1/account/quotas' },
  'quotas of the application': { ...QUOTAS, path: `${APPLICATION_PATH}/quotas` },
  'version of main': {
    path: `${APPLICATION_PATH}/instances/main`,
    first: 'v1',
    write: (version_id) => ({ version_id }),
    read: (body) => (body as { version_id: string }).version_id,
  },
};

const nameOf = (name: Setting, account: number): string => `${name} of account ${account}`;

/** Notes the values with which a world begins. */
export function defineSettings({ ledger }: World): void {
  for (let account = 0; account < ACCOUNTS; account += 1)
    for (const name of SETTINGS) ledger.registers.define(nameOf(name, account), ACCESS[name].first);
}

/** Sets a value, and notes it; returns the answer, or null without one. */
export async function changeSetting(
  world: World,
  { account, name, value }: { account: number; name: Setting; value: Value },
): Promise<Answer | null> {
  const { path, write } = ACCESS[name];
  const end = world.ledger.registers.begin(nameOf(name, account), value);
  const answer = await world.clientOf(account).call('PUT', path, { body: write(value) });
  if (answer?.status === 200) end(answer.tries === 1 && !world.ledger.isDisturbed);
  return answer;
}

/** Reads a value, and compares it with those that were set. */
export async function checkSetting(
  world: World,
  { account, name }: { account: number; name: Setting },
): Promise<void> {
  const { path, read } = ACCESS[name];
  const sentAt = world.scheduler.now;
  const answer = await world.clientOf(account).call('GET', path);
  if (answer?.status === 200)
    world.ledger.registers.checkRead(nameOf(name, account), read(answer.body), sentAt);
}
