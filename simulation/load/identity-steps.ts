/** Steps of people whom an identity provider signs in, and of the provider. */
import { CONSOLE_HEADER } from '@switchyard/contract/console-header.ts';
import { SERVER_URL } from '../machine/simulated-server.ts';
import { type Person, TOKEN_SECONDS, TRICKS, type Trick } from '../peers/id-tokens.ts';
import {
  GROUP_ROLES,
  NO_PROVIDER_FAULTS,
  type ProviderFaults,
  type SimulatedIdentityProvider,
} from '../peers/identity-provider.ts';
import { ACCOUNTS } from '../world/setup.ts';
import type { World } from '../world/world.ts';
import type { Answer, Client } from './client.ts';
import { drawTime, during, readFault } from './faults.ts';
import { readNumber, readText, type Step, type StepKinds } from './step.ts';

const FAULT_MS_MAX = 180_000;
const PEOPLE = 4;
/** A sign-in of a healthy provider succeeds within this time after the last fault. */
const HEALED_MS = 180_000;
const RETRY_MS = 20_000;
/** A server accepts tokens so long after their end, and a request takes time. */
const TOLERANCE_MS = 60_000;
const FORBIDDEN = [401, 403];

const providerOf = ({ peers }: World): SimulatedIdentityProvider | null => peers.identityProvider;
const browserOf = (world: World, step: Step): Client => world.connect(`browser ${step.id}`, '');

/** Returns the role that groups have; undefined for groups without one. */
const findRole = (groups: readonly string[]): string | undefined =>
  Object.entries(GROUP_ROLES).find(([group]) => groups.includes(group))?.[1];

/** A sign-in that a browser has begun. */
interface Begun {
  cookie: string;
  /** What the provider sends back. */
  query: string;
}

async function begin(
  browser: Client,
  provider: SimulatedIdentityProvider,
  person: Person,
  trick: Trick,
): Promise<Begun | null> {
  const started = await browser.call('GET', '/v1/sso/sign-in', { headers: { [CONSOLE_HEADER]: '1' } });
  if (started?.status !== 200) return null;
  const { url } = started.body as { url: string };
  return {
    cookie: started.headers['set-cookie']?.split(';')[0] ?? '',
    query: provider.authorize(url, person, trick),
  };
}

const bringBack = (browser: Client, { cookie, query }: Begun): Promise<Answer | null> =>
  browser.call('POST', '/v1/account/sessions', {
    body: { callback: query },
    headers: { cookie, origin: SERVER_URL, [CONSOLE_HEADER]: '1' },
  });

/** Signs in once, and returns true when it succeeded. Reports a session that the provider did not vouch for. */
async function signIn(world: World, step: Step, { person, trick }: { person: Person; trick: Trick }) {
  const provider = providerOf(world);
  if (!provider) return true;
  const browser = browserOf(world, step);
  const begun = await begin(browser, provider, person, trick);
  if (!begun) return false;
  const wasRemoved = provider.removed.has(person.subject);
  const answer = await bringBack(browser, begun);
  if (answer?.status !== 201) return false;
  const refuse = (reason: string): void =>
    world.ledger.report('a session is for whom the provider vouches', `step ${step.id}: ${reason}`);
  const issued = provider.findCode(begun.query);
  if (!issued?.groups || issued.trick !== 'none') return refuse(`a token with ${issued?.trick}`);
  if (wasRemoved) return refuse(`${person.email} was removed`);
  const { role } = (answer.body as { key: { role: string } }).key;
  if (role !== findRole(issued.groups))
    world.ledger.report('a role follows the groups', `${person.email} of ${issued.groups} has ${role}`);
  return true;
}

/** A browser brings back the query of another one, or its own a second time. */
async function attack(world: World, step: Step): Promise<void> {
  const provider = providerOf(world);
  if (!provider) return;
  const [own, other] = [browserOf(world, step), world.connect(`attacker ${step.id}`, '')];
  const person = provider.personAt(readNumber(step, 'person'));
  const [first, second] = [
    await begin(own, provider, person, 'none'),
    await begin(other, provider, provider.personAt(readNumber(step, 'person') + 1), 'none'),
  ];
  if (!first || !second) return;
  const report = (detail: string): void =>
    world.ledger.report('a sign-in ends in its browser, once', `step ${step.id}: ${detail}`);
  const foreign = await bringBack(own, { ...first, query: second.query });
  if (foreign?.status === 201) report('the callback of another browser');
  const once = await bringBack(own, first);
  const twice = await bringBack(own, first);
  if (once?.status === 201 && twice?.status === 201) report('the same callback twice');
}

/** Signs in until it succeeds. Reports when it does not although everything is healthy. */
async function signInPatiently(world: World, step: Step): Promise<void> {
  const provider = providerOf(world);
  if (!provider) return;
  const person = provider.personAt(readNumber(step, 'person'));
  while (!(await signIn(world, step, { person, trick: 'none' }))) {
    const { healedAt } = world.peers;
    const isRefused = provider.removed.has(person.subject) || findRole(person.groups) === undefined;
    // A server whose clock is wrong accepts no token.
    if (isRefused || world.faults.has('moveClock')) return;
    if (healedAt !== null && world.scheduler.now - healedAt > HEALED_MS)
      return world.ledger.report('a person of the provider signs in', person.email);
    await world.sleep(RETRY_MS);
  }
}

