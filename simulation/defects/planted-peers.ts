/** Defects that only a simulated peer or a step of a profile finds. */
import { definePlanted as define, type PlantedDefect } from './planted.ts';

const needs = (step: string, defects: readonly PlantedDefect[]): PlantedDefect[] =>
  defects.map((defect) => ({ ...defect, step }));

export const PEER_DEFECTS: readonly PlantedDefect[] = [
  ...needs('useCluster', [
    define(
      'an empty list of jobs is believed',
      'runs/provisioner/observe-jobs.ts',
      'export const MISSING_GRACE_MS = 60_000;',
      'export const MISSING_GRACE_MS = 0;',
    ),
    define(
      'a job that failed to start counts as a worker for ever',
      'runs/provisioner/plan-workers.ts',
      "return now - since > REGISTRATION_TIMEOUT_MS ? 'unregistered' : null;",
      'return now < since ? null : null;',
    ),
    define(
      'a job that does not end by SIGTERM is not ended by force',
      'runs/provisioner/reconcile-workers.ts',
      'const isOverdue = job.stop_requested_at !== null && now - job.stop_requested_at >= STOP_GRACE_MS;',
      'const isOverdue = false;',
    ),
    define(
      'starts that fail do not back off',
      'runs/provisioner/reconcile-workers.ts',
      'state.retry_at = now + computeBackoffMs(state.failures, INTERVAL_MS, BACKOFF_MAX_MS);',
      'state.retry_at = now;',
    ),
    define(
      'a job of another installation is adopted',
      'runs/provisioner/adapters/squeue.ts',
      "if (typeof name !== 'string' || !name.startsWith(prefix)) return [];",
      "if (typeof name !== 'string') return [];",
    ),
    define(
      'a job that nobody needs any more stays in the queue of the cluster',
      'runs/provisioner/plan-workers.ts',
      "return state === 'pending' && isDue && unneeded.includes(name);",
      "return state === 'pending' && isDue && unneeded.includes(name) && now < 0;",
    ),
    define(
      'a job whose row was lost is not adopted',
      'runs/provisioner/observe-jobs.ts',
      'for (const row of [...rows, ...adopted]) {',
      'for (const row of [...rows, ...adopted.slice(0, 0)]) {',
    ),
  ]),
  ...needs('useIdentityProvider', [
    define(
      'the keys of the provider are never fetched again',
      'accounts/sso/identity-provider.ts',
      'cacheMaxAge: KEYS_MAX_AGE_MS,',
      'cacheMaxAge: Infinity, cooldownDuration: Infinity,',
    ),
    {
      name: 'neither the state nor the nonce of a sign-in is checked',
      patches: [
        {
          file: 'server/accounts/sso/sign-on-states.ts',
          old: 'if (!timingSafeEqual(hash(signOn.state), hash(state))) throw unauthorized(OTHER_BROWSER_MESSAGE);',
          new: 'if (!timingSafeEqual(hash(state), hash(state))) throw unauthorized(OTHER_BROWSER_MESSAGE);',
        },
        {
          file: 'server/accounts/sso/sign-on-states.ts',
          old: "nonce: derive('nonce'),",
          new: "nonce: 'nonce',",
        },
        {
          file: 'server/accounts/sso/identity-provider.ts',
          old: 'expectedState: signOn.state,',
          new: "expectedState: callback.searchParams.get('state') ?? '',",
        },
      ],
    },
    define(
      'a token for another client is accepted',
      'accounts/sso/identity-provider.ts',
      '        audience,\n        requiredClaims',
      '        requiredClaims',
    ),
    define(
      'a verified token is remembered after its end',
      'accounts/sso/single-sign-on.ts',
      'if (known && known.expiresAt > this.#parts.clock.now()) return known.person;',
      'if (known) return known.person;',
    ),
    define(
      'a role stays when the groups change',
      'accounts/sso/admit-person.ts',
      "const role = (isNewest && member.role !== 'root' && person.role) || member.role;",
      'const role = member.role;',
    ),
    define(
      'a removed member comes back by signing in',
      'accounts/sso/admit-person.ts',
      'if (own || sameAddress || (await isRemovedMember(tx, account_id, owner)))',
      'if (own && !own)',
    ),
    define(
      'a callback works twice',
      'accounts/sso/store.ts',
      'return result.numInsertedOrUpdatedRows === 1n;',
      'return result.numInsertedOrUpdatedRows !== undefined;',
    ),
  ]),
  ...needs('drainWorker', [
    {
      name: 'a drained worker still gets runs',
      patches: [
        {
          file: 'server/runs/queue/claim-runs.ts',
          old: ".where('workers.draining_at', 'is not', null),",
          new: ".where('workers.draining_at', '=', -1),",
        },
        {
          file: 'server/runs/workers/workers.ts',
          old: 'return row !== undefined && row.draining_at !== null;',
          new: 'return row !== undefined && row.draining_at === -1;',
        },
        {
          file: 'server/runs/workers/remote-workers.ts',
          old: 'isDraining: row.draining_at !== null,',
          new: 'isDraining: row.draining_at === -1,',
        },
      ],
    },
  ]),
  ...needs('createBisect', [
    define(
      'a search ends while its runs are under way',
      'experiments/bisect/advance-bisects.ts',
      'if (await hasOpenRuns(tx, uid)) return [];\n    if (next) {',
      'if (next && state.error === uid) {',
    ),
  ]),
  ...needs('createAcceptance', [
    define(
      'an ended batch decides no acceptance test',
      'experiments/acceptance/decide-acceptance-tests.ts',
      '    handleRow: decide,',
      '    handleRow: async () => {},',
    ),
  ]),
  ...needs('createSwitchback', [
    define(
      'a test whose plan has ended stays started',
      'experiments/online/online-tests.ts',
      'return end !== null && end <= this.#parts.clock.now();',
      'return end !== null && end <= 0;',
    ),
  ]),
  ...needs('replayRun', [
    define(
      'a replay begins with the state of its original',
      'runs/api/replay-operations.ts',
      "    ...original,\n    ...NOT_STARTED,\n    id: makeId<RunsTable['id']>(random, 'run'),",
      "    ...original,\n    id: makeId<RunsTable['id']>(random, 'run'),",
    ),
  ]),
  ...needs('moveWorkerClock', [
    define(
      'the times of a worker are believed',
      'runs/remote/end-attempt.ts',
      'executionMs: Math.min(app.execution_ms, now - claimedAt, limitMs),',
      'executionMs: app.execution_ms,',
    ),
  ]),
  ...needs('repeatLate', [
    define(
      'an attempt is ended by a late message of an earlier one',
      'runs/remote/attempts.ts',
      ".where('fence', '=', fence)\n    .where('worker_id', '=', workerId)\n",
      ".where('worker_id', '=', workerId)\n",
    ),
  ]),
];
