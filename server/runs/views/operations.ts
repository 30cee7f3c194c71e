/** Operations on saved views of runs. */
import { RUN_VIEWS_MAX } from '@switchyard/contract/limits.ts';
import { hasRight } from '@switchyard/contract/roles.ts';
import { isBlankViewName } from '@switchyard/contract/runs/views/blank-view-name.ts';
import { type RunView, RunViewTable } from '@switchyard/contract/runs/views/run-views.ts';
import type { RunViewId } from '@switchyard/contract/schemas/ids.ts';
import { getApplication, lockLiveApplication } from '../../apps/applications/store.ts';
import { formatRfc3339 } from '../../platform/clock.ts';
import type { Writer } from '../../platform/database/database.ts';
import { parseColumn } from '../../platform/database/parse-column.ts';
import { badRequest, forbidden, notFound, quoteValue } from '../../platform/http/errors/problem.ts';
import type { Caller, OperationHandler } from '../../platform/http/handlers/handler.ts';
import { formatReadableRows } from '../../platform/http/lists/readable-rows.ts';
import { computeUpdateTime, requireUnchanged } from '../../platform/http/requests/conditional-writes.ts';
import { makeId } from '../../platform/random.ts';
import { parseRunFilter } from '../listing/parse-run-filter.ts';
import { findHiddenFields } from '../listing/visible-filter.ts';
import type { RunViewsTable } from './schema.ts';
import * as store from './store.ts';

export const listRunViews: OperationHandler<'listRunViews'> = async (
  { database, log },
  { caller, params },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  const views = await store.listViews(database.read, application.uid, caller.owner);
  const list = { applicationUid: application.uid, role: caller.role };
  const listHidden = await findHiddenFields(database.read, list);
  const items = await formatReadableRows(log, views, (some) =>
    some
      .map((view) => formatView(view, caller))
      .filter(({ table }) => listHidden(parseTable(table)).length === 0),
  );
  return { status: 200, body: { items: items.sort(compareViews) } };
};

export const createRunView: OperationHandler<'createRunView'> = async (
  { database, clock, random },
  { caller, params, body, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  assertVisibleName(body.name);
  assertValidTable(body.table);
  const now = clock.now();
  const view: RunViewsTable = {
    id: makeId<RunViewId>(random, 'view'),
    application_uid: application.uid,
    owner: caller.owner,
    author_email: caller.email,
    name: body.name,
    is_shared: body.is_shared ? 1 : 0,
    table_state: JSON.stringify(body.table),
    created_at: now,
    updated_at: now,
  };
  return commit(async (tx) => {
    await lockLiveApplication(tx, application);
    await assertNameIsFree(tx, view);
    await store.insertView(tx, view);
    return { status: 201, body: formatView(view, caller) };
  });
};

export const updateRunView: OperationHandler<'updateRunView'> = async (
  { database, clock },
  { caller, params, body, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  if (body.name !== undefined) assertVisibleName(body.name);
  if (body.table) assertValidTable(body.table);
  return commit(async (tx) => {
    const view = await lockChangeableView(tx, application.uid, params.view_id, caller);
    requireUnchanged({ noun: `view ${quoteValue(view.id)}`, updatedAt: view.updated_at }, body);
    const changed: RunViewsTable = {
      ...view,
      name: body.name ?? view.name,
      is_shared: (body.is_shared ?? view.is_shared === 1) ? 1 : 0,
      table_state: body.table ? JSON.stringify(body.table) : view.table_state,
      updated_at: computeUpdateTime(clock.now(), view),
    };
    await assertNameIsFree(tx, changed);
    await store.replaceView(tx, changed);
    return { status: 200, body: formatView(changed, caller) };
  });
};

export const deleteRunView: OperationHandler<'deleteRunView'> = async (
  { database },
  { caller, params, commit },
) => {
  const application = await getApplication(database.read, caller.account, params.application_id);
  return commit(async (tx) => {
    const { id } = await lockChangeableView(tx, application.uid, params.view_id, caller);
    await store.deleteView(tx, id);
    return { status: 204 };
  });
};

/** Throws a 400 for a name that shows as nothing. Views stored under such a name keep it until they are renamed. */
function assertVisibleName(name: string): void {
  if (isBlankViewName(name))
    throw badRequest(
      `name is ${quoteValue(name)}, which is blank, so nobody would see the view in a list. Give at least one visible character.`,
    );
}

/** Throws a 400 for filters that the list of runs refuses. */
function assertValidTable(table: RunViewTable): void {
  parseTable(table);
}

function parseTable({ filters, sort }: RunViewTable) {
  return parseRunFilter({ ...filters, ...(sort !== undefined && { sort }) }, { start: 0, end: 0 });
}

/** Throws a 400 if the author has another view of this name, or as many as a member may have. */
async function assertNameIsFree(tx: Writer, view: RunViewsTable): Promise<void> {
  const visible = await store.listViews(tx, view.application_uid, view.owner);
  const others = visible.filter(({ id, owner }) => owner === view.owner && id !== view.id);
  if (others.some(({ name }) => name === view.name))
    throw badRequest(`name is ${quoteValue(view.name)}, which another of your views has; choose another.`);
  if (others.length >= RUN_VIEWS_MAX)
    throw badRequest(`You have ${RUN_VIEWS_MAX} views of the application, the most; delete one first.`);
}

/** Returns the view if the caller may change it. Throws a 404 for a hidden one, and a 403 for the shared one of another. */
async function lockChangeableView(
  tx: Writer,
  applicationUid: string,
  id: RunViewId,
  caller: Caller,
): Promise<RunViewsTable> {
  const view = await store.lockView(tx, applicationUid, id);
  const isOwn = view?.owner === caller.owner;
  if (!view || !(isOwn || view.is_shared === 1)) throw notFound(`There is no view ${quoteValue(id)}.`);
  if (!isOwn && !hasRight(caller.role, 'account'))
    throw forbidden(
      `The view ${quoteValue(view.name)} belongs to ${view.author_email}; only the author and the roles root and admin change it. Save a view of your own.`,
    );
  return view;
}

const parseTableState = parseColumn('run_views', 'id', 'table_state', RunViewTable);

function formatView(view: RunViewsTable, caller: Caller): RunView {
  const table = parseTableState(view);
  return {
    id: view.id,
    name: view.name,
    is_shared: view.is_shared === 1,
    author_email: view.author_email,
    is_own: view.owner === caller.owner,
    table,
    created_at: formatRfc3339(view.created_at),
    updated_at: formatRfc3339(view.updated_at),
  };
}

function compareViews(one: RunView, other: RunView): number {
  return one.name.localeCompare(other.name, 'en') || (one.id < other.id ? -1 : 1);
}
