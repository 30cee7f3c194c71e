/** Operations that sum up many runs: of one list, and of several applications. */
import { USUAL_OBJECTIVE } from '@switchyard/contract/applications/usual-objective.ts';
import { PAGE_ITEMS_MAX, RECENT_RUNS_MAX } from '@switchyard/contract/limits.ts';
import type { ApplicationSummary } from '@switchyard/contract/runs/run-counts.ts';
import type { Indicator } from '@switchyard/contract/runs/run-reports.ts';
import type { ApplicationId, InstanceId } from '@switchyard/contract/schemas/ids.ts';
import { readMeaning } from '../../apps/applications/meaning.ts';
import type { ApplicationsTable } from '../../apps/applications/schema.ts';
import { findApplications, getApplication } from '../../apps/applications/store.ts';
import { findInstance } from '../../apps/instances/store.ts';
import { findExecutableIds } from '../../apps/versions/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Reader } from '../../platform/database/database.ts';
import { badRequest } from '../../platform/http/errors/problem.ts';
import type { OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { parseTimeWindow } from '../../platform/http/lists/time-window.ts';
import { parseExactIndicators } from '../run-columns.ts';
import * as store from '../store/runs.ts';
import type { RunsTable } from '../store/schema.ts';
import { countFilteredRuns } from './list-run-page.ts';
import { parseRunFilter, readWindow } from './parse-run-filter.ts';

const RECENT_COLUMNS = [
  'id',
  'status',
  'created_at',
  'version_id',
  'statistics_status',
  'statistics_error',
  'indicators',
] as const;

export const countRuns: OperationHandler<'countRuns'> = async (
  { database, clock },
  { caller, params, query },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const filter = parseRunFilter(query, parseTimeWindow(readWindow(query), clock.now()));
  const list = { applicationUid: application.uid, role: caller.role };
  const parts = { database, clock };
  return { status: 200, body: await countFilteredRuns(parts, list, filter, query.production === true) };
};

export const listApplicationSummaries: OperationHandler<'listApplicationSummaries'> = async (
  { database, clock, log },
  { caller, query },
) => {
  const ids = [...new Set(query.application_id.split(','))] as ApplicationId[];
  if (ids.length > PAGE_ITEMS_MAX)
    throw badRequest(
      `application_id has ${ids.length} values; it may have ${PAGE_ITEMS_MAX}, separated by commas.`,
    );
  const window = parseTimeWindow({}, clock.now());
  const page = { after: null, limit: RECENT_RUNS_MAX, isProduction: true };
  const items: ApplicationSummary[] = [];
  const found = await findApplications(database.read, caller.account, ids);
  for (const application of found.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id))) {
    const rows = await store
      .selectRuns(database.read, application.uid, window, page)
      .select(RECENT_COLUMNS)
      .execute();
    const objective = readMeaning(application).objective?.name ?? USUAL_OBJECTIVE;
    const runs = await formatReadableRows(log, rows.slice(0, RECENT_RUNS_MAX), (some) =>
      some.map((row) => formatRecentRun(row, objective)),
    );
    items.push({
      application_id: application.id,
      name: application.name,
      ...(await findDefaultVersion(database.read, application)),
      runs,
    });
  }
  return { status: 200, body: { items } };
};

function formatRecentRun(
  row: Pick<RunsTable, (typeof RECENT_COLUMNS)[number]>,
  objective: string,
): ApplicationSummary['runs'][number] {
  const { statistics_status: status, statistics_error: error } = row;
  const indicators = parseExactIndicators(row).filter(({ name }: Indicator) => name === objective);
  return {
    id: row.id,
    status_v2: row.status,
    created_at: formatRfc3339(row.created_at),
    application_version_id: row.version_id,
    statistics: { status, error, indicators },
  };
}

async function findDefaultVersion(
  db: Reader,
  { uid, default_instance }: ApplicationsTable,
): Promise<Pick<ApplicationSummary, 'version_id' | 'version_deleted'>> {
  const instance =
    default_instance === '' ? undefined : await findInstance(db, uid, default_instance as InstanceId);
  if (!instance) return { version_id: '' };
  const { version_id } = instance;
  const versions = await findExecutableIds(db, uid, [version_id]);
  return { version_id, ...(!versions.has(version_id) && { version_deleted: true }) };
}
