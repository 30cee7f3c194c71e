/**
 * The schema of the database. The baseline, of release 0.2.0, has the tables of every slice; nobody edits it after that
 * release. A later change is a migration in the slice's `schema.ts`, listed here with the next free number.
 */
import { createTables as account } from '../accounts/account/schema.ts';
import { createTables as audit } from '../accounts/audit/schema.ts';
import { createTables as deviceAuthorizations } from '../accounts/device-authorizations/schema.ts';
import { createTables as sessions } from '../accounts/sessions/schema.ts';
import { createTables as singleSignOn } from '../accounts/sso/schema.ts';
import { createTables as usage } from '../accounts/usage/schema.ts';
import { addIndicators, createTables as applications } from '../apps/applications/schema.ts';
import { createTables as instances } from '../apps/instances/schema.ts';
import { createTables as marketplace } from '../apps/marketplace/schema.ts';
import { createTables as secrets } from '../apps/secrets/schema.ts';
import { createTables as uploads } from '../apps/uploads/schema.ts';
import { createTables as versions } from '../apps/versions/schema.ts';
import { createTables as ensembles } from '../experiments/ensembles/schema.ts';
import { createTables as questions } from '../experiments/questions/schema.ts';
import { createTables as acceptanceTests } from '../experiments/store/acceptance-schema.ts';
import { addVerdicts, createTables as experiments } from '../experiments/store/schema.ts';
import { createTables as blobs } from '../platform/blobs/schema.ts';
import { createTables as leases } from '../platform/database/lease.ts';
import type { Migration } from '../platform/database/migrate.ts';
import { createTables as http } from '../platform/http/handlers/idempotency.ts';
import { createTables as inputSets } from '../runs/input-sets/schema.ts';
import { createTables as inputs } from '../runs/inputs/schema.ts';
import { createTables as provisioner } from '../runs/provisioner/schema.ts';
import { createTables as shares } from '../runs/shares/schema.ts';
import { addPreviousRun, createTables as runs } from '../runs/store/create-tables.ts';
import { createTables as runValues } from '../runs/values/schema.ts';
import { createTables as runViews } from '../runs/views/schema.ts';
import { createTables as queue } from '../runs/workers/schema.ts';
import { createTables as workflows } from '../runs/workflows/schema.ts';
import { createTables as health } from './health/schema.ts';
import { createTables as retention } from './retention/schema.ts';
import { createTables as queueProblems } from './webhooks/queue-problems/schema.ts';
import { createTables as webhooks } from './webhooks/schema.ts';

export const BASELINE = '0001-baseline';

const SLICES: readonly Migration['up'][] = [
  leases,
  blobs,
  audit,
  account,
  singleSignOn,
  sessions,
  deviceAuthorizations,
  usage,
  uploads,
  applications,
  versions,
  marketplace,
  instances,
  secrets,
  queue,
  runs,
  runValues,
  runViews,
  workflows,
  inputs,
  inputSets,
  ensembles,
  experiments,
  retention,
  shares,
  acceptanceTests,
  questions,
  webhooks,
  queueProblems,
  http,
  health,
  provisioner,
];

export const migrations: readonly Migration[] = [
  {
    name: BASELINE,
    async up(db, types) {
      for (const createTables of SLICES) await createTables(db, types);
    },
  },
  { name: '0002-application-indicators', up: addIndicators },
  { name: '0003-previous-run', up: addPreviousRun },
  { name: '0004-experiment-verdicts', up: addVerdicts },
];
