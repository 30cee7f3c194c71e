/** Functions that the operations on experiments of every kind share: find, create and change. */
import {
  EXPERIMENTS,
  hasFact,
  type RunOwnerKind,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import type { Writer } from '../../platform/database/database.ts';
import { badRequest, notFound, type Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import { findStartingKey } from '../../platform/http/handlers/run-scope.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import { findExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import { insertExperiment } from '../store/transitions.ts';

/** A kind of experiment, and its name in error messages. */
export interface ExperimentKindSettings {
  kind: RunOwnerKind;
  /** The kind in messages: "batch experiment". */
  noun: string;
}

/** The experiment that a request names. */
export interface ExperimentAddress {
  caller: Caller;
  applicationId: ApplicationId;
  id: ExperimentId;
}

/** An experiment and the application that it belongs to. */
export interface ExperimentWithApplication {
  application: ApplicationsTable;
  experiment: ExperimentsTable;
}

/** Returns the 404 for an experiment that does not exist. */
export function experimentNotFound(
  { noun }: { noun: string },
  application: Pick<ApplicationsTable, 'id'>,
  id: ExperimentId,
): Problem {
  return notFound(`There is no ${noun} ${quoteValue(id)} of application ${quoteValue(application.id)}.`);
}

/** Returns the experiment of the caller's application. Throws a 404 that names the missing one of the two. */
export async function getOwnExperiment(
  { database }: Pick<Context, 'database'>,
  settings: ExperimentKindSettings,
  { caller, applicationId, id }: ExperimentAddress,
): Promise<ExperimentWithApplication> {
  const application = await getApplication(database.read, caller.account, applicationId);
  const experiment = await findExperiment(database.read, application.uid, settings.kind, id);
  if (!experiment) throw experimentNotFound(settings, application, id);
  return { application, experiment };
}

/** Returns the experiment of the caller's application. Ends a test on live runs first when its time has ended. */
export async function getCurrentExperiment(
  context: Pick<Context, 'database' | 'onlineTests'>,
  settings: ExperimentKindSettings,
  address: ExperimentAddress,
): Promise<ExperimentWithApplication> {
  const found = await getOwnExperiment(context, settings, address);
  if (!hasFact(settings.kind, 'isLive') || !context.onlineTests.isOverdue(found.experiment)) return found;
  await context.onlineTests.endOverdueTests(found.application.uid);
  return getOwnExperiment(context, settings, address);
}

interface NewExperiment
  extends Pick<ExperimentsTable, 'uid' | 'id' | 'name' | 'type' | 'requested' | 'created_at'> {
  application: ApplicationsTable;
  caller: Caller;
  description: string | null | undefined;
  definition: object;
}

/** Builds the row of a new experiment, which has started unless it is a test on live runs. */
export function buildExperiment({
  application,
  caller,
  description,
  definition,
  ...columns
}: NewExperiment): ExperimentsTable {
  const { type, created_at } = columns;
  const isDraft = hasFact(type, 'isLive');
  return {
    ...columns,
    application_uid: application.uid,
    application_id: application.id,
    account_id: application.account_id,
    kind: EXPERIMENTS[type].kind,
    description: description ?? '',
    status: isDraft ? 'draft' : 'started',
    user_email: caller.email,
    created_by_key: findStartingKey(caller),
    definition: JSON.stringify(definition),
    updated_at: created_at,
    started_at: isDraft ? null : created_at,
    completed_at: null,
    deleted_at: null,
  };
}

/** Inserts the experiment. Throws a 400 when the application has another of the same kind and id. */
export async function insertOwnExperiment(tx: Writer, experiment: ExperimentsTable): Promise<void> {
  if (!(await insertExperiment(tx, experiment))) throw idInUse(EXPERIMENTS[experiment.kind], experiment.id);
}

/** Returns the 400 for an id that another experiment of the kind has. */
export function idInUse({ noun }: { noun: string }, id: ExperimentId): Problem {
  return badRequest(`id is ${quoteValue(id)}, which another ${noun} of the application has; choose another.`);
}

/** Returns the columns that the request changes. Throws a 400 for an invalid name. */
export function parseNameChanges(
  { clock }: Pick<Context, 'clock'>,
  id: ExperimentId,
  { name, description }: { name?: string | null | undefined; description?: string | null | undefined },
) {
  validateName(name, id);
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    updated_at: clock.now(),
  };
}
