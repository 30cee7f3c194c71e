/** A simulated identity provider of OpenID Connect. It knows whom it vouched for, and can be slow, fail, and rotate its keys. */
import { createHash } from 'node:crypto';
import type { Draws } from '../kernel/draws.ts';
import { EPOCH } from '../kernel/host.ts';
import type { Scheduler } from '../kernel/scheduler.ts';
import type { SimulatedProcess } from '../kernel/simulated-process.ts';
import { CLI_CLIENT_ID, ISSUER, type Person, TokenSigner, type Trick } from './id-tokens.ts';

/** The probabilities of the faults of a request. */
export interface ProviderFaults {
  unreachable: number;
  unanswered: number;
  broken: number;
  slow: number;
  /** The response has another form. */
  malformed: number;
  /** The key set is that before the last rotation. */
  oldKeys: number;
}

export const NO_PROVIDER_FAULTS: ProviderFaults = {
  ...{ unreachable: 0, unanswered: 0, broken: 0, slow: 0, malformed: 0, oldKeys: 0 },
};

/** A code that a browser brings back, and the ID token that was issued for it. */
interface IssuedCode {
  person: Person;
  trick: Trick;
  nonce: string;
  challenge: string;
  isUsed: boolean;
  /** The groups in the ID token; null before there is one. */
  groups: readonly string[] | null;
}

interface ProviderParts {
  scheduler: Scheduler;
  draws: Draws;
}

/** Groups and their roles, the strongest first. */
export const GROUP_ROLES = { admins: 'admin', planners: 'operator', readers: 'viewer' } as const;
const PEOPLE = 4;
const SLOW_MS_MAX = 15_000;

/** The provider of one world. */
export class SimulatedIdentityProvider {
  readonly #parts: ProviderParts;
  readonly #signer: TokenSigner;
  readonly #codes = new Map<string, IssuedCode>();
  readonly people: Person[];
  /** Persons whom the server has removed from the account, by their subject. */
  readonly removed = new Set<string>();
  /** The provider does not check what ties a code to its sign-in, nor that it is used once. */
  isWeak = false;
  clockOffset = 0;
  faults: ProviderFaults = NO_PROVIDER_FAULTS;
  readonly counts = new Map<string, number>();

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    this.#signer = new TokenSigner(parts.draws);
    this.people = Array.from({ length: PEOPLE }, (_, index) => ({
      ...{ subject: `subject-${index}`, email: `person-${index}@example.com` },
      groups: [parts.draws.pick(Object.keys(GROUP_ROLES))],
    }));
  }

  get #now(): number {
    return EPOCH + this.#parts.scheduler.now + this.clockOffset;
  }

  personAt(index: number): Person {
    const person = this.people[index % PEOPLE];
    if (!person) throw new Error('The provider has nobody.');
    return person;
  }

  rotateKeys(keepsOld: boolean): void {
    this.#signer.rotate(keepsOld);
  }

  /** The browser of the person comes from the server with the address, and goes back with the returned query. */
  authorize(address: string, person: Person, trick: Trick): string {
    const { searchParams } = new URL(address);
    const state = searchParams.get('state') ?? '';
    if (person.groups.length === 0) return new URLSearchParams({ error: 'access_denied', state }).toString();
    const code = `code-${this.#codes.size}`;
    this.#codes.set(code, {
      ...{ person, trick, groups: null, isUsed: false },
      nonce: searchParams.get('nonce') ?? '',
      challenge: searchParams.get('code_challenge') ?? '',
    });
    return new URLSearchParams({ code, state }).toString();
  }

  /** Returns what became of the code in a query. */
  findCode(query: string): IssuedCode | undefined {
    return this.#codes.get(new URLSearchParams(query).get('code') ?? '');
  }

  /** Issues an ID token for the command line. */
  issueToken(person: Person, trick: Trick): string {
    return this.#signer.issue(person, { audience: CLI_CLIENT_ID, now: this.#now, trick });
  }

  /** Returns the way of a process to the provider. */
  connect(owner: SimulatedProcess): typeof fetch {
    return (url, init) => this.#send(owner, String(url), init ?? {});
  }

  #send(owner: SimulatedProcess, url: string, { body, signal }: RequestInit): Promise<Response> {
    const { scheduler, draws } = this.#parts;
    return new Promise((resolve, reject) => {
      const fail = (error: unknown): void => owner.deliver(() => reject(error));
      signal?.addEventListener('abort', () => fail(signal.reason), { once: true });
      const delay = this.#happens('slow') ? draws.between(0, SLOW_MS_MAX) : draws.duration(30);
      scheduler.after(delay, '', () => {
        if (this.#happens('unreachable')) return fail(new TypeError('fetch failed'));
        if (this.#happens('unanswered')) return;
        const response = this.#happens('broken')
          ? new Response('Bad gateway', { status: 502 })
          : this.#happens('malformed')
            ? formatJson({ error: 7, keys: 'none', issuer: 3 })
            : this.#respond(new URL(url).pathname, new URLSearchParams(String(body ?? '')));
        scheduler.after(draws.duration(20), '', () => owner.deliver(() => resolve(response)));
      });
    });
  }

  #respond(path: string, form: URLSearchParams): Response {
    switch (path) {
      case '/.well-known/openid-configuration':
        return formatJson({
          issuer: ISSUER,
          authorization_endpoint: `${ISSUER}/authorize`,
          token_endpoint: `${ISSUER}/token`,
          jwks_uri: `${ISSUER}/keys`,
          id_token_signing_alg_values_supported: ['EdDSA'],
          ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
        });
      case '/keys':
        return formatJson(this.#signer.formatKeys(this.#happens('oldKeys')));
      case '/token':
        return this.#redeem(form);
      default:
        return new Response('', { status: 404 });
    }
  }

  #redeem(form: URLSearchParams): Response {
    const issued = this.#codes.get(form.get('code') ?? '');
    const verifier = form.get('code_verifier') ?? '';
    const isTied = issued?.challenge === createHash('sha256').update(verifier).digest('base64url');
    if (!issued || (!this.isWeak && (issued.isUsed || !isTied)))
      return formatJson({ error: 'invalid_grant' }, 400);
    const { person, nonce, trick } = issued;
    issued.isUsed = true;
    issued.groups = trick === 'groups' ? [] : person.groups;
    const token = { audience: 'console', nonce, now: this.#now, trick };
    return formatJson({
      ...{ access_token: 'access', token_type: 'Bearer', expires_in: 60 },
      id_token: this.#signer.issue(person, token),
    });
  }

  #happens(fault: keyof ProviderFaults): boolean {
    if (!this.#parts.draws.happens(this.faults[fault])) return false;
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
    return true;
  }

  heal(): void {
    this.faults = NO_PROVIDER_FAULTS;
    this.clockOffset = 0;
  }
}

const formatJson = (value: object, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });
