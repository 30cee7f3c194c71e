/** The handlers that all kinds of experiments have in common. A kind says how a row becomes a response. */
import {
  hasFact,
  type RunOwnerKind,
  type RunOwnerType,
} from '@switchyard/contract/experiment-types/experiment-types.ts';
import type { Role } from '@switchyard/contract/roles.ts';
import type { ApplicationId, ExperimentId } from '@switchyard/contract/schemas/ids.ts';
import { getApplication } from '../../apps/applications/store.ts';
import type { Writer } from '../../platform/database/database.ts';
import type { OperationEffect } from '../../platform/http/handlers/commit.ts';
import type { Context } from '../../platform/http/handlers/context.ts';
import type { Caller } from '../../platform/http/handlers/handler.ts';
import type { ListSource } from '../../platform/http/lists/list-responses.ts';
import type { PageQueryValues } from '../../platform/http/lists/pagination.ts';
import { parseTimeWindow, type WindowQueryValues } from '../../platform/http/lists/time-window.ts';
import type { ExperimentCounts, listExperimentRuns } from '../../runs/store/experiment-runs.ts';
import { deleteExperiment, listExperiments, lockExperiment, updateExperiment } from '../store/experiments.ts';
import type { ExperimentsTable } from '../store/schema.ts';
import {
  type ExperimentAddress,
  type ExperimentKindSettings,
  experimentNotFound,
  getCurrentExperiment,
  getOwnExperiment,
  parseNameChanges,
} from './experiment-operations.ts';
import { respondWithRuns } from './experiment-run-lists.ts';
import { countRunsByExperiment } from './format-experiment.ts';

/** The part of one kind. */
interface ExperimentKindPart<Kind extends RunOwnerKind, Body> {
  settings: ExperimentKindSettings & { kind: Kind };
  /** Formats an experiment without its results. */
  format(experiment: ExperimentsTable, counts: ExperimentCounts, role: Role): Body;
  /** Lists the runs; the default lists those with the uid of the experiment. */
  listRuns?: typeof listExperimentRuns;
  /** Stores the look at the question of an experiment that is deleted: somebody may have read the runs that ended. */
  remember?(context: Context, experiment: ExperimentsTable): Promise<unknown>;
  /** Deletes what belongs to the experiment, in the transaction that deletes it. */
  deleteParts?(tx: Writer, experiment: ExperimentsTable): Promise<void>;
}

type Params<Kind extends RunOwnerKind> = { application_id: ApplicationId } & Record<
  `${Kind}_id`,
  ExperimentId
>;

/** A call of an operation on one experiment of the kind. */
export interface ExperimentCall<Kind extends RunOwnerKind> {
  caller: Caller;
  params: Params<Kind>;
}

interface ListCall {
  caller: Caller;
  params: { application_id: ApplicationId };
  query: PageQueryValues & WindowQueryValues;
}

type UpdateCall<Kind extends RunOwnerKind, Body> = ExperimentCall<Kind> &
  Pick<OperationEffect<{ status: 200; body: Body }>, 'commitThen'> & {
    body: { name?: string | null | undefined; description?: string | null | undefined };
  };

/** Returns the handlers that read, with functions for those that only one kind has. */
function defineReads<Kind extends RunOwnerKind, Body>({
  settings,
  format,
  listRuns,
}: ExperimentKindPart<Kind, Body>) {
  const { kind } = settings;
  const parseAddress = ({ caller, params }: ExperimentCall<Kind>): ExperimentAddress => ({
    caller,
    applicationId: params.application_id,
    id: params[`${kind}_id` as const],
  });
  const find = (context: Context, call: ExperimentCall<Kind>) =>
    getCurrentExperiment(context, settings, parseAddress(call));
  const formatAll = async (
    { database }: Pick<Context, 'database'>,
    experiments: readonly ExperimentsTable[],
    { role }: Caller,
  ): Promise<Body[]> => {
    const counts = await countRunsByExperiment(database.read, experiments);
    return experiments.map((experiment) => format(experiment, counts(experiment), role));
  };
  const read = async (context: Context, experiment: ExperimentsTable, { role }: Caller): Promise<Body> => {
    const counts = await countRunsByExperiment(context.database.read, [experiment]);
    return format(experiment, counts(experiment), role);
  };
  return {
    parseAddress,
    find,
    read,
    /** Formats an experiment whose runs are all planned. */
    formatNew: (experiment: ExperimentsTable, { role }: Caller, planned = experiment.requested): Body =>
      format(experiment, { statuses: {}, planned, refused: 0 }, role),
    /** Creates the source of the requested list; `type` limits it to one type of the kind. */
    async createListSource(
      context: Context,
      { caller, params, query }: ListCall,
      type: RunOwnerType | null = null,
    ): Promise<ListSource<ExperimentsTable, Body>> {
      const application = await getApplication(context.database.read, caller.account, params.application_id);
      if (hasFact(kind, 'isLive')) await context.onlineTests.endOverdueTests(application.uid);
      const window = parseTimeWindow(query, context.clock.now());
      return {
        tokenScope: `${kind} ${application.uid} ${query.start ?? ''} ${query.end ?? ''} ${type ?? ''}`,
        query,
        queryRows: (page) =>
          listExperiments(context.database.read, application.uid, { kind, type, window, page }),
        formatBodies: (rows) => formatAll(context, rows, caller),
      };
    },
    async getMetadata(context: Context, call: ExperimentCall<Kind>): Promise<{ status: 200; body: Body }> {
      const { experiment } = await find(context, call);
      return { status: 200, body: await read(context, experiment, call.caller) };
    },
    async listRuns(context: Context, call: ExperimentCall<Kind> & { query: PageQueryValues }) {
      const { experiment } = await find(context, call);
      const source = { caller: call.caller, experiment, ...(listRuns && { listRuns }) };
      return respondWithRuns(context, source, call.query);
    },
  };
}

/** Returns the handlers that the kind has in common with others. */
export function defineExperimentHandlers<Kind extends RunOwnerKind, Body>(
  part: ExperimentKindPart<Kind, Body>,
) {
  const { settings, remember, deleteParts } = part;
  const reads = defineReads(part);
  return {
    ...reads,
    async update(context: Context, call: UpdateCall<Kind, Body>) {
      const { application, experiment } = await reads.find(context, call);
      const changes = parseNameChanges(context, experiment.id, call.body);
      return call.commitThen(
        async (tx): Promise<ExperimentsTable> => {
          const locked = await lockExperiment(tx, experiment.uid);
          if (!locked) throw experimentNotFound(settings, application, experiment.id);
          await updateExperiment(tx, locked.uid, changes);
          return { ...locked, ...changes };
        },
        async (changed) => ({ status: 200, body: await reads.read(context, changed, call.caller) }),
      );
    },
    async delete(
      context: Context,
      call: ExperimentCall<Kind> & Pick<OperationEffect<{ status: 204 }>, 'commit'>,
    ) {
      const { application, experiment } = await getOwnExperiment(context, settings, reads.parseAddress(call));
      await remember?.(context, experiment);
      const committed = await call.commit(async (tx) => {
        if (!(await deleteExperiment(tx, experiment.uid, context.clock.now())))
          throw experimentNotFound(settings, application, experiment.id);
        await deleteParts?.(tx, experiment);
        return { status: 204 };
      });
      context.onExperimentDeleted();
      return committed;
    },
  };
}
