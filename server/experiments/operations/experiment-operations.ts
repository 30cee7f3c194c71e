/** Functions that the operations on experiments of every kind share: find, list, change and delete. */
import type { RunOwnerKind, RunOwnerType } from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { getApplication } from '../../apps/applications/store.ts';
import type { Writer } from '../../platform/database/database.ts';
import { notFound, type Problem, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import type { ListSource } from '../../platform/http/lists/list-responses.ts';
import type { PageQueryValues } from '../../platform/http/lists/pagination.ts';
import { parseTimeWindow, type WindowQueryValues } from '../../platform/http/lists/time-window.ts';
import { validateName } from '../../platform/http/requests/resource-names.ts';
import {
  deleteExperiment,
  findExperiment,
  listExperiments,
  lockExperiment,
  updateExperiment,
} from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';

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

/** A request for a list of experiments. */
export interface ExperimentListRequest {
  caller: Caller;
  applicationId: ApplicationId;
  query: PageQueryValues & WindowQueryValues;
}

/** Filter and format of a list of experiments. */
export interface ExperimentListFormat<Body> {
  /** Lists only experiments of this type. */
  type?: RunOwnerType | null;
  formatBodies: ListSource<ExperimentsTable, Body>['formatBodies'];
}

/** Returns the 404 for an experiment that does not exist. */
export function experimentNotFound(
  { noun }: ExperimentKindSettings,
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

/** Creates the source of the requested list. Throws a 404 for a missing application and a 400 for an invalid time. */
export async function createExperimentListSource<Body>(
  { database, clock }: Pick<Context, 'database' | 'clock'>,
  { kind }: ExperimentKindSettings,
  { caller, applicationId, query }: ExperimentListRequest,
  { type = null, formatBodies }: ExperimentListFormat<Body>,
): Promise<ListSource<ExperimentsTable, Body>> {
  const application = await getApplication(database.read, caller.account, applicationId);
  const window = parseTimeWindow(query, clock.now());
  return {
    tokenScope: `${kind} ${application.uid} ${query.start ?? ''} ${query.end ?? ''} ${type ?? ''}`,
    query,
    queryRows: (page) => listExperiments(database.read, application.uid, { kind, type, window, page }),
    formatBodies,
  };
}

type ExperimentChanges = Pick<ExperimentsTable, 'updated_at'> &
  Partial<Pick<ExperimentsTable, 'name' | 'description'>>;

/** Returns the columns that the request changes. Throws a 400 for an invalid name. */
export function parseExperimentChanges(
  { clock }: Pick<Context, 'clock'>,
  { id }: { id: ExperimentId },
  { name, description }: { name?: string | null | undefined; description?: string | null | undefined },
): ExperimentChanges {
  validateName(name, id);
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    updated_at: clock.now(),
  };
}

/** Returns the changed experiment. Throws a 404 when it was deleted meanwhile. */
export async function writeExperimentChanges(
  tx: Writer,
  settings: ExperimentKindSettings,
  { application, experiment }: ExperimentWithApplication,
  changes: ExperimentChanges,
): Promise<ExperimentsTable> {
  const locked = await lockExperiment(tx, experiment.uid);
  if (!locked) throw experimentNotFound(settings, application, experiment.id);
  await updateExperiment(tx, locked.uid, changes);
  return { ...locked, ...changes };
}

/** Hides the experiment from callers. Throws a 404 when it was deleted meanwhile. The clean-up removes its runs and rows. */
export async function markExperimentDeleted(
  tx: Writer,
  settings: ExperimentKindSettings,
  { application, experiment }: ExperimentWithApplication,
  now: number,
): Promise<void> {
  if (!(await deleteExperiment(tx, experiment.uid, now)))
    throw experimentNotFound(settings, application, experiment.id);
}
