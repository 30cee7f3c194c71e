/**
 * Single sign-on of this server: the start of a sign-in, its callback, and bearer tokens of the command line. Sessions and
 * ID tokens act with the key of the person, which every request reads.
 */
import { hash } from 'node:crypto';
import type { AccountId } from '@switchyard/contract/schemas/ids.ts';
import { decodeJwt, errors } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Reader, Writer } from '../../platform/database/database.ts';
import { forbidden, notFound, quoteValue, unauthorized } from '../../platform/http/errors/problem.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import type { Log } from '../../platform/log.ts';
import type { Random } from '../../platform/random.ts';
import type { SsoSettings } from '../../platform/settings/sso-settings.ts';
import type { KeyTouch } from '../account/authenticate.ts';
import type { KeysTable } from '../account/schema.ts';
import { findAccount, findFirstAccountId, findKey, lockAccount } from '../account/store.ts';
import { type AdmissionParts, admitPerson } from './admit-person.ts';
import { type Fetch, IdentityProvider } from './identity-provider.ts';
import { isIncomplete, type Person, readPerson } from './person.ts';
import { type SignOn, SignOnStates } from './sign-on-states.ts';
import { findIdentity, insertUsedState } from './store.ts';

/** Path of the console that the provider sends the browser back to. */
const CALLBACK_PATH = '/console/sign-in/callback';
const VERIFIED_TOKENS_MAX = 10_000;

interface Parts extends AdmissionParts {
  settings: SsoSettings;
  /** Signs the states of sign-ins. */
  key: Buffer;
  database: Database;
  clock: Clock;
  random: Random;
  log: Log;
  touchKey: KeyTouch;
  /** Absent on a real machine. */
  fetchFromProvider: Fetch | undefined;
  publicUrl(): string;
}

/** A callback whose code was redeemed. */
interface RedeemedSignOn {
  person: Person;
  signOn: SignOn;
}

export class SingleSignOn {
  readonly settings: SsoSettings;
  readonly #parts: Parts;
  readonly #provider: IdentityProvider;
  readonly #states: SignOnStates;
  /** Persons of verified ID tokens by the hash of the token. */
  readonly #verified = new LRUCache<string, { person: Person; expiresAt: number }>({
    max: VERIFIED_TOKENS_MAX,
  });

  constructor(parts: Parts) {
    this.settings = parts.settings;
    this.#parts = parts;
    this.#provider = new IdentityProvider(parts);
    this.#states = new SignOnStates(parts.key, parts.clock, parts.random);
  }

  /** Logs whether the provider is reachable. */
  checkProvider(): Promise<void> {
    return this.#provider.check();
  }

  /** Starts a sign-in: returns the address at the provider, and the secret for the cookie of the browser. */
  async start(): Promise<{ url: string; secret: string }> {
    const { secret, signOn } = this.#states.create();
    return { url: await this.#provider.buildSignOnUrl(signOn, this.#callbackUrl()), secret };
  }

  /** Redeems the query of a callback in the browser with the secret. Throws a 401, a 403 or a 503. */
  async redeem(query: string, secret: string | null): Promise<RedeemedSignOn> {
    const url = new URL(this.#callbackUrl());
    url.search = query;
    const states = url.searchParams.getAll('state');
    const signOn = this.#states.recognize(secret, states.length === 1 ? (states[0] ?? null) : null);
    const { settings } = this;
    const claims = await this.#provider.redeemCode(url, signOn, (known) => isIncomplete(known, settings));
    return { person: readPerson(claims, settings), signOn };
  }

  /** Returns the key of the person of a callback. Throws a 401 for a used state, and a 403 for a refused person. */
  async admit(tx: Writer, { person, signOn }: RedeemedSignOn): Promise<KeysTable> {
    if (!(await insertUsedState(tx, hash('sha256', signOn.state, 'base64url'), signOn.expiresAt)))
      throw unauthorized('The state of the callback was used already; sign in again.');
    return this.#admitPerson(tx, person, true);
  }

  /**
   * Returns the caller of an ID token of the command line; null for a token of another issuer. `wantedAccount` is the account
   * that the request names. Throws a 401 for a token that is not valid, a 403 for a person who may not sign in, and a 503
   * while the provider is unreachable.
   */
  async authenticate(token: string, wantedAccount: string | undefined): Promise<Caller | null> {
    const { cliClientId } = this.settings;
    if (cliClientId === null || readIssuer(token) !== this.settings.issuer) return null;
    const person = await this.#verify(token, cliClientId);
    const { database, touchKey } = this.#parts;
    const account = await this.#findAccount(database.read);
    if (wantedAccount !== undefined && wantedAccount !== account)
      throw forbidden(
        `The header nextmv-account is ${quoteValue(wantedAccount)}; single sign-on leads to the account ${quoteValue(account)}.`,
      );
    const key =
      (await this.#findKnownKey(account, person)) ??
      (await database.transact((tx) => this.#admitPerson(tx, person, false)));
    touchKey(key.id);
    const { id, name, role, email, owner } = key;
    return { account, key: id, name, role, email, owner, session: null };
  }

  /** Returns the key of a person whose token changes nothing. */
  async #findKnownKey(account_id: AccountId, person: Person): Promise<KeysTable | undefined> {
    const { read } = this.#parts.database;
    const { issuer } = this.settings;
    const identity = await findIdentity(read, { account_id, issuer, subject: person.subject });
    return identity && person.issuedAt <= identity.issued_at ? findKey(read, identity.key_id) : undefined;
  }

  async #admitPerson(tx: Writer, person: Person, isNew: boolean): Promise<KeysTable> {
    const account = await this.#findAccount(tx);
    await lockAccount(tx, account);
    return admitPerson(tx, this.#parts, { account, issuer: this.settings.issuer, person, isNew });
  }

  async #verify(token: string, audience: string): Promise<Person> {
    const id = hash('sha256', token, 'base64url');
    const known = this.#verified.get(id);
    if (known && known.expiresAt > this.#parts.clock.now()) return known.person;
    const claims = await this.#provider.verifyIdToken(token, audience);
    const person = readPerson(claims, this.settings);
    this.#verified.set(id, { person, expiresAt: Number(claims.exp) * 1000 });
    return person;
  }

  async #findAccount(db: Reader): Promise<AccountId> {
    const { account } = this.settings;
    const id = account === null ? await findFirstAccountId(db) : (await findAccount(db, account))?.id;
    if (id !== undefined) return id;
    throw forbidden(
      `Single sign-on leads to the account ${quoteValue(account)}, which does not exist; the operator has to change SWITCHYARD_OIDC_ACCOUNT.`,
    );
  }

  #callbackUrl(): string {
    return `${this.#parts.publicUrl()}${CALLBACK_PATH}`;
  }
}

/** Returns the single sign-on. Throws a 404 on a server without an identity provider. */
export function requireSingleSignOn(singleSignOn: SingleSignOn | null): SingleSignOn {
  if (singleSignOn) return singleSignOn;
  throw notFound('This server has no identity provider. The operator sets one with SWITCHYARD_OIDC_ISSUER.');
}

/** Returns the issuer that a token claims, before any verification; undefined for a text that is no JWT. */
function readIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