/** Uses an ID token of the command line, also after its end. */
async function useIdToken(world: World, step: Step): Promise<void> {
  const provider = providerOf(world);
  if (!provider) return;
  const person = provider.personAt(readNumber(step, 'person'));
  const trick = readText(step, 'trick') as Trick;
  const token = provider.issueToken(person, trick);
  const wasVouched = trick === 'none' && findRole(person.groups) !== undefined;
  const user = world.connect(`command line ${step.id}`, token);
  const endsAt = world.scheduler.now + TOKEN_SECONDS * 1000 + TOLERANCE_MS;
  for (const isLate of [false, true]) {
    if (isLate) await world.sleep(Math.max(0, endsAt - world.scheduler.now));
    const wasRemoved = provider.removed.has(person.subject);
    const answer = await user.call('GET', '/v1/internal/me/organization');
    if (answer?.status === 200) {
      const isExpired = isLate && !world.faults.has('moveClock') && !world.faults.has('moveProviderClock');
      if (!wasVouched || wasRemoved || isExpired)
        world.ledger.report(
          'an ID token works for whom the provider vouches',
          `${person.email} by step ${step.id} with ${trick}${isLate ? ' after its end' : ''}`,
        );
    } else if (answer && !FORBIDDEN.includes(answer.status)) world.ledger.reportRefusal(step, answer);
  }
}

async function removeMember(world: World, step: Step): Promise<void> {
  const provider = providerOf(world);
  if (!provider) return;
  const person = provider.personAt(readNumber(step, 'person'));
  const client = world.clientOf(world.peers.identityAccount);
  const list = await client.call('GET', '/v1/account/members');
  if (list?.status !== 200) return;
  const found = (list.body as { id: string; email: string }[]).find(({ email }) => email === person.email);
  if (!found) return;
  const removed = await client.call('DELETE', `/v1/account/members/${found.id}`);
  if (removed?.status === 204) provider.removed.add(person.subject);
}

export const IDENTITY_STEPS: StepKinds = {
  useIdentityProvider: {
    weight: 0,
    draw: (draws) => ({ account: draws.below(ACCOUNTS), isWeak: draws.happens(0.5) }),
    prepare: (world, step) =>
      world.peers.useIdentityProvider(step.isWeak === true, readNumber(step, 'account')),
    run() {},
  },
  signIn: {
    weight: 8,
    draw: (draws) => ({ person: draws.below(PEOPLE) }),
    run: signInPatiently,
  },
  signInByTrick: {
    weight: 6,
    draw: (draws) => ({ person: draws.below(PEOPLE), trick: draws.pick(TRICKS.slice(1)) }),
    async run(world, step) {
      world.countFault(step.do);
      const person = providerOf(world)?.personAt(readNumber(step, 'person'));
      if (person) await signIn(world, step, { person, trick: readText(step, 'trick') as Trick });
    },
  },
  attackSignIn: {
    weight: 4,
    draw: (draws) => ({ person: draws.below(PEOPLE) }),
    run(world, step) {
      world.countFault(step.do);
      return attack(world, step);
    },
  },
  useIdToken: {
    weight: 6,
    draw: (draws) => ({
      person: draws.below(PEOPLE),
      // The command line sends no nonce.
      trick: draws.happens(0.4) ? 'none' : draws.pick(TRICKS.filter((one) => one !== 'nonce')),
    }),
    run: useIdToken,
  },
  changeGroups: {
    weight: 5,
    draw: (draws) => ({
      person: draws.below(PEOPLE),
      group: draws.pick([...Object.keys(GROUP_ROLES), 'strangers']),
    }),
    run(world, step) {
      const person = providerOf(world)?.personAt(readNumber(step, 'person'));
      if (person) person.groups = [readText(step, 'group')];
    },
  },
  removeMember: {
    weight: 2,
    draw: (draws) => ({ person: draws.below(PEOPLE) }),
    run: removeMember,
  },
  rotateKeys: {
    weight: 3,
    draw: (draws) => ({ keepsOld: draws.happens(0.5) }),
    run(world, step) {
      world.countFault(step.do);
      providerOf(world)?.rotateKeys(step.keepsOld === true);
    },
  },
  badProvider: {
    weight: 4,
    draw: (draws) => ({
      fault: draws.pick(Object.keys(NO_PROVIDER_FAULTS)),
      percent: draws.happens(0.5) ? 100 : 20 + draws.below(80),
      forMs: drawTime(draws, FAULT_MS_MAX),
    }),
    run(world, step) {
      const provider = providerOf(world);
      if (!provider) return;
      const change = (share: number): void => {
        provider.faults = { ...provider.faults, [readText(step, 'fault') as keyof ProviderFaults]: share };
      };
      during(
        world,
        step,
        () => change(Object.values(readFault(step))[0] ?? 0),
        () => change(0),
      );
    },
  },
  moveProviderClock: {
    weight: 1,
    draw: (draws) => ({
      byMs: Math.round(draws.between(-1, 1) * draws.pick([20_000, 600_000])),
      forMs: drawTime(draws, FAULT_MS_MAX),
    }),
    run(world, step) {
      const provider = providerOf(world);
      const move = (byMs: number): void => {
        if (provider) provider.clockOffset = byMs;
      };
      during(
        world,
        step,
        () => move(readNumber(step, 'byMs')),
        () => move(0),
      );
    },
  },
};
