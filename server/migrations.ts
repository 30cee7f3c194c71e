/** All migrations, by slice. A new one goes to the end of its slice's list and has the next free number. */
import { migrations as account } from './account/schema.ts';
import { migrations as applications } from './applications/schema.ts';
import { migrations as audit } from './audit/schema.ts';
import { migrations as blobs } from './blobs/schema.ts';
import { migrations as leases } from './database/lease.ts';
import type { Migration } from './database/migrate.ts';
import { migrations as deviceAuthorizations } from './device-authorizations/schema.ts';
import { migrations as ensembles } from './ensembles/schema.ts';
import { migrations as acceptanceTests } from './experiments/store/acceptance-schema.ts';
import { migrations as experiments } from './experiments/store/schema.ts';
import { migrations as health } from './health/schema.ts';
import { migrations as http } from './http/handlers/idempotency.ts';
import { migrations as inputSets } from './input-sets/schema.ts';
import { migrations as inputs } from './inputs/schema.ts';
import { migrations as instances } from './instances/schema.ts';
import { migrations as marketplace } from './marketplace/schema.ts';
import { migrations as provisioner } from './provisioner/schema.ts';
import { migrations as retention } from './retention/schema.ts';
import { migrations as requirements } from './runs/queue/schema.ts';
import { migrations as runs } from './runs/store/run-migrations.ts';
import { migrations as runTraces } from './runs/tracing/schema.ts';
import { migrations as runViews } from './runs/views/schema.ts';
import { migrations as workflows } from './runs/workflows/schema.ts';
import { migrations as secrets } from './secrets/schema.ts';
import { migrations as sessions } from './sessions/schema.ts';
import { migrations as shares } from './shares/schema.ts';
import { migrations as singleSignOn } from './sso/schema.ts';
import { migrations as uploads } from './uploads/schema.ts';
import { migrations as usage } from './usage/schema.ts';
import { migrations as versions } from './versions/schema.ts';
import { migrations as queueProblems } from './webhooks/queue-problems/schema.ts';
import { migrations as webhooks } from './webhooks/schema.ts';
import { migrations as queue } from './workers/schema.ts';

export const migrations: readonly Migration[] = [
  ...leases,
  ...blobs,
  ...audit,
  ...account,
  ...singleSignOn,
  ...sessions,
  ...deviceAuthorizations,
  ...usage,
  ...uploads,
  ...applications,
  ...versions,
  ...marketplace,
  ...instances,
  ...secrets,
  ...queue,
  ...runs,
  ...runTraces,
  ...runViews,
  ...workflows,
  ...requirements,
  ...inputs,
  ...inputSets,
  ...ensembles,
  ...experiments,
  ...retention,
  ...shares,
  ...acceptanceTests,
  ...webhooks,
  ...queueProblems,
  ...http,
  ...health,
  ...provisioner,
];
